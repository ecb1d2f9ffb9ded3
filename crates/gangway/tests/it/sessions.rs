//! The sessions door, request by request.

use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn a_message_gets_a_streamed_answer() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let answer = server.ask(&session, "hello").await;
    assert!(answer.contains("demo agent"), "{answer}");
    let _ = json!({});
}
