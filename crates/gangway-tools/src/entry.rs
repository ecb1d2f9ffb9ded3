//! An MCP server as people write it down: the same form that other hosts use.

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
    /// The program of a server that runs here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What it is given. `${secret:NAME}` stands for a secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>")]
    pub args: Vec<String>,
    /// What is added to its environment. `${secret:NAME}` stands for a secret.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    #[ts(optional, type = "string")]
    pub cwd: Option<PathBuf>,
    /// The address of a server that runs elsewhere. `${secret:NAME}` stands for a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Sent along with every request to it. `${secret:NAME}` stands for a secret.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub headers: BTreeMap<String, String>,
    /// Whether it does not start with everything else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub disabled: bool,
    /// Seconds that a call may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub timeout_seconds: Option<u64>,
    /// Before which calls of its tools the chat's agent asks: `writes`, `all` or `none`; as `tools.approval` says when
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalPolicy>,
    /// What the installer noted; nobody else writes it.
    #[serde(rename = "gangway", skip_serializing_if = "Option::is_none")]
    pub installed: Option<Installed>,
}

/// What the installer noted about a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields)]
pub struct Installed {
    /// Its name in the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The package and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The names of its secrets, by the names of its inputs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>")]
    pub secrets: BTreeMap<String, String>,
    /// Whether its URL must lead to the public internet: a stranger wrote it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub public_only: bool,
}

/// Why an entry is no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEntry {
    /// Its name does not fit.
    #[error(transparent)]
    Id(#[from] gangway_mcp::BadServerId),
    /// Its name is Gangway's.
    #[error("gangway is the name of Gangway's own tools; choose another one")]
    Own,
    /// It says nothing or too much.
    #[error("{id} needs either a command or a URL")]
    Neither {
        /// The server.
        id: String,
    },
    /// Its URL is none.
    #[error("{id} has the URL {url:?}, but must have one that begins with http:// or https://")]
    Url {
        /// The server.
        id: String,
        /// What it has.
        url: String,
    },
    /// It names a secret that is not there.
    #[error("{id} needs the secret {name}: gangway secrets set {name}")]
    NoSecret {
        /// The server.
        id: String,
        /// The secret.
        name: String,
    },
}

impl ServerEntry {
    /// Whether this can be a server.
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

    /// As the host runs it; `secret` knows the secrets.
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
                    // A person wrote it down.
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
    /// The names of the secrets that it needs.
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
        for (json, words) in [
            (serde_json::json!({}), "either"),
            (serde_json::json!({ "command": " " }), "either"),
            (
                serde_json::json!({ "command": "x", "url": "http://x" }),
                "either",
            ),
            (serde_json::json!({ "url": "ftp://x" }), "http://"),
        ] {
            let error = entry(json).check("a").unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(
            entry(serde_json::json!({ "command": "x" }))
                .check("A b")
                .is_err()
        );
    }
}
