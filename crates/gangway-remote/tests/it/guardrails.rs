//! Rules of the operator for every agent.

use serde_json::json;

use super::{SKILL, Yard, create_request, model::Model};

const RULES: &str = "Never promise a refund.";

/// The instructions of the agent that was made last.
fn instructions(remote: &Yard) -> String {
    let asked = remote.model.asked();
    let first = &asked.last().unwrap()["messages"][0];
    assert_eq!(first["role"], "system");
    first["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_text_in_the_config_comes_before_every_persona() {
    let remote = Yard::with(Model::says(&["Hi."]), |config| {
        config.remote_agents.guardrails = Some(RULES.into());
    })
    .await;
    let made = remote.agent("Hi.").await;
    remote.until_state(&made, "complete").await;
    let message = instructions(&remote);
    assert!(
        message.starts_with(&format!("{RULES}\n\n{SKILL}")),
        "{message}"
    );
    // They are hidden from the users of the agent.
    let (_, history) = remote.get(&made, "history").await;
    assert!(!history.to_string().contains(RULES));
}

#[tokio::test]
async fn a_file_is_read_whenever_an_agent_starts_and_without_it_none_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.md");
    let remote = Yard::with(Model::says(&["Hi."]), |config| {
        config.remote_agents.guardrails_file = Some(file.clone());
    })
    .await;
    let before = remote.stock();
    let (status, error) = remote.create(create_request("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (503, &json!("service_unavailable"))
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("guardrails"), "{message}");
    assert!(!message.contains(folder.path().to_str().unwrap()));
    assert_eq!(remote.stock(), before);
    for rules in [RULES, "Be brief."] {
        std::fs::write(&file, rules).unwrap();
        let made = remote.agent("Hi.").await;
        remote.until_state(&made, "complete").await;
        assert!(instructions(&remote).starts_with(rules));
    }
}
