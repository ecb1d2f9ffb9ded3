//! What happens with pages is in the log of their session, in order.

use gangway_core::{Event, PageEntry, Source};
use gangway_testing::{
    relay_client,
    weblets_client::{WebletSocket, opened},
};
use serde_json::json;

use super::{add, numbers};
use crate::{
    mcp::client::{Client, Era},
    support::{TestServer, eventually},
    weblets,
};

async fn page_entries(server: &TestServer, session: &str) -> Vec<PageEntry> {
    let id = session.parse().unwrap();
    let page = server.app.hub.store().read(id, 0, 1 << 20).await.unwrap();
    let of_pages = page.events.iter().filter_map(|logged| match &logged.event {
        Event::Page { page_event, .. } => Some(page_event.clone()),
        _ => None,
    });
    of_pages.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_its_tools_and_calls_from_outside_are_events_of_its_session() {
    let server = weblets::server().await;
    let launched = opened(&server, json!("demo")).await;
    let session = launched["sessionId"].as_str().unwrap().to_owned();
    let mut page = WebletSocket::page(&server, &launched, "&page=p1").await;
    page.send_message(json!({ "type": "weblet-tools", "tools": [add()] }))
        .await;
    page.receive().await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let answer = async {
        let call = page.receive_type("tool-call").await;
        let result = json!({ "type": "weblet-tool-result", "call": call["call"], "success": true, "result": 3 });
        page.send_message(result).await;
    };
    let call = client.call("page-notes__add", numbers(1, 2, "page-notes"));
    let (done, ()) = tokio::join!(call, answer);
    done.unwrap();
    page.close().await;
    let found = eventually(async || {
        let found = page_entries(&server, &session).await;
        (found.len() == 5).then_some(found)
    })
    .await;
    let PageEntry::Opened { origin, title } = &found[0] else {
        panic!("{found:?}")
    };
    assert_eq!((origin.as_str(), title.as_str()), ("app:notes", "My notes"));
    let tools = vec!["add".to_owned()];
    assert_eq!(found[1], PageEntry::Offered { tools });
    let PageEntry::Called {
        call,
        tool,
        arguments,
        by,
    } = &found[2]
    else {
        panic!("{found:?}")
    };
    assert_eq!(tool, "page-notes/add");
    assert_eq!(*arguments, json!({ "a": 1, "b": 2 }));
    let name = "tester".to_owned();
    assert_eq!(*by, Source::Agent { name });
    let returned = PageEntry::Returned {
        call: call.clone(),
        result: Ok(json!(3)),
        code: None,
    };
    assert_eq!(found[3], returned);
    assert_eq!(found[4], PageEntry::Left);
    // The chat shows the call, and who made it.
    let (_, message) = server.get(&format!("/api/history?session={session}")).await;
    let entries = message["entries"].as_array().unwrap();
    let shown = entries.iter().find(|entry| entry["role"] == "pageCall");
    let shown = shown.unwrap_or_else(|| panic!("{message}"));
    assert_eq!(shown["by"], json!({ "kind": "agent", "name": "tester" }));
    assert_eq!(
        (&shown["state"], &shown["result"]),
        (&json!("done"), &json!(3))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_fails_or_is_large_is_logged_so_that_it_can_be_read_again() {
    let server = weblets::server().await;
    let launched = opened(&server, json!("demo")).await;
    let session = launched["sessionId"].as_str().unwrap().to_owned();
    let mut page = WebletSocket::page(&server, &launched, "&page=p1").await;
    let any = json!({ "name": "any", "inputSchema": { "type": "object" } });
    page.send_message(json!({ "type": "weblet-tools", "tools": [any] }))
        .await;
    page.receive().await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let refused = client
        .call("page-notes__any", json!({ "deep": deep }))
        .await;
    assert!(refused.unwrap_err().contains("levels deep"));
    let answer = async {
        let call = page.receive_type("tool-call").await;
        let large = "x".repeat(500_000);
        let result = json!({ "type": "weblet-tool-result", "call": call["call"], "success": true, "result": large });
        page.send_message(result).await;
    };
    let call = client.call("page-notes__any", json!({ "x": "y".repeat(100_000) }));
    let (done, ()) = tokio::join!(call, answer);
    done.unwrap();
    let found = eventually(async || {
        let found = page_entries(&server, &session).await;
        (found.len() == 6).then_some(found)
    })
    .await;
    assert!(
        matches!(&found[3], PageEntry::Returned { result: Err(why), .. } if why.contains("deep"))
    );
    let PageEntry::Called { arguments, .. } = &found[4] else {
        panic!("{found:?}")
    };
    assert!(arguments.as_str().unwrap().len() < 70_000);
    let PageEntry::Returned { result, .. } = &found[5] else {
        panic!("{found:?}")
    };
    assert!(result.as_ref().unwrap().as_str().unwrap().len() < 70_000);
    // The raw log can be read again too.
    let (status, _) = server.get(&format!("/api/history?session={session}")).await;
    assert!(status.is_success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_external_agents_and_the_person_do_at_a_page_of_a_chat_is_in_the_log_of_the_chat() {
    let server = weblets::server().await;
    let session = server.session().await;
    let join = json!({ "role": "host", "sessionId": "box", "gangwaySession": session });
    let mut host = relay_client::Client::joined(&server, join).await.0;
    let join =
        json!({ "role": "agent", "sessionId": "box", "clientId": "cinephile", "presence": false });
    let mut agent = relay_client::Client::joined(&server, join).await.0;
    let call = json!({ "toolName": "next", "params": { "n": 1 }, "reason": "to get on" });
    agent.send_message("tool.call", call.clone()).await;
    let asked = host.receive().await;
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    agent.receive_type("tool.result").await;
    agent
        .send_message("agent.message", json!({ "text": "Here you are" }))
        .await;
    assert_eq!(host.receive().await["type"], "agent.message");
    host.push("user.message", json!({ "text": "Thank you" }))
        .await;
    agent.receive_type("user.message").await;
    agent.send_message("tool.call", call).await;
    assert_eq!(host.receive().await["type"], "tool.call");
    host.leave().await;
    let mut found = eventually(async || {
        let found = page_entries(&server, &session).await;
        (found.len() == 9).then_some(found)
    })
    .await;
    let joined = found.remove(1);
    assert!(
        matches!(&joined, PageEntry::Message { r#type, by: Some(by), .. } if r#type == "relay.joined" && by == "cinephile"),
        "{joined:?}"
    );
    let name = "cinephile".to_owned();
    let PageEntry::Called {
        call,
        tool,
        arguments,
        by,
    } = &found[1]
    else {
        panic!("{found:?}")
    };
    assert_eq!(
        (tool.as_str(), arguments),
        ("page-box/next", &json!({ "n": 1 }))
    );
    assert_eq!(*by, Source::Agent { name });
    let returned = PageEntry::Returned {
        call: call.clone(),
        result: Ok(json!({ "ok": true })),
        code: None,
    };
    assert_eq!(found[2], returned);
    let message = |at: usize| match &found[at] {
        PageEntry::Message {
            r#type,
            payload,
            by,
        } => (r#type.clone(), payload["text"].clone(), by.clone()),
        other => panic!("{other:?}"),
    };
    let by = Some("cinephile".to_owned());
    assert_eq!(
        message(3),
        ("agent.message".to_owned(), json!("Here you are"), by)
    );
    assert_eq!(
        message(4),
        ("user.message".to_owned(), json!("Thank you"), None)
    );
    assert!(matches!(&found[5], PageEntry::Called { .. }));
    assert!(
        matches!(&found[6], PageEntry::Returned { result: Err(why), .. } if why.contains("closed"))
    );
    assert_eq!(found[7], PageEntry::Left);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_session_without_a_chat_is_listed_once_something_happened_in_it() {
    let server = weblets::server().await;
    let join = json!({ "role": "host", "sessionId": "kiosk" });
    let mut host = relay_client::Client::joined(&server, join).await.0;
    let mut agent = relay_client::Client::agent(&server, "kiosk").await;
    let (_, listed) = server.get("/api/sessions").await;
    assert_eq!(listed["sessions"], json!([]));
    let call = json!({ "toolName": "next", "params": { "n": 1 }, "reason": "to get on" });
    agent.send_message("tool.call", call).await;
    let asked = host.receive().await;
    host.reply(&asked, "tool.result", json!({ "ok": true }))
        .await;
    let session = eventually(async || {
        let (_, listed) = server.get("/api/sessions").await;
        listed["sessions"].as_array()?.first().cloned()
    })
    .await;
    assert_eq!(
        (&session["title"], &session["agent"]),
        (&json!("kiosk"), &json!("relay"))
    );
    let id = session["sessionId"].as_str().unwrap();
    let (_, history) = server.get(&format!("/api/history?session={id}")).await;
    let call = &history["entries"][0];
    assert_eq!(
        (&call["role"], &call["tool"], &call["state"]),
        (
            &json!("pageCall"),
            &json!("page-kiosk/next"),
            &json!("done")
        )
    );
    // Its page is still one of no chat.
    let (_, pages) = server.get("/api/pages").await;
    assert_eq!(pages["pages"][0]["sessionId"], json!(null));
    let request = json!({ "name": "k", "scopes": ["chat"] });
    let (_, key) = server.post("/api/keys", request).await;
    let key = crate::support::client(key["key"].as_str().unwrap());
    let path = server.url(&format!("/api/history?session={id}"));
    let answer = key.get(path).send().await.unwrap();
    assert_eq!(answer.status(), 403);
}
