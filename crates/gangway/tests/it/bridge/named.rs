//! Every message by name, against a real server: sessions, permissions, models.

use gangway_testing::webagent_client::{end, says};
use serde_json::{Value, json};

use super::{bridged, pipe::Pipe};
use crate::{providers::fake::Fake, support::TestServer};

/// A bridge on a server with the built-in agent on this model.
async fn with_model(model: &Fake) -> TestServer {
    let base = model.start().await;
    let yaml = format!("providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}");
    TestServer::with(|config| {
        config.providers = gangway::config::Config::parse(&yaml).unwrap().providers;
        config.default_agent = "builtin".into();
    })
    .await
}

/// The result is the very body that the route answers with.
async fn same(server: &TestServer, pipe: &mut Pipe, kind: &str, fields: Value, path: &str) {
    let result = pipe.get(kind, fields);
    let (status, body) = server.get(path).await;
    assert_eq!(status, 200);
    assert_eq!(result, body, "{kind}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_made_talked_in_followed_cleared_and_deleted() {
    let model = Fake::streams(&[&says("Ahoy"), &says(" there"), &end()]);
    let server = with_model(&model).await;
    let (mut pipe, _note) = bridged(&server);
    let empty = pipe.get("chat_create_session", json!({}));
    assert_eq!(empty["agent"], "builtin");
    let made = pipe.get(
        "chat_create_session",
        json!({ "body": { "title": "Ships" } }),
    );
    let id = made["sessionId"].as_str().unwrap().to_owned();
    let of = json!({ "session_id": id });
    let path = format!("/api/sessions/{id}");
    same(&server, &mut pipe, "chat_get_session", of.clone(), &path).await;
    same(
        &server,
        &mut pipe,
        "chat_list_sessions",
        json!({ "limit": 1 }),
        "/api/sessions?limit=1",
    )
    .await;
    let next = pipe.get("chat_list_sessions", json!({ "limit": 1 }))["next"].clone();
    let rest = pipe.get("chat_list_sessions", json!({ "before": next }));
    assert_eq!(rest["sessions"][0]["sessionId"], empty["sessionId"]);
    let renamed = json!({ "session_id": id, "body": { "title": "Boats", "model": "m/other" } });
    assert_eq!(pipe.get("chat_update_session", renamed)["title"], "Boats");
    let wrong = json!({ "session_id": id, "body": { "colour": "red" } });
    assert_eq!(
        pipe.refused("chat_update_session", wrong),
        ("invalid_request".into(), 400)
    );

    let follow = pipe.begin("chat_follow", of.clone());
    let there = pipe.until(|message| message["type"] == "chat_follow_event");
    assert_eq!((&there["n"], &there["event"]), (&json!(0), &Value::Null));
    let first = pipe.until(|message| message["type"] == "chat_follow_event");
    assert_eq!(
        (&first["request_id"], &first["n"]),
        (&json!(follow), &json!(1))
    );
    assert_eq!(first["event"]["type"], "snapshot", "{first}");
    let says = json!({ "session_id": id, "body": { "prompt": "Hello" } });
    let accepted = pipe.get("chat_send_message", says);
    assert_eq!(accepted["sessionId"], json!(id));
    let mut n = 1;
    let mut last = Value::Null;
    loop {
        let event = pipe.until(|message| message["type"] == "chat_follow_event");
        n += 1;
        assert_eq!(event["n"], n);
        last = event["event"].get("seq").cloned().unwrap_or(last);
        if event["event"]["type"] == "done" {
            break;
        }
        assert!(n < 50, "{event}");
    }
    assert_eq!(
        pipe.get("cancel", json!({ "target": follow })),
        json!({ "found": true })
    );
    // From a number on: nothing that was seen comes again.
    let again = pipe.begin("chat_follow", json!({ "session_id": id, "since": last }));
    let there = pipe.until(|message| message["request_id"] == json!(again));
    assert_eq!((&there["n"], &there["event"]), (&json!(0), &Value::Null));
    let more =
        json!({ "session_id": id, "body": { "prompt": "More" }, "idempotency_key": "more-1" });
    let first = pipe.get("chat_send_message", more.clone());
    // Repeated with its idempotency key, it takes effect once.
    assert_eq!(pipe.get("chat_send_message", more), first);
    let odd = json!({ "session_id": id, "body": { "prompt": "x" }, "idempotency_key": "a\nb" });
    assert_eq!(
        pipe.refused("chat_send_message", odd),
        ("bad_field".into(), 0)
    );
    let event = pipe.until(|message| message["request_id"] == json!(again));
    assert_eq!(
        event["event"]["seq"].as_u64(),
        last.as_u64().map(|last| last + 1)
    );
    pipe.until(|m| m["request_id"] == json!(again) && m["event"]["type"] == "done");
    pipe.get("cancel", json!({ "target": again }));
    let history = format!("/api/history?session={id}&limit=50");
    let of_history = json!({ "session_id": id, "limit": 50 });
    same(&server, &mut pipe, "chat_history", of_history, &history).await;
    let text = pipe.get("chat_history", of.clone()).to_string();
    assert!(text.contains("Ahoy there"), "{text}");
    assert_eq!(
        pipe.get("chat_stop", of.clone()),
        json!({ "stopped": false, "dropped": 0 })
    );
    let answer = json!({ "session_id": id, "body": { "questionId": "none", "answer": "yes" } });
    assert_eq!(
        pipe.refused("chat_answer", answer),
        ("question_not_found".into(), 404)
    );

    let cleared = pipe.get("chat_clear_messages", of.clone());
    assert_ne!(cleared["sessionId"], json!(id));
    for (field, stored) in [
        ("title", "Boats"),
        ("agent", "builtin"),
        ("model", "m/other"),
    ] {
        assert_eq!(cleared[field], stored, "{field}");
    }
    // A folder of its own went with the old one.
    assert_ne!(cleared["cwd"], made["cwd"]);
    assert_eq!(
        pipe.refused("chat_get_session", of.clone()),
        ("session_not_found".into(), 404)
    );
    let new = json!({ "session_id": cleared["sessionId"] });
    assert!(
        !pipe
            .get("chat_history", new.clone())
            .to_string()
            .contains("Ahoy")
    );
    assert_eq!(pipe.get("chat_delete_session", new.clone()), Value::Null);
    assert_eq!(
        pipe.refused("chat_delete_session", new),
        ("session_not_found".into(), 404)
    );
    same(&server, &mut pipe, "list_agents", json!({}), "/api/agents").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_the_user_chose_stays_when_a_session_is_cleared() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let chosen = tempfile::tempdir().unwrap();
    let made = pipe.get(
        "chat_create_session",
        json!({ "body": { "cwd": chosen.path() } }),
    );
    let cleared = pipe.get(
        "chat_clear_messages",
        json!({ "session_id": made["sessionId"] }),
    );
    assert_eq!(cleared["cwd"], made["cwd"]);
    assert!(chosen.path().is_dir());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_of_an_agent_are_answered_and_its_turn_is_stopped() {
    let script = "turns: [{steps: [{ask: {question: 'Which?', options: [A]}}, {say: 'Fine.'}, {pause_ms: 600000}]}]\n";
    let server = TestServer::scripted(script).await;
    let (mut pipe, _note) = bridged(&server);
    let made = pipe.get("chat_create_session", json!({}));
    let id = &made["sessionId"];
    let follow = pipe.begin("chat_follow", json!({ "session_id": id }));
    // Otherwise the question might be part of it.
    pipe.until(|message| message["event"]["type"] == "snapshot");
    pipe.get(
        "chat_send_message",
        json!({ "session_id": id, "body": { "prompt": "Go" } }),
    );
    let asked = pipe.until(|message| {
        message["request_id"] == json!(follow) && message["event"]["type"] == "session.question"
    });
    let question = asked["event"]["questionId"].clone();
    let answer = json!({ "session_id": id, "body": { "questionId": question, "answer": "That" } });
    assert_eq!(pipe.get("chat_answer", answer), Value::Null);
    pipe.until(|message| message.to_string().contains("Fine."));
    assert_eq!(
        pipe.get("chat_stop", json!({ "session_id": id }))["stopped"],
        true
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn permissions_are_listed_set_forgotten_and_logged() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let origin = "https://shop.example";
    let set =
        json!({ "body": { "origin": origin, "scopes": { "model:prompt": "granted-always" } } });
    let set = pipe.get("permission_set", set);
    assert_eq!(set["origin"], origin);
    // The bridge sends a notification.
    let changed = pipe.until(|message| message["frame"]["type"] == "changed");
    assert_eq!(changed["about"], "asks");
    same(
        &server,
        &mut pipe,
        "permission_list",
        json!({}),
        "/api/permissions",
    )
    .await;
    same(&server, &mut pipe, "ask_list", json!({}), "/api/asks").await;
    let audit = format!("/api/permissions/audit?origin={origin}&limit=5");
    same(
        &server,
        &mut pipe,
        "permission_audit",
        json!({ "origin": origin, "limit": 5 }),
        &audit,
    )
    .await;
    assert_eq!(pipe.refused("ask_get", json!({ "ask": "none" })).1, 404);
    let answer = json!({ "ask": "none", "body": { "decision": "always" } });
    assert_eq!(pipe.refused("ask_answer", answer).1, 404);
    // Never everyone from here.
    assert_eq!(
        pipe.refused("permission_forget", json!({})),
        ("bad_field".into(), 0)
    );
    assert_eq!(
        pipe.refused("permission_forget", json!({ "origin": null })),
        ("bad_field".into(), 0)
    );
    assert_eq!(
        pipe.refused("permission_forget", json!({ "origin": "" })),
        ("bad_field".into(), 0)
    );
    assert_eq!(
        pipe.get("permission_forget", json!({ "origin": origin })),
        Value::Null
    );
    assert_eq!(
        pipe.get("permission_list", json!({})),
        json!({ "origins": [] })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_are_listed_chosen_and_asked() {
    let server = with_model(&Fake::streams(&[&says("Ahoy"), &says(" there"), &end()])).await;
    let (mut pipe, _note) = bridged(&server);
    same(
        &server,
        &mut pipe,
        "llm_list_providers",
        json!({}),
        "/api/providers",
    )
    .await;
    same(
        &server,
        &mut pipe,
        "llm_list_models",
        json!({}),
        "/api/models",
    )
    .await;
    let found = pipe.get("llm_detect", json!({}));
    let found = found["providers"].as_array().unwrap();
    assert!(found.iter().any(|provider| provider["id"] == "m"));
    assert_eq!(
        pipe.get("llm_set_active", json!({ "model": "m/m" }))["choice"],
        "m/m"
    );
    assert!(
        pipe.get("llm_set_active", json!({ "model": null }))
            .get("choice")
            .is_none()
    );
    assert_eq!(
        pipe.refused("llm_set_active", json!({})),
        ("bad_field".into(), 0)
    );
    assert_eq!(
        pipe.refused("llm_set_active", json!({ "model": 7 })),
        ("bad_field".into(), 0)
    );
    let question = json!([{ "role": "user", "content": "Hello" }]);
    let body = json!({ "model": "m/m", "messages": question, "stream": false });
    let id = pipe.begin("llm_chat", json!({ "body": body }));
    let result = pipe.answer(&id).unwrap();
    assert_eq!(result["finish_reason"], "stop", "{result}");
    assert!(result.get("usage").is_some());
    let mut text = String::new();
    let mut n = 0;
    loop {
        let event = pipe.receive();
        if event["type"] != "llm_chat_event" {
            continue;
        }
        assert_eq!((&event["request_id"], &event["n"]), (&json!(id), &json!(n)));
        n += 1;
        if n == 1 {
            assert_eq!(event["event"], Value::Null);
            continue;
        }
        assert_eq!(event["event"]["object"], "chat.completion.chunk");
        text += event["event"]["choices"][0]["delta"]["content"]
            .as_str()
            .unwrap_or_default();
        if text == "Ahoy there" {
            break;
        }
    }
    assert_eq!(
        pipe.refused("llm_chat", json!({ "body": [] })),
        ("bad_field".into(), 0)
    );
    assert_eq!(pipe.refused("llm_chat", json!({ "body": {} })).1, 400);
}
