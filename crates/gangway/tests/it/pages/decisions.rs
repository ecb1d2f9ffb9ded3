//! What the person is asked for, and decides, is in the log of the session that it concerns, before what it allows.

use gangway_testing::{
    relay_client::Client,
    webagent_client::{Broker, SHOP},
    weblets_client::{WebletSocket, opened},
};
use serde_json::{Value, json};

use super::{
    Pages,
    invited::{decide, invite},
};
use crate::{
    support::{TestServer, eventually},
    weblets,
};

async fn exported(server: &TestServer, session: &str) -> String {
    let url = server.url(&format!("/api/sessions/{session}/export"));
    server
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap()
}

/// The entries of the log about requests and calls of pages, in a short form.
async fn decisions(server: &TestServer, session: &str) -> Vec<String> {
    let text = exported(server, session).await;
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter_map(|line: Value| short(&line)).collect()
}

fn short(line: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Some(match text(&line["type"]).as_str() {
        "ask.opened" => {
            let asker = &line["asker"];
            let name = ["name", "origin", "id"]
                .map(|key| text(&asker[key]))
                .concat();
            let kind = text(&line["request"]["type"]);
            format!("{name} asks for {kind}")
        }
        "ask.closed" => format!("{} by {}", text(&line["outcome"]), text(&line["by"])),
        "page" if line["news"]["what"] == "called" => {
            format!("{} called", text(&line["news"]["tool"]))
        }
        _ => return None,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invitation_and_the_decisions_about_an_external_agent_are_in_the_log_of_the_chat() {
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    let token = invite(&server, &pages.session).await;
    let mut agent = Client::stranger(&server).await;
    let join = json!({ "role": "agent", "sessionId": pages.session, "token": token });
    agent.ask("relay.join", join).await;
    let call =
        json!({ "toolName": "page-notes/add", "params": { "a": 2, "b": 3 }, "reason": "to know" });
    for decision in ["deny", "always"] {
        agent.send_message("tool.call", call.clone()).await;
        decide(&server, decision).await;
    }
    let found = eventually(async || {
        let found = decisions(&server, &pages.session).await;
        (found.last()? == "page-notes/add called").then_some(found)
    })
    .await;
    let expected = [
        "Helper asks for invitation",
        "always by person",
        "Helper asks for action",
        "denied by terminal",
        "Helper asks for action",
        "always by terminal",
        "page-notes/add called",
    ];
    assert_eq!(found, expected);
    let text = exported(&server, &pages.session).await;
    assert!(!text.contains(&token), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permission_of_a_site_is_in_the_log_of_the_session_that_it_is_connected_to_and_of_no_other()
 {
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    let mut page = Broker::of(&server, SHOP).await;
    let ask = json!({ "scopes": ["mcp:tools.call"], "reason": "to fill the cart" });
    // It belongs to no session yet.
    page.begin("permissions.request", ask.clone()).await;
    decide(&server, "deny").await;
    eventually(async || {
        let (_, listed) = server.get("/api/pages").await;
        let listed = listed["pages"].as_array()?.clone();
        let own = listed
            .iter()
            .find(|one| one["origin"] == SHOP && one["sessionId"].is_null())?;
        let path = format!("/api/pages/{}/session", own["pageId"].as_str()?);
        let request = json!({ "sessionId": pages.session });
        let (status, _) = server
            .call(reqwest::Method::PUT, &path, Some(request))
            .await;
        status.is_success().then_some(())
    })
    .await;
    let ask = json!({ "scopes": ["model:list"], "reason": "to choose" });
    page.begin("permissions.request", ask).await;
    decide(&server, "once").await;
    let found = eventually(async || {
        let found = decisions(&server, &pages.session).await;
        (found.len() >= 2).then_some(found)
    })
    .await;
    let expected = [
        format!("{SHOP} asks for permission"),
        "once by terminal".into(),
    ];
    assert_eq!(found, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_app_asks_for_is_in_the_log_of_its_session() {
    let server = weblets::server().await;
    let launched = opened(&server, json!("demo")).await;
    let session = launched["sessionId"].as_str().unwrap();
    let mut page = WebletSocket::page(&server, &launched, "&page=p1").await;
    let save = json!({ "filename": "a.txt", "content": "a" });
    page.request("r1", "save-file", save).await;
    decide(&server, "once").await;
    let found = eventually(async || {
        let found = decisions(&server, session).await;
        (found.len() >= 2).then_some(found)
    })
    .await;
    assert_eq!(found, ["My notes asks for action", "once by terminal"]);
}
