//! Invalid requests of pages on the channel, and their errors.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::client::Page;
use crate::server::TestServer;

#[tokio::test]
async fn what_makes_no_sense_is_answered_with_its_id_and_the_channel_lives_on() {
    let server = TestServer::with(|config| config.settings.limits.applet_bytes = 4000).await;
    let session = server.session().await;
    let mut page = Page::open(&server, &session, "&applet=a").await;
    for (text, id, reason) in [
        ("", json!(null), "invalid JSON"),
        ("{", json!(null), "invalid JSON"),
        ("[]", json!(null), "`type` is missing"),
        ("7", json!(null), "`type` is missing"),
        (r#"{"id":"x"}"#, json!("x"), "`type` is missing"),
        (r#"{"type":7,"id":3}"#, json!(3), "`type` is missing"),
        (
            r#"{"type":"fly","id":3}"#,
            json!(3),
            "unknown message type \"fly\"",
        ),
        (r#"{"type":"setState","id":4}"#, json!(4), "data"),
        (
            r#"{"type":"setState","id":4,"data":[]}"#,
            json!(4),
            "setState",
        ),
        (r#"{"type":"readFile","id":5}"#, json!(5), "path"),
        (
            r#"{"type":"readFile","id":5,"path":"x","offset":-1}"#,
            json!(5),
            "readFile",
        ),
        (
            r#"{"type":"invoke","id":6,"prompt":" "}"#,
            json!(6),
            "empty",
        ),
        (
            r#"{"type":"invoke","id":6,"prompt":"x","session":"y"}"#,
            json!(6),
            "session",
        ),
        (
            r#"{"type":"writeFile","id":8,"path":"x","content":"?","encoding":"base64"}"#,
            json!(8),
            "base64",
        ),
        (
            r#"{"type":"writeFile","id":8,"path":"x","content":"?","encoding":"rot13"}"#,
            json!(8),
            "writeFile",
        ),
        (r#"{"type":"ping","id":{}}"#, json!(null), "`id`"),
    ] {
        page.raw(text).await;
        let error = page.until("error").await;
        assert_eq!(
            error.get("id").cloned().unwrap_or_default(),
            id,
            "{text}: {error}"
        );
        let entry = error["error"].as_str().unwrap();
        assert!(entry.contains(reason), "{text}: {entry}");
    }
    page.raw(&"[".repeat(3900)).await;
    assert!(
        page.until("error").await["error"]
            .as_str()
            .unwrap()
            .contains("JSON")
    );
    page.raw(&format!("\"{}\"", "x".repeat(5000))).await;
    assert_eq!(page.until("error").await["code"], "too_large");
    page.socket.send_raw(Message::binary(vec![1, 2, 3])).await;
    assert!(
        page.until("error").await["error"]
            .as_str()
            .unwrap()
            .contains("binary")
    );
    let pong = page.ask(json!({ "type": "ping" })).await;
    assert_eq!(pong["type"], "pong");
    page.raw(&"x".repeat(9000)).await;
    loop {
        if let Message::Close(frame) = page.message().await {
            assert_eq!(u16::from(frame.unwrap().code), 1009);
            break;
        }
    }
}

#[tokio::test]
async fn a_channel_is_opened_only_by_authorized_clients_and_for_existing_sessions() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for (id, more, status) in [
        ("nonsense", "", 404),
        ("00000000-0000-7000-8000-000000000000", "", 404),
        (session.as_str(), "&applet=NO", 400),
        (session.as_str(), "&applet=../x", 400),
    ] {
        let refused = Page::try_open(&server, id, more, &[]).await;
        assert_eq!(refused.err(), Some(status), "{id}{more}");
    }
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("authorization", "Bearer nonsense", 401),
        (
            "sec-websocket-protocol",
            "gangway, gangway.key.nonsense",
            401,
        ),
    ] {
        let refused = Page::try_open(&server, &session, "", &[(name, value)]).await;
        assert_eq!(refused.err(), Some(status), "{name}: {value}");
    }
    assert_eq!(server.get("/ws/applet").await.0, 426);
    let key = server.key("chat").await;
    let offered = format!("gangway, gangway.key.{}", key.key);
    let headers = [("sec-websocket-protocol", offered.as_str())];
    let mut page = Page::try_open(&server, &session, "", &headers)
        .await
        .unwrap();
    assert_eq!(page.receive().await["type"], "ready");
    // A key that is revoked ends what it opened.
    assert!(server.services.keys.revoke(&key.id).await.unwrap());
    assert_eq!(page.until("closing").await["reason"], "revoked");
}

#[tokio::test]
async fn a_session_that_is_deleted_ends_its_channels() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let mut page = Page::open(&server, &session, "&applet=a").await;
    server.delete(&session).await;
    assert_eq!(page.until("closing").await["reason"], "deleted");
}
