//! The applets there are, and the frames they run in.

use serde_json::json;

use crate::support::TestServer;

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
    put("clock/content.html", "<h1 id=t></h1>");
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
    TestServer::in_folder(folder, |_| {}).await
}

#[tokio::test]
async fn applets_are_found_and_what_is_wrong_with_one_is_said() {
    let server = with_applets().await;
    let (_, list) = server.get("/api/applets").await;
    let of = |slug: &str| {
        let all = list["applets"].as_array().unwrap();
        all.iter().find(|applet| applet["slug"] == slug).cloned()
    };
    let clock = of("clock").unwrap();
    assert_eq!(
        clock,
        json!({ "slug": "clock", "name": "A <b>clock</b>", "description": "Tells the time", "origin": "data" })
    );
    for (slug, problem) in [
        ("broken", "cannot be read"),
        ("empty", "content.html is missing"),
        ("other", "names the slug"),
    ] {
        let applet = of(slug).unwrap();
        assert!(
            applet["problem"].as_str().unwrap().contains(problem),
            "{applet}"
        );
        let (status, error) = server.get(&format!("/applets/{slug}/frame")).await;
        assert_eq!(
            (status.as_u16(), &error["error_code"]),
            (409, &json!("applet_broken"))
        );
    }
    assert_eq!(of("Not-A-Slug"), None);
    assert_eq!(server.get("/applets/nothing/frame").await.0, 404);
}

#[tokio::test]
async fn an_applet_runs_in_a_frame_without_an_origin_and_without_a_network() {
    let server = with_applets().await;
    let page = server
        .http
        .get(server.url("/applets/clock/frame"))
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
        "frame-ancestors 'self'",
    ] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("allow-same-origin"), "{policy}");
    let html = page.text().await.unwrap();
    assert!(
        html.contains("<title>A &lt;b&gt;clock&lt;/b&gt;</title>"),
        "{html}"
    );
    assert!(html.contains("/applets/clock/files/script.js") && !html.contains("style.css"));
    let file = |path: &str| {
        server
            .http
            .get(server.url(&format!("/applets/clock/files/{path}")))
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
