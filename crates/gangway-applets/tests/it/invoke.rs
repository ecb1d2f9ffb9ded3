//! Pages that talk to the agent, and the person who lets them.

use gangway_core::{AskDecision, Asker, Reply};
use gangway_testing::{
    eventually,
    sessions::{HasSessions, call_tool},
};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Page, frame_at};
use crate::server::TestServer;

const SCRIPT: &str = "
turns:
  - steps: [{ delta: 'Aye ', times: 3 }, { say: 'done: {{prompt}}' }]
";

async fn decide(server: &TestServer, session: &str, applet: &str, speak: &str) -> Value {
    let path = format!("/api/sessions/{session}/applets/{applet}");
    let (status, list) = server
        .call(Method::PUT, &path, Some(json!({ "speak": speak })))
        .await;
    assert_eq!(status, 200, "{list}");
    list
}

#[tokio::test]
async fn the_three_ways_to_ask_the_agent_end_where_they_should() {
    let server = TestServer::with(|config| config.script = Some(SCRIPT)).await;
    let session = server.session().await;
    decide(&server, &session, "calculator", "allow").await;
    let mut chat = Page::open(&server, &session, "").await;
    let mut page = Page::open(&server, &session, "&applet=calculator").await;

    let started = page
        .ask(json!({ "type": "invoke", "prompt": "2+2?" }))
        .await;
    assert_eq!(
        (&started["type"], &started["sessionId"]),
        (&json!("invokeStarted"), &json!(session))
    );
    let mut streamed = String::new();
    let result = loop {
        let received = page.receive().await;
        match received["type"].as_str().unwrap() {
            "stream" => streamed += received["delta"].as_str().unwrap(),
            "invokeComplete" => break received,
            _ => {}
        }
    };
    assert_eq!(result["id"], started["id"]);
    assert!(streamed.starts_with("Aye Aye Aye "), "{streamed}");
    assert_eq!(result.get("error"), None);
    let message = chat.until("messageStarted").await;
    assert_eq!(
        (
            &message["source"],
            &message["appletSlug"],
            &message["prompt"],
            &message["showInChat"]
        ),
        (
            &json!("applet"),
            &json!("calculator"),
            &json!("2+2?"),
            &json!(true)
        )
    );
    assert_eq!(
        chat.until("streamReady").await["streamId"],
        message["streamId"]
    );
    assert_eq!(chat.until("messageDone").await["outcome"], "completed");

    let hidden = json!({ "type": "invoke", "prompt": "quietly", "background": true, "waitForResult": false });
    page.ask(hidden).await;
    let message = chat.until("messageStarted").await;
    assert_eq!(
        (&message["prompt"], &message["showInChat"]),
        (&json!("quietly"), &json!(false))
    );
    chat.until("messageDone").await;
    let history = server.history(&session).await;
    let hidden = history.iter().filter(|line| line["hidden"] == true);
    assert_eq!(hidden.count(), history.len() / 2);

    let fresh = json!({ "type": "invoke", "prompt": "alone", "options": { "session": "new" } });
    let fresh = page.ask(fresh).await;
    assert_ne!(fresh["sessionId"], json!(session));
    let result = page.until("invokeComplete").await;
    assert!(
        result["result"].as_str().unwrap().contains("alone"),
        "{result}"
    );
    let listed = server.hub().list(None, 50).await.unwrap().sessions;
    assert_eq!(listed.len(), 1, "an ephemeral one is not listed");

    let meta = server
        .data()
        .join("sessions")
        .join(&session)
        .join("message-meta.json");
    let meta: Value = serde_json::from_slice(&std::fs::read(meta).unwrap()).unwrap();
    let first = &meta["messages"][0];
    assert_eq!(
        (&first["source"], &first["appletSlug"], &first["prompt"]),
        (&json!("applet"), &json!("calculator"), &json!("2+2?"))
    );
}

#[tokio::test]
async fn an_applet_waits_for_the_users_consent_before_its_first_message() {
    let server = TestServer::with(|config| config.script = Some(SCRIPT)).await;
    let session = server.session().await;
    let mut page = Page::open(&server, &session, "&applet=calculator").await;
    let mut feed = server.feed(&session).await;
    let invoke = |prompt: &str| json!({ "type": "invoke", "id": prompt, "prompt": prompt });
    page.send_message(invoke("one")).await;
    assert_eq!(page.until("consentAsked").await["id"], "one");
    let asked = feed.until("applet.asks").await;
    assert_eq!(
        (&asked["applet"], &asked["prompt"]),
        (&json!("calculator"), &json!("one"))
    );
    let (_, list) = server
        .get(&format!("/api/sessions/{session}/applets"))
        .await;
    assert_eq!(
        (
            &list["applets"][0]["speak"],
            &list["applets"][0]["asking"]["prompt"]
        ),
        (&json!("ask"), &json!("one"))
    );
    decide(&server, &session, "calculator", "once").await;
    assert_eq!(page.until("invokeComplete").await["id"], "one");
    // Once is not for ever.
    page.send_message(invoke("two")).await;
    page.until("consentAsked").await;
    let list = decide(&server, &session, "calculator", "deny").await;
    assert_eq!(list["applets"][0]["speak"], "denied");
    let refused = page.until("error").await;
    assert_eq!(
        (&refused["id"], &refused["code"]),
        (&json!("two"), &json!("consent_denied"))
    );
    page.send_message(invoke("three")).await;
    assert_eq!(page.until("error").await["code"], "consent_denied");
    let stop = page.ask(json!({ "type": "stop" })).await;
    assert_eq!(stop["code"], "consent_denied");

    // Always is for every session, but not for one where it was denied.
    let other = server.session().await;
    decide(&server, &other, "calculator", "always").await;
    let third = server.session().await;
    let mut there = Page::open(&server, &third, "&applet=calculator").await;
    there.send_message(invoke("four")).await;
    assert_eq!(there.until("invokeComplete").await["id"], "four");
    page.send_message(invoke("five")).await;
    assert_eq!(page.until("error").await["code"], "consent_denied");
    // Into another session it speaks only where it may there.
    let across = json!({ "type": "invoke", "id": "six", "prompt": "six", "session": session });
    there.send_message(across).await;
    assert_eq!(there.until("error").await["code"], "consent_denied");
    let path = format!("/api/sessions/{session}/applets/NO");
    let bad = server
        .call(Method::PUT, &path, Some(json!({ "speak": "allow" })))
        .await;
    assert_eq!(bad.0, 400);
}

#[tokio::test]
async fn a_message_that_is_sent_again_after_a_lost_answer_takes_effect_once() {
    let server = TestServer::with(|config| config.script = Some(SCRIPT)).await;
    let session = server.session().await;
    decide(&server, &session, "calculator", "allow").await;
    let more = "&applet=calculator&client=tab";
    let ask = json!({ "type": "invoke", "id": 1, "prompt": "once" });
    let mut first = Page::open(&server, &session, more).await;
    first.send_message(ask.clone()).await;
    let started = first.until("invokeStarted").await;
    drop(first);
    let mut again = Page::open(&server, &session, more).await;
    again.send_message(ask).await;
    assert_eq!(again.until("invokeStarted").await, started);
    let result = again.until("invokeComplete").await;
    assert!(
        result["result"].as_str().unwrap().ends_with("once"),
        "{result}"
    );
    assert_eq!(server.prompts(&session).await, ["once"]);
}

#[tokio::test]
async fn a_session_for_one_task_goes_with_its_folder_and_others_stay() {
    let server = TestServer::with(|config| config.script = Some(SCRIPT)).await;
    let session = server.session().await;
    decide(&server, &session, "calculator", "allow").await;
    let mut page = Page::open(&server, &session, "&applet=calculator").await;
    let ask = json!({ "type": "invoke", "prompt": "alone", "session": "new" });
    let fresh = page.ask(ask).await["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    page.until("invokeComplete").await;
    let folder = server.cwd(&fresh).await;
    assert!(folder.is_dir());
    let sessions = server.service.sessions();
    let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    assert_eq!(sessions.sweep(hour_ago).await.unwrap(), 0);
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    // The turn is over a moment after it was said to be.
    eventually(|| async {
        let removed = sessions.sweep(soon).await.unwrap();
        (removed == 1).then_some(())
    })
    .await;
    let there = async |id: &str| sessions.hub().describe(id.parse().unwrap()).await.is_ok();
    assert!(!there(&fresh).await && !folder.exists());
    assert!(there(&session).await);
}

#[tokio::test]
async fn an_agent_writes_an_applet_only_with_the_users_approval() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let call = |name: &str, arguments: Value| {
        call_tool(&server.service.tools, Some(&session), name, arguments)
    };
    let answer = async |decision: AskDecision| {
        let asks = &server.service.asks;
        let ask = eventually(async || asks.list().pop()).await;
        assert_eq!(ask.asker, Asker::Agent("mate".to_owned()));
        let reply = Reply {
            decision,
            ..Reply::default()
        };
        asks.answer(&ask.id, reply).await.unwrap();
    };
    let request = json!({ "applet": "dice", "name": "Dice", "content": "<p>6</p>", "script": "" });
    let writing = call("write_applet", request.clone());
    answer(AskDecision::Deny).await;
    assert!(
        writing
            .await
            .unwrap()
            .unwrap_err()
            .to_string()
            .contains("denied")
    );
    assert_eq!(server.get(&frame_at(&server, "dice", "frame")).await.0, 404);
    let writing = call("write_applet", request);
    answer(AskDecision::Once).await;
    assert_eq!(writing.await.unwrap().unwrap()["made"], true);
    let page = server
        .http
        .get(server.url(&frame_at(&server, "dice", "frame")))
        .send()
        .await
        .unwrap();
    assert!(page.text().await.unwrap().contains("<p>6</p>"));

    // Open pages see the next change at once, and the agent can open it for others.
    let mut page = Page::open(&server, &session, "&applet=dice").await;
    let mut feed = server.feed(&session).await;
    let opened = call("open_applet", json!({ "applet": "dice" }))
        .await
        .unwrap();
    assert_eq!(opened.unwrap()["opened"], true);
    assert_eq!(feed.until("applet.open").await["applet"], "dice");
    let writing = call(
        "write_applet",
        json!({ "applet": "dice", "style": "p { color: red }" }),
    );
    answer(AskDecision::Once).await;
    assert_eq!(writing.await.unwrap().unwrap()["made"], false);
    page.until("reload").await;
    for (arguments, reason) in [
        (json!({ "applet": "../x", "content": "" }), "an applet name"),
        (json!({ "applet": "new" }), "needs `content`"),
        (
            json!({ "applet": "big", "content": "x".repeat((1 << 20) + 1) }),
            "at most",
        ),
    ] {
        let refused = call("write_applet", arguments).await.unwrap().unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    let nothing = call("open_applet", json!({ "applet": "nothing" }))
        .await
        .unwrap();
    assert!(nothing.unwrap_err().to_string().contains("not found"));
}
