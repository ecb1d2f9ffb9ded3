//! What an agent is doing, asked for and followed.

use gangway_runner::wire::{ToRunner, TurnEvent};
use gangway_testing::{
    runner_client::{NOBODY, Runner},
    sse::Frame,
};
use serde_json::{Value, json};

use super::{TestAgent, Yard, answered, create_request, model::Model};

fn states(frames: &[Frame]) -> Vec<String> {
    let states = frames.iter().filter(|frame| frame.event == "agent.state");
    let states = states.inspect(|frame| assert_eq!(frame.id, None));
    states
        .map(|frame| frame.data["state"].as_str().unwrap().to_owned())
        .collect()
}

/// Scenario: agent is alive, in each of its states but one.
#[tokio::test]
async fn an_agent_says_whether_it_works_or_rests() {
    let remote = Yard::with(Model::held(2), |_| {}).await;
    let made = remote.agent("Work.").await;
    assert_eq!(remote.alive(&made).await["state"], "processing");
    let (status, accepted) = remote
        .post(&made, "messages", json!({ "text": "More." }))
        .await;
    assert_eq!(status, 202, "{accepted}");
    assert!(accepted["stream_id"].is_string());
    remote.model.release(4);
    remote.until_state(&made, "complete").await;
    assert_eq!(
        remote.answers(&made).await,
        [remote.model.answer(), remote.model.answer()]
    );
    remote
        .post(&made, "messages", json!({ "text": "And more." }))
        .await;
    remote.until_state(&made, "processing").await;
    let (status, _) = remote.post(&made, "stop", json!({})).await;
    assert_eq!(status, 200);
    assert_eq!(remote.alive(&made).await["state"], "idle");
    for bad in [
        json!({}),
        json!({ "text": " " }),
        json!({ "text": 7 }),
        json!({ "text": "a", "x": 1 }),
    ] {
        let (status, error) = remote.post(&made, "messages", bad).await;
        assert_eq!(
            (status, &error["retryable"]),
            (400, &json!(false)),
            "{error}"
        );
    }
}

/// Scenario: real-time updates via SSE.
#[tokio::test]
async fn a_stream_has_the_state_the_chunks_and_each_change_between_them() {
    let remote = Yard::with(Model::held(3), |_| {}).await;
    let made = remote.agent("Work.").await;
    let mut stream = remote.stream(&made, None).await;
    let first = stream.next().await.unwrap();
    assert_eq!(first.event, "snapshot");
    let then = stream.next().await.unwrap();
    let state = json!({ "type": "agent.state", "state": "processing" });
    assert_eq!(
        (then.id, then.event.as_str(), then.data),
        (None, "agent.state", state)
    );
    let mut text = String::new();
    for _ in 0..3 {
        // Each chunk arrives before the next one is sent.
        remote.model.release(1);
        let piece = stream.until("assistant.message_delta").await;
        text += piece.data["delta"].as_str().unwrap();
    }
    assert_eq!(text, remote.model.answer());
    assert_eq!(stream.until("agent.state").await.data["state"], "complete");
    remote
        .post(&made, "messages", json!({ "text": "More." }))
        .await;
    for state in ["commanded", "processing"] {
        assert_eq!(stream.until("agent.state").await.data["state"], state);
    }
    remote.post(&made, "shutdown", json!({})).await;
    let rest = stream.rest().await;
    assert_eq!(states(&rest), ["idle"]);
    let last = rest.last().unwrap();
    let ended = json!({ "type": "agent.ended", "reason": "it was shut down" });
    assert_eq!(
        (last.id, last.event.as_str(), &last.data),
        (None, "agent.ended", &ended)
    );
}

#[tokio::test]
async fn a_stream_continues_after_any_number_without_loss() {
    let remote = Yard::with(Model::says(&["a", "b", "c", "d"]), |_| {}).await;
    let made = remote.agent("Work.").await;
    remote.until_state(&made, "complete").await;
    remote.post(&made, "shutdown", json!({})).await;
    remote.until_ended(&made).await;
    let numbered = |frames: Vec<Frame>| -> Vec<Frame> {
        frames
            .into_iter()
            .filter(|frame| frame.id.is_some())
            .collect()
    };
    let whole = numbered(remote.stream(&made, Some("0")).await.rest().await);
    let numbers: Vec<_> = whole.iter().map(|frame| frame.id.unwrap()).collect();
    assert_eq!(numbers, (1..=whole.len() as u64).collect::<Vec<_>>());
    for seen in 0..=whole.len() {
        let rest = remote
            .stream(&made, Some(&seen.to_string()))
            .await
            .rest()
            .await;
        assert_eq!(rest.last().unwrap().event, "agent.ended");
        assert_eq!(numbered(rest), whole[seen..], "after {seen}");
    }
    for odd in ["99999", "-1", "x", "1.5"] {
        let first = remote.stream(&made, Some(odd)).await.next().await.unwrap();
        assert_eq!(first.event, "resync", "{odd}");
    }
}

/// Scenario: agent is alive, and waits for an answer. Also where the server goes away in the meantime.
#[tokio::test]
async fn an_agent_that_asks_waits_for_its_answer() {
    let remote = Yard::with_program(NOBODY, |_| {}).await;
    let (runner, created) = tokio::join!(
        Runner::begin(remote.data()),
        remote.create(create_request("Work."))
    );
    let ((mut runner, turn), made) = (runner, TestAgent::of(&created.1));
    let ask = |question, text: &str| TurnEvent::Question {
        question,
        text: text.into(),
        options: vec!["red".into(), "blue".into()],
    };
    let mut stream = remote.stream(&made, None).await;
    stream.until("agent.state").await;
    runner.send_message(turn, ask(1, "Which one?")).await;
    let asked = stream.until("agent.state").await;
    assert_eq!(asked.data["state"], "awaiting_input");
    assert_eq!(remote.alive(&made).await["state"], "awaiting_input");
    let (_, history) = remote.get(&made, "history").await;
    let entries = history["entries"].as_array().unwrap();
    let question = entries
        .iter()
        .find(|line| line["role"] == "question")
        .unwrap();
    assert_eq!(question["options"], json!(["red", "blue"]));
    let id = question["questionId"].clone();
    let answer = |id: &Value| json!({ "question_id": id, "answer": "blue" });
    let (status, error) = remote.post(&made, "answer", answer(&json!("q0-9"))).await;
    assert_eq!(
        (status, &error["error_code"]),
        (404, &json!("question_not_found"))
    );

    let ticket = Runner::ticket(remote.data()).await;
    drop(stream);
    let remote = remote.restart().await;
    let (mut runner, welcome) = Runner::come(&ticket, false).await;
    let wanted = ToRunner::Welcome {
        setup: None,
        heard: 2,
        turn: Some(turn),
    };
    assert_eq!(welcome, Some(wanted));
    assert_eq!(remote.alive(&made).await["state"], "awaiting_input");
    let (status, _) = remote.post(&made, "answer", answer(&id)).await;
    assert_eq!(status, 200);
    loop {
        if let Some(ToRunner::Answer { question, text, .. }) = runner.receive().await {
            assert_eq!((question, text.as_str()), (1, "blue"));
            break;
        }
    }
    assert_eq!(remote.alive(&made).await["state"], "processing");
    let (status, _) = remote.post(&made, "answer", answer(&id)).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_message_with_a_name_takes_effect_once() {
    let remote = Yard::open().await;
    let made = remote.agent("Hi.").await;
    remote.until_state(&made, "complete").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let request = remote.of(&made, reqwest::Method::POST, "messages");
        let request = request.header("idempotency-key", "m-1");
        let (status, accepted) = answered(request.json(&json!({ "text": "Again?" }))).await;
        assert_eq!(status, 202, "{accepted}");
        ids.push(accepted["stream_id"].clone());
    }
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    remote.until_state(&made, "complete").await;
    assert_eq!(remote.model.asked().len(), 2);
}
