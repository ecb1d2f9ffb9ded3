//! Failures during the creation of an agent are reported and leave nothing behind.

use std::time::Duration;

use gangway_remote::config::BackendConfig;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Yard, create_request, model::Model, server::Config};

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
        let remote = Yard::with_program(script, soon).await;
        let before = remote.stock();
        let (status, error) = remote.create(create_request("Hi.")).await;
        assert_eq!((status, error), (408, too_late()));
        // Immediately, since the caller may check after the response.
        assert_eq!(remote.stock(), before);
    }
}

#[tokio::test]
async fn a_process_that_ends_before_it_is_ready_is_a_server_error() {
    for script in [
        "exit 3",
        "kill -9 $$",
        "printf '\\033[2J\\000\\377'; exit 1",
    ] {
        let remote = Yard::with_program(script, |_| {}).await;
        let before = remote.stock();
        let (status, error) = remote.create(create_request("Hi.")).await;
        let wanted = json!({
            "status": 500,
            "error_code": "server_error",
            "message": "cannot create the agent; see the server's log",
            "error": "cannot create the agent; see the server's log",
            "retryable": false,
        });
        assert_eq!((status, error), (500, wanted), "{script}");
        remote.back_to(&before).await;
    }
}

#[tokio::test]
async fn a_backend_that_cannot_be_started_is_a_server_error() {
    let remote = Yard::with(Model::says(&["Hi."]), |config| {
        let backend = BackendConfig {
            acp: Some(vec!["/nothing/is/here".into()]),
            terminal: None,
            env: [].into(),
            prompt: None,
            quiet_ms: 100,
        };
        config.remote_agents.backends.insert("odd".into(), backend);
        config.projects.get_mut("shop").unwrap().backend = Some("odd".into());
    })
    .await;
    let before = remote.stock();
    let (status, error) = remote.create(create_request("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (500, &json!("server_error"))
    );
    remote.back_to(&before).await;
}

#[tokio::test]
async fn a_persona_or_a_folder_that_went_away_makes_no_agent() {
    let remote = Yard::open().await;
    let before = remote.stock();
    std::fs::remove_file(remote.clerk().join("skill.md")).unwrap();
    let (status, error) = remote.create(create_request("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (500, &json!("server_error"))
    );
    remote.back_to(&before).await;
    std::fs::remove_dir(remote.shop()).unwrap();
    let (status, error) = remote.create(create_request("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"], &error["retryable"]),
        (503, &json!("service_unavailable"), &json!(true))
    );
    remote.back_to(&before).await;
}

#[tokio::test]
async fn where_agents_are_switched_off_none_is_made() {
    let off = |config: &mut Config| config.remote_agents.enabled = false;
    let remote = Yard::with(Model::says(&["Hi."]), off).await;
    let (status, error) = remote.create(create_request("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"], &error["retryable"]),
        (503, &json!("service_unavailable"), &json!(false))
    );
}

#[tokio::test]
async fn a_client_that_disconnects_during_a_request_leaves_nothing() {
    // One that is never ready, since a ready one belongs to its caller.
    let remote = Yard::with_program("sleep 60", |_| {}).await;
    let before = remote.stock();
    for pause in [1, 5, 10, 20, 40, 80, 200] {
        let request = remote
            .request(Method::POST, "/create")
            .json(&create_request("Hi."));
        let asked = tokio::time::timeout(Duration::from_millis(pause), request.send());
        assert!(asked.await.is_err(), "an answer after {pause} ms");
        remote.back_to(&before).await;
    }
}
