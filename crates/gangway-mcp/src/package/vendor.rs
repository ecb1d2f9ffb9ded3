//! Downloads the packages that the pages of an app import, with npm, into their own folder. No install scripts run.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::Path,
    time::Duration,
};

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Carrier, Dependency, Ecosystem, FetchError, Output, Scripts, carrier, executable, is_npm_name,
    run::{Run, prepare},
};

/// npm's error codes for an unreachable registry.
const UNREACHABLE: [&str; 10] = [
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ENETUNREACH",
    "EHOSTUNREACH",
    "ETIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "SELF_SIGNED_CERT_IN_CHAIN",
];

/// Arguments that override npm's settings: no dependencies on repositories, URLs or paths, and a layout in which
/// packages find each other by name.
const ONLY_REGISTRY: [&str; 7] = [
    "--allow-git=none",
    "--allow-remote=none",
    "--allow-file=none",
    "--allow-directory=none",
    "--install-strategy=hoisted",
    // Platform-specific programs, which no page runs.
    "--omit=optional",
    "--no-package-lock",
];

pub struct Vendor<'a> {
    pub dependencies: &'a [Dependency],
    /// Their folder; they are installed in its `node_modules`.
    pub folder: &'a Path,
    /// The search path.
    pub path: &'a OsStr,
    /// As in [`crate::Settings::guard`].
    pub guard: Option<&'a [OsString]>,
    pub time: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vendored {
    /// All packages in `node_modules`, including dependencies, with their versions.
    pub packages: BTreeMap<String, String>,
    /// Packages whose install scripts did not run.
    pub skipped_scripts: Vec<String>,
}

impl Vendor<'_> {
    /// Installs them. Dropping the future kills npm; `stop` also waits for its end.
    pub async fn run(
        &self,
        output: &Output,
        stop: &CancellationToken,
    ) -> Result<Vendored, FetchError> {
        let npm = Carrier::of(Ecosystem::Npm, self.path);
        let (carrier, program) = npm.ok_or(FetchError::NoCarrier("npm"))?;
        let what = "the packages";
        let failed = |reason: String| FetchError::Failed {
            carrier: carrier.program(),
            package: what.to_owned(),
            reason,
        };
        let wanted = self.dependencies.iter();
        let wanted: Map<String, Value> = wanted
            .map(|one| (one.name().to_owned(), one.range().into()))
            .collect();
        let project = json!({ "private": true, "dependencies": wanted });
        prepare(self.folder, &project)
            .await
            .map_err(|error| failed(format!("{}: {error}", self.folder.display())))?;
        let mut args = carrier::npm_install(self.folder, Scripts::Skip);
        args.extend(ONLY_REGISTRY.map(OsString::from));
        let run = Run {
            carrier,
            program,
            args,
            folder: self.folder,
            path: self.path,
            guard: self.guard,
            time: self.time,
        };
        let ran = run.finish(what, output, stop).await;
        ran.map_err(|error| match (error, explained(&output.lines())) {
            (FetchError::Failed { .. }, Some(reason)) => failed(reason),
            (error, _) => error,
        })?;
        let folder = self.folder.to_owned();
        let found = tokio::task::spawn_blocking(move || look(&folder)).await;
        let found = found
            .map_err(|error| failed(error.to_string()))?
            .map_err(failed)?;
        let missing = |one: &&Dependency| !found.packages.contains_key(one.name());
        match self.dependencies.iter().find(missing) {
            Some(one) => Err(failed(format!("{} was not installed", one.name()))),
            None => Ok(found),
        }
    }
}

/// Reads npm's lock file.
fn look(folder: &Path) -> Result<Vendored, String> {
    let file = folder.join("node_modules").join(".package-lock.json");
    let text = std::fs::read(file);
    let lock: Option<Value> = text
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    let lock = lock.ok_or("it wrote no lock file; npm 7 or later is required")?;
    let mut packages = BTreeMap::new();
    for (path, package) in lock["packages"].as_object().into_iter().flatten() {
        let resolved = package["resolved"].as_str().unwrap_or_default();
        // An older npm does not know how to exclude these.
        if package["link"] == true || resolved.starts_with("git") || resolved.starts_with("file:") {
            let name = path.rsplit("node_modules/").next().unwrap_or(path);
            return Err(format!("{name} is not from the registry"));
        }
        let Some(name) = path.strip_prefix("node_modules/") else {
            continue;
        };
        if is_npm_name(name) {
            let version = package["version"].as_str().unwrap_or_default();
            packages.insert(name.to_owned(), version.to_owned());
        }
    }
    Ok(Vendored {
        packages,
        skipped_scripts: executable::with_scripts(folder),
    })
}

/// Explains npm's error code.
fn explained(lines: &[String]) -> Option<String> {
    let errors: Vec<&str> = lines.iter().filter_map(|line| error_in(line)).collect();
    let code = errors.iter().find_map(|line| line.strip_prefix("code "))?;
    let after = |word: &str| {
        let lines = errors.iter().filter_map(|line| line.strip_prefix(word));
        lines.map(str::trim).collect::<Vec<_>>()
    };
    let code = code.trim();
    if UNREACHABLE.contains(&code) {
        return Some(format!(
            "the registry cannot be reached ({code}); check the network and npm's `registry` and `proxy` settings"
        ));
    }
    match code {
        "E404" => {
            let quoted = |line: &&str| Some(line.split('\'').nth(1)?.to_owned());
            let name = after("404 ").iter().find_map(quoted)?;
            Some(format!(
                "package {name} was not found in the registry, or is private"
            ))
        }
        "ETARGET" => after("notarget ").first().map(|line| (*line).to_owned()),
        code if code.starts_with("EALLOW") => Some(
            "a package depends on something that is not in the registry, such as a git repository or a URL"
                .to_owned(),
        ),
        _ => None,
    }
}

/// npm's error in a line, in the format of newer and older versions.
fn error_in(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("npm error ")
        .or_else(|| line.strip_prefix("npm ERR! "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Option<String> {
        explained(&lines.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn what_npm_says_becomes_a_reason() {
        let unreachable = told(&["npm http fetch", "npm error code ECONNREFUSED"]).unwrap();
        assert!(unreachable.contains("cannot be reached"), "{unreachable}");
        let unknown = told(&[
            "npm ERR! code E404",
            "npm ERR! 404 Not Found - GET http://x/nope - Not found",
            "npm ERR! 404  'nope@^1' is not in this registry.",
        ]);
        assert!(unknown.unwrap().contains("package nope@^1 was not found"));
        let version = told(&[
            "npm error code ETARGET",
            "npm error notarget No matching version found for a@99.",
            "npm error notarget In most cases",
        ]);
        assert_eq!(version.unwrap(), "No matching version found for a@99.");
        let git = told(&["npm error code EALLOWGIT", "npm error x"]).unwrap();
        assert!(git.contains("git repository"), "{git}");
        assert_eq!(told(&["npm error code EIO", "npm error i/o"]), None);
    }

    #[test]
    fn packages_from_elsewhere_are_not_taken_even_if_npm_took_them() {
        let folder = tempfile::tempdir().unwrap();
        let modules = folder.path().join("node_modules");
        std::fs::create_dir(&modules).unwrap();
        let with = |package: Value| {
            let lock = json!({ "packages": {
                "node_modules/@s/a": { "version": "1.0.0", "resolved": "https://example.org/a.tgz" },
                "node_modules/@s/a/node_modules/b": package,
            } });
            std::fs::write(modules.join(".package-lock.json"), lock.to_string()).unwrap();
            look(folder.path())
        };
        let found = with(json!({ "version": "2.0.0" })).unwrap();
        assert_eq!(found.packages, [("@s/a".into(), "1.0.0".into())].into());
        for package in [
            json!({ "resolved": "git+ssh://git@example.org/b.git#1" }),
            json!({ "resolved": "file:../b.tgz" }),
            json!({ "resolved": "../b", "link": true }),
        ] {
            assert_eq!(with(package).unwrap_err(), "b is not from the registry");
        }
        std::fs::remove_dir_all(modules).unwrap();
        assert!(look(folder.path()).unwrap_err().contains("npm 7"));
    }
}
