//! A validated request to install a server.

use std::collections::BTreeMap;

use gangway_mcp::{
    ServerId, UrlPolicy,
    catalog::{BadInput, Filled, InstallOption},
    package::{Carrier, Ecosystem, Package, Scripts},
};
use gangway_secrets::{SecretName, SecretsError, parse_value};
use secrecy::SecretString;

use super::{runtimes::missing, secret};
use crate::{
    Tools,
    catalog::wire::{InstallServer, PackageKind, PackageName},
    entry::{Installed, ServerEntry},
};

/// Maximum number of arguments and variables: far more than any server needs.
const MAX_ARGUMENTS: usize = 200;

/// A server to install.
pub(super) struct InstallRequest {
    pub(super) id: ServerId,
    /// The package to download first, and its program if specified.
    pub(super) package: Option<(Package, Option<String>)>,
    /// The entry to store; the program of a package is not known yet.
    pub(super) entry: ServerEntry,
    /// The values of its secrets by secret name.
    pub(super) secrets: BTreeMap<String, SecretString>,
    pub(super) scripts: Scripts,
    /// Packages whose install scripts were not run.
    pub(super) skipped_scripts: Vec<String>,
}

/// Why a server cannot be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallRefusal {
    /// The request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The catalog has no such server.
    #[error("server {0:?} is not in the catalog; search it with: gangway mcp search")]
    NoServer(String),
    /// The id is in use.
    #[error("a server named {0} already exists; use another id or remove it first")]
    Taken(String),
    /// It is already being installed.
    #[error("{0} is already being installed")]
    Underway(String),
    /// A program is missing.
    #[error("{0}")]
    NoRuntime(String),
    /// Too many concurrent installs.
    #[error("too many servers are being installed; wait until one is done")]
    Busy,
    /// The catalog cannot be read.
    #[error(transparent)]
    Catalog(#[from] gangway_core::Error),
}

impl From<BadInput> for InstallRefusal {
    fn from(error: BadInput) -> Self {
        Self::Invalid(error.to_string())
    }
}

fn invalid(reason: impl Into<String>) -> InstallRefusal {
    InstallRefusal::Invalid(reason.into())
}

impl Tools {
    /// Validates a request.
    pub(super) async fn order(
        &self,
        request: InstallServer,
    ) -> Result<InstallRequest, InstallRefusal> {
        let id: ServerId = request
            .id
            .parse()
            .map_err(|error| invalid(format!("`id`: {error}")))?;
        let file = self.file.clone();
        let added = tokio::task::spawn_blocking(move || file.read()).await;
        let added = added.map_err(|error| gangway_core::Error::Storage(error.to_string()))?;
        let added = added.map_err(|error| gangway_core::Error::Storage(error.to_string()))?;
        if self.config.contains_key(id.as_str()) || added.servers.contains_key(id.as_str()) {
            return Err(InstallRefusal::Taken(id.to_string()));
        }
        if request.args.len() > MAX_ARGUMENTS
            || request.env.len() > MAX_ARGUMENTS
            || request.secrets.len() > MAX_ARGUMENTS
        {
            return Err(invalid(format!(
                "there must be at most {MAX_ARGUMENTS} arguments and variables"
            )));
        }
        let mut order = match (&request.server, &request.package) {
            (Some(server), None) => self.listed(id, server, &request).await?,
            (None, Some(package)) => direct(id, package, &request)?,
            _ => return Err(invalid("specify either `server` or `package`")),
        };
        order.extend(&request)?;
        if request.allow_scripts {
            order.scripts = Scripts::Run;
        }
        order
            .entry
            .check(order.id.as_str())
            .map_err(|error| invalid(error.to_string()))?;
        match &order.package {
            Some((package, _)) => self.runnable(package.ecosystem())?,
            None if order.entry.url.is_none() => {
                return Err(invalid("specify `server` or `package`"));
            }
            None => {}
        }
        Ok(order)
    }

    fn runnable(&self, ecosystem: Ecosystem) -> Result<(), InstallRefusal> {
        match Carrier::of(ecosystem, &self.path) {
            Some(_) => Ok(()),
            None => Err(InstallRefusal::NoRuntime(missing(ecosystem))),
        }
    }

    async fn listed(
        &self,
        id: ServerId,
        server: &str,
        request: &InstallServer,
    ) -> Result<InstallRequest, InstallRefusal> {
        let no_server = || InstallRefusal::NoServer(server.chars().take(200).collect());
        let listed = self.catalog.get(server).await?.ok_or_else(no_server)?;
        let offers = listed.offers(self.catalog.policy());
        let offer = self.choose(&offers, request.option.as_deref())?;
        if let Some(reason) = &offer.refusal {
            return Err(invalid(format!(
                "{} cannot be installed: {reason}",
                offer.key
            )));
        }
        let filled = offer.fill(&request.inputs, |input| secret::name(id.as_str(), input))?;
        InstallRequest::new(id, filled, Some(listed.name), self.catalog.policy())
    }

    /// The specified option, or the first that this machine supports.
    fn choose<'a>(
        &self,
        offers: &'a [InstallOption],
        key: Option<&str>,
    ) -> Result<&'a InstallOption, InstallRefusal> {
        if let Some(key) = key {
            let found = offers.iter().find(|offer| offer.key == key);
            let keys: Vec<_> = offers.iter().map(|offer| offer.key.as_str()).collect();
            return found
                .ok_or_else(|| invalid(format!("`option` must be one of {}", keys.join(", "))));
        }
        let possible = |offer: &&InstallOption| match (&offer.refusal, offer.package()) {
            (Some(_), _) => false,
            (None, Some(package)) => self.runnable(package.ecosystem()).is_ok(),
            (None, None) => true,
        };
        let found = offers.iter().find(possible).or(offers.first());
        found.ok_or_else(|| invalid("the catalog has no install option for this server"))
    }
}

/// A package, not necessarily in the catalog.
fn direct(
    id: ServerId,
    package: &PackageName,
    request: &InstallServer,
) -> Result<InstallRequest, InstallRefusal> {
    if request.option.is_some() || !request.inputs.is_empty() {
        return Err(invalid("`option` and `inputs` require `server`"));
    }
    let ecosystem = match package.kind {
        PackageKind::Npm => Ecosystem::Npm,
        PackageKind::Pypi => Ecosystem::Pypi,
    };
    let package = Package::parse(ecosystem, package.name.trim(), package.version.as_deref());
    let package = package.map_err(|error| invalid(error.to_string()))?;
    let filled = Filled::package(package);
    InstallRequest::new(id, filled, None, UrlPolicy::Any)
}

impl InstallRequest {
    /// Lists the install scripts that were not run, if any.
    pub(super) fn skipped(&self) -> Option<String> {
        let named: Vec<_> = self.skipped_scripts.iter().take(5).cloned().collect();
        let more = self.skipped_scripts.len() - named.len();
        match (named.is_empty(), more) {
            (true, _) => None,
            (false, 0) => Some(format!("install scripts did not run: {}", named.join(", "))),
            (false, more) => Some(format!(
                "install scripts did not run: {} and {more} more",
                named.join(", ")
            )),
        }
    }

    fn new(
        id: ServerId,
        filled: Filled,
        server: Option<String>,
        policy: UrlPolicy,
    ) -> Result<Self, InstallRefusal> {
        let is_remote = filled.url.is_some();
        let mut order = Self {
            package: filled.package.map(|package| (package, filled.command)),
            entry: ServerEntry {
                // A placeholder for the program.
                command: (!is_remote).then(|| "package".to_owned()),
                args: filled.args,
                env: filled.env,
                url: filled.url,
                headers: filled.headers,
                installed: Some(Installed {
                    server,
                    public_only: is_remote && policy == UrlPolicy::PublicOnly,
                    ..Installed::default()
                }),
                ..ServerEntry::default()
            },
            secrets: BTreeMap::new(),
            scripts: Scripts::Skip,
            skipped_scripts: Vec::new(),
            id,
        };
        for (input, value) in filled.secrets {
            order.keep(&input, value)?;
        }
        Ok(order)
    }

    /// Adds the arguments, variables and secrets of the request.
    fn extend(&mut self, request: &InstallServer) -> Result<(), InstallRefusal> {
        let extra =
            !(request.args.is_empty() && request.env.is_empty() && request.secrets.is_empty());
        if extra && self.package.is_none() {
            return Err(invalid("`args`, `env` and `secrets` require a package"));
        }
        for text in request.args.iter().chain(request.env.values()) {
            if text.contains('\0') {
                return Err(invalid(
                    "arguments and variables must not contain NUL characters",
                ));
            }
        }
        for name in request.env.keys().chain(request.secrets.keys()) {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if !begins || !name.chars().all(is_plain) || name.len() > 128 {
                return Err(invalid(
                    "a variable name must consist of letters, digits and _, and not start with a digit",
                ));
            }
        }
        self.entry.args.extend(request.args.iter().cloned());
        self.entry.env.extend(request.env.clone());
        for (name, value) in &request.secrets {
            let stored = self.keep(name, value.clone())?;
            self.entry
                .env
                .insert(name.clone(), format!("${{secret:{stored}}}"));
        }
        Ok(())
    }

    /// Adds a secret, and returns its name.
    fn keep(&mut self, input: &str, value: String) -> Result<String, InstallRefusal> {
        let wrong = |error: SecretsError| invalid(format!("{input}: {error}"));
        let name = secret::name(self.id.as_str(), input);
        SecretName::parse(&name).map_err(wrong)?;
        let value = parse_value(&value.into()).map_err(wrong)?;
        self.secrets.insert(name.clone(), value);
        if let Some(installed) = &mut self.entry.installed {
            installed.secrets.insert(input.to_owned(), name.clone());
        }
        Ok(name)
    }
}
