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
async fn a_turn_that_a_stop_cut_off_is_marked_and_queued_messages_continue() {
    let server = TestServer::scripted(SLOW).await;
    let session = server.session().await;
    let cut = server.send_message(&session, "slow").await;
    let mut reader = server.sse(&format!("/api/stream/{cut}"), None).await;
    for _ in 0..3 {
        reader.until("assistant.message_delta").await;
    }
    let waiting = server.send_message(&session, "next").await;
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
async fn a_session_that_is_unused_is_unloaded_and_loaded_on_demand() {
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

const QUESTIONS: &str = "
turns:
  - steps:
      - ask: { question: 'First?', options: [A, B] }
      - say: 'You chose {{answer}}.'
      - ask: { question: 'Second?' }
      - say: 'Then {{answer}}.'
";

#[tokio::test]
async fn an_open_question_is_answered_after_a_restart_under_the_same_id() {
    let mut server = TestServer::scripted(QUESTIONS).await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let path = format!("/api/stream/{stream}");
    for (nth, text) in ["B", "C"].into_iter().enumerate() {
        let mut reader = server.sse(&path, None).await;
        for _ in 0..nth {
            reader.until("session.question").await;
        }
        let asked = reader.until("session.question").await.data;
        drop(reader);
        server = server.restart().await;
        let (_, history) = server.get(&format!("/api/history?session={session}")).await;
        let last = history["entries"].as_array().unwrap().last().unwrap();
        assert_eq!(last["questionId"], asked["questionId"], "{history}");
        let answer = json!({ "questionId": asked["questionId"], "answer": text });
        let answers = format!("/api/sessions/{session}/answers");
        assert_eq!(server.post(&answers, answer).await.0, 204);
    }
    let frames = server.sse(&path, None).await.rest().await;
    let texts = frames.iter().filter(|f| f.event == "assistant.message");
    let texts: Vec<_> = texts.map(|f| f.data["content"].clone()).collect();
    assert_eq!(texts, ["You chose B.", "Then C."]);
    assert_eq!(frames.last().unwrap().data["outcome"], "completed");
}
