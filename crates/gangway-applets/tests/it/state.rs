//! State that pages and agents share.

use gangway_testing::sessions::call_tool;
use serde_json::json;

use super::client::Page;
use crate::server::TestServer;

#[tokio::test]
async fn two_tabs_that_write_at_once_converge_and_each_is_reported_what_it_missed() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let mut one = Page::open(&server, &session, "&applet=board").await;
    let mut two = Page::open(&server, &session, "&applet=board").await;
    let first = one
        .ask(json!({ "type": "setState", "data": { "a": 1, "b": 1 } }))
        .await;
    assert_eq!(
        (&first["type"], &first["version"]),
        (&json!("stateUpdate"), &json!(1))
    );
    two.ask(json!({ "type": "setState", "data": { "b": 2, "c": { "d": [1] } } }))
        .await;
    let message = one.until("stateUpdate").await;
    assert_eq!(
        (&message["data"], &message["version"]),
        (&json!({ "b": 2, "c": { "d": [1] } }), &json!(2))
    );
    let whole = json!({ "a": 1, "b": 2, "c": { "d": [1] } });
    for page in [&mut one, &mut two] {
        let state = page.ask(json!({ "type": "getState" })).await;
        assert_eq!((&state["type"], &state["data"]), (&json!("state"), &whole));
    }
    let key = two.ask(json!({ "type": "getState", "key": "b" })).await;
    assert_eq!(key["data"], json!({ "b": 2 }));

    // A tab that was away resumes after the last number it saw.
    let seq = message["seq"].as_u64().unwrap();
    drop(one);
    two.ask(json!({ "type": "setState", "data": { "a": null } }))
        .await;
    let mut one = Page::open(&server, &session, &format!("&applet=board&since={seq}")).await;
    let missed = one.until("stateUpdate").await;
    assert_eq!(
        (&missed["data"], &missed["version"]),
        (&json!({ "a": null }), &json!(3))
    );
    for (since, reason) in [("999999", "future"), ("x", "malformed")] {
        let more = format!("&applet=board&since={since}");
        let mut page = Page::try_open(&server, &session, &more, &[]).await.unwrap();
        let first = page.receive().await;
        assert_eq!(
            (&first["type"], &first["reason"], &first["version"]),
            (&json!("resync"), &json!(reason), &json!(3))
        );
    }
}

#[tokio::test]
async fn an_applet_sees_its_own_state_alone() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let mut board = Page::open(&server, &session, "&applet=board").await;
    let mut clock = Page::open(&server, &session, "&applet=clock").await;
    let mut other = Page::open(&server, &session, "&applet=clock").await;
    board
        .ask(json!({ "type": "setState", "data": { "secret": 1 } }))
        .await;
    clock
        .ask(json!({ "type": "setState", "data": { "time": 2 } }))
        .await;
    let state = clock.ask(json!({ "type": "getState" })).await;
    assert_eq!(state["data"], json!({ "time": 2 }));
    assert_eq!(other.until("stateUpdate").await["applet"], "clock");
}

#[tokio::test]
async fn a_tab_does_not_receive_its_own_change_and_one_that_changes_nothing_is_no_version() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let mut one = Page::open(&server, &session, "&applet=board").await;
    let mut two = Page::open(&server, &session, "&applet=board").await;
    // Like clients of the original, which do not wait for a response.
    for n in 1..=3 {
        one.send_message(json!({ "type": "setState", "data": { "n": n } }))
            .await;
    }
    one.send_message(json!({ "type": "setState", "data": { "n": 3, "gone": null } }))
        .await;
    let pong = json!({ "type": "pong", "id": "p" });
    one.send_message(json!({ "type": "ping", "id": "p" })).await;
    assert_eq!(one.receive().await, pong);
    for n in 1..=3 {
        let message = two.receive().await;
        assert_eq!(
            (&message["data"], &message["version"]),
            (&json!({ "n": n }), &json!(n))
        );
    }
    // The tab that answers an update with the same values ends it.
    let same = two
        .ask(json!({ "type": "setState", "data": { "n": 3 } }))
        .await;
    assert_eq!(
        (&same["type"], &same["version"]),
        (&json!("stateUpdate"), &json!(3))
    );
    two.ask(json!({ "type": "setState", "data": { "n": 4 } }))
        .await;
    let message = one.receive().await;
    assert_eq!(
        (&message["data"], &message["version"]),
        (&json!({ "n": 4 }), &json!(4))
    );
}

#[tokio::test]
async fn a_channel_without_an_applet_speaks_for_the_only_one_or_a_shared_state() {
    let server = TestServer::start().await;
    let session = server.session().await;
    // Alone in its session, as a client of the specification's endpoint.
    let mut one = Page::open(&server, &session, "").await;
    let mut two = Page::open(&server, &session, "").await;
    one.send_message(json!({ "type": "setState", "data": { "form": 1 } }))
        .await;
    assert_eq!(two.until("stateUpdate").await["data"], json!({ "form": 1 }));
    let call = async |name: &str, arguments| {
        let result = call_tool(&server.service.tools, None, name, arguments)
            .await
            .unwrap();
        result.map_err(|error| error.to_string())
    };
    let seen = call("get_applet_state", json!({})).await.unwrap();
    assert_eq!(seen["data"], json!({ "form": 1 }));
    let push = json!({ "data": { "progress": 50 } });
    call("set_applet_state", push).await.unwrap();
    assert_eq!(
        one.until("stateUpdate").await["data"],
        json!({ "progress": 50 })
    );

    // Beside the one applet of a session it is that applet's.
    let session = server.session().await;
    let mut board = Page::open(&server, &session, "&applet=board").await;
    let mut bare = Page::open(&server, &session, "").await;
    bare.send_message(json!({ "type": "setState", "data": { "n": 1 } }))
        .await;
    let message = board.until("stateUpdate").await;
    assert_eq!(
        (&message["applet"], &message["data"]),
        (&json!("board"), &json!({ "n": 1 }))
    );
    // With several applets it belongs to none and gets no events.
    let mut clock = Page::open(&server, &session, "&applet=clock").await;
    let mut bare = Page::open(&server, &session, "").await;
    clock
        .ask(json!({ "type": "setState", "data": { "time": 1 } }))
        .await;
    let state = bare.ask(json!({ "type": "getState" })).await;
    assert_eq!(state["data"], json!({}));
}

#[tokio::test]
async fn an_agent_that_names_no_applet_means_the_one_that_is_open() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let call = async |name: &str, arguments| {
        let result = call_tool(&server.service.tools, None, name, arguments)
            .await
            .unwrap();
        result.map_err(|error| error.to_string())
    };
    for slug in ["old", "older"] {
        let set = json!({ "applet": slug, "data": { "x": 1 } });
        call("set_applet_state", set).await.unwrap();
    }
    let push = json!({ "data": { "n": 1 } });
    let message = call("set_applet_state", push.clone()).await;
    assert!(message.unwrap_err().contains("old, older"));
    let mut board = Page::open(&server, &session, "&applet=board").await;
    let set = call("set_applet_state", push.clone()).await.unwrap();
    assert_eq!(set["applet"], "board");
    assert_eq!(board.until("stateUpdate").await["data"], json!({ "n": 1 }));
    let _clock = Page::open(&server, &session, "&applet=clock").await;
    let message = call("set_applet_state", push).await.unwrap_err();
    assert!(message.contains("board, clock"), "{message}");
}

#[tokio::test]
async fn a_change_that_is_sent_again_takes_effect_once_and_is_answered_the_same() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let more = "&applet=board&client=tab1";
    let change = json!({ "type": "setState", "id": 7, "data": { "n": 1 } });
    let mut page = Page::open(&server, &session, more).await;
    page.send_message(change.clone()).await;
    // The answer is lost with the connection.
    drop(page);
    let mut page = Page::open(&server, &session, more).await;
    let mut versions = Vec::new();
    for _ in 0..3 {
        page.send_message(change.clone()).await;
        let answer = loop {
            let received = page.receive().await;
            if received["id"] == 7 {
                break received;
            }
        };
        versions.push(answer["version"].clone());
    }
    assert_eq!(versions, [1, 1, 1]);
    let mut other = Page::open(&server, &session, "&applet=board&client=tab2").await;
    // The same number of another client is another request.
    let change = json!({ "type": "setState", "id": 7, "data": { "n": 2 } });
    other.send_message(change).await;
    assert_eq!(other.until("stateUpdate").await["version"], 2);
}
