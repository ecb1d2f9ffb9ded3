//! Module resolution.

use gangway_core::AppName;
use serde_json::{Map, Value, json};

use super::super::folder::AppFolder;
use gangway_files::FilePath;

/// The URL prefix of the folder beside the apps.
pub(super) const SHARED: &str = "__gangway/vendor/";

/// The URL of our library for apps.
const LIBRARY: &str = "__gangway/agent.js";

/// Bytes of a `package.json`.
const PACKAGE: u64 = 256 << 10;

/// Extensions that a script may omit.
const ENDS: [&str; 5] = ["ts", "tsx", "jsx", "js", "mjs"];

/// A script of an app, from which modules are resolved.
pub(super) struct Site<'a> {
    pub(super) app: &'a AppFolder,
    /// The folder of the script: the app's, or the one beside the apps.
    pub(super) folder: &'a AppFolder,
    pub(super) file: &'a FilePath,
}

/// The folder of modules beside the apps.
pub(super) fn shared(app: &AppFolder) -> Option<AppFolder> {
    match app {
        AppFolder::Builtin(_) => {
            let name: AppName = "vendor".parse().ok()?;
            Some(AppFolder::Builtin(name))
        }
        AppFolder::Disk(path) => Some(AppFolder::Disk(path.parent()?.join("vendor"))),
    }
}

/// An app's own folders of modules. Package managers install `dependencies` in `node_modules`.
const OWN_HOMES: [&str; 2] = ["vendor/", "node_modules/"];

/// Where an app's modules are, nearest first: in its own folders, and in the one beside the apps.
pub(super) fn homes(app: &AppFolder) -> Vec<(AppFolder, &'static str)> {
    let own = OWN_HOMES.map(|base| (app.clone(), base));
    let shared = shared(app).map(|shared| (shared, ""));
    own.into_iter().chain(shared).collect()
}

/// The URL prefix of files in a folder, relative to the app's root.
fn prefix(app: &AppFolder, folder: &AppFolder) -> &'static str {
    if folder == app { "" } else { SHARED }
}

impl Site<'_> {
    /// The resolved name of a module, relative to the script; `None` if it needs no change.
    pub(super) fn resolve(&self, name: &str) -> Option<String> {
        if name.starts_with("./") || name.starts_with("../") || name.starts_with('/') {
            return self.nearby(name);
        }
        if name == "gangway" {
            return Some(self.up(LIBRARY));
        }
        // `https:`, `data:`, `node:` and such, and names that only an import map resolves.
        if name.is_empty() || name.contains([':', '\\', '?', '%']) || name.starts_with('#') {
            return None;
        }
        if let Some(file) = self.nested(name) {
            return Some(self.up(&format!(
                "{}{}",
                prefix(self.app, self.folder),
                file.as_str()
            )));
        }
        let found = homes(self.app).into_iter().find_map(|(folder, base)| {
            let file = in_vendor(&folder, base, name)?;
            Some(format!("{}{}", prefix(self.app, &folder), file.as_str()))
        });
        found.map(|address| self.up(&address))
    }

    /// A module in a nested `node_modules` of the script's own package.
    fn nested(&self, name: &str) -> Option<FilePath> {
        let path = self.file.as_str();
        let is_package =
            self.folder != self.app || OWN_HOMES.iter().any(|home| path.starts_with(home));
        let mut above = self.file.parent().filter(|_| is_package);
        while let Some(folder) = above.filter(|folder| !folder.is_root()) {
            let home = format!("{}/node_modules/", folder.as_str());
            let about = format!("{home}{}/package.json", split(name).0);
            if self.folder.mark(&about.parse().ok()?).is_ok() {
                return in_vendor(self.folder, &home, name);
            }
            above = folder.parent();
        }
        None
    }

    /// A URL relative to the script, from one relative to the app's root.
    fn up(&self, address: &str) -> String {
        let mut depth = self.file.as_str().matches('/').count();
        if self.folder != self.app {
            depth += SHARED.matches('/').count();
        }
        match depth {
            0 => format!("./{address}"),
            depth => format!("{}{address}", "../".repeat(depth)),
        }
    }

    /// A file of the same folder, named without its extension or with that of the compiled file.
    fn nearby(&self, name: &str) -> Option<String> {
        let end = name.find(['?', '#']).unwrap_or(name.len());
        let (name, rest) = name.split_at(end);
        let mut names: Vec<&str> = match name.starts_with('/') {
            true => Vec::new(),
            false => self.file.as_str().split('/').collect(),
        };
        names.pop();
        for part in name.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(names.pop()?),
                part => names.push(part),
            }
        }
        let wanted: FilePath = names.join("/").parse().ok()?;
        if self.folder.mark(&wanted).is_ok() {
            return None;
        }
        let found = variant(self.folder, &wanted)?;
        let prefix = prefix(self.app, self.folder);
        Some(format!(
            "{}{rest}",
            self.up(&format!("{prefix}{}", found.as_str()))
        ))
    }
}

/// A script for a name that is not a file.
pub(super) fn variant(folder: &AppFolder, wanted: &FilePath) -> Option<FilePath> {
    let there = |name: String| -> Option<FilePath> {
        let file: FilePath = name.parse().ok()?;
        folder.mark(&file).ok().map(|_| file)
    };
    let name = wanted.as_str();
    // TypeScript allows the extension of the compiled file.
    for (written, target) in [
        (".js", ".ts"),
        (".js", ".tsx"),
        (".js", ".jsx"),
        (".jsx", ".tsx"),
        (".mjs", ".mts"),
    ] {
        if let Some(file) = name
            .strip_suffix(written)
            .and_then(|stem| there(format!("{stem}{target}")))
        {
            return Some(file);
        }
    }
    if name.is_empty() {
        return None;
    }
    let direct = ENDS.iter().find_map(|end| there(format!("{name}.{end}")));
    direct.or_else(|| {
        ENDS.iter()
            .find_map(|end| there(format!("{name}/index.{end}")))
    })
}

/// Paths per package in an import map.
const PATHS: usize = 100;

/// An import map for the installed packages, relative to a page `depth` folders below the app's root; `None` if there
/// are none.
pub(super) fn import_map(app: &AppFolder, packages: &[String], depth: usize) -> Option<String> {
    let up = match depth {
        0 => "./".to_owned(),
        depth => "../".repeat(depth),
    };
    let homes = homes(app);
    let mut imports = Map::new();
    for package in packages {
        let found = homes.iter().find_map(|(folder, base)| {
            let file = in_vendor(folder, base, package)?;
            Some((folder, base, prefix(app, folder), file))
        });
        let Some((folder, base, prefix, file)) = found else {
            continue;
        };
        let address = |path: &str| Value::String(format!("{up}{prefix}{path}"));
        imports.insert(package.clone(), address(file.as_str()));
        match paths(folder, &format!("{base}{package}")) {
            Some(paths) => {
                for path in paths {
                    let name = format!("{package}/{path}");
                    if let Some(file) = in_vendor(folder, base, &name) {
                        imports.insert(name, address(file.as_str()));
                    }
                }
            }
            None => {
                let folder = format!("{base}{package}/");
                imports.insert(format!("{package}/"), address(&folder));
            }
        }
    }
    let is_here = !imports.is_empty();
    is_here.then(|| json!({ "imports": imports }).to_string())
}

/// The paths in a package's `exports`; `None` without `exports`.
fn paths(folder: &AppFolder, home: &str) -> Option<Vec<String>> {
    let package = package(folder, home)?;
    let exports = package.get("exports")?;
    let paths = exports.as_object().into_iter().flat_map(Map::keys);
    let paths = paths.filter_map(|path| path.strip_prefix("./"));
    let paths = paths.filter(|path| !path.contains('*') && !path.is_empty());
    Some(paths.take(PATHS).map(str::to_owned).collect())
}

pub(super) fn package(folder: &AppFolder, home: &str) -> Option<Value> {
    let file: FilePath = format!("{home}/package.json").parse().ok()?;
    let (_, text) = folder.read(&file, PACKAGE).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Splits a specifier into package name and path.
fn split(name: &str) -> (&str, Option<&str>) {
    let scoped = name.starts_with('@');
    let cut = name.match_indices('/').nth(usize::from(scoped));
    match cut {
        Some((at, _)) => (&name[..at], Some(&name[at + 1..])),
        None => (name, None),
    }
}

/// A module in a folder of modules.
pub(super) fn in_vendor(folder: &AppFolder, base: &str, name: &str) -> Option<FilePath> {
    let file = |path: String| -> Option<FilePath> {
        let path: FilePath = path.parse().ok()?;
        folder.mark(&path).ok().map(|_| path)
    };
    let (package, rest) = split(name);
    let home = format!("{base}{package}");
    if let Some(target) = described(folder, &home, rest) {
        return file(format!("{home}/{target}"));
    }
    let whole = format!("{base}{name}");
    let here = rest.and_then(|_| file(whole.clone()));
    here.or_else(|| file(format!("{whole}.js")))
        .or_else(|| file(format!("{whole}.mjs")))
        .or_else(|| file(format!("{whole}/{}", described(folder, &whole, None)?)))
        .or_else(|| file(format!("{whole}/index.js")))
        .or_else(|| file(format!("{whole}/index.mjs")))
}

/// The entry point in a module's `package.json`.
fn described(folder: &AppFolder, home: &str, rest: Option<&str>) -> Option<String> {
    let package = package(folder, home)?;
    let wanted = rest.map_or_else(|| ".".to_owned(), |rest| format!("./{rest}"));
    let target = match package.get("exports") {
        Some(exports) => exported(exports, &wanted)?,
        None if rest.is_some() => return None,
        None => ["module", "browser", "main"]
            .iter()
            .find_map(|key| package.get(key)?.as_str())?
            .to_owned(),
    };
    Some(target.strip_prefix("./").unwrap_or(&target).to_owned())
}

/// Resolves a path of a package by its `exports`.
fn exported(exports: &Value, wanted: &str) -> Option<String> {
    let paths = exports
        .as_object()
        .filter(|map| map.keys().all(|key| key.starts_with('.')));
    let Some(paths) = paths else {
        return (wanted == ".").then(|| chosen(exports, 0))?;
    };
    if let Some(exact) = paths.get(wanted) {
        return chosen(exact, 0);
    }
    let matches = paths.iter().filter_map(|(key, value)| {
        let (start, end) = key.split_once('*')?;
        let star = wanted.strip_prefix(start)?.strip_suffix(end)?;
        Some((start.len(), star, value))
    });
    let (_, star, value) = matches.max_by_key(|(length, _, _)| *length)?;
    Some(chosen(value, 0)?.replace('*', star))
}

/// The first target for browsers.
fn chosen(value: &Value, depth: usize) -> Option<String> {
    if depth > 8 {
        return None;
    }
    match value {
        Value::String(target) => target.starts_with("./").then(|| target.clone()),
        Value::Array(targets) => targets.iter().find_map(|one| chosen(one, depth + 1)),
        Value::Object(conditions) => conditions
            .iter()
            .filter(|(key, _)| ["browser", "module", "import", "default"].contains(&key.as_str()))
            .find_map(|(_, one)| chosen(one, depth + 1)),
        _ => None,
    }
}
