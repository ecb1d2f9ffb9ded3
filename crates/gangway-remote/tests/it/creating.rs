//! Agents come to be, or do not, and then nothing is left.

use serde_json::json;

use super::{EXPERIENCE, SKILL, TestAgent, Yard, answered, create_request, model::Model};

/// Scenario: successful agent creation.
#[tokio::test]
async fn an_agent_is_answered_once_it_has_its_persona_and_its_prompt() {
    let remote = Yard::open().await;
    let (status, made) = remote.create(create_request("Greet the visitor.")).await;
    assert_eq!(status, 201, "{made}");
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    let (id, token) = (text("agent_id"), text("session_token"));
    let short = &id[..8];
    assert_eq!(
        made,
        json!({
            "agent_id": id,
            "embed_url": remote.server.url(&format!("/embed/{id}?token={token}")),
            "session_token": token,
            "project_name": "shop",
            "persona_slug": "clerk",
            "tmux_session_name": format!("shop-{short}"),
            "status": "ready",
            "feature_flags": { "file_upload": false, "context_usage": false, "voice_mic": false },
            "session_id": made["session_id"],
        })
    );
    let running = super::tmux_sessions(remote.data());
    assert_eq!(running, [format!("shop-{short}")]);
    let made = TestAgent::of(&made);
    remote.until_state(&made, "complete").await;
    let asked = remote.model.asked();
    let messages = asked[0]["messages"].as_array().unwrap();
    let message = |n: usize, role: &str| {
        assert_eq!(messages[n]["role"], role, "{messages:?}");
        messages[n]["content"].as_str().unwrap()
    };
    let system = message(0, "system");
    assert!(
        system.contains(SKILL) && system.contains(EXPERIENCE),
        "{system}"
    );
    assert_eq!(message(1, "user"), "Greet the visitor.");
    assert_eq!((asked.len(), messages.len()), (1, 2));
}

/// Scenarios: project not found, persona not found.
#[tokio::test]
async fn what_is_not_there_or_is_switched_off_is_named_in_the_error() {
    let remote = Yard::open().await;
    let before = remote.stock();
    for (field, value, code) in [
        ("project_name", "nothing", "project_not_found"),
        ("project_name", "../shop", "project_not_found"),
        ("project_name", "remote/", "project_not_found"),
        ("persona_slug", "nobody", "persona_not_found"),
        ("persona_slug", "ghost", "persona_not_found"),
        ("persona_slug", "../clerk", "persona_not_found"),
    ] {
        let mut request = create_request("Hi.");
        request[field] = value.into();
        let (status, error) = remote.create(request).await;
        assert_eq!(
            error,
            json!({
                "status": 404,
                "error_code": code,
                "message": error["message"],
                "error": error["message"],
                "retryable": false,
            })
        );
        assert_eq!(status, 404);
        assert!(
            error["message"].as_str().unwrap().contains(value),
            "{error}"
        );
    }
    assert_eq!(remote.stock(), before);
}

/// Scenario: error response format.
#[tokio::test]
async fn fields_that_are_missing_or_of_the_wrong_type_are_all_named() {
    let remote = Yard::open().await;
    let before = remote.stock();
    let fields = ["project_name", "persona_slug", "initial_prompt"];
    for field in fields {
        for wrong in [
            json!(null),
            json!(7),
            json!(""),
            json!("  "),
            json!(["shop"]),
            json!({}),
        ] {
            let mut params = create_request("Hi.");
            params[field] = wrong.clone();
            let (status, error) = remote.create(params).await;
            assert_eq!(
                (status, &error["error_code"]),
                (400, &json!("missing_fields"))
            );
            let message = error["message"].as_str().unwrap();
            for other in fields {
                assert_eq!(
                    message.contains(other),
                    other == field,
                    "{wrong}: {message}"
                );
            }
        }
    }
    let (_, error) = remote.create(json!({})).await;
    let message = error["message"].as_str().unwrap();
    assert!(
        fields.iter().all(|field| message.contains(field)),
        "{message}"
    );
    for flags in [
        json!(true),
        json!([true]),
        json!("file_upload"),
        json!({ "file_upload": "yes" }),
        json!({ "file_upload": 1 }),
        json!({ "admin": true }),
    ] {
        let mut params = create_request("Hi.");
        params["feature_flags"] = flags.clone();
        let (status, error) = remote.create(params).await;
        assert_eq!(
            (status, &error["error_code"]),
            (400, &json!("invalid_feature_flags")),
            "{flags}"
        );
    }
    for body in ["", "{", "[]", "null", "\"shop\""] {
        let request = remote.request(reqwest::Method::POST, "/create").body(body);
        let (status, error) = answered(request.header("content-type", "application/json")).await;
        assert_eq!(
            (status, error["retryable"].clone()),
            (400, json!(false)),
            "{body}: {error}"
        );
    }
    assert_eq!(remote.stock(), before);
}

/// Scenarios: default feature flags, feature flags enabled via create request and via URL parameters.
#[tokio::test]
async fn an_address_shows_what_settings_or_request_allow_and_nothing_more() {
    let remote = Yard::with(Model::says(&["Hi."]), |config| {
        config.remote_agents.embed_defaults.context_usage = true;
    })
    .await;
    let mut request = create_request("Hi.");
    request["feature_flags"] = json!({ "file_upload": true, "context_usage": false });
    let (_, created) = remote.create(request).await;
    let flags = |file: bool, context: bool, mic: bool| json!({ "file_upload": file, "context_usage": context, "voice_mic": mic });
    assert_eq!(created["feature_flags"], flags(true, false, false));
    let made = TestAgent::of(&created);
    for (asked, shown) in [
        (json!({}), flags(true, false, false)),
        (flags(true, true, true), flags(true, false, false)),
        (flags(false, false, false), flags(false, false, false)),
    ] {
        let (status, frame) = remote
            .post(&made, "exchange", json!({ "feature_flags": asked }))
            .await;
        assert_eq!((status, &frame["feature_flags"]), (200, &shown));
    }
    remote.until_state(&made, "complete").await;
    assert_eq!(
        remote.alive(&made).await,
        json!({
            "alive": true,
            "agent_id": made.id,
            "state": "complete",
            "project_name": "shop",
        })
    );
}
