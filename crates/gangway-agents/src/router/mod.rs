//! The tool router: selects the servers whose tools match a prompt, so that a model is not offered a hundred tools.

#[cfg(test)]
mod tests;
mod words;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use gangway_core::Tool;
use serde::Serialize;
use words::{is_common, stem, words};

/// Words that select servers of these names.
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

/// Common parts of server names, which identify none of them.
const SHARED: [&str; 6] = ["google", "local", "remote", "official", "server", "api"];

/// A server that matches less than this share of the best one is not offered.
const CLOSE: f64 = 0.5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Route {
    /// The servers, each with the words that selected it. If empty, all tools are offered.
    pub servers: BTreeMap<String, Vec<String>>,
}

impl Route {
    #[must_use]
    pub fn has(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.contains_key(server)
    }
}

/// Stems, with the words they were found in.
type Stems = BTreeMap<String, String>;

/// Selects servers for a prompt: those that it names, those that the table has for the other words, and otherwise those
/// whose tools match best.
#[must_use]
pub fn route(sentence: &str, tools: &[Arc<Tool>]) -> Route {
    let mut stems = words(sentence);
    let vocabularies = Vocabulary::of_servers(tools);
    let mut chosen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for server in vocabularies.keys() {
        let named = named(server, &stems);
        if !named.is_empty() {
            chosen.insert((*server).to_owned(), named);
        }
    }
    // In "search Wikipedia" the search is Wikipedia's and not that of every server that searches.
    let explained: Vec<&Vocabulary> = chosen
        .keys()
        .filter_map(|server| vocabularies.get(server.as_str()))
        .collect();
    stems.retain(|stem, _| !explained.iter().any(|known| known.has(stem)));
    for (server, why) in by_table(&stems, vocabularies.keys().copied()) {
        chosen.entry(server).or_default().extend(why);
    }
    if chosen.is_empty() {
        chosen = by_keywords(&stems, &vocabularies);
    }
    Route { servers: chosen }
}

/// The best matching tools, at most `most`, in their original order.
#[must_use]
pub fn most_fitting(sentence: &str, tools: Vec<Arc<Tool>>, most: usize) -> Vec<Arc<Tool>> {
    if tools.len() <= most {
        return tools;
    }
    let stems = words(sentence);
    let route = route(sentence, &tools);
    let mut ranked: Vec<(usize, usize)> = tools
        .iter()
        .enumerate()
        .map(|(at, tool)| {
            let mut vocabulary = Vocabulary::default();
            vocabulary.add(tool);
            let own = tool.name.server() == gangway_core::OWN;
            let chosen = own || (!route.servers.is_empty() && route.has(tool.name.server()));
            let matches = stems
                .keys()
                .map(|stem| vocabulary.weight(stem))
                .sum::<usize>();
            (at, matches + if chosen { 1000 } else { 0 })
        })
        .collect();
    ranked.sort_by_key(|(at, score)| (Reverse(*score), *at));
    let stored: BTreeSet<usize> = ranked.iter().take(most).map(|(at, _)| *at).collect();
    let tools = tools.into_iter().enumerate();
    tools
        .filter(|(at, _)| stored.contains(at))
        .map(|(_, tool)| tool)
        .collect()
}

/// The words in the names and descriptions of a server's tools.
#[derive(Default)]
struct Vocabulary {
    names: BTreeSet<String>,
    descriptions: BTreeSet<String>,
}

impl Vocabulary {
    fn of_servers(tools: &[Arc<Tool>]) -> BTreeMap<&str, Self> {
        let mut all: BTreeMap<&str, Self> = BTreeMap::new();
        for tool in tools {
            all.entry(tool.name.server()).or_default().add(tool);
        }
        all
    }

    fn add(&mut self, tool: &Tool) {
        self.names.extend(words(tool.name.server()).into_keys());
        self.names.extend(words(tool.name.tool()).into_keys());
        self.descriptions
            .extend(words(&tool.description).into_keys());
    }

    fn has(&self, stem: &str) -> bool {
        self.names.contains(stem) || self.descriptions.contains(stem)
    }

    /// A name counts more than a description.
    fn weight(&self, stem: &str) -> usize {
        match (self.names.contains(stem), self.descriptions.contains(stem)) {
            (true, _) => 3,
            (false, true) => 1,
            (false, false) => 0,
        }
    }
}

/// The words by which a prompt names a server: its whole name, or a distinctive part of it.
fn named(server: &str, stems: &Stems) -> Vec<String> {
    let parts = words(server);
    let shared = |part: &String| SHARED.iter().any(|shared| stem(shared) == *part);
    let mut own: Vec<&String> = parts.keys().filter(|part| !shared(part)).collect();
    // `search` is what `brave-search` does, not its name.
    if own.iter().any(|part| !is_common(part)) {
        own.retain(|part| !is_common(part));
    }
    let received: Vec<String> = own
        .into_iter()
        .filter_map(|part| stems.get(part).cloned())
        .collect();
    if !received.is_empty() {
        return received;
    }
    // `OpenStreetMap` for `open-street-map`.
    let joined = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let whole = stem(&joined(server));
    stems.get(&whole).cloned().into_iter().collect()
}

fn by_table<'a>(
    stems: &Stems,
    servers: impl Iterator<Item = &'a str> + Clone,
) -> BTreeMap<String, Vec<String>> {
    let mut chosen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (keywords, names) in TABLE {
        let received: Vec<_> = keywords
            .iter()
            .filter_map(|word| stems.get(&stem(word)))
            .collect();
        if received.is_empty() {
            continue;
        }
        for server in servers.clone() {
            // A server is known by its name: `github`, but also `my-github` or `server-github`.
            let parts = words(server);
            if names.iter().any(|name| parts.contains_key(&stem(name))) {
                let why = chosen.entry(server.to_owned()).or_default();
                why.extend(received.iter().map(|word| (**word).clone()));
            }
        }
    }
    chosen
}

/// Ranks servers by the words that they share with a prompt. Rare words count more.
fn by_keywords(
    texts: &Stems,
    servers: &BTreeMap<&str, Vocabulary>,
) -> BTreeMap<String, Vec<String>> {
    let mut scored: Vec<(&str, f64, Vec<String>)> = Vec::new();
    for (server, vocabulary) in servers {
        let (mut score, mut why) = (0.0, Vec::new());
        for (stem, word) in texts {
            let weight = vocabulary.weight(stem);
            if weight > 0 {
                let others = servers.values().filter(|other| other.has(stem)).count();
                score += weight as f64 / others as f64;
                why.push(word.clone());
            }
        }
        if score > 0.0 {
            scored.push((server, score, why));
        }
    }
    let best = scored
        .iter()
        .map(|(_, score, _)| *score)
        .fold(0.0, f64::max);
    let close = scored
        .into_iter()
        .filter(|(_, score, _)| *score >= best * CLOSE);
    close
        .map(|(server, _, why)| (server.to_owned(), why))
        .collect()
}
