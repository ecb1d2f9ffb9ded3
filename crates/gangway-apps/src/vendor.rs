//! Installs downloaded packages in the `vendor` folder of an app, and keeps them apart from the app's own files.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{File, TryLockError},
    io,
    path::Path,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use gangway_files::FilePath;
use serde::{Deserialize, Serialize};

const VENDOR: &str = "vendor";

/// The list of packages that we installed. Hidden files are not served.
const NOTE: &str = ".gangway.json";

/// Where packages are until all of them are complete.
const STAGING: &str = ".gangway-staging";

/// Nested folders; more than any package has.
const DEEPEST: usize = 64;

/// The `vendor` folder of one app. It cannot be escaped, and is locked by one process.
pub struct VendorFolder {
    app: Dir,
    vendor: Dir,
    note: VendorRecord,
    /// Whether it did not exist before.
    is_new: bool,
    _lock: File,
}

/// The packages that we installed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct VendorRecord {
    /// Versions by name.
    packages: BTreeMap<String, String>,
}

impl VendorFolder {
    /// Opens or creates that of an app.
    pub fn open(app: &Path) -> io::Result<Self> {
        let lock = File::open(app)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other(
                "another `gangway app vendor` is running for this app; wait until it is done",
            ),
            TryLockError::Error(error) => error,
        })?;
        let app = Dir::open_ambient_dir(app, ambient_authority())?;
        let is_new = app.symlink_metadata(VENDOR).is_err();
        if is_new {
            app.create_dir(VENDOR)?;
        }
        let vendor = app.open_dir(VENDOR)?;
        let note = read(&vendor);
        Ok(Self {
            app,
            vendor,
            note,
            is_new,
            _lock: lock,
        })
    }

    /// Whether the app has a package of this name from its author, which is kept.
    #[must_use]
    pub fn is_own(&self, name: &str) -> bool {
        let is_there = |path: String| self.app.symlink_metadata(path).is_ok();
        let by_hand = || {
            let ends = ["", ".js", ".mjs"];
            ends.iter()
                .any(|end| is_there(format!("{VENDOR}/{name}{end}")))
        };
        // Packages from a package manager are the author's, too.
        is_there(format!("node_modules/{name}"))
            || (!self.note.packages.contains_key(name) && by_hand())
    }

    /// Whether we installed a package of this name.
    #[must_use]
    pub fn is_ours(&self, name: &str) -> bool {
        self.note.packages.contains_key(name)
    }

    /// Installs packages from a `node_modules` folder, replacing our earlier ones. The app's own are kept, and
    /// returned.
    pub fn place(
        &mut self,
        modules: &Path,
        packages: &BTreeMap<String, String>,
    ) -> io::Result<Vec<String>> {
        let (own, fetched): (Vec<_>, Vec<_>) =
            packages.iter().partition(|(name, _)| self.is_own(name));
        let own: Vec<String> = own.into_iter().map(|(name, _)| name.clone()).collect();
        let fetched: BTreeMap<String, String> = fetched
            .into_iter()
            .map(|(name, version)| (name.clone(), version.clone()))
            .collect();
        // Left by a killed run.
        if self.vendor.symlink_metadata(STAGING).is_ok() {
            self.vendor.remove_dir_all(STAGING)?;
        }
        self.vendor.create_dir(STAGING)?;
        let placed = self.swap(modules, &fetched);
        let removed = self.vendor.remove_dir_all(STAGING);
        placed.and(removed)?;
        Ok(own)
    }

    fn swap(&mut self, modules: &Path, fetched: &BTreeMap<String, String>) -> io::Result<()> {
        let staging = self.vendor.open_dir(STAGING)?;
        for (number, name) in fetched.keys().enumerate() {
            copy(&modules.join(name), &staging, new(number).as_ref(), 0)?;
        }
        // From here on both are listed, so that the next run can finish this one.
        let before = self.note.packages.clone();
        self.note.packages.extend(fetched.clone());
        self.write()?;
        for (number, name) in before.keys().enumerate() {
            if self.vendor.symlink_metadata(name).is_ok() {
                let old = format!("old-{number}");
                self.vendor.rename(name, &staging, old)?;
            }
        }
        for (number, name) in fetched.keys().enumerate() {
            if let Some((scope, _)) = name.split_once('/') {
                self.vendor.create_dir_all(scope)?;
            }
            staging.rename(new(number), &self.vendor, name)?;
        }
        self.note.packages.clone_from(fetched);
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let next = format!("{STAGING}/note");
        self.vendor
            .write(&next, serde_json::to_vec_pretty(&self.note)?)?;
        self.vendor.rename(&next, &self.vendor, NOTE)
    }
}

impl Drop for VendorFolder {
    fn drop(&mut self) {
        if self.is_new {
            // Fails if it is not empty, as intended.
            let _ = self.app.remove_dir(VENDOR);
        }
    }
}

fn new(number: usize) -> String {
    format!("new-{number}")
}

/// The list; one that came with an app may contain anything.
fn read(vendor: &Dir) -> VendorRecord {
    let is_file = |found: cap_std::fs::Metadata| found.is_file() && found.len() < 1 << 20;
    if !vendor.symlink_metadata(NOTE).is_ok_and(is_file) {
        return VendorRecord::default();
    }
    let text = vendor.read(NOTE).unwrap_or_default();
    let mut note: VendorRecord = serde_json::from_slice(&text).unwrap_or_default();
    note.packages.retain(|name, _| is_package(name));
    note
}

/// Whether this can be the folder of a package: plain names, not hidden, so that neither the list nor the staging
/// folder is one.
fn is_package(name: &str) -> bool {
    let path = name.parse().unwrap_or_else(|_| FilePath::root());
    !path.is_root() && path.as_str() == name && name.split('/').all(|part| !part.starts_with('.'))
}

/// Copies a folder recursively; symlinks and special files are left out.
fn copy(from: &Path, into: &Dir, name: &OsStr, depth: usize) -> io::Result<()> {
    if depth > DEEPEST {
        return Err(io::Error::other("a package has too many nested folders"));
    }
    into.create_dir(name)?;
    let folder = into.open_dir(name)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        if kind.is_dir() {
            copy(&entry.path(), &folder, &name, depth + 1)?;
        } else if kind.is_file() {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            let mut file = folder.open_with(&name, &options)?;
            io::copy(&mut File::open(entry.path())?, &mut file)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
    }

    fn packages(names: &[&str]) -> BTreeMap<String, String> {
        let packages = names.iter();
        packages
            .map(|name| ((*name).to_owned(), "1.0.0".to_owned()))
            .collect()
    }

    #[test]
    fn packages_replace_earlier_ones_and_nothing_of_the_apps_own() {
        let folder = tempfile::tempdir().unwrap();
        let (app, modules) = (folder.path().join("app"), folder.path().join("modules"));
        let own = [
            ("vendor/mine/index.js", "mine"),
            ("vendor/flat.js", "flat"),
            ("node_modules/npms/index.js", "npm"),
        ];
        write(&app, &own);
        for name in ["mine", "flat", "npms", "@s/a", "b"] {
            write(&modules, &[(&format!("{name}/x/index.js"), name)]);
        }
        std::os::unix::fs::symlink("/etc/passwd", modules.join("b/link")).unwrap();
        let mut vendor = VendorFolder::open(&app).unwrap();
        assert!(VendorFolder::open(&app).is_err());
        let all = packages(&["mine", "flat", "npms", "@s/a", "b"]);
        assert_eq!(
            vendor.place(&modules, &all).unwrap(),
            ["flat", "mine", "npms"]
        );
        let text = |path: &str| std::fs::read_to_string(app.join(path)).ok();
        assert_eq!(text("vendor/@s/a/x/index.js").as_deref(), Some("@s/a"));
        for (path, before) in own {
            assert_eq!(text(path).as_deref(), Some(before));
        }
        assert!(!app.join("vendor/mine/x").exists());
        assert!(std::fs::symlink_metadata(app.join("vendor/b/link")).is_err());

        // Only what is no longer needed is removed.
        write(&modules, &[("@s/a/x/index.js", "newer")]);
        drop(vendor);
        let mut vendor = VendorFolder::open(&app).unwrap();
        assert!(vendor.is_ours("b") && !vendor.is_own("b"));
        vendor.place(&modules, &packages(&["@s/a"])).unwrap();
        assert_eq!(text("vendor/@s/a/x/index.js").as_deref(), Some("newer"));
        assert!(!app.join("vendor/b").exists());
        for (path, before) in own {
            assert_eq!(text(path).as_deref(), Some(before));
        }
    }

    #[test]
    fn nothing_is_written_or_removed_outside_of_the_app() {
        let folder = tempfile::tempdir().unwrap();
        let (app, modules) = (folder.path().join("app"), folder.path().join("modules"));
        write(&modules, &[("a/index.js", "a"), ("@s/b/index.js", "b")]);
        write(
            folder.path(),
            &[("outside/keep", "kept"), ("app/APP.md", "")],
        );
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, app.join(name)).unwrap();
        };
        link("../outside", "vendor");
        assert!(VendorFolder::open(&app).is_err());
        std::fs::remove_file(app.join("vendor")).unwrap();
        // A list that came with the app, and a scope that leads outside.
        let note = r#"{ "packages": { "../../outside": "1", "..": "1" } }"#;
        write(&app, &[("vendor/.gangway.json", note)]);
        link("../../outside", "vendor/@s");
        let mut vendor = VendorFolder::open(&app).unwrap();
        assert!(vendor.place(&modules, &packages(&["@s/b", "a"])).is_err());
        let outside = std::fs::read_dir(folder.path().join("outside")).unwrap();
        assert_eq!(outside.count(), 1);
    }

    #[test]
    fn a_note_names_plain_folders_of_packages_only() {
        let app = tempfile::tempdir().unwrap();
        let note = r#"{ "packages": { "a": "1", "@s/b.js": "1", "": "1", ".": "1", "a/": "1", "/etc": "1", "../a": "1",
            ".gangway.json": "1", ".gangway-staging": "1", "@s/.b": "1" } }"#;
        write(app.path(), &[("vendor/.gangway.json", note)]);
        let vendor = VendorFolder::open(app.path()).unwrap();
        let names: Vec<&String> = vendor.note.packages.keys().collect();
        assert_eq!(names, ["@s/b.js", "a"]);
    }

    #[test]
    fn a_folder_that_was_made_for_nothing_goes_again() {
        let app = tempfile::tempdir().unwrap();
        drop(VendorFolder::open(app.path()).unwrap());
        assert!(!app.path().join(VENDOR).exists());
    }
}
