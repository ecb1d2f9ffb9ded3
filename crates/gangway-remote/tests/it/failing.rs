//! Failures during the creation of an agent are reported and leave nothing behind.

use std::time::Duration;

use gangway_remote::config::BrainConfig;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Yard, model::Model, server::Config, wish};

fn soon(config: &mut Config) {
    config.remote_agents.creation_timeout_seconds = 1;
}

fn too_late() -> Value {
    json!({
        "status": 408,
        "error_code": "agent_creation_timeout",
        "message": "the agent was not ready within 1 seconds and was removed",
        "error": "the agent was not ready within 1 seconds and was removed",
        "retryable": true,
        "retry_after_seconds": 5,
    })
}

/// Scenario: agent creation timeout.
#[tokio::test]
async fn an_agent_that_is_not_ready_in_time_leaves_nothing() {
    for script in ["sleep 60", "head -c 300000 /dev/urandom; sleep 60"] {
        let yard = Yard::with_program(script, soon).await;
        let before = yard.stock();
        let (status, error) = yard.create(wish("Hi.")).await;
        assert_eq!((status, error), (408, too_late()));
        // Immediately, since the caller may check after the response.
        assert_eq!(yard.stock(), before);
    }
}

#[tokio::test]
async fn a_process_that_ends_before_it_is_ready_is_a_fault_of_the_server() {
    for script in [
        "exit 3",
        "kill -9 $$",
        "printf '\\033[2J\\000\\377'; exit 1",
    ] {
        let yard = Yard::with_program(script, |_| {}).await;
        let before = yard.stock();
        let (status, error) = yard.create(wish("Hi.")).await;
        let wanted = json!({
            "status": 500,
            "error_code": "server_error",
            "message": "cannot create the agent; see the server's log",
            "error": "cannot create the agent; see the server's log",
            "retryable": false,
        });
        assert_eq!((status, error), (500, wanted), "{script}");
        yard.back_to(&before).await;
    }
}

#[tokio::test]
async fn a_brain_that_cannot_be_started_is_a_fault_of_the_server() {
    let yard = Yard::with(Model::says(&["Hi."]), |config| {
        let brain = BrainConfig {
            acp: Some(vec!["/nothing/is/here".into()]),
            terminal: None,
            env: [].into(),
            prompt: None,
            quiet_ms: 100,
        };
        config.remote_agents.brains.insert("odd".into(), brain);
        config.projects.get_mut("shop").unwrap().brain = Some("odd".into());
    })
    .await;
    let before = yard.stock();
    let (status, error) = yard.create(wish("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (500, &json!("server_error"))
    );
    yard.back_to(&before).await;
}

#[tokio::test]
async fn a_persona_or_a_folder_that_went_away_makes_no_agent() {
    let yard = Yard::open().await;
    let before = yard.stock();
    std::fs::remove_file(yard.clerk().join("skill.md")).unwrap();
    let (status, error) = yard.create(wish("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (500, &json!("server_error"))
    );
    yard.back_to(&before).await;
    std::fs::remove_dir(yard.shop()).unwrap();
    let (status, error) = yard.create(wish("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"], &error["retryable"]),
        (503, &json!("service_unavailable"), &json!(true))
    );
    yard.back_to(&before).await;
}

#[tokio::test]
async fn where_agents_are_switched_off_none_is_made() {
    let off = |config: &mut Config| config.remote_agents.enabled = false;
    let yard = Yard::with(Model::says(&["Hi."]), off).await;
    let (status, error) = yard.create(wish("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"], &error["retryable"]),
        (503, &json!("service_unavailable"), &json!(false))
    );
}

#[tokio::test]
async fn whoever_hangs_up_in_the_middle_leaves_nothing() {
    // One that is never ready, since a ready one belongs to its caller.
    let yard = Yard::with_program("sleep 60", |_| {}).await;
    let before = yard.stock();
    for pause in [1, 5, 10, 20, 40, 80, 200] {
        let request = yard.request(Method::POST, "/create").json(&wish("Hi."));
        let asked = tokio::time::timeout(Duration::from_millis(pause), request.send());
        assert!(asked.await.is_err(), "an answer after {pause} ms");
        yard.back_to(&before).await;
    }
}
