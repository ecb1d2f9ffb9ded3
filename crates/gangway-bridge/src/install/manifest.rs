//! Native messaging host manifests.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The name of the native messaging host.
pub(super) const HOST: &str = "gangway.bridge";

/// The extension's origin in Chromium-based browsers.
pub(crate) const CHROMIUM_ORIGIN: &str = "chrome-extension://njoboigjinompkfkjgolajikglchoefc/";

/// The extension's id in Firefox.
pub(crate) const FIREFOX_ID: &str = "extension@gangway";

/// Browser families with the same manifest format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BrowserFamily {
    Firefox,
    Chromium,
}

impl BrowserFamily {
    fn field(self) -> (&'static str, &'static str) {
        match self {
            Self::Firefox => ("allowed_extensions", FIREFOX_ID),
            Self::Chromium => ("allowed_origins", CHROMIUM_ORIGIN),
        }
    }
}

pub(super) fn write(kin: BrowserFamily, program: &str) -> String {
    let mut manifest = json!({
        "name": HOST,
        "description": "Gangway's bridge to its browser extension",
        "path": program,
        "type": "stdio",
    });
    let (field, id) = kin.field();
    manifest[field] = json!([id]);
    format!("{manifest:#}\n")
}

/// Whether a file is our manifest, valid or not: it has our name, and our extension or our launcher.
pub(super) fn is_ours(text: &str) -> bool {
    let manifest: Value = serde_json::from_str(text).unwrap_or_default();
    let lets_in = [BrowserFamily::Firefox, BrowserFamily::Chromium]
        .iter()
        .any(|kin| {
            let (field, id) = kin.field();
            let ids = manifest[field].as_array();
            ids.is_some_and(|ids| ids.iter().any(|one| one == id))
        });
    let starts = program(text);
    let starter = starts.and_then(|path| Some(path.file_stem()? == "gangway-bridge"));
    manifest["name"] == HOST && (lets_in || starter.unwrap_or(false))
}

pub(super) fn program(text: &str) -> Option<PathBuf> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    Some(PathBuf::from(manifest["path"].as_str()?))
}

/// Validates a manifest.
pub(super) fn problem(text: &str, kin: BrowserFamily, program: &Path) -> Option<String> {
    let manifest: Value = match serde_json::from_str(text) {
        Ok(manifest) => manifest,
        Err(_) => return Some("it is not JSON".to_owned()),
    };
    if manifest["name"] != HOST {
        return Some(format!("it is not for {HOST}"));
    }
    if manifest["type"] != "stdio" {
        return Some("its type is not stdio".to_owned());
    }
    if manifest.get("allowed_origins").is_some() && manifest.get("allowed_extensions").is_some() {
        return Some(
            "it has both allowed_origins and allowed_extensions, which Firefox refuses".to_owned(),
        );
    }
    let (field, id) = kin.field();
    if manifest[field] != json!([id]) {
        return Some(format!("{field} must contain {id} and nothing else"));
    }
    let path = manifest["path"].as_str().unwrap_or_default();
    if !Path::new(path).is_absolute() {
        return Some(format!("its path {path:?} is not absolute"));
    }
    if Path::new(path) != program {
        return Some(format!("it starts {path}, not {}", program.display()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kin_gets_its_own_key_and_never_both() {
        let program = "/d/bridge/gangway-bridge";
        for (kin, field, other) in [
            (
                BrowserFamily::Firefox,
                "allowed_extensions",
                "allowed_origins",
            ),
            (
                BrowserFamily::Chromium,
                "allowed_origins",
                "allowed_extensions",
            ),
        ] {
            let text = write(kin, program);
            let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
            assert_eq!(manifest[field].as_array().map(Vec::len), Some(1));
            assert!(manifest.get(other).is_none());
            assert!(is_ours(&text));
            assert_eq!(problem(&text, kin, Path::new(program)), None);
        }
    }
}
