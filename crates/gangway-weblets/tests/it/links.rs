//! A launched page that is left for another one of the same app, and what it stores.

use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::server::bare_client;
use gangway_testing::weblets_client::{app_host, get, launch, opened, token};

#[tokio::test]
async fn a_link_or_a_route_inside_a_launched_app_keeps_its_context() {
    let server = TestServer::start().await;
    let launched = launch(&server, json!("claude")).await;
    let token = token(&launched);
    let first = get(&server, &format!("/?launch={token}"), &[]).await;
    assert_eq!(first.headers()["referrer-policy"], "same-origin");
    let cookie = first.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let host = app_host(&server);
    let from = format!("http://{host}/?launch={token}");
    let inside = [
        ("cookie", cookie.as_str()),
        ("referer", from.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-dest", "document"),
    ];
    for (path, to) in [
        ("/index.html", format!("/index.html?launch={token}")),
        (
            "/notes/7?sort=day",
            format!("/notes/7?sort=day&launch={token}"),
        ),
    ] {
        // The client follows it, as a browser does.
        let page = get(&server, path, &inside).await;
        let url = page.url().clone();
        assert_eq!(
            format!("{}?{}", url.path(), url.query().unwrap_or_default()),
            to
        );
        assert!(page.text().await.unwrap().contains("launchId"), "{to}");
    }
    // A page that was opened without an agent, another site, another browser, or a file: none of them gets a context.
    let plain = format!("http://{host}/");
    let change = |at: usize, value| {
        let mut headers = inside;
        headers[at].1 = value;
        headers
    };
    for headers in [
        change(0, "a=b"),
        change(1, &plain),
        change(1, "https://evil.example/?launch=x"),
        change(2, "cross-site"),
        change(3, "script"),
    ] {
        let page = get(&server, "/index.html", &headers).await;
        assert_eq!(page.status(), 200, "{headers:?}");
        assert_eq!(page.url().query(), None, "{headers:?}");
        assert!(
            !page.text().await.unwrap().contains("launchId"),
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn policies_name_no_origin_that_browsers_do_not_understand() {
    let server = TestServer::start().await;
    let page = get(&server, "/", &[]).await;
    let policies: Vec<_> = page
        .headers()
        .get_all("content-security-policy")
        .iter()
        .map(|policy| policy.to_str().unwrap())
        .collect();
    let framing = |policy: &&str| policy.contains("frame-ancestors");
    assert!(policies.iter().any(framing), "{policies:?}");
    for policy in policies {
        assert!(!policy.contains('['), "{policy}");
    }
}

#[tokio::test]
async fn what_an_app_stores_where_its_browser_gives_no_storage_is_kept_for_the_app() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("claude")).await;
    let path = |launched: &Value| {
        let proof = launched["proof"].as_str().unwrap();
        format!(
            "/__gangway/storage?launch={}&proof={proof}",
            token(launched)
        )
    };
    let post = async |path: &str, body: Value| {
        let host = app_host(&server);
        let request = bare_client().post(server.url(path)).header("host", &host);
        let request = request.header("origin", format!("http://{host}"));
        request.json(&body).send().await.unwrap().status()
    };
    let own = path(&launched);
    assert_eq!(post(&own, json!({ "a": "1", "b": "2" })).await, 204);
    assert_eq!(post(&own, json!({ "b": null, "c": "é" })).await, 204);
    // Another launch of the same app has it too.
    let next = opened(&server, json!("other")).await;
    let stored = get(&server, &path(&next), &[]).await;
    assert_eq!(
        stored.json::<Value>().await.unwrap(),
        json!({ "a": "1", "c": "é" })
    );
    for body in [json!({ "a": 1 }), json!([]), json!("x")] {
        assert_eq!(post(&own, body.clone()).await, 400, "{body}");
    }
    let stranger = format!("/__gangway/storage?launch={}&proof=00", token(&launched));
    assert_eq!(post(&stranger, json!({})).await, 410);
    assert_eq!(get(&server, "/__gangway/storage", &[]).await.status(), 410);
    let large = json!({ "a": "x".repeat(10 << 20) });
    assert_eq!(post(&own, large).await, 413);
}
