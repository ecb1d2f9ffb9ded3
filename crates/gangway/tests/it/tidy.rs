//! What keeps the code easy to find one's way in.

use std::path::{Path, PathBuf};

/// A file with more lines than this wants to be two.
const LINES: usize = 400;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "common", "helpers", "types", "manager"];

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Every source file of ours, as a path from the repository's root with its text.
fn sources(extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let root = repository();
    let mut found = Vec::new();
    let mut folders = vec![
        root.join("crates"),
        root.join("web"),
        root.join("examples"),
        root.join("apps"),
    ];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let (path, name) = (
                entry.path(),
                entry.file_name().to_string_lossy().into_owned(),
            );
            let skipped =
                ["node_modules", "dist", "target", "generated", "results"].contains(&name.as_str());
            if path.is_dir() && !skipped {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|e| extensions.iter().any(|wanted| e == *wanted))
            {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(&root).unwrap().to_owned(), text));
            }
        }
    }
    assert!(
        !found.is_empty(),
        "no source was found, so nothing was checked"
    );
    found.sort();
    found
}

fn complain(what: &str, offenders: Vec<String>) {
    assert!(
        offenders.is_empty(),
        "{what}:\n  {}",
        offenders.join("\n  ")
    );
}

#[test]
fn no_source_file_is_too_long() {
    let long = |(path, text): &(PathBuf, String)| {
        let lines = text.lines().count();
        (lines > LINES).then(|| format!("{} has {lines} lines", path.display()))
    };
    complain(
        "files that want to be two",
        sources(&["rs", "ts", "svelte", "css"])
            .iter()
            .filter_map(long)
            .collect(),
    );
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent = |(path, text): &(PathBuf, String)| {
        (!text.starts_with("//!")).then(|| path.display().to_string())
    };
    complain(
        "modules that do not open with //!",
        sources(&["rs"]).iter().filter_map(silent).collect(),
    );
}

#[test]
fn no_file_has_a_name_that_says_nothing() {
    let empty = |path: &Path| {
        EMPTY_NAMES.contains(
            &path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .as_ref(),
        )
    };
    let named = |(path, _): &(PathBuf, String)| {
        path.ancestors()
            .any(empty)
            .then(|| path.display().to_string())
    };
    complain(
        "names that say nothing",
        sources(&["rs", "ts", "svelte"])
            .iter()
            .filter_map(named)
            .collect(),
    );
}

#[test]
fn no_protocol_of_the_binary_imports_another() {
    let protocols = repository().join("crates/gangway/src/protocols");
    let names: Vec<String> = std::fs::read_dir(&protocols)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.contains(&"sessions".to_owned()));
    let mut offenders = Vec::new();
    for (path, text) in sources(&["rs"]) {
        let Ok(inside) = path.strip_prefix("crates/gangway/src/protocols") else {
            continue;
        };
        let Some(own) = inside
            .components()
            .next()
            .map(|c| c.as_os_str().to_string_lossy().into_owned())
        else {
            continue;
        };
        for other in names.iter().filter(|name| **name != own && own != "mod.rs") {
            if names_door(&text, other) {
                offenders.push(format!("{} names the door {other}", path.display()));
            }
        }
    }
    complain("protocols that know each other", offenders);
}

/// Whether a source names a door, alone or in a group such as `protocols::{one, other::wire}`.
fn names_door(text: &str, door: &str) -> bool {
    let text: String = text.split_whitespace().collect();
    ["protocols::", "super::super::"].iter().any(|start| {
        text.split(start).skip(1).any(|rest| {
            let Some(group) = rest.strip_prefix('{') else {
                return is_named(rest, door);
            };
            let mut depth = 0;
            let end = group.find(|c| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth < 0
            });
            group[..end.unwrap_or(group.len())]
                .split(['{', ',', '}'])
                .any(|item| is_named(item, door))
        })
    })
}

/// Whether a path begins with this name and not just with its letters.
fn is_named(path: &str, name: &str) -> bool {
    path.strip_prefix(name)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[test]
fn an_import_of_a_protocol_is_found_in_a_group_of_imports_too() {
    for text in [
        "use crate::protocols::relay::wire;",
        "use crate::protocols::{sessions, relay};",
        "use crate::protocols::{\n    sessions::{wire, frame},\n    relay::wire,\n};",
        "super::super::relay::send()",
    ] {
        assert!(names_door(text, "relay"), "{text}");
    }
    for text in [
        "use crate::protocols::{sessions};\nmod relay;",
        "protocols::relays",
    ] {
        assert!(!names_door(text, "relay"), "{text}");
    }
}

/// Text that may stand only in some places: what, where, why.
fn confined(needles: &[&str], allowed: &[&str], why: &str) {
    let mut offenders = Vec::new();
    for (path, text) in sources(&["rs"]) {
        let place = path.to_string_lossy().into_owned();
        let elsewhere = place.contains("/tests/")
            || place.contains("/benches/")
            || allowed.iter().any(|a| place.starts_with(a));
        // What a file tests itself with is not what it does.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if !elsewhere && needles.iter().any(|needle| code.contains(needle)) {
            offenders.push(place);
        }
    }
    complain(why, offenders);
}

#[test]
fn sql_is_named_by_the_store_and_by_crates_with_a_database_file_of_their_own() {
    let allowed = [
        "crates/gangway-core/src/store/",
        "crates/gangway-core/src/error.rs",
        "crates/gangway-cinema/src/bookings/",
        "crates/gangway-mcp/src/catalog/cache.rs",
        // Support of tests.
        "crates/gangway-testing/",
    ];
    confined(
        &["rusqlite", "SELECT ", "INSERT INTO"],
        &allowed,
        "only the store and the owners of database files name SQL",
    );
}

#[test]
fn only_runners_tools_the_engine_and_the_opening_of_a_browser_start_processes() {
    let allowed = [
        "crates/gangway-runner/",
        // Support of tests.
        "crates/gangway-testing/",
        "crates/gangway-mcp/",
        "crates/gangway-terminal/src/browser.rs",
        // A browser without a window, for authors of apps.
        "crates/gangway-devtools/src/simulate/chrome.rs",
        // A Gangway that outlives the bridge of a browser.
        "crates/gangway-bridge/src/start.rs",
        // Windows' own command for its registry.
        "crates/gangway-bridge/src/install/registry.rs",
        // The engine that runs models on this machine.
        "crates/gangway-embedded/src/process.rs",
    ];
    confined(
        &[
            "process::Command",
            "process::{Command",
            "process::{Child, Command",
        ],
        &allowed,
        "only these start processes",
    );
}

#[test]
fn only_models_tools_and_the_command_line_open_connections() {
    let allowed = [
        "crates/gangway-models/",
        "crates/gangway-mcp/",
        "crates/gangway-client/src/server.rs",
        // Support of tests.
        "crates/gangway-testing/",
        "crates/gangway/src/cli/stdio/relay.rs",
        // To the person's own server only.
        "crates/gangway-bridge/src/server.rs",
        // To this machine only.
        "crates/gangway-devtools/src/simulate/wire.rs",
        "crates/gangway-devtools/src/relay_client.rs",
    ];
    confined(
        &["reqwest", "TcpStream::connect"],
        &allowed,
        "only these open connections",
    );
}

#[test]
fn core_knows_no_http_no_process_and_no_model() {
    let root = repository().join("crates/gangway-core/Cargo.toml");
    let manifest = std::fs::read_to_string(root).unwrap();
    for stranger in [
        "axum",
        "hyper",
        "reqwest",
        "gangway-models",
        "gangway-agents",
    ] {
        assert!(
            !manifest.contains(stranger),
            "gangway-core depends on {stranger}"
        );
    }
}

#[test]
fn no_protocol_crate_depends_on_another() {
    let protocols = [
        "weblets", "applets", "webagent", "relay", "remote", "openai", "cinema",
    ];
    let mut offenders = Vec::new();
    for own in protocols {
        let path = repository().join(format!("crates/gangway-{own}/Cargo.toml"));
        let manifest = std::fs::read_to_string(path).unwrap();
        // Nor on a crate above them.
        let above = ["demo", "devtools"];
        let others = protocols.iter().chain(&above);
        for other in others.filter(|other| **other != own) {
            if manifest.contains(&format!("gangway-{other}")) {
                offenders.push(format!("gangway-{own} depends on gangway-{other}"));
            }
        }
    }
    complain("protocols that know each other", offenders);
}

/// Whether a line declares a static, however visible it is.
fn is_static(line: &str) -> bool {
    let item = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or(rest, |(_, item)| item),
        Some(rest) => rest,
        None => line,
    };
    item.trim_start().starts_with("static ")
}

#[test]
fn a_static_is_found_however_visible_it_is() {
    for line in [
        "static A: u8 = 0;",
        "pub static A: u8 = 0;",
        "pub(crate) static A: u8 = 0;",
        "pub(in crate::protocols) static A: u8 = 0;",
    ] {
        assert!(is_static(line), "{line}");
    }
    assert!(!is_static("public(static a)") && !is_static("let a: &'static str = \"\";"));
}

#[test]
fn no_state_lives_in_statics() {
    let mut offenders = Vec::new();
    for (path, text) in sources(&["rs"]) {
        let state = |line: &&str| {
            let line = line.trim_start();
            (is_static(line) || line.contains("thread_local!"))
                && !path.to_string_lossy().contains("/tests/")
        };
        offenders.extend(
            text.lines()
                .filter(state)
                .map(|line| format!("{}: {line}", path.display())),
        );
    }
    complain("state that does not hang off the server", offenders);
}

#[test]
fn every_channel_is_bounded() {
    confined(
        &["unbounded_channel", "mpsc::channel()", "UnboundedSender"],
        &[],
        "queues without a bound",
    );
}
