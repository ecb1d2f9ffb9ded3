//! Sessions, read and talked in by an MCP client.

use serde_json::json;

use super::client::{Client, Era};
use crate::support::TestServer;

#[tokio::test]
async fn a_message_of_an_external_agent_is_answered_and_both_are_in_the_chat() {
    let server = TestServer::scripted("turns:\n  - steps: [{ say: 'Aye.' }]\n").await;
    for era in [Era::Older, Era::Current] {
        let client = Client::new(&server, "/mcp", era).await;
        let send = json!({ "prompt": "All hands?", "newSession": true });
        let answer = client.call("send_message", send).await.unwrap();
        assert_eq!(
            (&answer["done"], &answer["outcome"], &answer["answer"]),
            (&json!(true), &json!("completed"), &json!("Aye."))
        );
        let read = client.call("read_session", json!({})).await.unwrap();
        let lines = read["lines"].as_array().unwrap();
        assert_eq!(
            (&lines[0]["role"], &lines[0]["from"], &lines[0]["text"]),
            (&json!("user"), &json!("agent:tester"), &json!("All hands?"))
        );
        assert_eq!(lines[1]["text"], "Aye.");
        let list = client.call("list_sessions", json!({})).await.unwrap();
        assert_eq!(list["sessions"][0]["sessionId"], answer["sessionId"]);

        let list = client.ask("resources/list", json!({})).await;
        let uri = list["result"]["resources"][0]["uri"].as_str().unwrap();
        let read = client.ask("resources/read", json!({ "uri": uri })).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("All hands?") && text.contains("Aye."),
            "{text}"
        );
        let templates = client.ask("resources/templates/list", json!({})).await;
        assert!(
            templates
                .to_string()
                .contains("gangway://sessions/{sessionId}/log")
        );
        let gone = json!({ "uri": "gangway://sessions/../../etc/passwd/log" });
        let gone = client.ask("resources/read", gone).await;
        assert!(
            gone["error"]["message"]
                .as_str()
                .unwrap()
                .contains("no such resource")
        );
    }
    let (_, history) = server.get("/api/sessions").await;
    assert_eq!(history["sessions"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_caller_that_does_not_wait_is_notified_where_to_read_the_answer() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let send = json!({ "prompt": "help", "waitSeconds": 0 });
    let answer = client.call("send_message", send).await.unwrap();
    assert_eq!(answer["done"], false);
    let stream = answer["streamId"].as_str().unwrap();
    assert!(stream.starts_with(answer["sessionId"].as_str().unwrap()));
    for (arguments, reason) in [
        (json!({ "prompt": " " }), "empty"),
        (json!({}), "prompt"),
        (
            json!({ "prompt": "x", "newSession": true, "sessionId": answer["sessionId"] }),
            "mutually exclusive",
        ),
    ] {
        let message = client.call("send_message", arguments).await.unwrap_err();
        assert!(message.contains(reason), "{message}");
    }
}
