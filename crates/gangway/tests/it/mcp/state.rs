//! The state of applets, reached by any MCP client.

use serde_json::json;

use super::client::{Client, Era};
use crate::support::TestServer;

#[tokio::test]
async fn an_external_agent_reads_and_changes_what_an_applet_shows() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for (n, era) in [Era::Older, Era::Current].into_iter().enumerate() {
        let client = Client::new(&server, "/mcp", era).await;
        let set = json!({ "applet": "counter", "data": { "era": n, "deep": { "a": 1 } } });
        let done = client.call("set_applet_state", set).await.unwrap();
        let version = 2 * n + 1;
        assert_eq!(
            done,
            json!({ "sessionId": session, "applet": "counter", "version": version })
        );
        // The only applet and the latest session need no name.
        let more = json!({ "data": { "deep": { "b": 2 }, "gone": null } });
        client.call("set_applet_state", more).await.unwrap();
        let state = client.call("get_applet_state", json!({})).await.unwrap();
        assert_eq!(state["data"], json!({ "era": n, "deep": { "b": 2 } }));
        assert_eq!(state["version"], version + 1);
        let one = json!({ "key": "deep", "sessionId": session });
        let one = client.call("get_applet_state", one).await.unwrap();
        assert_eq!(one["value"], json!({ "b": 2 }));
    }
}

#[tokio::test]
async fn a_change_of_state_is_an_event_of_the_session_and_survives_a_restart() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/events");
    let mut feed = server.sse(&path, None).await;
    assert_eq!(feed.next().await.unwrap().event, "snapshot");
    {
        let client = Client::new(&server, "/mcp", Era::Current).await;
        let set = json!({ "applet": "board", "data": { "x": 1, "y": null } });
        client.call("set_applet_state", set).await.unwrap();
        client.call("reload_page", json!({})).await.unwrap();
    }
    let event = feed.next().await.unwrap();
    assert_eq!(event.event, "applet.state");
    let message = event.data;
    assert_eq!(message["patch"], json!({ "x": 1, "y": null }));
    assert_eq!(
        message["source"],
        json!({ "kind": "agent", "name": "tester" })
    );
    let event = feed.next().await.unwrap();
    assert_eq!(
        (event.event.as_str(), &event.data["applet"]),
        ("page.reload", &json!(null))
    );
    drop(feed);

    let server = server.restart().await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let state = client.call("get_applet_state", json!({})).await.unwrap();
    assert_eq!(
        (&state["data"], &state["version"]),
        (&json!({ "x": 1 }), &json!(1))
    );
    let path = format!("/api/sessions/{session}");
    let (status, _) = server.call(reqwest::Method::DELETE, &path, None).await;
    assert_eq!(status, 204);
    let left = server.app.hub.store().keys("state/", 10).await.unwrap();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn what_cannot_be_done_with_a_state_is_reported() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let message = client
        .call("get_applet_state", json!({}))
        .await
        .unwrap_err();
    assert!(message.contains("no session exists"), "{message}");
    let session = server.session().await;
    let message = client
        .call("get_applet_state", json!({}))
        .await
        .unwrap_err();
    assert!(message.contains("no applet is open"), "{message}");
    for (arguments, reason) in [
        (json!({ "applet": "A B", "data": {} }), "an applet name"),
        (json!({ "applet": "../x", "data": {} }), "an applet name"),
        (json!({ "applet": "a", "data": 7 }), "data"),
        (json!({ "applet": "a" }), "data"),
        (json!({ "applet": "a", "data": {}, "more": 1 }), "more"),
        (
            json!({ "applet": "a", "data": {}, "sessionId": "x" }),
            "sessionId",
        ),
        (
            json!({ "applet": "a", "data": { "k": "x".repeat(1 << 20) } }),
            "must be at most",
        ),
    ] {
        let message = client
            .call("set_applet_state", arguments)
            .await
            .unwrap_err();
        assert!(message.contains(reason), "{message}");
    }
    for n in 0..64 {
        let set = json!({ "applet": format!("a{n}"), "data": { "n": n } });
        client.call("set_applet_state", set).await.unwrap();
    }
    let one_more = json!({ "applet": "one-more", "data": {} });
    let message = client.call("set_applet_state", one_more).await.unwrap_err();
    assert!(message.contains("64 applets"), "{message}");
    let message = client
        .call("get_applet_state", json!({}))
        .await
        .unwrap_err();
    assert!(
        message.contains("several applets") && message.contains("a63"),
        "{message}"
    );
    let howto = client.call("applet_howto", json!({})).await.unwrap();
    assert!(howto.as_str().unwrap().contains("set_applet_state"));
    assert!(!session.is_empty());
}

#[tokio::test]
async fn an_agent_can_read_the_documentation_of_an_applets_state() {
    let server = TestServer::start().await;
    server.session().await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let board = json!({ "applet": "task-board" });
    let state = client.call("get_applet_state", board).await.unwrap();
    let about = state["about"].as_str().unwrap();
    assert!(about.contains("columns"), "{about}");
    let (_, list) = server.get("/api/applets").await;
    assert!(!list.to_string().contains("State:"), "{list}");
}
