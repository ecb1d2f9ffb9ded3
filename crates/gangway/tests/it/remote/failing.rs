//! A server that finds no tmux.

use serde_json::json;

use super::{create_request, model::Model, process::Dock};

#[tokio::test]
async fn without_tmux_no_agent_is_made_and_nothing_is_left() {
    let nowhere = tempfile::tempdir().unwrap();
    let mut dock = Dock::new(Model::says(&["Hi."]), json!({})).await;
    dock.path = Some(nowhere.path().to_owned());
    dock.start().await;
    let before = dock.stock();
    let (status, error) = dock.create(create_request("Hi.")).await;
    assert_eq!(
        (status, &error["error_code"], &error["retryable"]),
        (503, &json!("service_unavailable"), &json!(true)),
        "{error}"
    );
    assert!(error["retry_after_seconds"].as_u64().is_some(), "{error}");
    assert_eq!(dock.stock(), before);
}
