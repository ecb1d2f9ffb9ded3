//! Parses `APP.md` leniently, and reports all problems.

use gangway_core::AppName;

use super::{
    AgentPart, FILE, Manifest, PackageNeed, Problem, Server, Severity,
    agent::agent,
    front::{Keys, Problems, shown, split},
    tree,
};
use crate::folder::describe;
use gangway_files::FilePath;

/// Server runtimes.
const RUNTIMES: [&str; 3] = ["bun", "deno", "node"];

/// Keys of the wider format that are ignored.
const ELSEWHERE: [&str; 21] = [
    "author",
    "authors",
    "devDependencies",
    "display",
    "engines",
    "homepage",
    "i18n",
    "keywords",
    "lang",
    "license",
    "locale",
    "locales",
    "offline",
    "orientation",
    "permissions",
    "port",
    "repository",
    "screenshots",
    "scripts",
    "storage",
    "theme",
];

/// Top-level keys.
const KNOWN: [&str; 14] = [
    "name",
    "title",
    "description",
    "version",
    "entry",
    "runtime",
    "icon",
    "capabilities",
    "dependencies",
    "category",
    "tags",
    "csp",
    "service_worker",
    "agent",
];

const DEPENDENCIES: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub struct ParsedManifest {
    /// `None` if not even a name can be determined.
    pub manifest: Option<Manifest>,
    /// Sorted by line.
    pub problems: Vec<Problem>,
}

impl ParsedManifest {
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let bad = |problem: &Problem| problem.severity == Severity::Error;
        self.manifest.is_none() || self.problems.iter().any(bad)
    }
}

/// Parses an `APP.md` in a folder of this name.
#[must_use]
pub fn read(text: &str, folder: &str) -> ParsedManifest {
    let mut problems = Problems::default();
    let manifest = match front(text) {
        Ok((node, about)) => manifest(&node, about, folder, &mut problems),
        Err((line, message)) => {
            problems.error(line, message);
            folder.parse().ok().map(|name| bare(name, ""))
        }
    };
    let mut problems = problems.0;
    problems.sort_by_key(|problem| problem.line);
    ParsedManifest { manifest, problems }
}

fn front(text: &str) -> Result<(tree::Node, &str), (Option<u64>, String)> {
    let (yaml, about) = split(text).map_err(|why| (Some(1), why.to_owned()))?;
    if yaml.trim().is_empty() {
        return Err((
            Some(1),
            "the front matter is empty; write at least `name` and `description`".to_owned(),
        ));
    }
    let node = tree::read(&yaml)
        .map_err(|(line, why)| (line, format!("invalid YAML: {}", shown_long(&why))))?;
    if !matches!(node.part, tree::NodeValue::Map(_)) {
        let kind = node.kind();
        let why = format!("the front matter must be a map of keys and values, but is {kind}");
        return Err((Some(node.line), why));
    }
    Ok((node, about))
}

fn shown_long(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(300).collect()
}

/// A manifest with nothing but a name.
fn bare(name: AppName, about: &str) -> Manifest {
    Manifest {
        title: name.to_string(),
        name,
        description: String::new(),
        version: "0.0.0".to_owned(),
        entry: index(),
        server: None,
        icon: None,
        capabilities: None,
        dependencies: Vec::new(),
        category: None,
        tags: Vec::new(),
        csp: None,
        service_worker: false,
        agent: AgentPart::default(),
        about: about.trim().to_owned(),
    }
}

fn index() -> FilePath {
    "index.html".parse().unwrap_or_default()
}

fn manifest(
    node: &tree::Node,
    about: &str,
    folder: &str,
    problems: &mut Problems,
) -> Option<Manifest> {
    let mut keys = Keys::of(node, "", problems);
    let name = name(&mut keys, folder, problems);
    // Other problems are reported even without a name.
    let spare = || "nameless".parse().ok();
    let mut manifest = bare(name.clone().or_else(spare)?, about);
    match keys.text("description", problems) {
        Some((_, text)) if !text.is_empty() => manifest.description = text,
        _ => problems.error(
            1,
            "`description` is missing: describe the app in one sentence",
        ),
    }
    if let Some((_, title)) = keys.text("title", problems) {
        manifest.title = title;
    }
    if let Some((line, version)) = keys.text("version", problems) {
        if !is_version(&version) {
            problems.warning(
                line,
                format!(
                    "`version` is {:?}; use a version like 1.0.0",
                    shown(&version)
                ),
            );
        }
        manifest.version = version;
    }
    manifest.server = runtime(&mut keys, problems);
    if let Some((line, path)) = keys.text("entry", problems) {
        match (entry(&path), &mut manifest.server) {
            (Ok(entry), server) => {
                manifest.entry = entry;
                if let Some(server) = server {
                    server.has_page = true;
                }
            }
            // The program, not a page; the page is found in the folder.
            (Err(_), Some(server)) if is_program(&path) => server.file = path.parse().ok(),
            (Err(why), _) => {
                problems.error(line, format!("`entry` is {:?}, but {why}", shown(&path)));
            }
        }
    }
    manifest.icon = keys.text("icon", problems).map(|(_, icon)| icon);
    manifest.capabilities = capabilities(&mut keys);
    manifest.dependencies = dependencies(&mut keys);
    for key in ELSEWHERE {
        keys.take(key);
    }
    manifest.category = keys.text("category", problems).map(|(_, text)| text);
    manifest.tags = keys.texts("tags", problems);
    if let Some((line, csp)) = keys.text("csp", problems) {
        match csp.chars().any(|c| c.is_control() || !c.is_ascii()) {
            true => problems.error(
                line,
                "`csp` must be one line of ASCII, since it is sent in a header",
            ),
            false => manifest.csp = Some(csp),
        }
    }
    manifest.service_worker = keys.truth("service_worker", problems) == Some(true);
    if let Some(entry) = keys.take("agent") {
        manifest.agent = agent(&entry.value, problems);
    }
    keys.finish(&KNOWN, problems);
    name.map(|_| manifest)
}

/// The server runtime, if any.
fn runtime(keys: &mut Keys<'_>, problems: &mut Problems) -> Option<Server> {
    let (line, runtime) = keys.text("runtime", problems)?;
    if runtime == "browser" {
        return None;
    }
    if !RUNTIMES.contains(&runtime.as_str()) {
        let (runtime, known) = (shown(&runtime), RUNTIMES.join(", "));
        problems.error(
            line,
            format!("`runtime` is {runtime:?}, but must be one of browser, {known}"),
        );
        return None;
    }
    Some(Server {
        runtime,
        file: None,
        has_page: false,
        line,
    })
}

fn is_program(path: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx"];
    !path.starts_with('/') && ends.iter().any(|end| path.ends_with(end))
}

/// Names of features: a list, or a map of booleans.
fn capabilities(keys: &mut Keys<'_>) -> Option<Vec<String>> {
    let entry = keys.take("capabilities")?;
    let named = |node: &tree::Node| match &node.part {
        tree::NodeValue::Text(text) => Some(text.trim().to_lowercase()),
        _ => None,
    };
    Some(match &entry.value.part {
        tree::NodeValue::List(items) => items.iter().filter_map(named).collect(),
        tree::NodeValue::Map(entries) => entries
            .iter()
            .filter(|entry| !matches!(entry.value.part, tree::NodeValue::Bool(false)))
            .map(|entry| entry.key.to_lowercase())
            .collect(),
        _ => named(&entry.value).into_iter().collect(),
    })
}

/// Packages: a map of versions, or a list of `name` and `name@version`.
fn dependencies(keys: &mut Keys<'_>) -> Vec<PackageNeed> {
    let part = keys.take("dependencies").map(|entry| &entry.value.part);
    let of_entry = |entry: &tree::MapEntry| PackageNeed {
        name: entry.key.clone(),
        range: match &entry.value.part {
            tree::NodeValue::Text(text) => text.clone(),
            tree::NodeValue::Number(number) => number.to_string(),
            tree::NodeValue::Nothing => "*".to_owned(),
            // Kept, so that downloading it reports the problem.
            _ => format!("({})", entry.value.kind()),
        },
    };
    let of_item = |item: &tree::Node| match &item.part {
        tree::NodeValue::Text(text) => {
            // The first character may be the `@` of a scope.
            let version = text.get(1..)?.find('@').map(|at| at + 1);
            let (name, range) = match version {
                Some(at) => (&text[..at], &text[at + 1..]),
                None => (text.as_str(), "*"),
            };
            let (name, range) = (name.to_owned(), range.to_owned());
            Some(PackageNeed { name, range })
        }
        _ => None,
    };
    let needs: Vec<PackageNeed> = match part {
        Some(tree::NodeValue::Map(entries)) => entries.iter().map(of_entry).collect(),
        Some(tree::NodeValue::List(items)) => items.iter().filter_map(of_item).collect(),
        _ => Vec::new(),
    };
    needs.into_iter().take(DEPENDENCIES).collect()
}

/// The declared name, or that of the folder.
fn name(keys: &mut Keys<'_>, folder: &str, problems: &mut Problems) -> Option<AppName> {
    let Some((line, text)) = keys.text("name", problems) else {
        problems.error(
            1,
            "`name` is missing: use the folder's name, in lowercase letters, digits and hyphens",
        );
        return folder.parse().ok();
    };
    match text.parse::<AppName>() {
        Ok(name) => {
            if name.as_str() != folder {
                problems.warning(
                    line,
                    format!(
                        "`name` is {name}, but the folder is named {:?}; they must be the same",
                        shown(folder)
                    ),
                );
            }
            Some(name)
        }
        Err(error) => {
            problems.error(line, format!("`name`: {error}"));
            folder.parse().ok()
        }
    }
}

/// A path to a page inside the app.
fn entry(text: &str) -> Result<FilePath, String> {
    if text.starts_with('/') {
        return Err(
            "must be a path relative to the app's folder, without a leading slash".to_owned(),
        );
    }
    // Characters with a special meaning in URLs.
    if text.contains(['?', '#', '%']) {
        return Err("must not contain any of ? # %".to_owned());
    }
    let path: FilePath = text.parse().map_err(|error| describe(&error))?;
    let hidden = path.as_str().split('/').any(|name| name.starts_with('.'));
    let page = path.name().is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        name.ends_with(".html") || name.ends_with(".htm")
    });
    match (hidden, page) {
        (true, _) => Err("hidden files are not served".to_owned()),
        (_, false) => Err(format!(
            "must be an .html file in the folder of {FILE} or below"
        )),
        _ => Ok(path),
    }
}

/// Three numbers with an optional suffix.
fn is_version(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    let number = |part: &&str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(number)
}
