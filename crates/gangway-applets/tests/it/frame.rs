//! The applets there are, and the frames they run in.

use gangway_testing::server::bare_client;
use serde_json::json;

use super::client::frame_at;
use crate::server::TestServer;

async fn with_applets() -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    let applets = folder.path().join("applets");
    let put = |path: &str, text: &str| {
        let file = applets.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    put(
        "clock/meta.json",
        r#"{"slug":"clock","name":"A <b>clock</b>","description":"Tells the time"}"#,
    );
    put(
        "clock/content.html",
        "<h1 id=t></h1><IFRAME srcdoc=x></IFRAME><link rel=preconnect href=//x>",
    );
    put("clock/script.js", "import 'gangway';");
    put(
        "clock/img/a.svg",
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
    );
    put("broken/meta.json", "{");
    put("empty/meta.json", "{}");
    put("other/meta.json", r#"{"slug":"another"}"#);
    put("other/content.html", "");
    put("Not-A-Slug/meta.json", "{}");
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret"), applets.join("clock/link")).unwrap();
    TestServer::on(folder, |_| {}).await
}

#[tokio::test]
async fn applets_are_found_and_what_is_wrong_with_one_is_reported() {
    let server = with_applets().await;
    let (_, list) = server.get("/api/applets").await;
    let of = |slug: &str| {
        let all = list["applets"].as_array().unwrap();
        all.iter().find(|applet| applet["slug"] == slug).cloned()
    };
    let clock = of("clock").unwrap();
    assert_eq!(
        clock,
        json!({
            "slug": "clock",
            "name": "A <b>clock</b>",
            "description": "Tells the time",
            "origin": "data",
            "frame": frame_at(&server, "clock", "frame"),
        })
    );
    for (slug, problem) in [
        ("broken", "cannot parse meta.json"),
        ("empty", "content.html is missing"),
        ("other", "the slug in meta.json"),
    ] {
        let applet = of(slug).unwrap();
        assert!(
            applet["problem"].as_str().unwrap().contains(problem),
            "{applet}"
        );
        let (status, error) = server.get(&frame_at(&server, slug, "frame")).await;
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (409, &json!("applet_broken"))
        );
    }
    assert_eq!(of("Not-A-Slug"), None);
    assert_eq!(
        server.get(&frame_at(&server, "nothing", "frame")).await.0,
        404
    );
}

#[tokio::test]
async fn a_frame_and_its_files_are_for_those_who_know_its_url() {
    let server = with_applets().await;
    let status = async |path: &str| {
        let request = bare_client().get(server.url(path));
        request.send().await.unwrap().status()
    };
    for path in ["frame", "files/script.js", "files/content.html"] {
        assert_eq!(status(&frame_at(&server, "clock", path)).await, 200);
        for wrong in [
            format!("/applets/clock/{}/{path}", "0".repeat(32)),
            // The secret of another applet.
            frame_at(&server, "empty", path).replace("/empty/", "/clock/"),
        ] {
            assert_eq!(status(&wrong).await, 401);
        }
        assert_eq!(status(&format!("/applets/clock/{path}")).await, 404);
    }
}

#[tokio::test]
async fn an_applet_runs_in_a_frame_without_an_origin_and_without_a_network() {
    let server = with_applets().await;
    let page = server
        .http
        .get(server.url(&frame_at(&server, "clock", "frame")))
        .send()
        .await
        .unwrap();
    let policy = page.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    for rule in [
        "sandbox allow-scripts",
        "default-src 'none'",
        "connect-src 'none'",
        "frame-src 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "frame-ancestors 'self'",
    ] {
        assert!(policy.contains(rule), "{policy}");
    }
    let frame = frame_at(&server, "clock", "");
    let reachable = page.headers()["connection-allowlist"].to_str().unwrap();
    assert!(reachable.contains(&format!("{frame}*\"")), "{reachable}");
    assert_eq!(page.headers()["x-dns-prefetch-control"], "off");
    assert!(!policy.contains("allow-same-origin"), "{policy}");
    let html = page.text().await.unwrap();
    assert!(
        html.contains("<title>A &lt;b&gt;clock&lt;/b&gt;</title>"),
        "{html}"
    );
    assert!(
        html.contains(&frame_at(&server, "clock", "files/script.js"))
            && !html.contains("style.css")
    );
    let confined = html.find("RTC").unwrap();
    let library = html.find("<script src=\"/applet.global.js\">").unwrap();
    assert!(
        confined < library && library < html.find("<body>").unwrap(),
        "{html}"
    );
    assert!(
        html.contains("<blocked-iframe srcdoc=x>") && html.contains("<wbr rel=preconnect"),
        "{html}"
    );
    let file = |path: &str| {
        server
            .http
            .get(server.url(&frame_at(&server, "clock", &format!("files/{path}"))))
            .send()
    };
    let script = file("script.js").await.unwrap();
    assert_eq!(script.headers()["access-control-allow-origin"], "*");
    assert_eq!(
        script.headers()["cross-origin-resource-policy"],
        "cross-origin"
    );
    let image = file("img/a.svg").await.unwrap();
    assert_eq!(image.headers()["content-type"], "image/svg+xml");
    assert!(
        image.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .starts_with("sandbox")
    );
    for path in [
        "../broken/meta.json",
        "..%2fbroken%2fmeta.json",
        "%2e%2e/secret",
        "link",
        "nothing.js",
    ] {
        let status = file(path).await.unwrap().status();
        assert_eq!(status, 404, "{path}");
    }
}

#[tokio::test]
async fn an_applet_is_not_shown_in_a_window_of_its_own() {
    let server = with_applets().await;
    let address = server.url(&frame_at(&server, "clock", "frame"));
    let asked = |dest: &'static str| {
        let request = bare_client().get(&address).header("sec-fetch-dest", dest);
        request.send()
    };
    assert_eq!(asked("iframe").await.unwrap().status(), 200);
    let refused = asked("document").await.unwrap();
    assert_eq!(refused.status(), 403);
    assert!(refused.text().await.unwrap().contains("not_framed"));
}

#[tokio::test]
async fn a_script_is_a_module_only_where_it_must_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let applets = folder.path().join("applets");
    let scripts = [
        (
            "plain",
            "function add() { setAppletState({ n: 1 }); }",
            false,
        ),
        ("quoted", "const text = 'import x from y'; // export", false),
        ("dynamic", "import('./other.js').then(start);", false),
        ("inside", "async function f() { await g(); }", false),
        ("imports", "import { setAppletState } from 'gangway';", true),
        ("exports", "export const a = 1;", true),
        ("awaits", "const state = await getAppletState();", true),
    ];
    for (slug, script, _) in scripts {
        let applet = applets.join(slug);
        std::fs::create_dir_all(&applet).unwrap();
        std::fs::write(applet.join("meta.json"), "{}").unwrap();
        std::fs::write(applet.join("content.html"), "<button onclick=add()>").unwrap();
        std::fs::write(applet.join("script.js"), script).unwrap();
    }
    let server = TestServer::on(folder, |_| {}).await;
    for (slug, _, module) in scripts {
        let frame = frame_at(&server, slug, "frame");
        let page = server.http.get(server.url(&frame)).send().await.unwrap();
        let html = page.text().await.unwrap();
        let found = html.contains("<script type=\"module\" src=\"/applets/");
        assert_eq!(found, module, "{slug} {html}");
    }
}
