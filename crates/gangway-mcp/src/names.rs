//! Maps tool names to names that models and MCP clients accept, and back.

use std::collections::HashMap;

use gangway_core::ToolName;

/// The limit of every model API.
const MAX: usize = 64;

/// Hexadecimal digits of the hash that replaces dropped characters.
const HASH: usize = 8;

/// Unique names of letters, digits, `_` and `-`. The name of a tool does not depend on the other tools, except when two
/// would clash.
#[derive(Debug, Default, Clone)]
pub struct ModelNames {
    to: HashMap<ToolName, String>,
    from: HashMap<String, ToolName>,
}

impl ModelNames {
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a ToolName>) -> Self {
        let mut names = Self::default();
        // Plain names first: generated ones must give way to them.
        let (plain, rest): (Vec<_>, Vec<_>) =
            tools.into_iter().partition(|tool| plain(tool).is_some());
        for tool in plain.into_iter().chain(rest) {
            names.add(tool);
        }
        names
    }

    fn add(&mut self, tool: &ToolName) {
        if self.to.contains_key(tool) {
            return;
        }
        let mut name = plain(tool).unwrap_or_else(|| hashed(tool, 0));
        let mut salt = 0;
        while self.from.contains_key(&name) {
            salt += 1;
            name = hashed(tool, salt);
        }
        self.from.insert(name.clone(), tool.clone());
        self.to.insert(tool.clone(), name);
    }

    /// Whether a name may be a tool of this server, whatever tools it has.
    #[must_use]
    pub fn may_mean_tool_of(server: &str, name: &str) -> bool {
        name.starts_with(&readable(server, ""))
    }

    #[must_use]
    pub fn to_model_name(&self, tool: &ToolName) -> Option<&str> {
        self.to.get(tool).map(String::as_str)
    }

    #[must_use]
    pub fn from_model_name(&self, name: &str) -> Option<&ToolName> {
        self.from.get(name)
    }
}

fn allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// `server__tool`, if that can be split in only one way.
fn plain(tool: &ToolName) -> Option<String> {
    let (server, own) = (tool.server(), tool.tool());
    // Some models refuse a name that does not begin with a letter.
    let begins = server.starts_with(|c: char| c.is_ascii_alphabetic());
    let apart = !server.contains("__") && !server.ends_with('_');
    let short = server.len() + 2 + own.len() <= MAX;
    (begins && apart && short && server.chars().chain(own.chars()).all(allowed))
        .then(|| format!("{server}__{own}"))
}

/// The readable part of a name, with room for a hash.
fn readable(server: &str, tool: &str) -> String {
    let fit = |text: &str| -> String {
        text.chars()
            .map(|c| if allowed(c) { c } else { '_' })
            .collect()
    };
    let mut name = format!("{}__{}", fit(server), fit(tool));
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert(0, 't');
    }
    name.truncate(MAX - HASH - 1);
    name
}

/// The readable part of a name, and a hash of the whole name.
fn hashed(tool: &ToolName, salt: u32) -> String {
    let name = readable(tool.server(), tool.tool());
    let full = format!("{}\0{}\0{salt}", tool.server(), tool.tool());
    let hash = blake3::hash(full.as_bytes()).to_hex();
    format!("{name}_{}", &hash[..HASH])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> ToolName {
        text.parse().unwrap()
    }

    #[test]
    fn a_plain_name_is_joined_and_any_other_is_named_by_a_hash() {
        let names = ModelNames::new(&[tool("files/read_file"), tool("time/a/b")]);
        assert_eq!(
            names.to_model_name(&tool("files/read_file")),
            Some("files__read_file")
        );
        let odd = names.to_model_name(&tool("time/a/b")).unwrap();
        assert!(odd.starts_with("time__a_b_") && odd.len() == 18, "{odd}");
        assert_eq!(names.from_model_name(odd), Some(&tool("time/a/b")));
        assert_eq!(names.from_model_name("nothing"), None);
    }

    #[test]
    fn no_two_tools_share_a_name_and_every_name_leads_back() {
        let long = "x".repeat(100);
        let mut tools: Vec<ToolName> = [
            "a/b__c",
            "a__b/c",
            "a_/b",
            "a/_b",
            "a/b",
            "a/B",
            "a/b.c",
            "a/b c",
            "a/b/c",
            "a.b/c",
            "a_b/c",
            "9/x",
            "t9/x",
            "a/wie spät?",
            "a/日本語",
            "a/日本誤",
        ]
        .into_iter()
        .map(tool)
        .collect();
        tools.extend(["1", "2"].map(|end| tool(&format!("a/{long}{end}"))));
        // A tool whose plain name equals another one's generated name.
        let made_up = hashed(&tool("a/b.c"), 0);
        tools.push(tool(&made_up.replacen("__", "/", 1)));
        let mut reversed = tools.clone();
        reversed.reverse();
        for list in [&tools, &reversed] {
            let names = ModelNames::new(list);
            assert_eq!(names.from.len(), tools.len());
            for tool in &tools {
                let name = names.to_model_name(tool).unwrap();
                assert!((1..=MAX).contains(&name.len()), "{name}");
                assert!(name.chars().all(allowed), "{name}");
                assert_eq!(names.from_model_name(name), Some(tool));
                assert!(ModelNames::may_mean_tool_of(tool.server(), name), "{name}");
                assert!(!ModelNames::may_mean_tool_of("other", name), "{name}");
            }
            // Names must not depend on the order of the list.
            assert_eq!(names.to, ModelNames::new(&reversed).to);
        }
    }
}
