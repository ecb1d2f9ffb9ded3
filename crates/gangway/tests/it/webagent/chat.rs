//! The chat that a page opens for the person.

use gangway_testing::{
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, calls, end, grant, says},
};
use serde_json::{Value, json};

use super::server;
use crate::support::TestServer;

fn ticket(opened: &Value) -> String {
    let panel = opened["panel"].as_str().unwrap();
    let (page, ticket) = panel.split_once('#').unwrap();
    assert_eq!(page, format!("/panel?for={SHOP}"));
    ticket.to_owned()
}

async fn enter(server: &TestServer, ticket: &str) -> (u16, Value) {
    let (status, panel) = server
        .post("/api/panel", json!({ "ticket": ticket, "origin": SHOP }))
        .await;
    (status.as_u16(), panel)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_user_chats_in_a_panel_with_the_pages_tools_and_words() {
    let model = Fake::streams(&[&says("It is in."), &end()])
        .first_says(&[&calls(&[("page__add_to_cart", "{\"sku\":7}")])]);
    let server = server(&model).await;
    let mut page = Broker::of(&server, SHOP).await;
    let request = json!({
        "systemPrompt": "Sell ships.", "tools": ["add_to_cart"], "style": { "theme": "dark", "accentColor": "#f90" },
    });
    assert_eq!(
        page.call("chat.canOpen", json!({})).await.unwrap(),
        "readily"
    );
    let refused = page.call("chat.open", request.clone()).await.unwrap();
    assert_eq!(
        (&refused["success"], &refused["error"]["code"]),
        (&json!(false), &json!("PERMISSION_REQUIRED"))
    );
    allow(&server, SHOP, &["chat:open"]).await;
    let own = |name: &str| json!({ "name": name, "description": "Adds", "inputSchema": { "type": "object" } });
    page.send_message(json!({ "type": "tools", "tools": [own("add_to_cart"), own("other")] }))
        .await;
    let opened = page.call("chat.open", request.clone()).await.unwrap();
    assert_eq!(opened["success"], true);
    let again = page.call("chat.open", request).await.unwrap();
    assert_eq!(again["error"]["code"], "ALREADY_OPEN");

    let secret = ticket(&opened);
    let (status, panel) = enter(&server, &secret).await;
    assert_eq!(status, 200, "{panel}");
    assert_eq!(panel["origin"], SHOP);
    assert_eq!(
        panel["style"],
        json!({ "theme": "dark", "accentColor": "#f90" })
    );
    assert_eq!(
        enter(&server, &secret).await.0,
        404,
        "a ticket is good once"
    );

    let session = panel["sessionId"].as_str().unwrap();
    let stream = server.send_message(session, "A ship, please").await;
    let asked = page.until("tool_call").await;
    assert_eq!(asked["name"], "add_to_cart");
    page.send_message(json!({ "type": "tool_result", "call": asked["call"], "result": "ok" }))
        .await;
    let frames = server
        .sse(&format!("/api/stream/{stream}"), None)
        .await
        .rest()
        .await;
    let message = frames
        .iter()
        .find(|frame| frame.event == "assistant.message")
        .unwrap();
    assert_eq!(message.data["content"], "It is in.");
    let first = &model.asked()[0];
    assert_eq!(first["messages"][0]["content"], "Sell ships.");
    // Of the person's own tools a page's chat has none without leave.
    assert_eq!(first["tools"].as_array().unwrap().len(), 1);

    let url = format!("/api/panel/{}", panel["chatId"].as_str().unwrap());
    let (status, _) = server.call(reqwest::Method::DELETE, &url, None).await;
    assert_eq!(status, 204);
    assert_eq!(page.until("chat").await["state"], "closed");
    assert_eq!(
        page.call("chat.close", json!({ "chatId": opened["chatId"] }))
            .await
            .unwrap()["success"],
        false
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoke_closes_the_chat_and_a_denial_is_the_users() {
    let server = server(&Fake::streams(&[&says("Hi"), &end()])).await;
    allow(&server, SHOP, &["chat:open"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    let opened = page.call("chat.open", json!({})).await.unwrap();
    // In a frame of another page a ticket is worth nothing.
    let stolen = json!({ "ticket": ticket(&opened), "origin": "https://other.example" });
    assert_eq!(server.post("/api/panel", stolen).await.0, 404);
    let secret = ticket(&opened);
    grant(
        &server,
        SHOP,
        json!({ "scopes": { "chat:open": "denied" } }),
    )
    .await;
    assert_eq!(page.until("chat").await["chatId"], opened["chatId"]);
    // A chat without messages is not kept.
    let (_, sessions) = server.get("/api/sessions").await;
    assert_eq!(sessions["sessions"], json!([]));
    assert_eq!(enter(&server, &secret).await.0, 404);
    assert_eq!(page.call("chat.canOpen", json!({})).await.unwrap(), "no");
    let refused = page.call("chat.open", json!({})).await.unwrap();
    assert_eq!(refused["error"]["code"], "USER_DENIED");
}

#[tokio::test]
async fn a_panel_can_be_framed_by_the_page_that_opened_it_and_by_no_other_page() {
    let server = TestServer::start().await;
    let answer = server
        .http
        .get(server.url("/panel?for=https://shop.example"))
        .send()
        .await
        .unwrap();
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        policy.contains("frame-ancestors https://shop.example"),
        "{policy}"
    );
    for wrong in [
        "",
        "?for=*",
        "?for='none'",
        "?for=https://a.example;script-src%20*",
        "?for=null",
    ] {
        let answer = server
            .http
            .get(server.url(&format!("/panel{wrong}")))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 400, "{wrong}");
    }
    let broker = server.http.get(server.url("/broker")).send().await.unwrap();
    let policy = broker.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        policy.ends_with("frame-ancestors *") && policy.starts_with("default-src 'none'"),
        "{policy}"
    );
    for page in ["/permit?ask=x", "/permissions", "/"] {
        let answer = server.http.get(server.url(page)).send().await.unwrap();
        let policy = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{page}");
        assert_eq!(
            answer.headers()["cross-origin-opener-policy"],
            "same-origin"
        );
    }
}
