//! Prompts, the queue, stop, questions.

use serde_json::{Value, json};

use crate::support::TestServer;

const QUESTION: &str = "
turns:
  - steps:
      - say: 'Hm.'
      - ask: { question: 'Which?', options: [A, B] }
      - say: 'You chose {{answer}}.'
";

/// A turn that runs until it is stopped.
const ENDLESS: &str = "
turns:
  - when: endless
    steps: [{ delta: 'on ', times: 100000, every_ms: 5 }]
  - steps: [{ say: 'answer to {{prompt}}' }]
";

#[tokio::test]
async fn messages_sent_during_a_turn_are_answered_in_order() {
    let server =
        TestServer::scripted("turns: [{steps: [{say: 'a b c {{prompt}}', every_ms: 10}]}]").await;
    let session = server.session().await;
    let mut streams = Vec::new();
    for n in 0..4 {
        streams.push(server.send_message(&session, &format!("n{n}")).await);
    }
    server
        .sse(&format!("/api/stream/{}", streams[3]), None)
        .await
        .rest()
        .await;
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let answers: Vec<_> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["role"] == "assistant")
        .map(|e| e["content"].clone())
        .collect();
    assert_eq!(answers, ["a b c n0", "a b c n1", "a b c n2", "a b c n3"]);
}

#[tokio::test]
async fn a_message_that_will_not_wait_is_refused_while_a_turn_runs() {
    let server = TestServer::scripted(ENDLESS).await;
    let session = server.session().await;
    server.send_message(&session, "endless").await;
    let (status, error) = server
        .post(
            &format!("/api/sessions/{session}/messages"),
            json!({ "prompt": "x", "whenBusy": "refuse" }),
        )
        .await;
    assert_eq!(
        (status.as_u16(), &error["error_code"], &error["retryable"]),
        (409, &json!("session_busy"), &json!(true))
    );
}

#[tokio::test]
async fn a_stop_keeps_what_was_said_and_drops_what_waits() {
    let server = TestServer::scripted(ENDLESS).await;
    let session = server.session().await;
    let stream = server.send_message(&session, "endless").await;
    let waiting = server.send_message(&session, "waits").await;
    let mut reader = server.sse(&format!("/api/stream/{stream}"), None).await;
    let mut text = String::new();
    for _ in 0..5 {
        text += reader.until("assistant.message_delta").await.data["delta"]
            .as_str()
            .unwrap();
    }
    let (_, stopped) = server
        .post(&format!("/api/sessions/{session}/stop"), json!({}))
        .await;
    assert_eq!(stopped, json!({ "stopped": true, "dropped": 1 }));
    let rest = reader.rest().await;
    let deltas = rest.iter().filter(|f| f.event == "assistant.message_delta");
    text.extend(deltas.map(|f| f.data["delta"].as_str().unwrap()));
    let message = rest
        .iter()
        .find(|f| f.event == "assistant.message")
        .unwrap();
    assert_eq!(
        (&message.data["content"], &message.data["partial"]),
        (&json!(text), &json!(true))
    );
    assert_eq!(rest.last().unwrap().data["outcome"], "stopped");
    let dropped = server
        .sse(&format!("/api/stream/{waiting}"), None)
        .await
        .rest()
        .await;
    assert_eq!(dropped.last().unwrap().data["outcome"], "stopped");
    let (_, again) = server
        .post(&format!("/api/sessions/{session}/stop"), json!({}))
        .await;
    assert_eq!(again, json!({ "stopped": false, "dropped": 0 }));
    assert_eq!(server.ask(&session, "after").await, "answer to after");
}

#[tokio::test]
async fn a_question_waits_for_its_answer_and_takes_it_once() {
    let server = TestServer::scripted(QUESTION).await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let mut reader = server.sse(&format!("/api/stream/{stream}"), None).await;
    let question = reader.until("session.question").await.data;
    assert_eq!(
        (&question["question"], &question["options"]),
        (&json!("Which?"), &json!(["A", "B"]))
    );
    let answers = format!("/api/sessions/{session}/answers");
    let answer = json!({ "questionId": question["questionId"], "answer": "B" });
    assert_eq!(server.post(&answers, answer.clone()).await.0, 204);
    let rest = reader.rest().await;
    let last = rest
        .iter()
        .rev()
        .find(|f| f.event == "assistant.message")
        .unwrap();
    assert_eq!(last.data["content"], "You chose B.");
    let (status, error) = server.post(&answers, answer).await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (404, &json!("question_not_found"))
    );
}

#[tokio::test]
async fn a_turn_that_waits_for_an_answer_can_be_stopped() {
    let server = TestServer::scripted(QUESTION).await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let mut reader = server.sse(&format!("/api/stream/{stream}"), None).await;
    reader.until("session.question").await;
    server
        .post(&format!("/api/sessions/{session}/stop"), json!({}))
        .await;
    assert_eq!(reader.until("done").await.data["outcome"], "stopped");
}

#[tokio::test]
async fn tool_calls_are_logged_with_their_results_and_failures() {
    let script = "
turns:
  - steps:
      - tool: { name: files/read, arguments: {path: a}, result: {ok: true} }
      - tool: { name: files/write, error: 'no room' }
      - say: done
";
    let server = TestServer::scripted(script).await;
    let session = server.session().await;
    server.ask(&session, "go").await;
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let tools: Vec<_> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["role"] == "tool")
        .collect();
    let message =
        |tool: &Value| json!([tool["tool"], tool["state"], tool["result"], tool["error"]]);
    assert_eq!(
        message(tools[0]),
        json!(["files/read", "done", { "ok": true }, null])
    );
    assert_eq!(
        message(tools[1]),
        json!(["files/write", "failed", null, "no room"])
    );
}

#[tokio::test]
async fn a_failed_turn_keeps_what_was_said_and_gives_the_reason() {
    let script = "turns: [{steps: [{say: 'half of'}, {error: {code: model_failed, message: It went away, retryable: true}}]}]";
    let server = TestServer::scripted(script).await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let frames = server
        .sse(&format!("/api/stream/{stream}"), None)
        .await
        .rest()
        .await;
    let names: Vec<_> = frames
        .iter()
        .map(|f| f.event.as_str())
        .filter(|e| *e != "assistant.message_delta")
        .collect();
    assert_eq!(
        names,
        [
            "assistant.turn_start",
            "assistant.message",
            "session.error",
            "session.idle",
            "done"
        ]
    );
    let message = frames
        .iter()
        .find(|f| f.event == "assistant.message")
        .unwrap();
    assert_eq!(
        (&message.data["content"], &message.data["partial"]),
        (&json!("half of"), &json!(true))
    );
    let error = frames.iter().find(|f| f.event == "session.error").unwrap();
    assert_eq!(
        (&error.data["code"], &error.data["message"]),
        (&json!("model_failed"), &json!("It went away"))
    );
}

#[tokio::test]
async fn too_many_waiting_messages_are_refused() {
    let server =
        TestServer::scripted_with(ENDLESS, |config| config.sessions.queued_prompts = 2).await;
    let session = server.session().await;
    for _ in 0..3 {
        server.send_message(&session, "endless").await;
    }
    let (status, error) = server
        .post(
            &format!("/api/sessions/{session}/messages"),
            json!({ "prompt": "x" }),
        )
        .await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (429, &json!("queue_full"))
    );
}

#[tokio::test]
async fn work_continues_when_every_reader_leaves() {
    let server =
        TestServer::scripted("turns: [{steps: [{say: 'one two three four', every_ms: 20}]}]").await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let mut reader = server.sse(&format!("/api/stream/{stream}"), None).await;
    reader.until("assistant.message_delta").await;
    drop(reader);
    let frames = server
        .sse(&format!("/api/stream/{stream}"), None)
        .await
        .rest()
        .await;
    assert_eq!(frames.last().unwrap().data["outcome"], "completed");
}

#[tokio::test]
async fn a_tool_call_that_a_stop_cut_off_is_not_shown_as_running() {
    let script = "turns: [{steps: [{tool: {name: a/b, takes_ms: 60000}}]}]";
    let server = TestServer::scripted(script).await;
    let session = server.session().await;
    let stream = server.send_message(&session, "go").await;
    let mut reader = server.sse(&format!("/api/stream/{stream}"), None).await;
    reader.until("tool.execution_start").await;
    server
        .post(&format!("/api/sessions/{session}/stop"), json!({}))
        .await;
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let tool = &history["entries"][1];
    assert_eq!(
        (&tool["role"], &tool["state"]),
        (&json!("tool"), &json!("failed"))
    );
}

#[tokio::test]
async fn a_stop_says_that_the_session_rests_once_and_last() {
    let server = TestServer::scripted(ENDLESS).await;
    let session = server.session().await;
    server.send_message(&session, "endless").await;
    server.send_message(&session, "waits").await;
    server.send_message(&session, "waits too").await;
    let feed = format!("/api/sessions/{session}/events?since=0");
    let mut feed = server.sse(&feed, None).await;
    feed.until("assistant.message_delta").await;
    server
        .post(&format!("/api/sessions/{session}/stop"), json!({}))
        .await;
    let mut idle = Vec::new();
    for _ in 0..3 {
        idle.push(feed.until("done").await.data["idle"].clone());
    }
    assert_eq!(idle, [false, false, true]);
}

#[tokio::test]
async fn long_messages_that_wait_are_bounded_and_so_is_the_snapshot_of_them() {
    let server = TestServer::scripted(ENDLESS).await;
    let session = server.session().await;
    server.send_message(&session, "endless").await;
    let long = "x".repeat(3 << 20);
    for _ in 0..2 {
        server.send_message(&session, &long).await;
    }
    let path = format!("/api/sessions/{session}/messages");
    let (status, error) = server.post(&path, json!({ "prompt": long })).await;
    assert_eq!(
        (status.as_u16(), &error["error_code"]),
        (429, &json!("queue_full"))
    );
    for _ in 0..3 {
        server
            .post(&format!("/api/sessions/{session}/stop"), json!({}))
            .await;
        for _ in 0..3 {
            server
                .send_message(&session, &long.replace('x', "endless ")[..2 << 20])
                .await;
        }
    }
    let mut feed = server
        .sse(&format!("/api/sessions/{session}/events"), None)
        .await;
    let snapshot = feed.next().await.unwrap().data.to_string();
    assert!(snapshot.len() < 12 << 20, "{} bytes", snapshot.len());
}

#[tokio::test]
async fn a_message_that_is_sent_again_under_its_name_takes_effect_once() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let send = |session: &str, name: &str, prompt: &str| {
        let path = server.url(&format!("/api/sessions/{session}/messages"));
        let request = server.http.post(path).header("idempotency-key", name);
        let request = request.json(&json!({ "prompt": prompt }));
        async move {
            request
                .send()
                .await
                .unwrap()
                .json::<serde_json::Value>()
                .await
                .unwrap()
        }
    };
    let first = send(&session, "n1", "help").await;
    assert_eq!(send(&session, "n1", "help").await, first);
    let other = send(&session, "n2", "help").await;
    assert_ne!(other["streamId"], first["streamId"]);
    let elsewhere = server.session().await;
    let there = send(&elsewhere, "n1", "help").await;
    assert_eq!(there["sessionId"], json!(elsewhere));
    let bad = send(&session, &"x".repeat(201), "help").await;
    assert_eq!(bad["error_code"], "invalid_request");

    let server = server.restart().await;
    let path = server.url(&format!("/api/sessions/{session}/messages"));
    let again = server.http.post(path).header("idempotency-key", "n1");
    let again = again
        .json(&json!({ "prompt": "help" }))
        .send()
        .await
        .unwrap();
    assert_eq!(again.json::<serde_json::Value>().await.unwrap(), first);
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let message = history["entries"].as_array().unwrap().iter();
    assert_eq!(message.filter(|entry| entry["role"] == "user").count(), 2);
}
