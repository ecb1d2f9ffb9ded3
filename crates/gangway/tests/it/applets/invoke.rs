//! Pages that talk to the agent, and the person who lets them.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Page, frame_at};
use crate::support::TestServer;

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
    let server = TestServer::scripted(SCRIPT).await;
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
        let heard = page.hear().await;
        match heard["type"].as_str().unwrap() {
            "stream" => streamed += heard["delta"].as_str().unwrap(),
            "invokeComplete" => break heard,
            _ => {}
        }
    };
    assert_eq!(result["id"], started["id"]);
    assert!(streamed.starts_with("Aye Aye Aye "), "{streamed}");
    assert_eq!(result.get("error"), None);
    let told = chat.until("messageStarted").await;
    assert_eq!(
        (
            &told["source"],
            &told["appletSlug"],
            &told["prompt"],
            &told["showInChat"]
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
        told["streamId"]
    );
    assert_eq!(chat.until("messageDone").await["outcome"], "completed");

    let hidden = json!({ "type": "invoke", "prompt": "quietly", "background": true, "waitForResult": false });
    page.ask(hidden).await;
    let told = chat.until("messageStarted").await;
    assert_eq!(
        (&told["prompt"], &told["showInChat"]),
        (&json!("quietly"), &json!(false))
    );
    chat.until("messageDone").await;
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let hidden: Vec<_> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["hidden"].clone())
        .collect();
    assert_eq!(
        hidden
            .iter()
            .filter(|hidden| **hidden == json!(true))
            .count(),
        hidden.len() / 2
    );

    let fresh = json!({ "type": "invoke", "prompt": "alone", "options": { "session": "new" } });
    let fresh = page.ask(fresh).await;
    assert_ne!(fresh["sessionId"], json!(session));
    let result = page.until("invokeComplete").await;
    assert!(
        result["result"].as_str().unwrap().contains("alone"),
        "{result}"
    );
    let (_, list) = server.get("/api/sessions").await;
    assert_eq!(
        list["sessions"].as_array().unwrap().len(),
        1,
        "an ephemeral one is not listed"
    );

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
async fn an_applet_waits_for_the_persons_leave_before_its_first_words() {
    let server = TestServer::scripted(SCRIPT).await;
    let session = server.session().await;
    let mut page = Page::open(&server, &session, "&applet=calculator").await;
    let mut feed = server
        .sse(&format!("/api/sessions/{session}/events"), None)
        .await;
    let invoke = |prompt: &str| json!({ "type": "invoke", "id": prompt, "prompt": prompt });
    page.say(invoke("one")).await;
    assert_eq!(page.until("consentAsked").await["id"], "one");
    let asked = feed.until("applet.asks").await.data;
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
    page.say(invoke("two")).await;
    page.until("consentAsked").await;
    let list = decide(&server, &session, "calculator", "deny").await;
    assert_eq!(list["applets"][0]["speak"], "denied");
    let refused = page.until("error").await;
    assert_eq!(
        (&refused["id"], &refused["code"]),
        (&json!("two"), &json!("consent_denied"))
    );
    page.say(invoke("three")).await;
    assert_eq!(page.until("error").await["code"], "consent_denied");
    let stop = page.ask(json!({ "type": "stop" })).await;
    assert_eq!(stop["code"], "consent_denied");

    // Always is for every session, but not for one where it was denied.
    let other = server.session().await;
    decide(&server, &other, "calculator", "always").await;
    let third = server.session().await;
    let mut there = Page::open(&server, &third, "&applet=calculator").await;
    there.say(invoke("four")).await;
    assert_eq!(there.until("invokeComplete").await["id"], "four");
    page.say(invoke("five")).await;
    assert_eq!(page.until("error").await["code"], "consent_denied");
    // Into another session it speaks only where it may there.
    let across = json!({ "type": "invoke", "id": "six", "prompt": "six", "session": session });
    there.say(across).await;
    assert_eq!(there.until("error").await["code"], "consent_denied");
    let path = format!("/api/sessions/{session}/applets/NO");
    let bad = server
        .call(Method::PUT, &path, Some(json!({ "speak": "allow" })))
        .await;
    assert_eq!(bad.0, 400);
}

#[tokio::test]
async fn a_message_that_is_sent_again_after_a_lost_answer_is_said_once() {
    let server = TestServer::scripted(SCRIPT).await;
    let session = server.session().await;
    decide(&server, &session, "calculator", "allow").await;
    let more = "&applet=calculator&client=tab";
    let ask = json!({ "type": "invoke", "id": 1, "prompt": "once" });
    let mut first = Page::open(&server, &session, more).await;
    first.say(ask.clone()).await;
    let started = first.until("invokeStarted").await;
    drop(first);
    let mut again = Page::open(&server, &session, more).await;
    again.say(ask).await;
    assert_eq!(again.until("invokeStarted").await, started);
    let result = again.until("invokeComplete").await;
    assert!(
        result["result"].as_str().unwrap().ends_with("once"),
        "{result}"
    );
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let said = history["entries"].as_array().unwrap().iter();
    assert_eq!(said.filter(|entry| entry["role"] == "user").count(), 1);
}

#[tokio::test]
async fn a_session_for_one_task_goes_with_its_folder_and_others_stay() {
    let server = TestServer::scripted(SCRIPT).await;
    let session = server.session().await;
    decide(&server, &session, "calculator", "allow").await;
    let mut page = Page::open(&server, &session, "&applet=calculator").await;
    let ask = json!({ "type": "invoke", "prompt": "alone", "session": "new" });
    let fresh = page.ask(ask).await["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    page.until("invokeComplete").await;
    let path = format!("/api/sessions/{fresh}");
    let (_, there) = server.get(&path).await;
    let folder = std::path::PathBuf::from(there["cwd"].as_str().unwrap());
    assert!(folder.is_dir());
    let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    assert_eq!(server.app.sessions.sweep(hour_ago).await.unwrap(), 0);
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    // The turn is over a moment after it was said to be.
    crate::support::eventually(|| async {
        let removed = server.app.sessions.sweep(soon).await.unwrap();
        (removed == 1).then_some(())
    })
    .await;
    assert_eq!(server.get(&path).await.0, 404);
    assert!(!folder.exists());
    assert_eq!(server.get(&format!("/api/sessions/{session}")).await.0, 200);
}

#[tokio::test]
async fn an_agent_writes_an_applet_only_with_the_persons_word_and_then_it_is_there() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let tool = |name: &str| gangway_core::own_tool(name);
    let caller = gangway_core::Caller {
        session: Some(session.parse().unwrap()),
        source: gangway_core::Source::Agent {
            name: "mate".into(),
        },
        version: None,
    };
    let call = |name: &str, arguments: Value| {
        let (caller, tool) = (caller.clone(), tool(name));
        let source = server.app.toolset.source_of(&tool).unwrap().clone();
        tokio::spawn(async move { source.call(&caller, &tool, arguments).await })
    };
    let answer = async |action: &str| {
        let question = crate::support::eventually(|| async {
            let (_, list) = server.get("/api/mcp/questions").await;
            list["questions"].get(0).cloned()
        })
        .await;
        assert!(
            question["message"]
                .as_str()
                .unwrap()
                .contains("mate wants to"),
            "{question}"
        );
        let path = format!("/api/mcp/questions/{}", question["id"].as_str().unwrap());
        assert_eq!(server.post(&path, json!({ "action": action })).await.0, 204);
    };
    let wish = json!({ "applet": "dice", "name": "Dice", "content": "<p>6</p>", "script": "" });
    let writing = call("write_applet", wish.clone());
    answer("decline").await;
    assert!(
        writing
            .await
            .unwrap()
            .unwrap_err()
            .to_string()
            .contains("did not allow")
    );
    assert_eq!(server.get(&frame_at(&server, "dice", "frame")).await.0, 404);
    let writing = call("write_applet", wish);
    answer("accept").await;
    assert_eq!(writing.await.unwrap().unwrap()["made"], true);
    let page = server
        .http
        .get(server.url(&frame_at(&server, "dice", "frame")))
        .send()
        .await
        .unwrap();
    assert!(page.text().await.unwrap().contains("<p>6</p>"));

    // Whoever has it open sees the next change at once, and the agent can open it for others.
    let mut page = Page::open(&server, &session, "&applet=dice").await;
    let mut feed = server
        .sse(&format!("/api/sessions/{session}/events"), None)
        .await;
    let opened = call("open_applet", json!({ "applet": "dice" }))
        .await
        .unwrap();
    assert_eq!(opened.unwrap()["opened"], true);
    assert_eq!(feed.until("applet.open").await.data["applet"], "dice");
    let writing = call(
        "write_applet",
        json!({ "applet": "dice", "style": "p { color: red }" }),
    );
    answer("accept").await;
    assert_eq!(writing.await.unwrap().unwrap()["made"], false);
    page.until("reload").await;
    for (arguments, reason) in [
        (
            json!({ "applet": "../x", "content": "" }),
            "name of an applet",
        ),
        (json!({ "applet": "new" }), "needs `content`"),
        (
            json!({ "applet": "big", "content": "x".repeat((1 << 20) + 1) }),
            "larger",
        ),
    ] {
        let refused = call("write_applet", arguments).await.unwrap().unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    let nothing = call("open_applet", json!({ "applet": "nothing" }))
        .await
        .unwrap();
    assert!(nothing.unwrap_err().to_string().contains("no applet"));
}
