//! Tools that an app offers on its channel.

use gangway_core::{Caller, Source, ToolSource};
use gangway_testing::weblets_client::{WebletSocket, opened};
use serde_json::{Value, json};

use crate::server::TestServer;

fn add() -> Value {
    json!({ "name": "add", "description": "Adds.", "inputSchema": {
        "type": "object", "required": ["title"], "properties": { "title": { "type": "string" } } } })
}

fn caller(launched: &Value) -> Caller {
    let session = launched["sessionId"].as_str().unwrap().parse().unwrap();
    Caller {
        session: Some(session),
        source: Source::Agent {
            name: "builtin".to_owned(),
        },
        version: None,
    }
}

#[tokio::test]
async fn a_tool_that_an_app_offers_is_called_in_its_page() {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "&page=p1").await;
    let bad = json!({ "name": "gangway/read_session" });
    page.send_message(json!({ "type": "weblet-tools", "tools": [add(), bad] }))
        .await;
    let offered = page.receive().await;
    assert_eq!(offered["type"], "tools-offered");
    assert_eq!(offered["server"], "page-notes");
    assert_eq!(offered["tools"], json!(["add"]));
    assert_eq!(offered["refused"][0]["name"], "gangway/read_session");
    let tools = std::sync::Arc::clone(&server.service.page_tools);
    let (agent, tool) = (caller(&launched), "page-notes/add".parse().unwrap());
    let called =
        tokio::spawn(async move { tools.call(&agent, &tool, json!({ "title": "milk" })).await });
    let call = page.receive().await;
    assert_eq!(
        (&call["type"], &call["name"], &call["arguments"]),
        (
            &json!("tool-call"),
            &json!("add"),
            &json!({ "title": "milk" })
        )
    );
    // A call that it was not sent is none of its business.
    let forged =
        json!({ "type": "weblet-tool-result", "call": 7, "success": true, "result": "forged" });
    page.send_message(forged).await;
    let message = page.receive().await;
    assert_eq!(message["error"], "no call 7 of a tool is open");
    let result = json!({ "type": "weblet-tool-result", "call": call["call"], "success": true, "result": { "id": 1 } });
    page.send_message(result).await;
    assert_eq!(called.await.unwrap(), Ok(json!({ "id": 1 })));
}

#[tokio::test]
async fn a_page_that_comes_back_under_its_id_gets_its_open_calls_again_and_its_errors_reach_the_caller()
 {
    let server = TestServer::start().await;
    let launched = opened(&server, json!("demo")).await;
    let mut page = WebletSocket::page(&server, &launched, "&page=p1").await;
    page.send_message(json!({ "type": "weblet-tools", "tools": [add()] }))
        .await;
    page.receive().await;
    let tools = std::sync::Arc::clone(&server.service.page_tools);
    let (agent, tool) = (caller(&launched), "page-notes/add".parse().unwrap());
    let called =
        tokio::spawn(async move { tools.call(&agent, &tool, json!({ "title": "x" })).await });
    let call = page.receive().await;
    // Lost, not closed.
    drop(page);
    let mut page = WebletSocket::page(&server, &launched, "&page=p1").await;
    assert_eq!(page.receive().await, call);
    let failed = json!({ "type": "weblet-tool-result", "call": call["call"], "success": false, "error": { "message": "no milk" } });
    page.send_message(failed).await;
    let error = called.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "no milk");
}
