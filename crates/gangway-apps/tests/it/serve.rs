//! Files of apps over HTTP.

use axum::http::{Method, StatusCode};
use gangway_apps::serve::Injection;

use super::AppSite;

fn launch() -> Injection {
    Injection {
        script: "launch('é')".to_owned(),
        connect: vec!["ws://site.localhost:1".to_owned()],
    }
}

#[tokio::test]
async fn every_file_has_its_type() {
    let site = AppSite::new(&[
        ("a.css", "x"),
        ("deep/er/b c.json", "{}"),
        ("d.svg", "<svg/>"),
        ("e.wasm", ""),
        ("f.unknown", "x"),
    ]);
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/a.css", "text/css; charset=utf-8"),
        ("/deep/er/b%20c.json", "application/json"),
        ("/d.svg", "image/svg+xml"),
        ("/e.wasm", "application/wasm"),
        ("/f.unknown", "application/octet-stream"),
        ("/APP.md", "text/markdown; charset=utf-8"),
    ] {
        let answer = site.get(path).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, kind),
            "{path}"
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cache-control"), "no-cache");
    }
}

#[tokio::test]
async fn a_file_that_is_known_is_not_sent_again_and_one_that_changed_is() {
    let site = AppSite::new(&[("a.txt", "one")]);
    let first = site.get("/a.txt").await;
    let tag = first.header("etag").to_owned();
    assert!(tag.starts_with('"') && tag.len() > 20, "{tag}");
    let ask = async |tag: &str| {
        site.ask(Method::GET, "/a.txt", &[("if-none-match", tag)], None)
            .await
    };
    for known in [
        tag.clone(),
        format!("W/{tag}"),
        format!("\"x\", {tag}"),
        "*".to_owned(),
    ] {
        let again = ask(&known).await;
        assert_eq!(
            (again.status, again.body.len()),
            (StatusCode::NOT_MODIFIED, 0),
            "{known}"
        );
        assert_eq!(again.header("etag"), tag);
    }
    assert_eq!(ask("\"other\"").await.text(), "one");
    site.write(&[("a.txt", "two")]);
    // A file that was just sent is assumed to be unchanged for a moment.
    let until = async |status: StatusCode| loop {
        let answer = ask(&tag).await;
        if answer.status == status {
            return answer;
        }
    };
    assert_eq!(until(StatusCode::OK).await.text(), "two");
    site.write(&[("a.txt", "one")]);
    // An ETag depends on the content.
    until(StatusCode::NOT_MODIFIED).await;
    std::fs::remove_file(site.path().join("a.txt")).unwrap();
    until(StatusCode::NOT_FOUND).await;
}

#[tokio::test]
async fn head_says_what_get_would_and_nothing_else_is_allowed() {
    let site = AppSite::new(&[("a.txt", "one")]);
    let get = site.get("/a.txt").await;
    let head = site.ask(Method::HEAD, "/a.txt", &[], None).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.header("etag"), get.header("etag"));
    assert_eq!(head.header("content-length"), "3");
    let post = site.ask(Method::POST, "/a.txt", &[], None).await;
    assert_eq!(
        (post.status, post.header("allow")),
        (StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD")
    );
}

#[tokio::test]
async fn parts_of_files_can_be_asked_for() {
    let large: String = ('a'..='z').cycle().take(9 << 20).collect();
    let site = AppSite::new(&[("small.txt", "0123456789"), ("large.mp4", &large)]);
    for (range, status, body, message) in [
        ("bytes=2-4", 206, "234", "bytes 2-4/10"),
        ("bytes=7-", 206, "789", "bytes 7-9/10"),
        ("bytes=-2", 206, "89", "bytes 8-9/10"),
        ("bytes=0-99", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=10-", 416, "", "bytes */10"),
        ("bytes=-0", 416, "", "bytes */10"),
        ("bytes=4-2", 200, "0123456789", ""),
        ("bytes=0-1,4-5", 200, "0123456789", ""),
        ("lines=1-2", 200, "0123456789", ""),
    ] {
        let answer = site
            .ask(Method::GET, "/small.txt", &[("range", range)], None)
            .await;
        assert_eq!(
            (
                answer.status.as_u16(),
                answer.text(),
                answer.header("content-range")
            ),
            (status, body, message),
            "{range}"
        );
    }
    let stale = [("range", "bytes=2-4"), ("if-range", "\"old\"")];
    assert_eq!(
        site.ask(Method::GET, "/small.txt", &stale, None)
            .await
            .status,
        200
    );

    let whole = site.get("/large.mp4").await;
    assert_eq!(
        (whole.status.as_u16(), whole.header("content-type")),
        (200, "video/mp4")
    );
    assert_eq!(whole.body, large.as_bytes());
    let part = site
        .ask(
            Method::GET,
            "/large.mp4",
            &[("range", "bytes=9000000-9000003")],
            None,
        )
        .await;
    assert_eq!(
        (part.status.as_u16(), part.body.as_slice()),
        (206, &large.as_bytes()[9_000_000..9_000_004])
    );
    let known = [("if-none-match", whole.header("etag"))];
    assert_eq!(
        site.ask(Method::GET, "/large.mp4", &known, None)
            .await
            .status,
        304
    );
}

#[tokio::test]
async fn addresses_that_are_no_files_lead_to_the_apps_page_if_a_user_goes_there() {
    let site = AppSite::new(&[("sub/index.html", "sub"), ("sub/a.txt", "x")]);
    for path in ["/settings", "/notes/7/edit", "/sub/nothing"] {
        let page = site.visit(path).await;
        assert!(
            page.status == 200 && page.text().contains("Start"),
            "{path}"
        );
        assert_eq!(site.get(path).await.status, 404, "{path}");
    }
    for path in ["/missing.js", "/img/x.png", "/__gangway/nothing", "/.git"] {
        assert_eq!(site.visit(path).await.status, 404, "{path}");
    }
    let script = [("sec-fetch-dest", "script"), ("accept", "text/html")];
    assert_eq!(
        site.ask(Method::GET, "/settings", &script, None)
            .await
            .status,
        404
    );
    assert_eq!(site.visit("/sub/").await.text(), "sub");
    let folder = site.visit("/sub?launch=a").await;
    assert_eq!(
        (folder.status.as_u16(), folder.header("location")),
        (307, "./sub/?launch=a")
    );
}

#[tokio::test]
async fn an_entry_in_a_folder_is_gone_to_so_that_its_neighbours_are_found() {
    let site = AppSite::with(
        "entry: pages/start.html",
        &[("pages/start.html", "<p>Pages")],
    );
    let root = site.visit("/?launch=t").await;
    assert_eq!(
        (root.status.as_u16(), root.header("location")),
        (307, "./pages/start.html?launch=t")
    );
    assert_eq!(site.visit("/pages/start.html").await.text(), "<p>Pages");
    assert_eq!(site.visit("/else").await.text(), "<p>Pages");
}

#[tokio::test]
async fn nothing_outside_the_folder_and_nothing_hidden_is_served() {
    let site = AppSite::new(&[
        (".env", "secret"),
        (".git/config", "secret"),
        ("a/.hidden/x.txt", "secret"),
    ]);
    std::fs::write(site.folder.path().join("secret.txt"), "secret").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../secret.txt", site.path().join("link.txt")).unwrap();
        symlink(site.folder.path(), site.path().join("up")).unwrap();
        symlink("/etc", site.path().join("etc")).unwrap();
        symlink("index.html", site.path().join("inside.html")).unwrap();
        assert_eq!(site.get("/inside.html").await.status, 200);
    }
    for path in [
        "/.env",
        "/%2eenv",
        "/.git/config",
        "/a/.hidden/x.txt",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/a/..%5c..%5csecret.txt",
        "//secret.txt",
        "/link.txt",
        "/up/secret.txt",
        "/etc/passwd",
        "/%00",
        "/a%0ab",
        "/%ff",
        "/%2",
        "/%zz",
        "/C:/secret.txt",
        "/__gangway/vendor/../secret.txt",
        "/__gangway/vendor/%2e%2e/secret.txt",
    ] {
        for answer in [site.get(path).await, site.visit(path).await] {
            assert!(
                answer.status == 404 || answer.status == 400,
                "{path} {}",
                answer.status
            );
            assert!(!answer.text().contains("secret"), "{path}");
        }
    }
}

#[tokio::test]
async fn the_page_of_a_launch_begins_with_its_script() {
    // FR-CTX-002
    let site = AppSite::new(&[
        ("page.html", "<html><head><script>1</script>"),
        ("a.css", "x"),
    ]);
    let page = site
        .ask(
            Method::GET,
            "/page.html",
            &[("if-none-match", "*")],
            Some(&launch()),
        )
        .await;
    let text = page.text();
    assert!(
        text.starts_with("<html><head><script nonce=\"")
            && text.ends_with(">launch('é')</script><script>1</script>"),
        "{text}"
    );
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("referrer-policy"), "same-origin");
    assert_eq!(
        (page.header("etag"), page.header("content-security-policy")),
        ("", "")
    );
    let head = site
        .ask(Method::HEAD, "/page.html", &[], Some(&launch()))
        .await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    let hostile = Injection {
        script: "launch(\"</SCRIPT><script><!--\")".to_owned(),
        connect: Vec::new(),
    };
    let page = site
        .ask(Method::GET, "/page.html", &[], Some(&hostile))
        .await;
    assert!(
        page.text()
            .contains(r#">launch("<\/SCRIPT><script><\!--")</script><script>1"#),
        "{}",
        page.text()
    );
    // Only pages of a launch get it.
    assert_eq!(
        site.ask(Method::GET, "/a.css", &[], Some(&launch()))
            .await
            .text(),
        "x"
    );
    assert_eq!(
        site.get("/page.html").await.text(),
        "<html><head><script>1</script>"
    );
}

#[tokio::test]
async fn an_apps_policy_is_sent_and_lets_the_script_of_a_launch_run() {
    let site = AppSite::with("csp: \"default-src 'self'; script-src 'self'\"", &[]);
    let direct = site.visit("/").await;
    assert_eq!(
        direct.header("content-security-policy"),
        "default-src 'self'; script-src 'self'"
    );
    let page = site.ask(Method::GET, "/", &[], Some(&launch())).await;
    let policy = page.header("content-security-policy");
    let nonce = policy
        .split("'nonce-")
        .nth(1)
        .unwrap()
        .split('\'')
        .next()
        .unwrap();
    assert_eq!(
        policy,
        format!(
            "default-src 'self'; script-src 'self' 'nonce-{nonce}'; connect-src 'self' ws://site.localhost:1"
        )
    );
    assert!(
        page.text().contains(&format!("<script nonce=\"{nonce}\">")),
        "{}",
        page.text()
    );
    let again = site.ask(Method::GET, "/", &[], Some(&launch())).await;
    assert!(!again.text().contains(nonce), "a nonce is used once");
    assert_eq!(
        site.get("/APP.md").await.header("content-security-policy"),
        ""
    );
}

#[tokio::test]
async fn pages_in_other_letters_carry_the_script_too() {
    let site = AppSite::new(&[]);
    std::fs::write(
        site.path().join("latin.html"),
        b"<meta charset=iso-8859-1><p>\xe4",
    )
    .unwrap();
    let wide: Vec<u8> = "\u{feff}<p>ä"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    std::fs::write(site.path().join("wide.html"), wide).unwrap();
    let latin = site
        .ask(Method::GET, "/latin.html", &[], Some(&launch()))
        .await;
    assert_eq!(latin.header("content-type"), "text/html");
    let body = String::from_utf8_lossy(&latin.body).into_owned();
    assert!(
        body.contains(r"launch('\u00e9')</script><meta charset"),
        "{body}"
    );
    assert!(latin.body.ends_with(b"<p>\xe4"));
    let wide = site
        .ask(Method::GET, "/wide.html", &[], Some(&launch()))
        .await;
    assert_eq!(wide.header("content-type"), "text/html; charset=utf-8");
    assert!(
        wide.text().ends_with("launch('é')</script><p>ä"),
        "{}",
        wide.text()
    );
}

#[tokio::test]
async fn a_broken_app_says_what_is_wrong_where_its_page_would_be() {
    let site = AppSite::with("agent: 7", &[]);
    std::fs::remove_file(site.path().join("index.html")).unwrap();
    let page = site.visit("/").await;
    assert_eq!(page.status, 404);
    assert!(
        page.text().contains("APP.md:4: error: `agent` is a number"),
        "{}",
        page.text()
    );
}
