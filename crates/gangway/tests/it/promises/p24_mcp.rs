//! P24: the official conformance suite of MCP finds what `docs/conformance.md` says, and nothing else.

use std::{path::PathBuf, process::Command};

use super::scale;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The scenarios that are known to fail at a revision.
fn known(revision: &str) -> Vec<String> {
    let path = root().join(format!("scripts/conformance-{revision}.yml"));
    let text = std::fs::read_to_string(path).unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("  - "));
    names.map(str::to_owned).collect()
}

#[test]
fn p24_every_scenario_that_fails_is_explained() {
    let docs = std::fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    for revision in ["2025-11-25", "2026-07-28"] {
        let names = known(revision);
        assert!(!names.is_empty());
        for name in names {
            // Where a whole family fails for one reason, its common beginning stands for it.
            let family = ["elicitation-", "input-required-result-"]
                .into_iter()
                .find(|family| name.starts_with(family));
            let explained = docs.contains(&format!("`{name}`"))
                || family.is_some_and(|family| docs.contains(&format!("`{family}…`")));
            assert!(explained, "{name} of {revision} is not in the docs");
        }
    }
}

#[test]
fn p24_the_suite_finds_nothing_else() {
    if scale(true, false) {
        return;
    }
    let ran = Command::new(root().join("scripts/conformance.sh"))
        .env("GANGWAY_BIN", env!("CARGO_BIN_EXE_gangway"))
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{message}");
    // Both sides, both revisions.
    assert_eq!(message.matches("Total: ").count(), 4, "{message}");
}
