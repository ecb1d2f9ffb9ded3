//! Every kind of page × every kind of agent: with what is granted, and without.

use gangway_testing::{
    relay_client,
    webagent_client::{Broker, allow, calls, end, grant, says},
    weblets_client::{WebletSocket, opened},
};
use serde_json::json;

use super::{Pages, SERVERS, numbers};
use crate::{
    mcp::client::{Client, Era},
    providers::fake::Fake,
    support::{TestServer, eventually},
    weblets,
};

pub async fn with_model(model: &Fake, approval: &str) -> TestServer {
    let base = model.clone().start().await;
    let yaml = format!(
        "providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}\ntools: {{ approval: {approval} }}"
    );
    let parsed = gangway::config::Config::parse(&yaml).unwrap();
    weblets::server_with(|config| {
        config.providers = parsed.providers;
        config.tools = parsed.tools;
        config.default_agent = "builtin".into();
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_of_the_chat_calls_a_tool_of_every_kind_of_page() {
    let names = SERVERS.map(|server| format!("{server}__add"));
    let arguments = SERVERS.map(|server| numbers(2, 3, server).to_string());
    let wanted: Vec<_> = names
        .iter()
        .zip(&arguments)
        .map(|(name, arguments)| (name.as_str(), arguments.as_str()))
        .collect();
    let model = Fake::streams(&[&says("Five."), &end()]).first_says(&[&calls(&wanted)]);
    let server = with_model(&model, "none").await;
    let pages = Pages::open(&server, "builtin").await;
    assert_eq!(server.ask(&pages.session, "Add them").await, "Five.");
    let asked = model.asked();
    let offered: Vec<_> = asked[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect();
    for name in &names {
        assert!(offered.contains(name), "{offered:?}");
    }
    let results: Vec<String> = asked[1]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].to_string())
        .collect();
    assert_eq!(results.len(), 4, "{results:?}");
    assert!(
        results.iter().all(|result| result.contains("sum")),
        "{results:?}"
    );
    // The agent of another chat has none of them.
    let other = server.session().await;
    server.ask(&other, "And you?").await;
    let asked = model.asked();
    let offered = asked.last().unwrap()["tools"].to_string();
    assert!(!offered.contains("page-"), "{offered}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mcp_clients_call_a_tool_of_every_kind_of_page_that_their_key_is_for() {
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    for era in [Era::Older, Era::Current] {
        let client = Client::new(&server, "/mcp", era).await;
        let tools = client.tools().await;
        for page in SERVERS {
            let name = format!("{page}__add");
            assert!(tools.contains(&name), "{tools:?}");
            let done = client.call(&name, numbers(2, 3, page)).await.unwrap();
            assert_eq!(done["sum"], 5, "{page}");
            let mut wrong = numbers(2, 3, page);
            wrong["a"] = json!("two");
            let refused = client.call(&name, wrong).await.unwrap_err();
            assert!(refused.contains("/a"), "{page}: {refused}");
        }
        let listed = client
            .call("list_pages", json!({ "sessionId": pages.session }))
            .await
            .unwrap();
        let kinds: Vec<_> = listed["pages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|page| page["kind"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["app", "applet", "site", "relay"]);
        for page in SERVERS {
            let read = client.call("read_page", json!({ "page": page })).await;
            let read = read.unwrap().to_string();
            let shows = match page {
                "page-notes" => "\"data\":{\"notes\":[\"a\"]",
                "page-calculator" => "\"version\":1",
                "page-lamp" => "\"kind\":\"lamp\"",
                _ => "https://shop.example",
            };
            assert!(read.contains(shows), "{page}: {read}");
        }
    }
    let request = json!({ "name": "k", "scopes": ["tools:page-notes/*"] });
    let (_, key) = server.post("/api/keys", request).await;
    let key = key["key"].as_str().unwrap();
    let client = Client::with_key(&server, "/mcp", Era::Current, Some(key)).await;
    for page in SERVERS {
        let name = format!("{page}__add");
        let called = client.call(&name, numbers(1, 1, page)).await;
        assert_eq!(called.is_ok(), page == "page-notes", "{page}");
    }
    assert!(client.call("list_pages", json!({})).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_calls_the_tools_of_other_pages_of_its_session_that_it_was_granted() {
    const BANK: &str = "https://bank.example";
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    allow(&server, BANK, &["mcp:tools.list", "mcp:tools.call"]).await;
    let mut bank = Broker::of(&server, BANK).await;
    let call =
        |server: &str| json!({ "tool": format!("{server}/add"), "args": numbers(2, 3, server) });
    // In no session it has nothing of them, whatever it was granted.
    let all: Vec<_> = SERVERS.map(|server| format!("{server}/add")).into();
    grant(&server, BANK, json!({ "allowedTools": all })).await;
    assert_eq!(
        bank.refused("tools.call", call(SERVERS[0])).await,
        "ERR_TOOL_NOT_FOUND"
    );
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
    // Lets the relay page say what it has.
    let client = Client::new(&server, "/mcp", Era::Current).await;
    client.tools().await;
    for page in SERVERS {
        let done = bank.call("tools.call", call(page)).await.unwrap();
        assert_eq!(done["sum"], 5, "{page}");
    }
    grant(&server, BANK, json!({ "allowedTools": ["page-notes/add"] })).await;
    for page in &SERVERS[1..] {
        let refused = bank.refused("tools.call", call(page)).await;
        assert_eq!(refused, "ERR_TOOL_NOT_ALLOWED", "{page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_external_agent_calls_a_tool_of_every_page_of_the_chat_that_the_person_allows() {
    let server = weblets::server().await;
    let _pages = Pages::open(&server, "demo").await;
    let mut agent = relay_client::Client::agent(&server, "lamp").await;
    let call =
        |tool: &str| json!({ "toolName": tool, "params": { "a": 2, "b": 3 }, "reason": "to know" });
    let done = agent.ask("tool.call", call("add")).await;
    assert_eq!(done["payload"]["sum"], 5, "{done}");
    let snapshot = agent.ask("snapshot.get", json!({})).await;
    let others = &snapshot["payload"]["otherTools"];
    let names = others
        .as_array()
        .unwrap_or_else(|| panic!("{snapshot}"))
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned());
    let names: Vec<_> = names.filter(|name| name.starts_with("page-")).collect();
    let expected = SERVERS[..3].iter().map(|server| format!("{server}/add"));
    assert_eq!(names, expected.collect::<Vec<_>>());
    for (name, decision) in names.iter().zip(["once", "always", "deny"]) {
        let id = agent.send_message("tool.call", call(name)).await;
        let ask = eventually(async || {
            let (_, asks) = server.get("/api/asks").await;
            asks["asks"].as_array()?.first().cloned()
        })
        .await;
        let message = ask["request"]["message"].as_str().unwrap();
        assert!(message.contains(name.as_str()), "{ask}");
        let path = format!("/api/asks/{}", ask["id"].as_str().unwrap());
        let (status, text) = server.post(&path, json!({ "decision": decision })).await;
        assert!(status.is_success(), "{text}");
        let answer = loop {
            let received = agent.receive().await;
            if received["replyTo"] == id.as_str() {
                break received;
            }
        };
        match decision {
            "deny" => assert_eq!(answer["payload"]["code"], "TOOL_EXECUTION_FAILED"),
            _ => assert_eq!(answer["payload"]["result"]["sum"], 5, "{answer}"),
        }
    }
    // What is always allowed is not asked again.
    let done = agent.ask("tool.call", call(&names[1])).await;
    assert_eq!(done["payload"]["result"]["sum"], 5, "{done}");
    for (tool, code) in [
        ("page-none/add", "UNKNOWN_TOOL"),
        ("page-notes/none", "UNKNOWN_TOOL"),
        ("page-lamp/add", "UNKNOWN_TOOL"),
    ] {
        let refused = agent.ask("tool.call", call(tool)).await;
        assert_eq!(refused["payload"]["code"], code, "{tool}");
    }
    // The page of no chat has no others.
    let _alone = super::relay_page(&server, json!({ "role": "host", "sessionId": "alone" })).await;
    let mut agent = relay_client::Client::agent(&server, "alone").await;
    let refused = agent.ask("tool.call", call("page-notes/add")).await;
    assert_eq!(refused["payload"]["code"], "UNKNOWN_TOOL");
    let snapshot = agent.ask("snapshot.get", json!({})).await;
    assert!(snapshot["payload"].get("otherTools").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_apps_with_the_same_tools_are_told_apart() {
    let server = weblets::server().await;
    let mut sockets: Vec<WebletSocket> = Vec::new();
    for name in ["page-notes", "page-notes-2"] {
        let launched = opened(&server, json!("demo")).await;
        let mut page = WebletSocket::page(&server, &launched, "").await;
        page.send_message(json!({ "type": "weblet-tools", "tools": [super::add()] }))
            .await;
        assert_eq!(page.receive().await["server"], name);
        sockets.push(page);
    }
    let client = Client::new(&server, "/mcp", Era::Current).await;
    let tools = client.tools().await;
    for name in ["page-notes__add", "page-notes-2__add"] {
        assert!(tools.iter().any(|tool| tool == name), "{tools:?}");
    }
    let call = client.call("page-notes-2__add", json!({ "a": 1, "b": 2 }));
    let answer = async {
        let call = sockets[1].receive().await;
        let result = json!({ "type": "weblet-tool-result", "call": call["call"], "success": true, "result": { "from": 2 } });
        sockets[1].send_message(result).await;
    };
    let (done, ()) = tokio::join!(call, answer);
    assert_eq!(done.unwrap(), json!({ "from": 2 }));
}
