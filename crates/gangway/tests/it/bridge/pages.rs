//! Pages of the web, as the extension brings them.

use gangway_testing::webagent_client::{SHOP, allow, end, says};
use serde_json::{Value, json};

use super::bridged;
use crate::{providers::fake::Fake, webagent::server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_asks_is_allowed_is_answered_in_chunks_calls_a_tool_and_aborts() {
    let model = Fake::streams(&[&says("One")]).then_silent().when(
        "Hello",
        Fake::streams(&[&says("Ahoy"), &says(" there"), &end()]),
    );
    let server = server(&model).await;
    let (mut pipe, _note) = bridged(&server);
    pipe.page("v1", SHOP);
    let welcome = pipe.page_hears("v1", "welcome");
    assert_eq!(
        (&welcome["resumed"], &welcome["locked"]),
        (&json!(false), &json!(false))
    );
    let denied = pipe
        .page_calls("v1", 1, "tools.list", json!({}))
        .unwrap_err();
    assert_eq!(denied["code"], "ERR_SCOPE_REQUIRED");

    let request = json!({
        "scopes": ["model:prompt", "mcp:tools.call"], "tools": ["memory/read_graph"], "reason": "to try",
    });
    let call =
        json!({ "type": "call", "id": 2, "method": "permissions.request", "params": request });
    pipe.page_says("v1", &call);
    let ask = pipe.page_hears("v1", "ask");
    let text = pipe.until(|message| {
        message["about"] == "asks" && message["frame"]["asks"][0]["asker"]["origin"] == SHOP
    });
    assert!(text.to_string().contains("to try"), "{text}");
    let answer = json!({ "ask": ask["ask"], "body": { "decision": "once" } });
    assert_eq!(pipe.get("ask_answer", answer), Value::Null);
    assert_eq!(pipe.page_ends("v1", 2).unwrap()["granted"], true);

    let made = pipe.page_calls("v1", 3, "text.create", json!({})).unwrap();
    let prompt = json!({ "sessionId": made["sessionId"], "input": "Hello" });
    let call = json!({ "type": "call", "id": 4, "method": "text.prompt", "params": prompt });
    pipe.page_says("v1", &call);
    let first = pipe.page_hears("v1", "event");
    assert_eq!(first["event"], json!({ "type": "token", "token": "Ahoy" }));
    pipe.page_ends("v1", 4).unwrap();
    pipe.page_says("v1", &json!({ "type": "ack", "n": first["n"] }));

    let tool = json!({ "tool": "memory/read_graph", "args": {} });
    let graph = pipe.page_calls("v1", 5, "tools.call", tool).unwrap();
    assert!(graph.to_string().contains("entities"), "{graph}");

    let other = pipe.page_calls("v1", 6, "text.create", json!({})).unwrap();
    let prompt = json!({ "sessionId": other["sessionId"], "input": "Go" });
    let call = json!({ "type": "call", "id": 7, "method": "text.prompt", "params": prompt });
    pipe.page_says("v1", &call);
    pipe.until(|message| message["frame"].as_str().is_some_and(|f| f.contains("One")));
    pipe.page_says("v1", &json!({ "type": "abort", "id": 7 }));
    assert_eq!(pipe.page_ends("v1", 7).unwrap_err()["code"], "ERR_ABORTED");

    pipe.page_says("v1", &json!({ "type": "bye" }));
    pipe.send_message(&json!({ "type": "page_close", "page": "v1" }));
    pipe.answer("v1").unwrap();
    // It is really gone, and so is what it was allowed for once.
    let open = json!({
        "type": "page_open", "request_id": "v2", "origin": SHOP, "tab": "1".repeat(32), "visit": welcome["visit"],
    });
    pipe.send_message(&open);
    assert_eq!(pipe.page_hears("v2", "welcome")["resumed"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_a_page_is_says_the_browser_and_never_the_page() {
    let server = crate::support::TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let tab = "0".repeat(32);
    for (origin, tab) in [
        ("null", tab.as_str()),
        ("", &tab),
        ("file:///etc/passwd", &tab),
        ("chrome-extension://njoboigjinompkfkjgolajikglchoefc", &tab),
        ("https://shop.example/path", &tab),
        ("https://a.example, https://b.example", &tab),
        (SHOP, "0"),
        (SHOP, &"g".repeat(32)),
        (SHOP, &"A".repeat(32)),
    ] {
        let open = json!({ "origin": origin, "tab": tab });
        assert_eq!(
            pipe.refused("page_open", open).0,
            "bad_field",
            "{origin} {tab}"
        );
    }
    assert_eq!(
        pipe.refused("page_open", json!({ "tab": tab })).0,
        "bad_field"
    );
    let hello = json!({ "type": "hello", "v": 1, "origin": "https://bank.example", "tab": tab });
    for (n, frame) in [
        hello.to_string(),
        r#"{"type":"\u0068ello","v":1}"#.into(),
        r#"{"type":"call","type":"hello"}"#.into(),
        r#"["hello"]"#.into(),
        "hello".into(),
        String::new(),
    ]
    .iter()
    .enumerate()
    {
        let page = format!("v{n}");
        pipe.page(&page, SHOP);
        // Also before it is connected.
        pipe.send_message(&json!({ "type": "page_frame", "page": page, "frame": frame }));
        assert_eq!(pipe.answer(&page).unwrap()["code"], 1008, "{frame}");
    }
    // What the page is allowed is what its own origin is.
    pipe.page("w", SHOP);
    let listed = pipe
        .page_calls("w", 1, "permissions.list", json!({}))
        .unwrap();
    assert_eq!(listed["origin"], SHOP);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_ends_is_forgotten_and_what_it_still_says_is_dropped() {
    let server = crate::support::TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    pipe.page("v1", SHOP);
    pipe.page_hears("v1", "welcome");
    pipe.send_message(&json!({ "type": "page_close", "page": "v1" }));
    assert_eq!(
        pipe.answer("v1").unwrap(),
        json!({ "code": 1000, "reason": "" })
    );
    pipe.page_says(
        "v1",
        &json!({ "type": "call", "id": 1, "method": "permissions.list" }),
    );
    pipe.send_message(&json!({ "type": "page_close", "page": "v1" }));
    pipe.send_message(&json!({ "type": "page_close", "page": "never/there" }));
    // A request is not a page, and pages cannot be cancelled.
    pipe.page("v1", SHOP);
    pipe.page_hears("v1", "welcome");
    assert_eq!(
        pipe.get("cancel", json!({ "target": "v1" })),
        json!({ "found": false })
    );
    pipe.page_calls("v1", 1, "permissions.list", json!({}))
        .unwrap();
    // What is longer than the server takes ends it.
    let long = json!({ "type": "call", "id": 2, "method": "x".repeat(2 << 20) });
    pipe.page_says("v1", &long);
    assert_eq!(pipe.answer("v1").unwrap()["code"], 1009);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_rejected_is_notified() {
    let server = crate::support::TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    // As many pages of one origin as there may be.
    for n in 0..32 {
        pipe.page(&format!("v{n}"), SHOP);
        pipe.page_hears(&format!("v{n}"), "welcome");
    }
    pipe.page("one-too-many", SHOP);
    let refused = pipe.page_hears("one-too-many", "refused");
    assert_eq!(refused["error"]["code"], "ERR_RATE_LIMITED");
    assert_eq!(pipe.answer("one-too-many").unwrap()["code"], 4403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_pages_are_open_at_once_and_each_gets_its_own_messages() {
    let server = crate::support::TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    for n in 0..1000 {
        pipe.page(&format!("v{n}"), &format!("https://s{}.example", n / 20));
    }
    for n in 0..1000 {
        let page = format!("v{n}");
        let listed = pipe
            .page_calls(&page, 1, "permissions.list", json!({}))
            .unwrap();
        assert_eq!(
            listed["origin"],
            json!(format!("https://s{}.example", n / 20))
        );
    }
    let open = json!({ "origin": SHOP, "tab": "0".repeat(32) });
    assert_eq!(pipe.refused("page_open", open).0, "too_many_requests");
    // Requests have room of their own.
    pipe.get("list_servers", json!({}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_that_a_page_opened_is_entered_once_and_closed() {
    let server = server(&Fake::streams(&[&says("Ahoy"), &end()])).await;
    let (mut pipe, _note) = bridged(&server);
    allow(&server, SHOP, &["chat:open"]).await;
    pipe.page("v1", SHOP);
    let opened = pipe.page_calls("v1", 1, "chat.open", json!({})).unwrap();
    let (_, ticket) = opened["panel"].as_str().unwrap().split_once('#').unwrap();
    let enter = json!({ "body": { "ticket": ticket, "origin": SHOP } });
    let panel = pipe.get("panel_enter", enter.clone());
    assert_eq!(panel["origin"], SHOP, "{panel}");
    assert_eq!(pipe.refused("panel_enter", enter).1, 404);
    let chat = json!({ "chat_id": panel["chatId"] });
    assert_eq!(pipe.get("panel_close", chat.clone()), Value::Null);
    assert_eq!(pipe.refused("panel_close", chat).1, 404);
}
