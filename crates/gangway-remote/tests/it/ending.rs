//! How agents end, and what can still be asked of them.

use gangway_testing::eventually;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Yard, answered, model::Model, tmux_sessions};

/// Scenarios: successful shutdown, agent already ended, agent is not alive.
#[tokio::test]
async fn an_agent_that_was_shut_down_is_over_and_reports_that_for_a_day() {
    let host = Yard::open().await;
    let before = host.stock();
    let made = host.agent("Hi.").await;
    let mut stream = host.stream(&made, None).await;
    let shut_down = |status: &str, message: &str| json!({ "status": status, "message": message, "agent_id": made.id });
    let (status, answer) = host.post(&made, "shutdown", json!({})).await;
    let begun = shut_down("shutdown_initiated", "The agent is being shut down.");
    assert_eq!((status, answer), (200, begun));
    let over = json!({ "alive": false, "reason": "agent_ended" });
    assert_eq!(host.alive(&made).await, over);
    let (status, answer) = host.post(&made, "shutdown", json!({})).await;
    let again = shut_down("already_terminated", "The agent was already terminated.");
    assert_eq!((status, answer), (200, again));
    assert_eq!(
        stream.until("agent.ended").await.data["reason"],
        "it was shut down"
    );
    assert!(stream.next().await.is_none());
    eventually(|| async { tmux_sessions(host.data()).is_empty().then_some(()) }).await;
    let texts = [
        ("messages", json!({ "text": "Are you there?" })),
        ("answer", json!({ "question_id": "q", "answer": "a" })),
        ("stop", json!({})),
        ("uploads?name=a.txt", json!({})),
        ("transcribe", json!({})),
    ];
    for (path, body) in texts {
        let (status, error) = host.post(&made, path, body).await;
        assert_eq!(
            (status, &error["error_code"]),
            (409, &json!("agent_ended")),
            "{path}"
        );
    }
    // What was said can still be read, also by a stream that comes late.
    assert_eq!(host.get(&made, "history").await.0, 200);
    let late = host.stream(&made, Some("0")).await.rest().await;
    assert_eq!(late.last().unwrap().event, "agent.ended");
    assert!(late.iter().any(|frame| frame.event == "user.message"));

    let host = host.restart().await;
    assert_eq!(host.alive(&made).await, over);
    let (service, day) = (&host.server.service, SignedDuration::from_hours(24));
    service
        .remote
        .sweep(Timestamp::now() + day - SignedDuration::from_mins(1))
        .await;
    assert_eq!(host.alive(&made).await, over);
    service
        .remote
        .sweep(Timestamp::now() + day + SignedDuration::from_mins(1))
        .await;
    let gone = json!({ "alive": false, "reason": "agent_not_found" });
    assert_eq!(host.alive(&made).await, gone);
    let (status, error) = host.post(&made, "shutdown", json!({})).await;
    assert_eq!(
        (status, &error["error_code"]),
        (404, &json!("agent_not_found"))
    );
    // The conversation stays, as any other does; of the agent nothing is left.
    host.server.delete(&made.session).await;
    host.back_to(&before).await;
}

#[tokio::test]
async fn administrators_list_and_end_agents() {
    let remote = Yard::open().await;
    let made = remote.agent("Hi.").await;
    remote.until_state(&made, "complete").await;
    let (status, list) = answered(remote.request(Method::GET, "")).await;
    assert_eq!((status, &list["limit"]), (200, &json!(20)));
    let (_, shown) = answered(remote.request(Method::GET, &format!("/{}", made.id))).await;
    let mut listed = list["agents"].clone();
    // Its session notes the end of the answer a moment later.
    listed[0]["last_active_at"] = shown["last_active_at"].clone();
    assert_eq!(listed, json!([shown]));
    for (name, value) in [
        ("agent_id", json!(made.id)),
        ("alive", json!(true)),
        ("attached", json!(true)),
        ("backend", json!("builtin")),
        ("state", json!("complete")),
        ("ended_at", Value::Null),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    let attach = shown["attach_command"].as_str().unwrap();
    assert!(attach.contains(&format!("'={}'", made.tmux)), "{attach}");
    let ended = answered(remote.request(Method::DELETE, &format!("/{}", made.id))).await;
    assert_eq!(ended.1["status"], "shutdown_initiated");
    remote.until_ended(&made).await;
    let (_, shown) = answered(remote.request(Method::GET, &format!("/{}", made.id))).await;
    assert_eq!(
        (&shown["alive"], &shown["state"]),
        (&json!(false), &Value::Null)
    );
    assert!(shown["ended_at"].is_string() && shown["ended_reason"].is_string());
    let (status, error) =
        answered(remote.request(Method::DELETE, "/000000000000000000000000")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (404, &json!("agent_not_found"))
    );
}

#[tokio::test]
async fn an_agent_without_messages_ends_and_a_working_one_does_not() {
    let idle = |config: &mut crate::server::Config| config.remote_agents.idle_minutes = 30;
    let host = Yard::with(Model::held(1), idle).await;
    let (busy, quiet) = (host.agent("Work.").await, host.agent("Rest.").await);
    let (status, _) = host.post(&quiet, "stop", json!({})).await;
    assert_eq!(status, 200);
    host.until_state(&quiet, "idle").await;
    let service = &host.server.service;
    let later = |minutes| Timestamp::now() + SignedDuration::from_mins(minutes);
    service.remote.sweep(later(29)).await;
    assert_eq!(host.alive(&quiet).await["alive"], true);
    service.remote.sweep(later(31)).await;
    assert_eq!(host.alive(&quiet).await["alive"], false);
    assert_eq!(host.alive(&busy).await["state"], "processing");
    let (_, shown) = answered(host.request(Method::GET, &format!("/{}", quiet.id))).await;
    assert_eq!(shown["ended_reason"], "it was idle for 30 minutes");
}
