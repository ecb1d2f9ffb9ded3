//! Locations of other hosts' config files.

use std::path::{Path, PathBuf};

/// Files in the home folder, of any operating system.
const AT_HOME: [(&str, &str); 21] = [
    ("Claude Code", ".claude.json"),
    (
        "Claude Desktop",
        ".config/Claude/claude_desktop_config.json",
    ),
    (
        "Claude Desktop",
        "Library/Application Support/Claude/claude_desktop_config.json",
    ),
    (
        "Claude Desktop",
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    ("Cursor", ".cursor/mcp.json"),
    ("VS Code", ".config/Code/User/mcp.json"),
    ("VS Code", ".config/Code/User/settings.json"),
    ("VS Code", "Library/Application Support/Code/User/mcp.json"),
    (
        "VS Code",
        "Library/Application Support/Code/User/settings.json",
    ),
    ("VS Code", "AppData/Roaming/Code/User/mcp.json"),
    ("VS Code", "AppData/Roaming/Code/User/settings.json"),
    ("Zed", ".config/zed/settings.json"),
    ("Zed", "AppData/Roaming/Zed/settings.json"),
    ("Gemini", ".gemini/settings.json"),
    ("Windsurf", ".codeium/windsurf/mcp_config.json"),
    ("opencode", ".config/opencode/opencode.json"),
    ("opencode", ".config/opencode/opencode.jsonc"),
    ("Codex", ".codex/config.toml"),
    ("goose", ".config/goose/config.yaml"),
    (
        "goose",
        "Library/Application Support/Block/goose/config/config.yaml",
    ),
    ("goose", "AppData/Roaming/Block/goose/config/config.yaml"),
];

/// Files in a project.
const IN_PROJECT: [(&str, &str); 8] = [
    ("Claude Code", ".mcp.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("VS Code", ".vscode/mcp.json"),
    ("Zed", ".zed/settings.json"),
    ("Gemini", ".gemini/settings.json"),
    ("opencode", "opencode.json"),
    ("opencode", "opencode.jsonc"),
    ("Codex", ".codex/config.toml"),
];

pub fn files() -> Vec<(&'static str, PathBuf)> {
    let home = std::env::home_dir();
    let here = std::env::current_dir().ok();
    files_in(home.as_deref(), here.as_deref())
}

pub(super) fn files_in(home: Option<&Path>, here: Option<&Path>) -> Vec<(&'static str, PathBuf)> {
    let below = |folder: Option<&Path>, names: &'static [(&'static str, &'static str)]| {
        let folder = folder.map(Path::to_owned);
        names
            .iter()
            .filter_map(move |(host, name)| Some((*host, folder.as_ref()?.join(name))))
    };
    let mut found: Vec<_> = below(home, &AT_HOME)
        .chain(below(here, &IN_PROJECT))
        .collect();
    found.retain(|(_, file)| file.is_file());
    let mut seen = std::collections::HashSet::new();
    found.retain(|(_, file)| seen.insert(file.clone()));
    found
}
