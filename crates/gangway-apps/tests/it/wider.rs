//! Apps in the wider format: for a server, with an icon, with capabilities.

use super::{AppSite, write};
use axum::http::{Method, StatusCode};
use gangway_apps::App;

const SERVER: &str =
    "Bun.serve({ fetch: (req) => new Response(Bun.file('public' + new URL(req.url).pathname)) });";

fn app(lines: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, App) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("wide");
    let manifest = format!("---\nname: wide\ndescription: Wide.\n{lines}\n---\n");
    write(&place, &[("APP.md", &manifest)]);
    write(&place, files);
    let app = App::in_folder(&place).unwrap();
    (folder, app)
}

#[test]
fn an_app_whose_server_only_serves_files_is_launched_like_any_other() {
    for (runtime, program) in [
        ("bun", "server.ts"),
        ("deno", "main.ts"),
        ("node", "server.js"),
    ] {
        let lines = format!("runtime: {runtime}\nentry: {program}");
        let (_folder, app) = app(&lines, &[(program, SERVER), ("public/index.html", "<p>")]);
        assert!(app.problems.is_empty(), "{:?}", app.problems);
        assert_eq!(app.manifest.entry.as_str(), "public/index.html");
    }
    // Without a declared program, or with a page as entry.
    let (_folder, app) = app(
        "runtime: bun",
        &[("server.ts", SERVER), ("index.html", "<p>")],
    );
    assert!(app.problems.is_empty(), "{:?}", app.problems);
}

#[test]
fn an_app_that_needs_a_server_has_one_warning_that_names_what_is_missing() {
    let program = "const db = new Database('x.sqlite'); if (path.startsWith('/api/')) return Response.json(db);";
    let files = [("server.ts", program), ("index.html", "<p>")];
    let (_folder, wide) = app("runtime: bun\nentry: server.ts", &files);
    assert!(wide.broken().is_none());
    let lines: Vec<String> = wide.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "APP.md:4: warning: `runtime` is bun: Gangway serves the app's files but does not run server.ts, so these do not \
          work: API routes, a database"
        ]
    );
    // Without a page there is nothing to open.
    let (_folder, wide) = app("runtime: bun\nentry: server.ts", &[("server.ts", SERVER)]);
    assert!(wide.broken().is_some());
}

#[tokio::test]
async fn what_a_server_has_for_its_root_is_found_from_the_root() {
    let site = AppSite::with(
        "runtime: bun\nentry: public/index.html",
        &[("public/index.html", "<p>"), ("public/app.js", "let a;")],
    );
    assert_eq!(site.get("/app.js").await.text(), "let a;");
    assert_eq!(site.get("/none.js").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn capabilities_close_what_they_do_not_name() {
    let site = AppSite::with("capabilities: [camera, storage]", &[]);
    let policy = site
        .visit("/")
        .await
        .header("permissions-policy")
        .to_owned();
    assert!(
        policy.contains("microphone=()") && !policy.contains("camera"),
        "{policy}"
    );
    let open = AppSite::new(&[]);
    let page = open.ask(Method::GET, "/", &[], None).await;
    assert_eq!(page.header("permissions-policy"), "");
}

#[test]
fn an_icon_is_a_character_or_a_picture_of_the_folder() {
    let icon = |icon: &str| {
        let files = [("index.html", ""), ("a.svg", "<svg/>"), ("b.txt", "x")];
        app(&format!("icon: {icon}"), &files).1.icon
    };
    assert_eq!(icon("📊").as_deref(), Some("📊"));
    assert_eq!(
        icon("a.svg").as_deref(),
        Some("data:image/svg+xml;base64,PHN2Zy8+")
    );
    for other in ["b.txt", "missing.png", "https://example.org/a.png", "chart"] {
        assert_eq!(icon(other), None, "{other}");
    }
}

#[tokio::test]
async fn dependencies_that_a_package_manager_installed_are_found_by_their_names() {
    let site = AppSite::with(
        "dependencies: { tiny: ^1 }",
        &[
            ("js/app.js", "import { a } from 'tiny';"),
            (
                "node_modules/tiny/package.json",
                r#"{"module":"esm/main.js"}"#,
            ),
            ("node_modules/tiny/esm/main.js", "export const a = 1;"),
        ],
    );
    let script = site.get("/js/app.js").await;
    assert_eq!(
        script.text(),
        r#"import { a } from "../node_modules/tiny/esm/main.js";"#
    );
    let module = site.get("/node_modules/tiny/esm/main.js").await;
    assert_eq!(module.text(), "export const a = 1;");
}

const TINY: [(&str, &str); 4] = [
    (
        "node_modules/tiny/package.json",
        r#"{ "exports": { ".": { "require": "./a.cjs", "import": "./a.mjs" }, "./more": "./more.js", "./all/*": "./*.js" } }"#,
    ),
    ("node_modules/tiny/a.mjs", "export const a = 1;"),
    ("node_modules/tiny/more.js", "export const more = 2;"),
    ("vendor/old/index.js", "export default 3;"),
];

#[tokio::test]
async fn dependencies_that_are_here_become_an_import_map_for_scripts_in_the_page() {
    for lines in [
        "dependencies: { tiny: ^1.0.0, old: '*', '@not/here': '1' }",
        "dependencies: ['tiny@^1.0.0', old, '@not/here@1']",
    ] {
        let site = AppSite::with(lines, &TINY);
        let page = site.visit("/").await;
        let text = page.text();
        let map = text.split_once(r#"<script type="importmap""#).unwrap().1;
        let map = map.split_once('>').unwrap().1;
        let map = map.split_once("</script>").unwrap().0;
        let map: serde_json::Value = serde_json::from_str(map).unwrap();
        let wanted = serde_json::json!({ "imports": {
            "tiny": "./node_modules/tiny/a.mjs",
            "tiny/more": "./node_modules/tiny/more.js",
            "old": "./vendor/old/index.js",
            "old/": "./vendor/old/",
        } });
        assert_eq!(map, wanted);
        // A route of the app is deeper than its page.
        let deeper = site.visit("/a/b").await;
        let root = "\"../node_modules/tiny/a.mjs\"";
        assert!(deeper.text().contains(root), "{}", deeper.text());
    }
}

#[tokio::test]
async fn a_page_with_an_import_map_of_its_own_keeps_it_and_a_policy_admits_ours() {
    let own = r#"<script type="ImportMap">{"imports":{}}</script><p>"#;
    let lines = "dependencies: { tiny: '1' }\ncsp: \"script-src 'self'\"";
    let site = AppSite::with(lines, &TINY);
    let page = site.visit("/").await;
    let policy = page.header("content-security-policy").to_owned();
    let nonce = policy.split_once("'nonce-").unwrap().1;
    let nonce = nonce.split_once('\'').unwrap().0;
    assert!(page.text().contains(&format!("nonce=\"{nonce}\"")));
    let mut files = TINY.to_vec();
    files.push(("index.html", own));
    let site = AppSite::with(lines, &files);
    assert_eq!(site.visit("/").await.text(), own);
}

#[tokio::test]
async fn a_package_imports_what_it_brings_along_before_what_the_app_has() {
    let module = r#"{"type":"module","exports":"./index.js"}"#;
    let site = AppSite::new(&[
        ("app.js", "import 'deep';"),
        ("vendor/deep/package.json", module),
        ("vendor/deep/index.js", "export * from './lib/a.js';"),
        ("vendor/deep/lib/a.js", "import 'same'; import 'other';"),
        ("vendor/deep/node_modules/same/package.json", module),
        ("vendor/deep/node_modules/same/index.js", "export {};"),
        ("vendor/same/package.json", module),
        ("vendor/same/index.js", "import 'same';"),
        ("vendor/other/index.js", "export {};"),
    ]);
    let script = site.get("/vendor/deep/lib/a.js").await;
    assert_eq!(
        script.text(),
        r#"import "../../../vendor/deep/node_modules/same/index.js"; import "../../../vendor/other/index.js";"#
    );
    let same = site.get("/vendor/same/index.js").await;
    assert_eq!(same.text(), r#"import "../../vendor/same/index.js";"#);
}
