//! The connection of a broker: who may open it, and what happens when it is lost.

use gangway_testing::{
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, decide, end, says},
};
use serde_json::json;

use crate::server::TestServer;
use crate::server::server;

#[tokio::test]
async fn only_frames_of_our_own_may_broker() {
    let server = TestServer::with(|config| {
        config.settings.allowed_origins = vec!["https://friend.example".into()];
    })
    .await;
    let own = format!("http://{}", server.address);
    assert!(Broker::connect(&server, Some(&own)).await.is_ok());
    for origin in [
        "https://shop.example",
        "https://friend.example",
        "null",
        "http://localhost:1",
    ] {
        assert_eq!(
            Broker::connect(&server, Some(origin)).await.err(),
            Some(403),
            "{origin}"
        );
    }
    assert_eq!(Broker::connect(&server, None).await.err(), Some(403));
}

#[tokio::test]
async fn a_page_without_an_origin_of_its_own_gets_nothing() {
    let server = TestServer::start().await;
    for origin in [
        "null",
        "",
        "file://",
        "data:text/html,x",
        "https://a.example/path",
        "about:blank",
    ] {
        let hello = json!({ "type": "hello", "v": 1, "origin": origin, "tab": "0".repeat(32) });
        let (_, answer) = Broker::hello(&server, hello).await;
        assert_eq!(answer["type"], "refused", "{origin}");
        assert_eq!(answer["error"]["code"], "ERR_PERMISSION_DENIED", "{origin}");
    }
    let other = json!({ "type": "hello", "v": 2, "origin": SHOP, "tab": "0".repeat(32) });
    assert_eq!(Broker::hello(&server, other).await.1["type"], "refused");
    assert_eq!(
        Broker::hello(&server, json!({ "type": "ack", "n": 1 }))
            .await
            .1["type"],
        "refused"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_loses_nothing_and_does_nothing_twice() {
    let model = Fake::streams(&[&says("a"), &says("b"), &says("c"), &end()]);
    let server = server(&model).await;
    allow(&server, SHOP, &["model:prompt"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let made = page.call("text.create", json!({})).await.unwrap();
    let prompt = json!({ "sessionId": made["sessionId"], "input": "Go" });
    let id = page.begin("text.prompt", prompt.clone()).await;
    page.until("event").await;
    let (mut page, welcome) = page.again(&server, SHOP).await;
    assert_eq!(welcome["resumed"], true);
    // The broker cannot know whether its call came through, and says it again.
    page.send_message(
        json!({ "type": "call", "id": id, "method": "text.prompt", "params": prompt }),
    )
    .await;
    let (events, end) = page.end(id).await;
    end.unwrap();
    let text: String = events
        .iter()
        .filter_map(|event| event["token"].as_str())
        .collect();
    assert!("abc".ends_with(&text), "{text}");
    assert_eq!(model.asked().len(), 1);
    // Guessing the visit from another origin starts a new one.
    let (_, welcome) = page.again(&server, "https://other.example").await;
    assert_eq!(welcome["resumed"], false);
}

#[tokio::test]
async fn pages_of_one_origin_are_counted() {
    let server = TestServer::start().await;
    let mut pages = Vec::new();
    for _ in 0..32 {
        pages.push(Broker::of(&server, SHOP).await);
    }
    let hello = json!({ "type": "hello", "v": 1, "origin": SHOP, "tab": "0".repeat(32) });
    let (_, answer) = Broker::hello(&server, hello).await;
    assert_eq!(answer["error"]["code"], "ERR_RATE_LIMITED");
    Broker::of(&server, "https://other.example").await;
    pages[0].send_message(json!({ "type": "bye" })).await;
    let room = || async {
        let hello = json!({ "type": "hello", "v": 1, "origin": SHOP, "tab": "0".repeat(32) });
        (Broker::hello(&server, hello).await.1["type"] == "welcome").then_some(())
    };
    gangway_testing::eventually(room).await;
}

#[tokio::test]
async fn a_page_has_nothing_until_the_user_decided_something_at_it() {
    let server = TestServer::with(|config| {
        config.settings.hosts = vec!["gangway.example".into()];
    })
    .await;
    let key = server.key("admin").await;
    let hello = |more: serde_json::Value| {
        let mut hello = json!({ "type": "hello", "v": 1, "origin": SHOP, "tab": "0".repeat(32) });
        hello
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        hello
    };
    let (mut page, welcome) = Broker::stranger(&server, hello(json!({}))).await;
    assert_eq!(welcome["locked"], true);
    // An unknown browser has none of the grants of the origin that it names.
    allow(&server, SHOP, &["model:list"]).await;
    let listed = page.call("permissions.list", json!({})).await.unwrap();
    assert_eq!(listed["scopes"]["model:list"], "not-granted");
    assert_eq!(
        page.refused("providers.list", json!({})).await,
        "ERR_SCOPE_REQUIRED"
    );
    let request = json!({ "scopes": ["model:list"] });
    let id = page.begin("permissions.request", request).await;
    let ask = page.until("ask").await;
    // It is visible only by its URL, and only with a key.
    let list = server
        .http
        .get(server.url("/api/asks"))
        .bearer_auth(&key.key);
    let list: serde_json::Value = list.send().await.unwrap().json().await.unwrap();
    assert_eq!(list["asks"], json!([]));
    decide(&server, &ask, "always").await;
    let token = page.until("token").await;
    let (_, answer) = page.end(id).await;
    assert_eq!(answer.unwrap()["granted"], true);
    page.call("permissions.list", json!({})).await.unwrap();

    let token = token["token"].as_str().unwrap();
    let (_, welcome) = Broker::stranger(&server, hello(json!({ "token": token }))).await;
    assert_eq!(welcome["locked"], false);
    let (_, welcome) = Broker::stranger(&server, hello(json!({ "token": "x" }))).await;
    assert_eq!(welcome["locked"], true);
    // Another browser of the same person has no token; it is asked, although nothing is missing.
    let (mut page, _) = Broker::stranger(&server, hello(json!({}))).await;
    let id = page
        .begin("permissions.request", json!({ "scopes": ["model:list"] }))
        .await;
    let ask = page.until("ask").await;
    decide(&server, &ask, "once").await;
    page.until("token").await;
    assert_eq!(page.end(id).await.1.unwrap()["granted"], true);
    let other = json!({ "token": token, "origin": "https://other.example" });
    let (_, welcome) = Broker::stranger(&server, hello(other)).await;
    assert_eq!(welcome["locked"], true);
}

#[tokio::test]
async fn a_call_that_cannot_be_read_is_refused_at_once_and_the_next_is_served() {
    let server = TestServer::start().await;
    let mut page = Broker::of(&server, SHOP).await;
    let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
    for (id, params) in [(1, r#""\ud800""#), (2, &deep), (3, "1e999")] {
        let call =
            format!(r#"{{"type":"call","id":{id},"method":"permissions.list","params":{params}}}"#);
        page.write(&call).await;
        let error = page.end(id).await.1.unwrap_err();
        assert!(
            error["message"].as_str().unwrap().contains("invalid call"),
            "{error}"
        );
        // Sent again after a lost connection, it is known.
        page.write(&call).await;
    }
    page.send_message(json!({ "type": "call", "id": 4, "method": "permissions.list" }))
        .await;
    assert_eq!(page.receive().await["id"], 4);
}
