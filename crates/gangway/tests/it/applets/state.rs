//! State that pages and agents share.

use serde_json::json;

use super::client::Page;
use crate::support::TestServer;

#[tokio::test]
async fn two_tabs_that_write_at_once_converge_and_each_is_told_what_it_missed() {
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
    let told = one.until("stateUpdate").await;
    assert_eq!(told["data"], json!({ "a": 1, "b": 1 }));
    let told = one.until("stateUpdate").await;
    assert_eq!(
        (&told["data"], &told["version"]),
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
    let seq = told["seq"].as_u64().unwrap();
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
        let first = page.hear().await;
        assert_eq!(
            (&first["type"], &first["reason"], &first["version"]),
            (&json!("resync"), &json!(reason), &json!(3))
        );
    }
}

#[tokio::test]
async fn an_applet_sees_its_own_state_alone_and_a_page_of_the_person_sees_all() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let mut board = Page::open(&server, &session, "&applet=board").await;
    let mut clock = Page::open(&server, &session, "&applet=clock").await;
    let mut chat = Page::open(&server, &session, "").await;
    board
        .ask(json!({ "type": "setState", "data": { "secret": 1 } }))
        .await;
    clock
        .ask(json!({ "type": "setState", "data": { "time": 2 } }))
        .await;
    let state = clock.ask(json!({ "type": "getState" })).await;
    assert_eq!(state["data"], json!({ "time": 2 }));
    assert_eq!(clock.until("stateUpdate").await["applet"], "clock");
    assert_eq!(chat.until("stateUpdate").await["applet"], "board");
    assert_eq!(chat.until("stateUpdate").await["applet"], "clock");
    let refused = chat.ask(json!({ "type": "setState", "data": {} })).await;
    assert_eq!(refused["code"], "no_applet");
}

#[tokio::test]
async fn a_change_that_is_sent_again_takes_effect_once_and_is_answered_the_same() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let more = "&applet=board&client=tab1";
    let change = json!({ "type": "setState", "id": 7, "data": { "n": 1 } });
    let mut page = Page::open(&server, &session, more).await;
    page.say(change.clone()).await;
    // The answer is lost with the connection.
    drop(page);
    let mut page = Page::open(&server, &session, more).await;
    let mut versions = Vec::new();
    for _ in 0..3 {
        page.say(change.clone()).await;
        let answer = loop {
            let heard = page.hear().await;
            if heard["id"] == 7 {
                break heard;
            }
        };
        versions.push(answer["version"].clone());
    }
    assert_eq!(versions, [1, 1, 1]);
    let mut other = Page::open(&server, &session, "&applet=board&client=tab2").await;
    other.say(change).await;
    assert_eq!(other.until("stateUpdate").await["version"], 2);
}
