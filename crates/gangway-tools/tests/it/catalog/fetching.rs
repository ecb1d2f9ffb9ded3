//! The whole of a registry is fetched within bounds, whatever it does.

use std::time::Duration;

use gangway_mcp::catalog::{FetchLimits, gather};
use gangway_testing::mcp_registry::{Page, Registry, entry};
use serde_json::json;

fn bounds() -> FetchLimits {
    FetchLimits {
        backoff: Duration::from_millis(1),
        ..FetchLimits::default()
    }
}

fn page(from: usize, to: usize, next: Option<&str>) -> Page {
    let entries = (from..to).map(|n| entry(&format!("io.test/s{n:04}"), "A server"));
    Page::Entries(entries.collect(), next.map(str::to_owned))
}

#[tokio::test]
async fn a_registry_is_fetched_page_by_page() {
    let registry = Registry::start(vec![
        page(0, 100, Some("a b&c=d/é")),
        page(100, 200, Some("io.test/s0199")),
        page(200, 250, None),
    ])
    .await;
    let counts = std::sync::Mutex::new(Vec::new());
    let count = |n| counts.lock().unwrap().push(n);
    let gathered = gather(&registry.url, &bounds(), count).await.unwrap();
    assert_eq!(gathered.servers.len(), 250);
    assert_eq!(*counts.lock().unwrap(), [100, 200, 250]);
    assert_eq!(
        registry.asked(),
        [
            "limit=100&version=latest",
            "limit=100&version=latest&cursor=a+b%26c%3Dd%2F%C3%A9",
            "limit=100&version=latest&cursor=io.test%2Fs0199",
        ]
    );
}

#[tokio::test]
async fn an_older_registry_is_understood_too() {
    let registry = Registry::old(vec![page(0, 3, None)]).await;
    let gathered = gather(&registry.url, &bounds(), |_| ()).await.unwrap();
    assert_eq!(gathered.servers.len(), 3);
}

#[tokio::test]
async fn a_registry_that_is_busy_is_retried() {
    let registry = Registry::start(vec![
        Page::Status(503, None),
        Page::Status(429, Some("0")),
        page(0, 1, Some("x")),
        Page::Status(500, None),
        page(1, 2, None),
    ])
    .await;
    let gathered = gather(&registry.url, &bounds(), |_| ()).await.unwrap();
    assert_eq!(gathered.servers.len(), 2);
    assert_eq!(registry.asked().len(), 5);

    let registry = Registry::start(vec![Page::Status(502, None)]).await;
    let error = gather(&registry.url, &bounds(), |_| ()).await.unwrap_err();
    assert!(error.contains("502"), "{error}");
    assert_eq!(registry.asked().len(), 4);
}

#[tokio::test]
async fn entries_that_are_malformed_gone_or_old_are_left_out() {
    let official = |meta| json!({ "server": entry("io.test/x", "")["server"], "_meta": { "io.modelcontextprotocol.registry/official": meta } });
    let entries = vec![
        entry("io.test/good", "Good"),
        json!(null),
        json!("text"),
        json!({ "server": { "name": "no slash", "version": "1" } }),
        json!({ "server": { "name": "io.test/huge", "version": "1", "remotes": [{ "url": "x".repeat(100_000) }] } }),
        official(json!({ "status": "deleted" })),
        official(json!({ "status": "deprecated" })),
        official(json!({ "status": "active", "isLatest": false })),
    ];
    let registry = Registry::start(vec![Page::Entries(entries, None)]).await;
    let gathered = gather(&registry.url, &bounds(), |_| ()).await.unwrap();
    assert_eq!((gathered.servers.len(), gathered.malformed), (1, 4));
    assert_eq!(gathered.servers[0].name, "io.test/good");
}

#[tokio::test]
async fn a_registry_that_never_ends_is_cut_off_and_one_that_leads_in_circles_is_refused() {
    let endless: Vec<Page> = (0..50)
        .map(|n| page(n * 10, n * 10 + 10, Some(&n.to_string())))
        .collect();
    let registry = Registry::start(endless.clone()).await;
    let few = FetchLimits {
        pages: 5,
        ..bounds()
    };
    let gathered = gather(&registry.url, &few, |_| ()).await.unwrap();
    assert!(gathered.is_cut && gathered.servers.len() == 50);
    let registry = Registry::start(endless).await;
    let few = FetchLimits {
        servers: 15,
        ..bounds()
    };
    let gathered = gather(&registry.url, &few, |_| ()).await.unwrap();
    assert!(gathered.is_cut && gathered.servers.len() == 15);

    let long = "x".repeat(5000);
    for pages in [
        vec![page(0, 1, Some("same"))],
        vec![page(0, 1, Some("a")), page(0, 0, Some("b"))],
        vec![page(0, 1, Some(&long))],
    ] {
        let registry = Registry::start(pages).await;
        let error = gather(&registry.url, &bounds(), |_| ()).await.unwrap_err();
        assert!(error.contains("its pages repeat"), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_registry_is_reported() {
    let small = FetchLimits {
        page_bytes: 10_000,
        ..bounds()
    };
    for (page, message) in [
        (Page::Text("<html>".into()), "not JSON"),
        (Page::Text("{}".into()), "no list"),
        (Page::Text("[]".into()), "no list"),
        (page(0, 0, None), "no valid servers"),
        (Page::Text("[".repeat(9000)), "not JSON"),
        (page(0, 100, None), "larger than"),
        (Page::Status(404, None), "not an MCP registry"),
        (Page::Status(302, None), "302"),
        (Page::Status(403, None), "403"),
    ] {
        let registry = Registry::start(vec![page]).await;
        let error = gather(&registry.url, &small, |_| ()).await.unwrap_err();
        assert!(error.contains(message), "{error}");
        assert!(registry.asked().len() <= 1);
    }
    for url in ["ftp://x", "nothing", "http://127.0.0.1:1"] {
        assert!(gather(url, &bounds(), |_| ()).await.is_err(), "{url}");
    }
}

#[tokio::test]
async fn a_registry_that_says_nothing_times_out() {
    let registry = Registry::gated(vec![page(0, 1, None)]).await;
    let short = FetchLimits {
        page_time: Duration::from_millis(20),
        tries: 2,
        ..bounds()
    };
    let error = gather(&registry.url, &short, |_| ()).await.unwrap_err();
    assert!(error.contains("in time"), "{error}");
    let short = FetchLimits {
        time: Duration::from_millis(20),
        ..bounds()
    };
    let error = gather(&registry.url, &short, |_| ()).await.unwrap_err();
    assert!(error.contains("longer than"), "{error}");
}
