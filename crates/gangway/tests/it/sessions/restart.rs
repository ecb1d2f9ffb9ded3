//! What a stop and a start leave.

use serde_json::json;

use crate::support::TestServer;

const SLOW: &str = "
turns:
  - when: slow
    steps: [{ say: 'one two three ' }, { pause_ms: 60000 }]
  - steps: [{ say: 'answer to {{prompt}}' }]
";

#[tokio::test]
async fn a_turn_that_a_stop_cut_off_is_marked_and_what_waited_goes_on() {
    let server = TestServer::scripted(SLOW).await;
    let session = server.session().await;
    let cut = server.say(&session, "slow").await;
    let mut reader = server.sse(&format!("/api/stream/{cut}"), None).await;
    for _ in 0..3 {
        reader.until("assistant.message_delta").await;
    }
    let waiting = server.say(&session, "next").await;
    let server = server.restart().await;
    let frames = server
        .sse(&format!("/api/stream/{cut}"), None)
        .await
        .rest()
        .await;
    assert_eq!(frames.last().unwrap().data["outcome"], "interrupted");
    let message = frames
        .iter()
        .find(|f| f.event == "assistant.message")
        .unwrap();
    assert_eq!(
        (&message.data["content"], &message.data["partial"]),
        (&json!("one two three "), &json!(true))
    );
    let frames = server
        .sse(&format!("/api/stream/{waiting}"), None)
        .await
        .rest()
        .await;
    let message = frames
        .iter()
        .find(|f| f.event == "assistant.message")
        .unwrap();
    assert_eq!(message.data["content"], "answer to next");
}

#[tokio::test]
async fn a_conversation_reads_the_same_after_a_restart() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.ask(&session, "a tool please").await;
    let path = format!("/api/history?session={session}");
    let before = server.get(&path).await;
    let server = server.restart().await;
    assert_eq!(server.get(&path).await, before);
}

#[tokio::test]
async fn a_session_that_nobody_uses_leaves_memory_and_comes_back_when_asked() {
    let server = TestServer::scripted_with(SLOW, |config| config.sessions.idle_seconds = 0).await;
    let session = server.session().await;
    server.ask(&session, "one").await;
    while server.app.hub.awake_count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.ask(&session, "two").await, "answer to two");
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    assert_eq!(history["entries"].as_array().unwrap().len(), 4);
}
