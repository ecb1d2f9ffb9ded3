//! The import graph of the crate's top-level modules has no cycle.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

type Edges = BTreeSet<(String, String)>;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The first names that follow a path's beginning: one, or those of a list in braces.
fn first_names(rest: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| is_word(*c)).collect::<String>();
    let Some(list) = rest.strip_prefix('{') else {
        return vec![word(rest)];
    };
    let (mut names, mut depth, mut begins) = (Vec::new(), 1, true);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' if depth == 1 => begins = true,
            c if depth == 1 && begins && is_word(c) => {
                names.push(word(&list[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// What a module's file names of the crate's root; `depth` is how many `super` lead there.
fn named(text: &str, depth: usize) -> Vec<String> {
    let code = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let code = code.collect::<Vec<_>>().join("\n");
    let root = "super::".repeat(depth);
    let mut found = Vec::new();
    for beginning in ["crate::", root.as_str()] {
        for (at, _) in code.match_indices(beginning) {
            let before = code[..at].chars().next_back();
            let rest = &code[at + beginning.len()..];
            if !before.is_some_and(|c| is_word(c) || c == ':' || c == '$') {
                found.extend(first_names(rest));
            }
        }
    }
    found
}

fn import_graph() -> Edges {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    let parts = |path: &Path| -> Vec<String> {
        let inside = path.strip_prefix(&root).unwrap().with_extension("");
        let names = inside
            .iter()
            .map(|part| part.to_string_lossy().into_owned());
        names.filter(|name| name != "mod").collect()
    };
    let modules: BTreeSet<String> = paths.iter().map(|path| parts(path)[0].clone()).collect();
    let mut edges = Edges::new();
    for path in &paths {
        let parts = parts(path);
        if ["lib", "main"].contains(&parts[0].as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for name in named(&text, parts.len()) {
            if name != parts[0] && modules.contains(&name) {
                edges.insert((parts[0].clone(), name));
            }
        }
    }
    edges
}

/// Everything that can be reached from a module.
fn reached<'a>(from: &'a str, edges: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(module) = left.pop() {
        for next in edges.get(module).into_iter().flatten() {
            if found.insert(*next) {
                left.push(next);
            }
        }
    }
    found
}

/// The edges that lead back to where they begin.
fn in_cycles(edges: &Edges) -> Edges {
    let mut from: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (a, b) in edges {
        from.entry(a).or_default().push(b);
    }
    let reached: BTreeMap<&str, _> = from.keys().map(|a| (*a, reached(a, &from))).collect();
    let leads_back = |(a, b): &&(String, String)| {
        let beyond = reached.get(b.as_str());
        beyond.is_some_and(|beyond| beyond.contains(a.as_str()))
    };
    edges.iter().filter(leads_back).cloned().collect()
}

fn shown(edges: &Edges) -> String {
    let lines = edges.iter().map(|(a, b)| format!("{a} -> {b}\n"));
    lines.collect()
}

#[test]
fn no_modules_import_each_other_in_a_cycle() {
    let graph = import_graph();
    assert!(
        !graph.is_empty(),
        "no import was found, so nothing was checked"
    );
    let cycles = in_cycles(&graph);
    assert!(
        cycles.is_empty(),
        "these imports form a cycle; let the module that both need hold what they share:\n{}",
        shown(&cycles)
    );
}

#[test]
fn imports_are_found_however_they_are_written() {
    let text = "use crate::{\n    one::A, // crate::not::this\n    two::{B, three::C},\n};\nuse super::four::D;\nfn f() -> crate::five::E {}\n";
    let mut found = named(text, 1);
    found.sort();
    assert_eq!(found, ["five", "four", "one", "two"]);
    assert_eq!(named("use super::super::{a, b::C};", 2), ["a", "b"]);
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")];
    let edges: Edges = edges.map(|(a, b)| (a.into(), b.into())).into();
    assert_eq!(shown(&in_cycles(&edges)), "a -> b\nb -> c\nc -> a\n");
}
