//! What clients that were written for applets send and expect.

use serde_json::{Value, json};

use crate::support::TestServer;

#[tokio::test]
async fn what_clients_of_applets_send_with_a_message_is_taken() {
    let server = TestServer::scripted("turns: [{steps: [{say: '{{prompt}}'}]}]").await;
    let (status, none) = server.get("/api/session").await;
    assert_eq!((status.as_u16(), &none["error"]), (404, &none["message"]));
    let session = server.session().await;
    let (status, last) = server.get("/api/session").await;
    assert_eq!(
        (status.as_u16(), &last["sessionId"]),
        (200, &json!(session))
    );
    let path = format!("/api/sessions/{session}/messages");
    let message = json!({
        "prompt": "Look", "appletState": { "n": 1 }, "imageData": "data:image/png;base64,iVBORw0KGgo=",
    });
    let (status, taken) = server.post(&path, message).await;
    assert_eq!(status, 202, "{taken}");
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let text = history["entries"][0]["content"].as_str().unwrap();
    let (_, file) = text.split_once("[Attached file: ").unwrap();
    let file = std::path::Path::new(last["cwd"].as_str().unwrap()).join(file.trim_end_matches(']'));
    assert_eq!(std::fs::read(file).unwrap(), b"\x89PNG\r\n\x1a\n");
    let id = session.parse().unwrap();
    let shared = "shared".parse().unwrap();
    let state = server.app.hub.state(id, &shared).await.unwrap().unwrap();
    assert_eq!(Value::Object(state.data), json!({ "n": 1 }));
    for image in ["x", "data:text/html;base64,PHA+", "data:image/png;base64,?"] {
        let message = json!({ "prompt": "Look", "imageData": image });
        let (status, refused) = server.post(&path, message).await;
        assert_eq!(status, 400, "{image}");
        let reason = refused["error"].as_str().unwrap();
        assert!(reason.contains("imageData"), "{reason}");
    }
}
