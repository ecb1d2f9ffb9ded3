//! Which of the packages that an app imports by name are here, and which of those a page can import.

use serde_json::Value;

use super::{
    super::{
        App,
        folder::AppFolder,
        manifest::{Problem, Severity},
    },
    file::WHOLE,
    html::Plan,
    imports::{homes, in_vendor, package},
    script::{LARGEST, is_module},
};
use gangway_files::FilePath;

/// Packages that a warning names.
const NAMED: usize = 10;

/// Characters of a name that a warning shows.
const NAME: usize = 80;

/// What a page has of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// It is here, without an ES module.
    NoModule,
    Missing,
}

impl App {
    /// Whether a package is where pages of the app would find it, whatever it is; blocks.
    #[must_use]
    pub fn has_package(&self, name: &str) -> bool {
        state(&self.folder, name) != State::Missing
    }

    /// What is wrong with the packages that `dependencies` names; `app` is what the command line calls the app. Blocks.
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
        // A page with an import map of its own has its packages elsewhere.
        if !missing.is_empty() && !self.has_import_map() {
            messages.push(format!(
                "packages that are not in the app's folder, so that scripts which import them fail: {}; fetch them with `gangway app vendor {app}`",
                listed(&missing)
            ));
        }
        let unusable = named(State::NoModule);
        if !unusable.is_empty() {
            messages.push(format!(
                "packages that pages cannot import, since they have no ES modules (only CommonJS): {}; use others, or a bundle in `vendor`",
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
        page.is_ok_and(|(_, page)| Plan::of(&page).has_import_map)
    }
}

/// Names as part of a message; a manifest may say anything.
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

/// Whether the file that a package begins with is an ES module, by its name, by its package, or by what stands in it.
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
    // What is too large to look at is given the benefit of the doubt.
    let Ok((_, source)) = folder.read(file, LARGEST as u64) else {
        return true;
    };
    std::str::from_utf8(&source).is_ok_and(is_module)
}

/// Whether a `package.json` says that the package has ES modules.
fn says_module(about: &Value) -> bool {
    let exports = about.get("exports");
    about["type"] == "module"
        || about["module"].is_string()
        || exports.is_some_and(|exports| has_import(exports, 0))
}

/// Whether `exports` has something for `import`.
fn has_import(exports: &Value, depth: usize) -> bool {
    let Some(conditions) = exports.as_object().filter(|_| depth < 8) else {
        return false;
    };
    conditions
        .iter()
        .any(|(key, value)| key == "import" || key == "module" || has_import(value, depth + 1))
}
