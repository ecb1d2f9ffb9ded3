//! A server as listed in a registry, parsed leniently and within limits.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The key of the registry's own metadata.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";

/// The registries' limit.
const NAME: usize = 200;

const DESCRIPTION: usize = 1000;

/// Bytes of an entry; one with a hundred inputs fits.
const ENTRY: usize = 64 << 10;

/// Items of any list in an entry.
const ITEMS: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RegistryServer {
    /// Such as `io.github.someone/files`.
    pub name: String,
    /// The display name.
    pub title: Option<String>,
    pub description: String,
    pub version: String,
    pub repository: Option<String>,
    pub website: Option<String>,
    pub updated: Option<String>,
    pub(super) packages: Vec<RegistryPackage>,
    pub(super) remotes: Vec<Remote>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RegistryPackage {
    pub(super) registry_type: String,
    pub(super) registry_base_url: Option<String>,
    pub(super) identifier: String,
    pub(super) version: Option<String>,
    pub(super) transport: Option<Remote>,
    pub(super) runtime_arguments: Vec<Argument>,
    pub(super) package_arguments: Vec<Argument>,
    pub(super) environment_variables: Vec<NamedInput>,
}

/// A remote server, or the transport of a package.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Remote {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) url: String,
    pub(super) headers: Vec<NamedInput>,
    pub(super) variables: BTreeMap<String, Input>,
}

/// An argument: a flag with a value, or a value alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Argument {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) name: Option<String>,
    pub(super) value_hint: Option<String>,
    #[serde(flatten)]
    pub(super) input: Input,
}

/// A variable or a header.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct NamedInput {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) input: Input,
}

/// A value, or an input for one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Input {
    pub(super) description: Option<String>,
    pub(super) is_required: bool,
    pub(super) is_secret: bool,
    pub(super) format: Option<String>,
    #[serde(deserialize_with = "plain")]
    pub(super) value: Option<String>,
    #[serde(deserialize_with = "plain")]
    pub(super) default: Option<String>,
    pub(super) choices: Vec<String>,
    pub(super) variables: BTreeMap<String, Input>,
}

/// A string; numbers and booleans are converted.
fn plain<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(match Option::<Value>::deserialize(input)? {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(Value::Bool(is)) => Some(is.to_string()),
        _ => None,
    })
}

#[derive(Debug, Clone, PartialEq)]
pub enum ParsedServer {
    Server(Box<RegistryServer>),
    /// Deprecated, or not the latest version.
    LeftOut,
    Malformed,
}

impl RegistryServer {
    #[must_use]
    pub fn read(entry: &Value) -> ParsedServer {
        let server = match &entry["server"] {
            Value::Object(_) => &entry["server"],
            _ => entry,
        };
        let own = [&entry["_meta"][OFFICIAL], &server["_meta"][OFFICIAL]];
        let statuses = own.iter().map(|meta| &meta["status"]);
        let mut statuses = statuses
            .chain([&server["status"]])
            .filter_map(Value::as_str);
        let is_old = own.iter().any(|meta| meta["isLatest"] == false);
        if is_old || statuses.any(|status| status != "active") {
            return ParsedServer::LeftOut;
        }
        let updated = own
            .iter()
            .find_map(|meta| meta["updatedAt"].as_str().or(meta["publishedAt"].as_str()));
        match read(server, updated) {
            Some(listed) => ParsedServer::Server(Box::new(listed)),
            None => ParsedServer::Malformed,
        }
    }
}

fn read(server: &Value, updated: Option<&str>) -> Option<RegistryServer> {
    let name = server["name"].as_str().filter(|name| is_name(name))?;
    let version = shown(server["version"].as_str()?, 128);
    let listed = RegistryServer {
        name: name.to_owned(),
        title: server["title"]
            .as_str()
            .map(|title| shown(title, 200))
            .filter(|title| !title.is_empty()),
        description: shown(
            server["description"].as_str().unwrap_or_default(),
            DESCRIPTION,
        ),
        version,
        repository: url(&server["repository"]["url"]),
        website: url(&server["websiteUrl"]),
        updated: updated.map(|at| shown(at, 40)),
        packages: items(&server["packages"]),
        remotes: items(&server["remotes"]),
    };
    let size = serde_json::to_vec(&listed).ok()?.len();
    (size <= ENTRY).then_some(listed)
}

/// The valid items of a list.
fn items<T: for<'de> Deserialize<'de>>(list: &Value) -> Vec<T> {
    let list = list.as_array().into_iter().flatten().take(ITEMS);
    list.filter_map(|item| T::deserialize(item).ok()).collect()
}

fn is_name(text: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    text.len() <= NAME
        && text
            .split_once('/')
            .is_some_and(|(a, b)| part(a) && part(b))
}

/// An http(s) link.
fn url(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| text.len() <= 2000)?;
    let url = reqwest::Url::parse(text).ok()?;
    ["http", "https"]
        .contains(&url.scheme())
        .then(|| url.to_string())
}

/// One line of text without bidirectional control characters.
pub(super) fn shown(text: &str, most: usize) -> String {
    let is_hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let line = text
        .chars()
        .filter(|c| !is_hidden(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(most)
        .collect::<String>();
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(entry: Value) -> RegistryServer {
        match RegistryServer::read(&entry) {
            ParsedServer::Server(listed) => *listed,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_entry_is_read_in_both_of_its_forms() {
        let own =
            json!({ "status": "active", "isLatest": true, "updatedAt": "2026-01-02T03:04:05Z" });
        let inner = json!({
            "name": "io.x/y", "description": "A\nB", "version": "1.0.0", "title": "T\u{202e}x",
            "repository": { "url": "https://example.com/r" }, "websiteUrl": "javascript:alert(1)",
            "packages": [
                { "registryType": "npm", "identifier": "a", "version": "1.0.0",
                  "environmentVariables": [{ "name": "K", "isRequired": true, "default": 7 }] },
                { "registryType": 7 }, "nothing",
            ],
        });
        let nested = server(json!({ "server": inner, "_meta": { OFFICIAL: own } }));
        let mut flat = inner.clone();
        flat["_meta"] = json!({ OFFICIAL: own });
        assert_eq!(nested, server(flat));
        assert_eq!(
            (nested.description.as_str(), nested.title.as_deref()),
            ("A B", Some("Tx"))
        );
        assert_eq!((nested.website, nested.packages.len()), (None, 1));
        let input = &nested.packages[0].environment_variables[0].input;
        assert_eq!(
            (input.default.as_deref(), input.is_required),
            (Some("7"), true)
        );
        assert_eq!(nested.updated.as_deref(), Some("2026-01-02T03:04:05Z"));
    }

    #[test]
    fn what_is_gone_old_or_no_entry_at_all_is_not_a_server() {
        let good = json!({ "name": "a/b", "version": "1", "description": "" });
        for meta in [
            json!({ "status": "deleted" }),
            json!({ "status": "deprecated" }),
            json!({ "isLatest": false }),
        ] {
            let entry = json!({ "server": good, "_meta": { OFFICIAL: meta } });
            assert_eq!(RegistryServer::read(&entry), ParsedServer::LeftOut);
        }
        let huge =
            json!({ "name": "a/b", "version": "1", "remotes": [{ "url": "x".repeat(70_000) }] });
        for entry in [
            json!(null),
            json!(7),
            json!([]),
            json!({}),
            json!({ "server": {} }),
            json!({ "name": "a/b" }),
            json!({ "name": "../b", "version": "1" }),
            json!({ "name": "a b/c", "version": "1" }),
            json!({ "name": 7, "version": "1" }),
            huge,
        ] {
            assert_eq!(
                RegistryServer::read(&entry),
                ParsedServer::Malformed,
                "{entry}"
            );
        }
    }
}
