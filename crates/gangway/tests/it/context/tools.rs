//! Apps for any MCP client.

use serde_json::{Value, json};

use super::client::{Line, server, server_with, show};
use crate::{
    mcp_door::client::{Client, Era},
    providers::fake::Fake,
};

async fn tool(client: &Client<'_>, name: &str, arguments: Value) -> Value {
    client.call(name, arguments).await.unwrap()
}

#[tokio::test]
async fn an_mcp_client_launches_an_app_hears_it_answers_it_and_tells_it_something() {
    let server = server().await;
    let client = Client::new(&server, "/mcp", Era::Older).await;
    let listed = tool(
        &client,
        "list_apps",
        json!({ "query": "please keep a note for me" }),
    )
    .await;
    assert_eq!(listed["apps"][0]["name"], "notes");
    let mut launched = tool(
        &client,
        "launch_app",
        json!({ "app": "notes", "data": { "notes": [] } }),
    )
    .await;
    show(&server, &mut launched).await;
    let mut page = Line::page(&server, &launched, "").await;
    let id = launched["launchId"].clone();
    let none = tool(
        &client,
        "next_app_event",
        json!({ "launchId": id, "timeoutMs": 10 }),
    )
    .await;
    assert_eq!(none["event"], Value::Null);
    page.emit("e1", "note-added", json!({ "text": "milk" }))
        .await;
    let next = tool(&client, "next_app_event", json!({ "launchId": id })).await;
    assert_eq!(next["event"]["kind"], "event");
    assert_eq!(next["event"]["payload"], json!({ "text": "milk" }));
    assert_eq!(
        page.hear().await,
        json!({ "type": "weblet-ack", "id": "e1" })
    );
    page.request("r1", "translate", json!({ "to": "de" })).await;
    let next = tool(&client, "next_app_event", json!({ "launchId": id })).await;
    assert_eq!(next["event"]["kind"], "request");
    assert_eq!(next["event"]["requestId"], "r1");
    // It has it, and is not given it again while it thinks.
    let none = tool(
        &client,
        "next_app_event",
        json!({ "launchId": id, "timeoutMs": 10 }),
    )
    .await;
    assert_eq!(none["event"], Value::Null);
    let answer = json!({ "launchId": id, "requestId": "r1", "result": { "text": "Milch" } });
    tool(&client, "answer_app_request", answer).await;
    assert_eq!(page.hear().await["result"], json!({ "text": "Milch" }));
    page.request("r2", "translate", json!({})).await;
    tool(&client, "next_app_event", json!({ "launchId": id })).await;
    let answer = json!({ "launchId": id, "requestId": "r2", "error": { "code": "E-AGT-006", "message": "no" } });
    tool(&client, "answer_app_request", answer).await;
    assert_eq!(page.hear().await["error"]["code"], "E-AGT-006");
    let event = json!({ "launchId": id, "event": "theme-changed", "payload": { "theme": "dark" } });
    tool(&client, "send_app_event", event).await;
    assert_eq!(page.hear().await["event"], "theme-changed");
}

#[tokio::test]
async fn wrong_calls_say_what_is_wrong() {
    let server = server().await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    for (name, arguments) in [
        ("launch_app", json!({ "app": "nothing" })),
        ("launch_app", json!({ "app": "notes" })),
        ("next_app_event", json!({ "launchId": "x" })),
        (
            "answer_app_request",
            json!({ "launchId": "l-00000000000000000000000000000000", "requestId": "r" }),
        ),
        ("send_app_event", json!({ "launchId": "x", "event": "Bad" })),
    ] {
        let refused = client.call(name, arguments).await;
        assert!(refused.is_err(), "{name} {refused:?}");
    }
}

#[tokio::test]
async fn with_an_app_installed_the_agent_of_a_chat_can_always_list_and_launch_apps() {
    let says = json!({ "choices": [{ "delta": { "content": "Hi." }, "finish_reason": "stop" }] });
    let model = Fake::streams(&[&format!("data: {says}\n\n")]);
    let base = model.start().await;
    let yaml = format!("providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}");
    let parsed = gangway::config::Config::parse(&yaml).unwrap();
    let server = server_with(|config| {
        config.providers = parsed.providers;
        config.default_agent = "builtin".into();
    })
    .await;
    let session = server.session().await;
    // Not a word of it is in the app's manifest.
    server.ask(&session, "Bonjour tout le monde").await;
    let asked = model.asked();
    let tools = asked[0]["tools"].as_array().unwrap().iter();
    let names: Vec<_> = tools.map(|tool| &tool["function"]["name"]).collect();
    for tool in ["list_apps", "launch_app"] {
        let has = names
            .iter()
            .any(|name| name.as_str().unwrap().ends_with(tool));
        assert!(has, "{tool} is not in {names:?}");
    }
}
