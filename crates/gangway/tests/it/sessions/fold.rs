//! The client's fold of events into a conversation must match the server's, for real conversations.

use serde_json::{Value, json};

use crate::{
    schema::{guard, sorted},
    support::TestServer,
};

const SCRIPT: &str = "
turns:
  - when: everything
    steps:
      - notice: 'The oldest words were left out.'
      - say: 'First some words.'
      - tool: { name: files/read, arguments: { path: a }, result: { size: 3 } }
      - tool: { name: files/write, arguments: null, error: 'no room' }
      - ask: { question: 'Which?', options: [A, B] }
      - say: 'Then {{answer}}.'
  - when: fail
    steps: [{ say: 'Half of' }, { error: { code: model_failed, message: It went away, retryable: true } }]
  - when: hang
    steps: [{ say: 'Wait.' }, { tool: { name: a/b, takes_ms: 600000 } }]
";

/// The same in every run: names and times that differ are replaced.
fn settled(value: Value, session: &str, folder: &str) -> Value {
    let text = value.to_string();
    let text = text.replace(session, "00000000-0000-7000-8000-000000000000");
    let mut value: Value = serde_json::from_str(&text.replace(folder, "/home/ada")).unwrap();
    still(&mut value);
    value
}

fn still(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(still),
        Value::Object(fields) => {
            if let Some(at) = fields.get_mut("at") {
                *at = json!("2026-01-02T03:04:05Z");
            }
            fields.values_mut().for_each(still);
        }
        _ => {}
    }
}

#[tokio::test]
async fn the_clients_own_fold_is_held_to_conversations_of_the_server() {
    let server = TestServer::scripted(SCRIPT).await;
    let session = server.session().await;
    let stream = server.send_message(&session, "everything").await;
    let mut reader = server.sse(&format!("/api/stream/{stream}"), None).await;
    let question = reader.until("session.question").await.data;
    let answer = json!({ "questionId": question["questionId"], "answer": "B" });
    server
        .post(&format!("/api/sessions/{session}/answers"), answer)
        .await;
    reader.until("done").await;
    server.ask(&session, "fail").await;
    let hanging = server.send_message(&session, "hang").await;
    let mut reader = server.sse(&format!("/api/stream/{hanging}"), None).await;
    reader.until("tool.execution_start").await;
    server.send_message(&session, "never begins").await;
    server
        .post(&format!("/api/sessions/{session}/stop"), json!({}))
        .await;
    let export = server
        .http
        .get(server.url(&format!("/api/sessions/{session}/export")))
        .send()
        .await
        .unwrap();
    let frames: Vec<Value> = export
        .text()
        .await
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let folder = server.data().to_string_lossy().into_owned();
    let fixture = settled(
        json!({ "frames": frames, "entries": history["entries"] }),
        &session,
        &folder,
    );
    let text = serde_json::to_string_pretty(&sorted(fixture)).unwrap() + "\n";
    guard("web/client/test/conversation.json", &text);
}
