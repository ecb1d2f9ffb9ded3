//! Providers that fail in the middle of a session.

use serde_json::{Value, json};

use super::{
    fake::Fake,
    wires::{WIRES, Wire},
};
use crate::support::TestServer;

/// A server whose one provider speaks this wire.
async fn server(wire: Wire, base: &str) -> TestServer {
    let yaml = format!(
        "providers: {{ far: {{ type: {}, base_url: '{base}', model: m }} }}",
        wire.name()
    );
    let parsed = gangway::config::Config::parse(&yaml).unwrap();
    TestServer::with(move |config| {
        config.default_agent = "builtin".into();
        config.providers = parsed.providers;
        config.models.default = Some("far".into());
    })
    .await
}

#[tokio::test]
async fn in_a_session_the_text_before_a_fault_is_kept_and_marked_and_the_fault_has_a_type() {
    for wire in WIRES {
        let half = wire.text("half an answer");
        let text = wire.text("grüße");
        let inside = text.find('ß').unwrap() + 1;
        let call = wire.call(&json!({ "a": 1 })).concat();
        for (rest, code, reason) in [
            (&text.as_bytes()[..inside], "model_failed", ""),
            (
                &call.as_bytes()[..call.len() / 2],
                "model_failed",
                "stopped in the middle",
            ),
            (
                wire.error("the GPU is on fire").as_bytes(),
                "model_failed",
                "the GPU is on fire",
            ),
            (
                b"data: {broken\n\n{broken\n",
                "model_failed",
                "not a chat stream",
            ),
        ] {
            let fake = Fake::streams_bytes(&[half.as_bytes(), rest]);
            let server = server(wire, &fake.start().await).await;
            let session = server.session().await;
            let stream = server.send_message(&session, "go").await;
            let path = format!("/api/stream/{stream}");
            let frames = server.sse(&path, None).await.rest().await;
            let find = |event: &str| {
                let found = frames.iter().find(|frame| frame.event == event);
                found.unwrap_or_else(|| panic!("{wire:?}: no {event} in {frames:?}"))
            };
            let message = &find("assistant.message").data;
            assert_eq!(message["content"], "half an answer", "{wire:?}");
            assert_eq!(message["partial"], true, "{wire:?}");
            let error = &find("session.error").data;
            assert_eq!(error["code"], code, "{wire:?}: {error}");
            let entry = error["message"].as_str().unwrap();
            assert!(entry.contains(reason), "{wire:?}: {entry}");
            assert_eq!(frames.last().unwrap().data["outcome"], "failed");
            assert_kept(&server, &session).await;
        }
    }
}

/// Later readers see the same.
async fn assert_kept(server: &TestServer, session: &str) {
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let entries = history["entries"].as_array().unwrap();
    let is_half = |entry: &&Value| entry.to_string().contains("half an answer");
    let stored = entries.iter().find(is_half).unwrap();
    assert_eq!(stored["partial"], true, "{stored}");
}

#[tokio::test]
async fn a_flood_of_empty_lines_leaves_the_rest_of_the_server_its_turn() {
    let fake = Fake::endless(b"\n");
    let server = crate::support::TestServer::with_model(&fake.start().await, None).await;
    let request = serde_json::json!({ "messages": [{ "role": "user", "content": "hi" }] });
    let flooded = [(); 2].map(|()| server.post("/v1/chat/completions", request.clone()));
    let mut flooded = std::pin::pin!(futures_util::future::join_all(flooded));
    // The test has one thread: blocking it would prevent the response.
    let mut answered = 0;
    let answers = loop {
        tokio::select! {
            answers = &mut flooded => break answers,
            (status, _) = server.get("/readyz") => {
                assert_eq!(status, 200);
                answered += 1;
            }
        }
    };
    assert!(
        answered > 20,
        "only {answered} answers while the floods came"
    );
    for (status, answer) in answers {
        assert_eq!(status, 502, "{answer}");
    }
}
