//! Which servers' tools fit a sentence, so that a model is not shown a hundred tools for a question about one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use gangway_core::Tool;
use serde::Serialize;

/// Words that speak for servers of these names, in the order in which they are looked at.
const TABLE: [(&[&str], &[&str]); 7] = [
    (&["github", "repo", "commit", "pr", "issue"], &["github"]),
    (
        &["file", "folder", "directory", "read", "write"],
        &["filesystem"],
    ),
    (&["remember", "memory", "recall", "knowledge"], &["memory"]),
    (&["slack", "channel", "message"], &["slack"]),
    (
        &["database", "sql", "query", "postgres"],
        &["database", "postgres", "mysql"],
    ),
    (&["web", "browser", "scrape", "url"], &["web", "browser"]),
    (&["search", "find", "google", "brave"], &["search", "brave"]),
];

/// Words that say nothing about a tool, in its description or in a sentence.
const PLAIN: [&str; 44] = [
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for", "from", "get",
    "give", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on",
    "or", "please", "that", "the", "this", "to", "tool", "use", "what", "when", "which", "will",
    "with", "you", "your", "all",
];

/// What the router chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Route {
    /// The servers, each with the words that speak for it. Empty means that nothing did, and all tools are offered.
    pub servers: BTreeMap<String, Vec<String>>,
}

impl Route {
    /// Whether a server's tools are offered.
    #[must_use]
    pub fn has(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.contains_key(server)
    }
}

/// Chooses servers for a sentence: by the table first, then by words in the names and descriptions of their tools.
#[must_use]
pub fn route(sentence: &str, tools: &[Arc<Tool>]) -> Route {
    let said = words(sentence);
    let servers: BTreeSet<&str> = tools.iter().map(|tool| tool.name.server()).collect();
    let by_table = by_table(&said, &servers);
    let servers = if by_table.is_empty() {
        by_words(&said, tools)
    } else {
        by_table
    };
    Route { servers }
}

fn by_table(said: &BTreeSet<String>, servers: &BTreeSet<&str>) -> BTreeMap<String, Vec<String>> {
    let mut chosen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (keywords, names) in TABLE {
        let heard: Vec<_> = keywords
            .iter()
            .filter(|word| said.contains(**word))
            .collect();
        if heard.is_empty() {
            continue;
        }
        for server in servers {
            // A server is known by what it is called: `github`, but also `my-github` or `server-github`.
            let parts = words(server);
            if names.iter().any(|name| parts.contains(*name)) {
                let why = chosen.entry((*server).to_owned()).or_default();
                why.extend(heard.iter().map(|word| (**word).to_owned()));
            }
        }
    }
    chosen
}

fn by_words(said: &BTreeSet<String>, tools: &[Arc<Tool>]) -> BTreeMap<String, Vec<String>> {
    let mut chosen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for tool in tools {
        let mut known = words(tool.name.tool());
        known.extend(words(tool.name.server()));
        known.extend(words(&tool.description));
        for word in known.intersection(said) {
            let why = chosen.entry(tool.name.server().to_owned()).or_default();
            if !why.contains(word) {
                why.push(word.clone());
            }
        }
    }
    chosen
}

/// The words of a text that say something, small and in the singular, as far as that is seen at their end.
fn words(text: &str) -> BTreeSet<String> {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        // `readFile` is two words.
        if c.is_uppercase() && before.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(c);
        before = c;
    }
    let spaced = spaced.to_lowercase();
    let parts = spaced.split(|c: char| !c.is_alphanumeric());
    let singular = |word: &str| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word.to_owned(),
    };
    parts
        .filter(|word| word.len() > 1 && !PLAIN.contains(word))
        .map(singular)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(list: &[(&str, &str)]) -> Vec<Arc<Tool>> {
        let tool = |(name, about): &(&str, &str)| {
            Arc::new(Tool {
                name: name.parse().unwrap(),
                description: (*about).to_owned(),
                input_schema: serde_json::json!({ "type": "object" }),
            })
        };
        list.iter().map(tool).collect()
    }

    fn some() -> Vec<Arc<Tool>> {
        tools(&[
            ("github/create_issue", "Opens an issue"),
            ("filesystem/read_file", "Reads a file"),
            ("my-memory/save", "Keeps a note"),
            ("time/convert_time", "Converts between timezones"),
            ("postgres/run", "Runs SQL"),
            ("web/scrape", "Fetches a page"),
            ("brave/web_search", "Searches"),
        ])
    }

    fn chosen(sentence: &str) -> Vec<String> {
        route(sentence, &some()).servers.into_keys().collect()
    }

    #[test]
    fn the_table_decides_first() {
        assert_eq!(chosen("Open a PR in my repo"), ["github"]);
        assert_eq!(chosen("Which files are in this folder?"), ["filesystem"]);
        assert_eq!(chosen("Remember that I like tea"), ["my-memory"]);
        assert_eq!(chosen("query the orders in SQL"), ["postgres"]);
        assert_eq!(chosen("search the web for ships"), ["brave", "web"]);
    }

    #[test]
    fn words_of_tools_decide_where_the_table_is_silent() {
        assert_eq!(chosen("What timezone is Lisbon in?"), ["time"]);
        let route = route("What timezone is Lisbon in?", &some());
        assert_eq!(route.servers["time"], ["timezone"]);
    }

    #[test]
    fn no_match_means_all_tools() {
        let route = route("Tell me a joke", &some());
        assert!(route.servers.is_empty() && route.has("github") && route.has("anything"));
    }

    #[test]
    fn a_word_inside_another_does_not_count() {
        // `pr` is in `price`, `web` in `cobweb`, `url` in `curl`.
        assert!(chosen("the price of a cobweb is curling").is_empty());
    }
}
