//! Every kind of agent reads the state of every kind of page of its session and hears its events, and of no other page.

use gangway_testing::{
    relay_client,
    webagent_client::{Broker, allow, calls, end, grant, says},
};
use serde_json::{Value, json};

use super::{
    Pages, SERVERS,
    invited::{decide, invite},
    matrix::with_model,
    numbers,
};
use crate::{
    mcp::client::{Client, Era},
    providers::fake::Fake,
    support::TestServer,
    weblets,
};

/// What the state of each page shows.
const STATES: [&str; 4] = [
    "\"notes\":[\"a\"]",
    "\"version\":",
    "https://shop.example",
    "\"kind\":\"lamp\"",
];

/// Has each page add something, of which all but a site send an event.
/// Returns the number before the event of the page on the relay, whose numbers do not begin with the log.
async fn add(server: &TestServer) -> Option<u64> {
    let client = Client::new(server, "/mcp", Era::Current).await;
    client.tools().await;
    let now = json!({ "page": "page-lamp", "timeoutMs": 0 });
    let now = client.call("next_page_event", now).await.unwrap();
    for page in SERVERS {
        let name = format!("{page}__add");
        client.call(&name, numbers(2, 3, page)).await.unwrap();
    }
    now["last"].as_u64()
}

/// Calls to read all pages, and to wait for their events from the beginning, of that on the relay after this number.
fn reading(relay: Option<u64>) -> Vec<(&'static str, Value)> {
    let page = |page: &&str| ("read_page", json!({ "page": page }));
    let events = |page: &&str| {
        let after = if *page == "page-lamp" { relay } else { Some(0) };
        let wait = json!({ "page": page, "after": after, "timeoutMs": 20_000 });
        ("next_page_event", wait)
    };
    let read = SERVERS.iter().map(page);
    read.chain(SERVERS.iter().map(events)).collect()
}

/// Checks the results of [`reading`].
fn check(results: &[String]) {
    assert_eq!(results.len(), 8, "{results:?}");
    let plain = results.iter().map(|one| one.replace('\\', ""));
    for (n, result) in plain.enumerate() {
        let shows = match n {
            0..4 => STATES[n],
            6 => "sites send no events",
            _ => "added",
        };
        assert!(result.contains(shows), "{n}: {result}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_of_the_chat_reads_the_pages_of_its_chat_and_hears_their_events() {
    let wanted = reading(None).into_iter();
    let wanted: Vec<_> = wanted
        .map(|(tool, arguments)| (format!("gangway__{tool}"), arguments.to_string()))
        .collect();
    let wanted: Vec<_> = wanted
        .iter()
        .map(|(tool, arguments)| (tool.as_str(), arguments.as_str()))
        .collect();
    let model = Fake::streams(&[&says("Read."), &end()]).first_says(&[&calls(&wanted)]);
    // Reading needs no approval.
    let server = with_model(&model, "writes").await;
    let pages = Pages::open(&server, "builtin").await;
    add(&server).await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let adding = async {
        loop {
            let arguments = numbers(2, 3, "page-lamp");
            client.call("page-lamp__add", arguments).await.unwrap();
        }
    };
    // It waits for the next event of the page on the relay.
    let answer = tokio::select! {
        answer = server.ask(&pages.session, "Read them") => answer,
        () = adding => unreachable!(),
    };
    assert_eq!(answer, "Read.");
    let asked = model.asked();
    let messages = asked[1]["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    let results: Vec<_> = results
        .map(|message| message["content"].to_string())
        .collect();
    check(&results);
    // A chat without pages has nothing to read.
    let other = server.session().await;
    server.ask(&other, "And you?").await;
    let asked = model.asked();
    let offered = asked.last().unwrap()["tools"].to_string();
    assert!(!offered.contains("read_page"), "{offered}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mcp_clients_read_the_pages_that_their_key_is_for_and_hear_their_events() {
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    let relay = add(&server).await;
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let mut results = Vec::new();
    for (tool, arguments) in reading(relay) {
        let called = client.call(tool, arguments).await;
        results.push(called.map_or_else(|error| error, |value| value.to_string()));
    }
    check(&results);
    // A key for the tools of a page is none for its chat.
    let request = json!({ "name": "k", "scopes": ["tools:page-notes/*"] });
    let (_, key) = server.post("/api/keys", request).await;
    let key = key["key"].as_str().unwrap();
    let client = Client::with_key(&server, "/mcp", Era::Current, Some(key)).await;
    let of_chat = json!({ "sessionId": pages.session, "page": SERVERS[0] });
    for (tool, arguments) in reading(relay).into_iter().chain([("read_page", of_chat)]) {
        let refused = client.call(tool, arguments).await.unwrap_err();
        assert!(!refused.contains("notes\":[\"a"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_reads_the_other_pages_of_its_session_only_with_the_grant() {
    const BANK: &str = "https://bank.example";
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    let relay = add(&server).await;
    allow(&server, BANK, &["mcp:tools.list", "mcp:tools.call"]).await;
    let mut bank = Broker::of(&server, BANK).await;
    let call = |tool: &str, arguments: Value| json!({ "tool": format!("gangway/{tool}"), "args": arguments });
    let read = ["gangway/read_page", "gangway/next_page_event"];
    grant(&server, BANK, json!({ "allowedTools": read })).await;
    // In no session it sees no page.
    let (tool, arguments) = reading(relay).remove(0);
    let refused = bank.call("tools.call", call(tool, arguments)).await;
    assert!(refused.unwrap_err().to_string().contains("page not found"));
    let (_, listed) = server.get("/api/pages").await;
    let listed = listed["pages"].as_array().unwrap();
    let id = listed.iter().find(|page| page["origin"] == BANK).unwrap()["pageId"]
        .as_str()
        .unwrap();
    let path = format!("/api/pages/{id}/session");
    let request = json!({ "sessionId": pages.session });
    server
        .call(reqwest::Method::PUT, &path, Some(request))
        .await;
    let mut results = Vec::new();
    for (tool, arguments) in reading(relay) {
        let called = bank.call("tools.call", call(tool, arguments)).await;
        results.push(called.unwrap_or_else(|error| error).to_string());
    }
    // Sites do not get the error messages of tools.
    results[6] = results[6].replace("ERR_TOOL_FAILED", "sites send no events");
    check(&results);
    grant(&server, BANK, json!({ "allowedTools": ["page-notes/add"] })).await;
    for (tool, arguments) in reading(relay) {
        let refused = bank.refused("tools.call", call(tool, arguments)).await;
        assert_eq!(refused, "ERR_TOOL_NOT_ALLOWED", "{tool}");
    }
}

/// The answers of an external agent to [`reading`].
async fn read_as(agent: &mut relay_client::Client, relay: Option<u64>) -> Vec<String> {
    let mut results = Vec::new();
    for (tool, arguments) in reading(relay) {
        let call = json!({ "toolName": format!("gangway/{tool}"), "params": arguments, "reason": "to see" });
        let answer = agent.ask("tool.call", call).await;
        results.push(answer["payload"].to_string());
    }
    results
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn external_agents_read_the_pages_of_the_chat_and_hear_their_events() {
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    let relay = add(&server).await;
    let token = invite(&server, &pages.session).await;
    let mut guest = relay_client::Client::stranger(&server).await;
    let join = json!({ "role": "agent", "sessionId": pages.session, "token": token });
    guest.ask("relay.join", join).await;
    check(&read_as(&mut guest, relay).await);
    // An agent of one page sees the others; its own it knows by its own protocol.
    let mut agent = relay_client::Client::agent(&server, "lamp").await;
    let (tool, arguments) = reading(relay).remove(0);
    let call =
        json!({ "toolName": format!("gangway/{tool}"), "params": arguments, "reason": "to see" });
    for decision in ["deny", "always"] {
        let asking = agent.ask("tool.call", call.clone());
        let (answer, _) = tokio::join!(asking, decide(&server, decision));
        assert_eq!(answer["type"] == "error", decision == "deny", "{answer}");
    }
    let mut results = read_as(&mut agent, relay).await;
    for own in [3, 7] {
        assert!(results[own].contains("page not found"), "{results:?}");
    }
    results[3] = agent.ask("snapshot.get", json!({})).await["payload"].to_string();
    results[7] = "added".to_owned();
    check(&results);
    // The page of no chat has no others.
    let _alone = super::relay_page(&server, json!({ "role": "host", "sessionId": "alone" })).await;
    let mut agent = relay_client::Client::agent(&server, "alone").await;
    for result in read_as(&mut agent, relay).await {
        assert!(result.contains("UNKNOWN_TOOL"), "{result}");
    }
}
