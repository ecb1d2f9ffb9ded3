//! An agent continues in a fresh context, with a summary, and whoever chats with it notices nothing but a line.

use reqwest::Method;
use serde_json::json;

use super::{Yard, answered, brains::brain, model::Model, process::Dock};
use crate::support::{Gangway, eventually};

#[tokio::test]
async fn an_agent_that_is_asked_to_continues_with_a_summary_under_the_same_id_and_token() {
    let yard = Yard::open().await;
    let made = yard.agent("Greet the visitor.").await;
    yard.until_state(&made, "complete").await;
    let path = format!("/hand_over/{}", made.id);
    let (status, error) = answered(yard.nobody(Method::POST, &path)).await;
    assert_eq!(
        (status, &error["error_code"]),
        (401, &json!("missing_token"))
    );
    let url = format!("{}/api/remote_agents{path}", yard.base);
    let (status, asked) = answered(yard.owner.post(&url)).await;
    assert_eq!(
        (status, &asked["status"]),
        (202, &json!("hand_over_requested"))
    );
    let (status, _) = yard
        .post(&made, "messages", json!({ "text": "Which bikes?" }))
        .await;
    assert_eq!(status, 202);
    eventually(|| async { (yard.model.asked().len() == 3).then_some(()) }).await;
    yard.until_state(&made, "complete").await;
    let asked = yard.model.asked();
    let text = |n: usize, m: usize| asked[n]["messages"][m]["content"].as_str().unwrap();
    assert!(text(1, 0).contains("Person: Greet the visitor.\n\nAgent: Good day."));
    assert!(text(2, 0).starts_with(super::SKILL));
    assert!(text(2, 1).contains("Good day.") && !text(2, 1).contains("Greet the visitor."));
    assert_eq!(text(2, 3), "Which bikes?");
    // The person sees all of the conversation, and one line about it.
    let (_, history) = yard.get(&made, "history").await;
    let lines = history["entries"].as_array().unwrap();
    let notices = lines.iter().filter(|line| line["role"] == "notice");
    let notices: Vec<_> = notices
        .map(|line| line["message"].as_str().unwrap())
        .collect();
    assert_eq!(notices.len(), 1, "{lines:#?}");
    assert!(notices[0].contains("a summary of the conversation"));
    assert_eq!(yard.answers(&made).await, ["Good day.", "Good day."]);
    yard.post(&made, "shutdown", json!({})).await;
    yard.until_ended(&made).await;
    let (status, error) = answered(yard.owner.post(&url)).await;
    assert_eq!((status, &error["error_code"]), (409, &json!("agent_ended")));
}

#[tokio::test]
async fn a_program_for_terminals_cannot_be_asked() {
    let terminal = brain(None, Some(vec!["cat".into()]));
    let yard = Yard::with(Model::says(&["Not asked."]), terminal).await;
    let made = yard.agent("Hello.").await;
    let url = format!("{}/api/remote_agents/hand_over/{}", yard.base, made.id);
    let (status, error) = answered(yard.owner.post(&url)).await;
    assert_eq!(
        (status, &error["error_code"]),
        (409, &json!("hand_over_unsupported"))
    );
    let (_, shown) = answered(yard.request(Method::GET, &format!("/{}", made.id))).await;
    assert_eq!(shown["can_hand_over"], false);
}

#[tokio::test]
async fn the_command_line_hands_an_agent_over_and_says_why_it_cannot() {
    let mut dock = Dock::new(Model::says(&["Good day."]), json!({})).await;
    dock.start().await;
    let made = dock.agent("Greet the visitor.").await;
    dock.until_state(&made, "complete").await;
    let hand_over = |agent: &str| {
        let output = Gangway::run(dock.folder.path(), &["agents", "hand-over", agent]);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        (output.status.success(), said)
    };
    let (done, said) = hand_over("nobody");
    assert!(
        !done && said.contains("gangway agents list --all"),
        "{said}"
    );
    let (done, said) = hand_over(&made.tmux);
    assert!(done && said.contains("with its next message"), "{said}");
    let text = json!({ "text": "Which bikes?" });
    assert_eq!(dock.post(&made, "messages", text).await.0, 202);
    // The summary, then the answer to the message alone.
    eventually(|| async { (dock.model.asked().len() == 3).then_some(()) }).await;
    dock.until_state(&made, "complete").await;
    let last = dock.model.asked().pop().unwrap()["messages"].to_string();
    assert!(last.contains("Which bikes?") && !last.contains("Greet the visitor."));
    dock.post(&made, "shutdown", json!({})).await;
    dock.until_ended(&made).await;
    let (done, said) = hand_over(&made.id);
    assert!(!done && said.contains("this agent has ended"), "{said}");
}
