//! Which dependencies of an app are installed, and which of those a page can import.

use serde_json::Value;

use super::{
    super::{
        App,
        folder::AppFolder,
        manifest::{Problem, Severity},
    },
    file::WHOLE,
    html::InjectionPlan,
    imports::{homes, in_vendor, package},
    script::{LARGEST, is_module},
};
use gangway_files::FilePath;

/// Packages that a warning names.
const NAMED: usize = 10;

/// Characters of a name in a warning.
const NAME: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// Installed, but without an ES module.
    NoModule,
    Missing,
}

impl App {
    /// Whether a package is installed where pages of the app would find it; blocks.
    #[must_use]
    pub fn has_package(&self, name: &str) -> bool {
        state(&self.folder, name) != State::Missing
    }

    /// Problems with the packages in `dependencies`; `app` is the app's name for the command line. Blocks.
    #[must_use]
    pub fn package_problems(&self, app: &str) -> Vec<Problem> {
        let needs = self.manifest.dependencies.iter();
        let states: Vec<(&str, State)> = needs
            .map(|need| (need.name.as_str(), state(&self.folder, &need.name)))
            .collect();
        let named = |wanted: State| -> Vec<&str> {
            let states = states.iter().filter(|(_, state)| *state == wanted);
            states.map(|(name, _)| *name).collect()
        };
        let mut messages = Vec::new();
        let missing = named(State::Missing);
        // A page with its own import map has its packages elsewhere.
        if !missing.is_empty() && !self.has_import_map() {
            messages.push(format!(
                "missing packages, so scripts that import them fail: {}; download them with `gangway app vendor {app}`",
                listed(&missing)
            ));
        }
        let unusable = named(State::NoModule);
        if !unusable.is_empty() {
            messages.push(format!(
                "packages that pages cannot import because they have no ES modules (only CommonJS): {}; use others, or a bundle in `vendor`",
                listed(&unusable)
            ));
        }
        let problem = |message: String| Problem {
            line: None,
            severity: Severity::Warning,
            message,
        };
        messages.into_iter().map(problem).collect()
    }

    fn has_import_map(&self) -> bool {
        let page = self.folder.read(&self.manifest.entry, WHOLE);
        page.is_ok_and(|(_, page)| InjectionPlan::of(&page).has_import_map)
    }
}

/// Names for a message, truncated.
fn listed(names: &[&str]) -> String {
    let shown = |name: &&str| -> String {
        let plain = name.chars().filter(|c| !c.is_control());
        plain.take(NAME).collect()
    };
    let mut listed: Vec<String> = names.iter().take(NAMED).map(shown).collect();
    if names.len() > NAMED {
        listed.push(format!("and {} more", names.len() - NAMED));
    }
    listed.join(", ")
}

fn state(app: &AppFolder, name: &str) -> State {
    let mut is_here = false;
    for (folder, base) in homes(app) {
        let about = package(&folder, &format!("{base}{name}"));
        is_here |= about.is_some();
        if let Some(file) = in_vendor(&folder, base, name) {
            return match has_module(&folder, &file, about.as_ref()) {
                true => State::Ready,
                false => State::NoModule,
            };
        }
    }
    match is_here {
        true => State::NoModule,
        false => State::Missing,
    }
}

/// Whether the entry point of a package is an ES module, by its extension, its package, or its content.
fn has_module(folder: &AppFolder, file: &FilePath, about: Option<&Value>) -> bool {
    let end = file.as_str().rsplit('.').next().unwrap_or_default();
    match end {
        "cjs" => return false,
        "js" => {}
        _ => return true,
    }
    if about.is_some_and(says_module) {
        return true;
    }
    // A file that is too large to check is assumed to be one.
    let Ok((_, source)) = folder.read(file, LARGEST as u64) else {
        return true;
    };
    std::str::from_utf8(&source).is_ok_and(is_module)
}

/// Whether a `package.json` declares ES modules.
fn says_module(about: &Value) -> bool {
    let exports = about.get("exports");
    about["type"] == "module"
        || about["module"].is_string()
        || exports.is_some_and(|exports| has_import(exports, 0))
}

/// Whether `exports` has an `import` condition.
fn has_import(exports: &Value, depth: usize) -> bool {
    let Some(conditions) = exports.as_object().filter(|_| depth < 8) else {
        return false;
    };
    conditions
        .iter()
        .any(|(key, value)| key == "import" || key == "module" || has_import(value, depth + 1))
}
