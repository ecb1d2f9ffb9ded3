//! Entries of MCP servers in the common JSON form of MCP hosts.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use gangway_core::OWN;
use gangway_mcp::{ServerId, ServerSpec, Transport, UrlPolicy};
use gangway_secrets::fill_placeholders;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::approvals::ApprovalPolicy;

/// An MCP server: a command, or a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(default)]
#[ts(optional_fields)]
pub struct ServerEntry {
    /// The command of a local server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments. `${secret:NAME}` inserts a secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>")]
    pub args: Vec<String>,
    /// Additional environment variables. `${secret:NAME}` inserts a secret.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
    /// Its working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    #[ts(optional, type = "string")]
    pub cwd: Option<PathBuf>,
    /// The URL of a remote server. `${secret:NAME}` inserts a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers of all requests to it. `${secret:NAME}` inserts a secret.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub headers: BTreeMap<String, String>,
    /// Whether it is not started.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub disabled: bool,
    /// Timeout of a call, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub timeout_seconds: Option<u64>,
    /// Which calls of its tools need approval: `writes`, `all` or `none`; default is `tools.approval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalPolicy>,
    /// Metadata written by the installer only.
    #[serde(rename = "gangway", skip_serializing_if = "Option::is_none")]
    pub installed: Option<Installed>,
}

/// The installer's metadata of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields)]
pub struct Installed {
    /// Its name in the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The package with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The names of its secrets by input.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub secrets: BTreeMap<String, String>,
    /// Whether its URL must be on the public internet, since it is from an untrusted author.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub public_only: bool,
}

/// Why an entry is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEntry {
    /// Its id is invalid.
    #[error(transparent)]
    Id(#[from] gangway_mcp::BadServerId),
    /// Its id is reserved.
    #[error("`gangway` is reserved for Gangway's own tools; use another name")]
    Own,
    /// It has neither a command nor a URL, or both.
    #[error("{id} must have either a command or a URL")]
    Neither {
        /// The server.
        id: String,
    },
    /// Its URL is invalid.
    #[error("the URL of {id} must start with http:// or https://, not {url:?}")]
    Url {
        /// The server.
        id: String,
        /// Its URL.
        url: String,
    },
    /// It uses a secret that does not exist.
    #[error("{id} needs the secret {name}; set it with: gangway secrets set {name}")]
    NoSecret {
        /// The server.
        id: String,
        /// The secret.
        name: String,
    },
}

impl ServerEntry {
    /// Checks the entry.
    pub fn check(&self, id: &str) -> Result<ServerId, BadEntry> {
        let parsed: ServerId = id.parse()?;
        if id == OWN {
            return Err(BadEntry::Own);
        }
        let command = self
            .command
            .as_deref()
            .filter(|command| !command.trim().is_empty());
        match (command, &self.url) {
            (Some(_), None) => Ok(parsed),
            (None, Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
                Ok(parsed)
            }
            (None, Some(url)) => Err(BadEntry::Url {
                id: id.to_owned(),
                url: url.chars().take(200).collect(),
            }),
            _ => Err(BadEntry::Neither { id: id.to_owned() }),
        }
    }

    /// The entry as the host runs it, with the values of `secret`.
    pub fn spec(
        &self,
        id: &str,
        mut secret: impl FnMut(&str) -> Option<String>,
    ) -> Result<ServerSpec, BadEntry> {
        let parsed = self.check(id)?;
        let mut fill = |text: &String| {
            fill_placeholders(text, &mut secret).map_err(|missing| BadEntry::NoSecret {
                id: id.to_owned(),
                name: missing.0,
            })
        };
        let transport = match (&self.command, &self.url) {
            (_, Some(url)) => Transport::Http {
                url: fill(url)?,
                headers: self
                    .headers
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), fill(value)?)))
                    .collect::<Result<_, BadEntry>>()?,
                policy: match &self.installed {
                    Some(installed) if installed.public_only => UrlPolicy::PublicOnly,
                    // The user wrote it.
                    _ => UrlPolicy::Any,
                },
            },
            (command, None) => Transport::Stdio {
                command: command.clone().unwrap_or_default().into(),
                args: self
                    .args
                    .iter()
                    .map(|arg| Ok(fill(arg)?.into()))
                    .collect::<Result<_, BadEntry>>()?,
                env: self
                    .env
                    .iter()
                    .map(|(name, value)| Ok((name.into(), fill(value)?.into())))
                    .collect::<Result<_, BadEntry>>()?,
                cwd: self.cwd.clone(),
            },
        };
        Ok(ServerSpec {
            id: parsed,
            transport,
            timeout: self.timeout_seconds.map(Duration::from_secs),
            tool_timeouts: BTreeMap::new(),
            enabled: !self.disabled,
            login: None,
        })
    }
}

impl ServerEntry {
    /// The names of the secrets that it uses.
    #[must_use]
    pub fn secrets(&self) -> BTreeSet<String> {
        let texts = self.args.iter().chain(self.env.values());
        let texts = texts.chain(&self.url).chain(self.headers.values());
        let mut names = BTreeSet::new();
        for text in texts {
            let found = text.split("${secret:").skip(1);
            let found = found.filter_map(|rest| rest.split_once('}'));
            names.extend(found.map(|(name, _)| name.to_owned()));
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(json: serde_json::Value) -> ServerEntry {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn secrets_are_put_where_they_are_named() {
        let one = entry(serde_json::json!({
            "command": "x", "args": ["--key", "${secret:T}"], "env": { "A": "Bearer ${secret:T}!", "B": "${secret:", "C": "plain" },
        }));
        let spec = one
            .spec("a", |name| (name == "T").then(|| "s3".to_owned()))
            .unwrap();
        assert_eq!(one.secrets().into_iter().collect::<Vec<_>>(), ["T"]);
        let Transport::Stdio { env, args, .. } = spec.transport else {
            panic!("not a command");
        };
        let values: Vec<_> = env.values().collect();
        assert_eq!(values, ["Bearer s3!", "${secret:", "plain"]);
        assert_eq!(args, ["--key", "s3"]);
        let error = one.spec("a", |_| None).unwrap_err().to_string();
        assert!(error.contains("gangway secrets set T"), "{error}");
    }

    #[test]
    fn a_url_that_a_stranger_wrote_leads_to_the_public_internet_alone() {
        for (mark, wanted) in [
            (serde_json::json!(null), UrlPolicy::Any),
            (serde_json::json!({ "server": "a/b" }), UrlPolicy::Any),
            (
                serde_json::json!({ "publicOnly": true }),
                UrlPolicy::PublicOnly,
            ),
        ] {
            let url = "https://x/${secret:T}";
            let one = entry(serde_json::json!({ "url": url, "gangway": mark }));
            let spec = one.spec("a", |_| Some("s3".to_owned())).unwrap();
            let Transport::Http { url, policy, .. } = spec.transport else {
                panic!("not a URL");
            };
            assert_eq!((url.as_str(), policy), ("https://x/s3", wanted));
        }
    }

    #[test]
    fn an_entry_is_a_command_or_a_url() {
        for (json, message) in [
            (serde_json::json!({}), "either"),
            (serde_json::json!({ "command": " " }), "either"),
            (
                serde_json::json!({ "command": "x", "url": "http://x" }),
                "either",
            ),
            (serde_json::json!({ "url": "ftp://x" }), "http://"),
        ] {
            let error = entry(json).check("a").unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(
            entry(serde_json::json!({ "command": "x" }))
                .check("A b")
                .is_err()
        );
    }
}
