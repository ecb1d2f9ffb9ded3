//! Apps that were made for a server: which page they serve, and which features do not work without it.

use super::{
    folder::AppFolder,
    manifest::{Manifest, Problem, Server, Severity},
};
use gangway_files::FilePath;

/// Bytes of a program that are read.
const LARGEST: u64 = 256 << 10;

/// Default programs.
const PROGRAMS: [&str; 6] = [
    "server.ts",
    "server.js",
    "server.mjs",
    "main.ts",
    "index.ts",
    "index.js",
];

/// Default pages.
const PAGES: [&str; 7] = [
    "index.html",
    "public/index.html",
    "static/index.html",
    "dist/index.html",
    "www/index.html",
    "client/index.html",
    "src/index.html",
];

/// Server features, by words in the program.
const MORE: [(&str, &[&str]); 5] = [
    (
        "API routes",
        &[
            "/api",
            "Response.json",
            "req.method",
            "request.method",
            ".post(",
        ],
    ),
    ("WebSockets", &["WebSocket", "websocket", ".upgrade("]),
    (
        "a database",
        &["sqlite", "openKv", "postgres", "mongodb", "redis", "prisma"],
    ),
    (
        "writing files",
        &["writeFile", "Bun.write(", "Deno.write", "createWriteStream"],
    ),
    (
        "other programs",
        &["child_process", "Bun.spawn", "Deno.Command"],
    ),
];

/// Makes the app launchable without its program, and warns about what will not work; blocks.
pub(super) fn settle(folder: &AppFolder, manifest: &mut Manifest) -> Option<Problem> {
    let server = manifest.server.clone()?;
    if !server.has_page
        && let Some(page) = first(folder, &PAGES)
    {
        manifest.entry = page;
    }
    let file = server.file.clone().or_else(|| first(folder, &PROGRAMS))?;
    let (_, source) = folder.read(&file, LARGEST).ok()?;
    let missing = needs(&String::from_utf8_lossy(&source));
    (!missing.is_empty()).then(|| warning(&server, &file, &missing))
}

fn first(folder: &AppFolder, names: &[&str]) -> Option<FilePath> {
    let mut paths = names.iter().filter_map(|name| name.parse().ok());
    paths.find(|path| folder.mark(path).is_ok())
}

fn needs(source: &str) -> Vec<&'static str> {
    let more = MORE
        .iter()
        .filter(|(_, signs)| signs.iter().any(|sign| source.contains(sign)));
    more.map(|(what, _)| *what).collect()
}

fn warning(server: &Server, file: &FilePath, missing: &[&str]) -> Problem {
    Problem {
        line: Some(server.line),
        severity: Severity::Warning,
        message: format!(
            "`runtime` is {}: Gangway serves the app's files but does not run {file}, so these do not work: {}",
            server.runtime,
            missing.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_only_serves_files_needs_nothing_and_others_are_known_by_what_they_do() {
        let files = "Bun.serve({ port: process.env.PORT, fetch(req) { return new Response(Bun.file('public' + new URL(req.url).pathname)); } });";
        assert!(needs(files).is_empty());
        let more = "import { Database } from 'bun:sqlite'; if (req.method === 'POST') server.upgrade(req);";
        assert_eq!(needs(more), ["API routes", "WebSockets", "a database"]);
    }
}
