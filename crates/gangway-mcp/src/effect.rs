//! Whether a tool is read-only, judging by its annotations and its name.

use crate::listing::ListedTool;

/// First words of the names of tools that read or compute. `fetch` and `query` are missing on purpose: a URL can
/// exfiltrate data, and SQL may write.
const READS: [&str; 24] = [
    "calculate",
    "check",
    "compare",
    "convert",
    "count",
    "describe",
    "explain",
    "find",
    "get",
    "help",
    "info",
    "inspect",
    "list",
    "lookup",
    "ping",
    "preview",
    "read",
    "resolve",
    "search",
    "show",
    "status",
    "summarize",
    "validate",
    "view",
];

/// Words that a read-only tool does not have in its name, whatever its annotations say.
const WRITES: [&str; 44] = [
    "add",
    "append",
    "apply",
    "approve",
    "archive",
    "book",
    "buy",
    "cancel",
    "close",
    "commit",
    "create",
    "delete",
    "deploy",
    "disable",
    "drop",
    "edit",
    "enable",
    "execute",
    "insert",
    "install",
    "kill",
    "merge",
    "modify",
    "move",
    "overwrite",
    "patch",
    "pay",
    "post",
    "publish",
    "purge",
    "push",
    "put",
    "remove",
    "rename",
    "replace",
    "reset",
    "restart",
    "run",
    "send",
    "set",
    "transfer",
    "truncate",
    "update",
    "write",
];

impl ListedTool {
    /// Whether the tool changes nothing, judging by annotations and name. Annotations come from the server, so a
    /// `readOnlyHint` does not outweigh a name such as `delete_file`.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        let words = words(self.tool.name.tool());
        let writes = |word: &String| WRITES.contains(&word.as_str());
        if self.annotations["destructiveHint"] == true {
            return false;
        }
        match self.annotations["readOnlyHint"].as_bool() {
            Some(true) => !words.first().is_some_and(writes),
            Some(false) => false,
            None => {
                let first = words.first();
                let reads = first.is_some_and(|word| READS.contains(&word.as_str()));
                reads && !words.iter().any(writes)
            }
        }
    }
}

/// `readTextFile`, `read_text_file` and `read-text-file` are the same three words.
fn words(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && !before.is_uppercase() {
            spaced.push(' ');
        }
        spaced.push(c);
        before = c;
    }
    let words = spaced.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gangway_core::{Tool, ToolName};
    use serde_json::{Value, json};

    use super::*;

    fn reads(name: &str, annotations: Value) -> bool {
        let entry = ListedTool {
            tool: Arc::new(Tool {
                name: ToolName::new("s", name).unwrap(),
                description: String::new(),
                input_schema: json!({ "type": "object" }),
            }),
            title: None,
            annotations,
            output_schema: None,
            unusable: None,
            for_models: true,
        };
        entry.is_read_only()
    }

    #[test]
    fn without_annotations_the_name_decides_and_an_unknown_name_is_not_read_only() {
        for name in [
            "get_current_time",
            "readTextFile",
            "list-issues",
            "search",
            "HTTPStatus",
        ] {
            assert_eq!(reads(name, Value::Null), name != "HTTPStatus", "{name}");
        }
        for name in [
            "create_issue",
            "fetch",
            "query",
            "read_and_delete",
            "getOrCreate",
            "x",
            "🐟",
        ] {
            assert!(!reads(name, Value::Null), "{name}");
        }
    }

    #[test]
    fn annotations_are_believed_unless_the_name_contradicts_them() {
        let hint = |read_only: bool| json!({ "readOnlyHint": read_only });
        assert!(reads("convey", hint(true)));
        assert!(reads("find_deleted", hint(true)));
        assert!(!reads("delete_file", hint(true)));
        assert!(!reads("get_time", hint(false)));
        assert!(!reads(
            "get_time",
            json!({ "readOnlyHint": true, "destructiveHint": true })
        ));
        assert!(reads("get_time", json!({ "readOnlyHint": "yes" })));
    }
}
