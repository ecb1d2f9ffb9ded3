//! Finds the server program and the version of an installed package.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Ecosystem, Package, normal};

/// Bytes of a package.json or METADATA file that are read.
const DESCRIPTION: u64 = 4 << 20;

/// The program of the package in this folder; `command` is its name, if known.
pub(super) fn of(
    package: &Package,
    folder: &Path,
    command: Option<&str>,
) -> Result<(PathBuf, String), String> {
    let (names, version, bin) = match package.ecosystem() {
        Ecosystem::Npm => npm(package, folder)?,
        Ecosystem::Pypi => pypi(package, folder)?,
    };
    if let Some(asked) = package.version().filter(|asked| !same(asked, &version)) {
        return Err(format!(
            "version {asked} was requested, but {version} was installed"
        ));
    }
    let name = choose(package, &names, command)?;
    let program = bin.join(&name);
    // A package names its program, which might be any file.
    let (Ok(real), Ok(folder)) = (program.canonicalize(), folder.canonicalize()) else {
        return Err(format!("the program {name} of {package} is missing"));
    };
    if !real.starts_with(&folder) {
        return Err(format!(
            "the program {name} of {package} is outside of its folder"
        ));
    }
    Ok((program, version))
}

/// The npm packages in this folder that have install scripts, from npm's lock file.
pub(super) fn with_scripts(folder: &Path) -> Vec<String> {
    let file = folder.join("node_modules").join(".package-lock.json");
    let lock: Value = match std::fs::read(&file) {
        Ok(text) => serde_json::from_slice(&text).unwrap_or_default(),
        Err(_) => return Vec::new(),
    };
    let packages = lock["packages"].as_object().into_iter().flatten();
    let packages = packages.filter(|(_, package)| package["hasInstallScript"] == true);
    let name = |path: &String| {
        let name = path.rsplit("node_modules/").next().unwrap_or(path);
        name.chars().filter(|c| !c.is_control()).take(214).collect()
    };
    packages.map(|(path, _)| name(path)).collect()
}

/// Python versions have several spellings: 1.0 may be installed as 1.0.0, and 1.0-rc1 as 1.0rc1.
fn same(asked: &str, came: &str) -> bool {
    let plain = |text: &str| -> String {
        let text = text.to_ascii_lowercase();
        let text: String = text.chars().filter(|c| !"-_.".contains(*c)).collect();
        text.trim_end_matches('0').to_owned()
    };
    plain(asked) == plain(came)
}

fn choose(package: &Package, names: &[String], command: Option<&str>) -> Result<String, String> {
    if let Some(command) = command {
        let known = names.iter().any(|name| name == command);
        return known
            .then(|| command.to_owned())
            .ok_or_else(|| format!("{package} has no program {command}"));
    }
    let short = package.name().rsplit('/').next().unwrap_or_default();
    if let Some(own) = names.iter().find(|name| normal(name) == normal(short)) {
        return Ok(own.clone());
    }
    match names {
        [only] => Ok(only.clone()),
        [] => Err(format!("{package} has no program, so it is not a server")),
        several => Err(format!(
            "{package} has several programs and none of its own name: {}",
            several.join(", ")
        )),
    }
}

/// Program names, version, and the folder of the programs.
type PackageContents = (Vec<String>, String, PathBuf);

fn npm(package: &Package, folder: &Path) -> Result<PackageContents, String> {
    let modules = folder.join("node_modules");
    let file = modules.join(package.name()).join("package.json");
    let unreadable = || format!("{package} has no valid package.json");
    let size = std::fs::metadata(&file).map_err(|_| unreadable())?.len();
    if size > DESCRIPTION {
        return Err(unreadable());
    }
    let text = std::fs::read(&file).map_err(|_| unreadable())?;
    let value: Value = serde_json::from_slice(&text).map_err(|_| unreadable())?;
    let version = value["version"].as_str().ok_or_else(unreadable)?.to_owned();
    let short = package.name().rsplit('/').next().unwrap_or_default();
    let names = match &value["bin"] {
        Value::String(_) => vec![short.to_owned()],
        Value::Object(bins) => distinct(bins, short),
        _ => Vec::new(),
    };
    let names = names.into_iter().filter(|name| is_plain(name)).collect();
    Ok((names, version, modules.join(".bin")))
}

/// Several names of one file count as one program.
fn distinct(bins: &serde_json::Map<String, Value>, short: &str) -> Vec<String> {
    let mut files: Vec<&Value> = bins.values().collect();
    files.dedup();
    match (bins.contains_key(short), files.len()) {
        (false, 1) => bins.keys().take(1).cloned().collect(),
        _ => bins.keys().cloned().collect(),
    }
}

fn pypi(package: &Package, folder: &Path) -> Result<PackageContents, String> {
    let wanted = normal(package.name());
    let version = environments(folder)
        .iter()
        .flat_map(|site| listing(site))
        .find_map(|name| {
            let (own, version) = name.strip_suffix(".dist-info")?.rsplit_once('-')?;
            (normal(own) == wanted).then(|| version.to_owned())
        });
    let version = version.ok_or_else(|| format!("{package} was not installed where expected"))?;
    let bin = folder.join("bin");
    let names = listing(&bin)
        .into_iter()
        .filter(|name| is_plain(name))
        .collect();
    Ok((names, version, bin))
}

/// The `site-packages` folders, wherever the package manager put them.
fn environments(folder: &Path) -> Vec<PathBuf> {
    let roots = [folder.join("tools"), folder.join("pipx/venvs")];
    let inside = |folder: &PathBuf| -> Vec<PathBuf> {
        listing(folder)
            .into_iter()
            .map(|name| folder.join(name))
            .collect()
    };
    roots
        .iter()
        .flat_map(inside)
        .flat_map(|venv| inside(&venv.join("lib")))
        .map(|python| python.join("site-packages"))
        .collect()
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(folder: &Path, name: &str, bin: Value, links: &[(&str, &str)]) {
        let own = folder.join("node_modules").join(name);
        std::fs::create_dir_all(&own).unwrap();
        let about = serde_json::json!({ "name": name, "version": "1.2.3", "bin": bin });
        std::fs::write(own.join("package.json"), about.to_string()).unwrap();
        std::fs::write(own.join("run.js"), "").unwrap();
        let bins = folder.join("node_modules/.bin");
        std::fs::create_dir_all(&bins).unwrap();
        for (link, target) in links {
            std::os::unix::fs::symlink(target, bins.join(link)).unwrap();
        }
    }

    fn found(bin: Value, links: &[(&str, &str)], command: Option<&str>) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        installed(folder.path(), "@s/pkg", bin, links);
        let package = Package::parse(Ecosystem::Npm, "@s/pkg", Some("1.2.3")).unwrap();
        let fetched = of(&package, folder.path(), command)?;
        Ok(fetched.0.file_name().unwrap().to_string_lossy().into())
    }

    #[test]
    fn the_program_is_the_one_of_the_packages_name_or_the_only_one() {
        use serde_json::json;
        let own = "../@s/pkg/run.js";
        assert_eq!(
            found(json!("run.js"), &[("pkg", own)], None).unwrap(),
            "pkg"
        );
        let two = json!({ "other": "run.js", "pkg": "x.js" });
        let links = [("pkg", own), ("other", own)];
        assert_eq!(found(two.clone(), &links, None).unwrap(), "pkg");
        assert_eq!(found(two.clone(), &links, Some("other")).unwrap(), "other");
        assert!(found(two, &links, Some("none")).is_err());
        let alias = json!({ "a": "run.js", "b": "run.js" });
        assert_eq!(found(alias, &[("a", own)], None).unwrap(), "a");
        let error = found(json!({ "a": "1", "b": "2" }), &[], None).unwrap_err();
        assert!(error.contains("a, b"), "{error}");
        assert!(found(json!(null), &[], None).is_err());
    }

    #[test]
    fn a_program_outside_of_its_package_is_refused() {
        use serde_json::json;
        for (bin, links) in [
            (json!("run.js"), [("pkg", "/bin/sh")]),
            (json!({ "../../../bin/sh": "x" }), [("pkg", "/bin/sh")]),
            (json!({ "-x": "x" }), [("-x", "../@s/pkg/run.js")]),
        ] {
            assert!(found(bin, &links, None).is_err());
        }
    }

    #[test]
    fn one_version_may_be_written_in_two_ways() {
        assert!(same("1.0", "1.0.0") && same("1.0-rc1", "1.0rc1") && same("2.0", "2"));
        assert!(!same("1.0", "1.1") && !same("1.2.3", "1.2.4"));
    }
}
