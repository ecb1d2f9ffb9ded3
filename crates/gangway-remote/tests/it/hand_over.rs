//! An agent continues in a fresh context, with a summary, and its users notice nothing but a line.

use gangway_remote::config::BackendConfig;
use gangway_testing::eventually;
use reqwest::Method;
use serde_json::json;

use super::{Yard, answered, model::Model};

#[tokio::test]
async fn an_agent_that_is_asked_to_continues_with_a_summary_under_the_same_id_and_token() {
    let remote = Yard::open().await;
    let made = remote.agent("Greet the visitor.").await;
    remote.until_state(&made, "complete").await;
    let path = format!("/hand_over/{}", made.id);
    let (status, error) = answered(remote.nobody(Method::POST, &path)).await;
    assert_eq!(
        (status, &error["error_code"]),
        (401, &json!("missing_token"))
    );
    let url = format!("{}/api/remote_agents{path}", remote.base);
    let (status, asked) = answered(remote.owner.post(&url)).await;
    assert_eq!(
        (status, &asked["status"]),
        (202, &json!("hand_over_requested"))
    );
    let (status, _) = remote
        .post(&made, "messages", json!({ "text": "Which bikes?" }))
        .await;
    assert_eq!(status, 202);
    eventually(|| async { (remote.model.asked().len() == 3).then_some(()) }).await;
    remote.until_state(&made, "complete").await;
    let asked = remote.model.asked();
    let text = |n: usize, m: usize| asked[n]["messages"][m]["content"].as_str().unwrap();
    assert!(text(1, 0).contains("Person: Greet the visitor.\n\nAgent: Good day."));
    assert!(text(2, 0).starts_with(super::SKILL));
    assert!(text(2, 1).contains("Good day.") && !text(2, 1).contains("Greet the visitor."));
    assert_eq!(text(2, 3), "Which bikes?");
    // The person sees all of the conversation, and one line about it.
    let (_, history) = remote.get(&made, "history").await;
    let lines = history["entries"].as_array().unwrap();
    let notices = lines.iter().filter(|line| line["role"] == "notice");
    let notices: Vec<_> = notices
        .map(|line| line["message"].as_str().unwrap())
        .collect();
    assert_eq!(notices.len(), 1, "{lines:#?}");
    assert!(notices[0].contains("a summary of the conversation"));
    assert_eq!(remote.answers(&made).await, ["Good day.", "Good day."]);
    remote.post(&made, "shutdown", json!({})).await;
    remote.until_ended(&made).await;
    let (status, error) = answered(remote.owner.post(&url)).await;
    assert_eq!((status, &error["error_code"]), (409, &json!("agent_ended")));
}

#[tokio::test]
async fn a_terminal_program_cannot_be_asked() {
    let remote = Yard::with(Model::says(&["Not asked."]), |config| {
        let backend = BackendConfig {
            acp: None,
            terminal: Some(vec!["cat".into()]),
            env: [].into(),
            prompt: None,
            quiet_ms: 100,
        };
        config
            .remote_agents
            .backends
            .insert("other".into(), backend);
        config.projects.get_mut("shop").unwrap().backend = Some("other".into());
        config.remote_agents.creation_timeout_seconds = 2;
    })
    .await;
    let made = remote.agent("Hello.").await;
    let url = format!("{}/api/remote_agents/hand_over/{}", remote.base, made.id);
    let (status, error) = answered(remote.owner.post(&url)).await;
    assert_eq!(
        (status, &error["error_code"]),
        (409, &json!("hand_over_unsupported"))
    );
    let (_, shown) = answered(remote.request(Method::GET, &format!("/{}", made.id))).await;
    assert_eq!(shown["can_hand_over"], false);
}
