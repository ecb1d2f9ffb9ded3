//! Commands beside a config file that is wrong.

use std::path::Path;

use serde_json::Value;

use super::{fails, ok};
use crate::support::Gangway;

/// Invalid settings, and the error of each.
const WRONG: [(&str, &str); 3] = [
    ("default_agent: demo\nbogus: 1\n", "line 2"),
    ("apps: [/no/such/folder]\n", "/no/such/folder"),
    ("default_agent: nobody\n", "default_agent"),
];

fn write(data: &Path, text: &str) {
    std::fs::write(data.join("config.yaml"), text).unwrap();
}

#[test]
fn what_is_stored_can_be_read_and_revoked_beside_wrong_settings() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let site = "https://shop.example";
    for (wrong, message) in WRONG {
        write(data, "default_agent: demo\n");
        let create = ["key", "create", "--name", "a", "--scope", "chat", "--json"];
        let made: Value = serde_json::from_str(&ok(data, &create)).unwrap();
        ok(data, &["permissions", "allow", site, "model:prompt"]);
        write(data, wrong);
        let list = Gangway::run(data, &["key", "list", "--json"]);
        let warning = String::from_utf8(list.stderr).unwrap();
        assert!(warning.starts_with("Warning: "), "{warning}");
        assert_eq!(warning.lines().count(), 1, "{warning}");
        assert!(warning.contains(message), "{warning}");
        let listed: Value = serde_json::from_slice(&list.stdout).unwrap();
        assert_eq!(listed["keys"][0]["id"], made["id"]);
        ok(data, &["key", "revoke", made["id"].as_str().unwrap()]);
        assert!(ok(data, &["key", "list"]).contains("no keys"));
        assert!(ok(data, &["permissions"]).contains(site));
        ok(data, &["permissions", "revoke", site]);
        assert!(ok(data, &["permissions", "list"]).contains("No site"));
        assert!(ok(data, &["study", "list"]).contains("no study"));
    }
}

#[test]
fn what_needs_the_settings_says_in_one_line_what_is_wrong_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    for (wrong, message) in WRONG {
        write(data, wrong);
        for command in [
            &["mcp", "list"][..],
            &["mcp", "tools"],
            &["project", "list"],
            &["persona", "list"],
            &["serve", "--listen", "127.0.0.1:0"],
        ] {
            let text = fails(data, command);
            assert_eq!(text.lines().count(), 1, "{command:?}: {text}");
            assert!(text.contains(message), "{command:?}: {text}");
        }
    }
}
