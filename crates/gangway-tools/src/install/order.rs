//! What someone wants to have installed, understood and found possible.

use std::collections::BTreeMap;

use gangway_mcp::{
    ServerId, UrlPolicy,
    catalog::{BadInput, Filled, Offer},
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

/// Arguments and variables of a wish: far more than any server takes.
const MOST: usize = 200;

/// A server to install.
pub(super) struct Order {
    pub(super) id: ServerId,
    /// The package to fetch first, and its program where someone named it.
    pub(super) package: Option<(Package, Option<String>)>,
    /// What is written down; the program of a package is not known yet.
    pub(super) entry: ServerEntry,
    /// The values of its secrets by the names under which they are kept.
    pub(super) secrets: BTreeMap<String, SecretString>,
    pub(super) scripts: Scripts,
    /// Packages that were fetched and whose install scripts did not run.
    pub(super) skipped_scripts: Vec<String>,
}

/// Why something is not installed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The wish does not fit.
    #[error("{0}")]
    Invalid(String),
    /// The catalog has no such server.
    #[error("the catalog has no server {0:?}; look for it: gangway mcp search")]
    NoServer(String),
    /// The name is taken.
    #[error("there is a server named {0} already; choose another id, or remove it first")]
    Taken(String),
    /// The name is being installed.
    #[error("{0} is being installed already")]
    Underway(String),
    /// A program is missing.
    #[error("{0}")]
    NoRuntime(String),
    /// There is enough to do.
    #[error("other servers are being installed; wait for one of them to end")]
    Busy,
    /// The catalog cannot be read.
    #[error(transparent)]
    Catalog(#[from] gangway_core::Error),
}

impl From<BadInput> for Refusal {
    fn from(error: BadInput) -> Self {
        Self::Invalid(error.to_string())
    }
}

fn invalid(reason: impl Into<String>) -> Refusal {
    Refusal::Invalid(reason.into())
}

impl Tools {
    /// Understands a wish.
    pub(super) async fn order(&self, wish: InstallServer) -> Result<Order, Refusal> {
        let id: ServerId = wish
            .id
            .parse()
            .map_err(|error| invalid(format!("`id`: {error}")))?;
        let file = self.file.clone();
        let added = tokio::task::spawn_blocking(move || file.read()).await;
        let added = added.map_err(|error| gangway_core::Error::Storage(error.to_string()))?;
        let added = added.map_err(|error| gangway_core::Error::Storage(error.to_string()))?;
        if self.config.contains_key(id.as_str()) || added.servers.contains_key(id.as_str()) {
            return Err(Refusal::Taken(id.to_string()));
        }
        if wish.args.len() > MOST || wish.env.len() > MOST || wish.secrets.len() > MOST {
            return Err(invalid(format!(
                "there are more than {MOST} arguments or variables"
            )));
        }
        let mut order = match (&wish.server, &wish.package) {
            (Some(server), None) => self.listed(id, server, &wish).await?,
            (None, Some(package)) => direct(id, package, &wish)?,
            _ => return Err(invalid("give either `server` or `package`")),
        };
        order.extend(&wish)?;
        if wish.allow_scripts {
            order.scripts = Scripts::Run;
        }
        order
            .entry
            .check(order.id.as_str())
            .map_err(|error| invalid(error.to_string()))?;
        match &order.package {
            Some((package, _)) => self.runnable(package.ecosystem())?,
            None if order.entry.url.is_none() => {
                return Err(invalid("there is nothing to install"));
            }
            None => {}
        }
        Ok(order)
    }

    fn runnable(&self, ecosystem: Ecosystem) -> Result<(), Refusal> {
        match Carrier::of(ecosystem, &self.path) {
            Some(_) => Ok(()),
            None => Err(Refusal::NoRuntime(missing(ecosystem))),
        }
    }

    async fn listed(
        &self,
        id: ServerId,
        server: &str,
        wish: &InstallServer,
    ) -> Result<Order, Refusal> {
        let no_server = || Refusal::NoServer(server.chars().take(200).collect());
        let listed = self.catalog.get(server).await?.ok_or_else(no_server)?;
        let offers = listed.offers(self.catalog.policy());
        let offer = self.choose(&offers, wish.option.as_deref())?;
        if let Some(reason) = &offer.refusal {
            return Err(invalid(format!(
                "{} cannot be installed: {reason}",
                offer.key
            )));
        }
        let filled = offer.fill(&wish.inputs, |input| secret::name(id.as_str(), input))?;
        Order::new(id, filled, Some(listed.name), self.catalog.policy())
    }

    /// The way that was named, or the first that this machine can do.
    fn choose<'a>(&self, offers: &'a [Offer], key: Option<&str>) -> Result<&'a Offer, Refusal> {
        if let Some(key) = key {
            let found = offers.iter().find(|offer| offer.key == key);
            let keys: Vec<_> = offers.iter().map(|offer| offer.key.as_str()).collect();
            return found
                .ok_or_else(|| invalid(format!("`option` must be one of {}", keys.join(", "))));
        }
        let possible = |offer: &&Offer| match (&offer.refusal, offer.package()) {
            (Some(_), _) => false,
            (None, Some(package)) => self.runnable(package.ecosystem()).is_ok(),
            (None, None) => true,
        };
        let found = offers.iter().find(possible).or(offers.first());
        found.ok_or_else(|| invalid("the catalog knows no way to install it"))
    }
}

/// A package that need not be in the catalog.
fn direct(id: ServerId, package: &PackageName, wish: &InstallServer) -> Result<Order, Refusal> {
    if wish.option.is_some() || !wish.inputs.is_empty() {
        return Err(invalid("`option` and `inputs` go with `server`"));
    }
    let ecosystem = match package.kind {
        PackageKind::Npm => Ecosystem::Npm,
        PackageKind::Pypi => Ecosystem::Pypi,
    };
    let package = Package::parse(ecosystem, package.name.trim(), package.version.as_deref());
    let package = package.map_err(|error| invalid(error.to_string()))?;
    let filled = Filled::package(package);
    Order::new(id, filled, None, UrlPolicy::Any)
}

impl Order {
    /// Says which install scripts did not run, if there were any.
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
    ) -> Result<Self, Refusal> {
        let is_remote = filled.url.is_some();
        let mut order = Self {
            package: filled.package.map(|package| (package, filled.command)),
            entry: ServerEntry {
                // Whatever the program will be, it is one.
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

    /// Adds what the wish says beside the catalog.
    fn extend(&mut self, wish: &InstallServer) -> Result<(), Refusal> {
        let extra = !(wish.args.is_empty() && wish.env.is_empty() && wish.secrets.is_empty());
        if extra && self.package.is_none() {
            return Err(invalid("`args`, `env` and `secrets` go with a package"));
        }
        for text in wish.args.iter().chain(wish.env.values()) {
            if text.contains('\0') {
                return Err(invalid(
                    "an argument or variable has a zero character in it",
                ));
            }
        }
        for name in wish.env.keys().chain(wish.secrets.keys()) {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if !begins || !name.chars().all(is_plain) || name.len() > 128 {
                return Err(invalid(
                    "a variable's name has letters, digits and _, and begins with no digit",
                ));
            }
        }
        self.entry.args.extend(wish.args.iter().cloned());
        self.entry.env.extend(wish.env.clone());
        for (name, value) in &wish.secrets {
            let kept = self.keep(name, value.clone())?;
            self.entry
                .env
                .insert(name.clone(), format!("${{secret:{kept}}}"));
        }
        Ok(())
    }

    /// Takes a secret and says under which name it will be kept.
    fn keep(&mut self, input: &str, value: String) -> Result<String, Refusal> {
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
