//! What a page offers is offered to every agent of its chat: to MCP clients, and to the built-in loop.

use gangway_testing::{
    relay_client::{Client, code},
    webagent_client::{calls, end, says},
    weblets_client as apps,
};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    mcp::client::{Client as Mcp, Era},
    pages::matrix,
    providers::fake::Fake,
    support::TestServer,
    weblets,
};

/// A page with a lamp, until its connection ends.
fn lamp(mut host: Client) -> tokio::task::JoinHandle<Vec<Value>> {
    tokio::spawn(async move {
        let mut on = false;
        let mut called = Vec::new();
        while let Some(asked) = host.next().await {
            match asked["type"].as_str().unwrap() {
                "snapshot.get" => {
                    let switch = json!({
                        "name": "switch", "description": "Switches the lamp.",
                        "parameters": { "on": { "type": "boolean", "description": "Whether it burns" } },
                    });
                    let state = json!({ "uiSpec": { "on": on }, "messageHistory": [], "toolSchema": [switch] });
                    host.reply(&asked, "snapshot.state", state).await;
                }
                "tool.call" if asked["payload"]["params"]["on"].is_boolean() => {
                    on = asked["payload"]["params"]["on"] == true;
                    called.push(asked["payload"].clone());
                    let result =
                        json!({ "ok": true, "toolName": "switch", "uiSpec": { "on": on } });
                    host.reply(&asked, "tool.result", result).await;
                }
                "tool.call" => {
                    let wrong =
                        json!({ "code": "INVALID_PARAMS", "message": "on must be true or false" });
                    host.reply(&asked, "error", wrong).await;
                }
                _ => {}
            }
        }
        called
    })
}

#[tokio::test]
async fn mcp_clients_see_and_use_the_tools_of_a_page_and_read_what_it_shows() {
    let server = TestServer::start().await;
    let before = Mcp::new(&server, "/mcp", Era::Older).await.tools().await;
    assert!(!before.iter().any(|tool| tool.starts_with("page")));
    let called = lamp(Client::host(&server, "lamp").await);
    for era in [Era::Older, Era::Current] {
        let client = Mcp::new(&server, "/mcp", era).await;
        let tools = client.tools().await;
        for name in ["page-lamp__look", "page-lamp__switch"] {
            assert!(tools.iter().any(|tool| tool == name), "{tools:?}");
        }
        let request = json!({ "on": true, "reason": "it is dark" });
        let done = client.call("page-lamp__switch", request).await.unwrap();
        assert!(done.to_string().contains("true"), "{done}");
        let wrong = client
            .call("page-lamp__switch", json!({ "on": 7, "reason": "x" }))
            .await;
        assert!(wrong.unwrap_err().contains("/on: 7 is not of type"));
        let wrong = client
            .call("page-lamp__switch", json!({ "on": true }))
            .await;
        assert!(wrong.unwrap_err().contains("reason"));
        let listed = client.ask("resources/list", json!({})).await;
        assert!(
            listed.to_string().contains("gangway://pages/lamp/snapshot"),
            "{listed}"
        );
        let uri = json!({ "uri": "gangway://pages/lamp/snapshot" });
        let read = client.ask("resources/read", uri).await;
        let text = read["result"]["contents"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{read}"));
        let shown: Value = serde_json::from_str(text).unwrap();
        assert_eq!(shown["uiSpec"]["on"], true);
        let uri = json!({ "uri": "gangway://pages/../snapshot" });
        assert!(
            client
                .ask("resources/read", uri)
                .await
                .get("error")
                .is_some()
        );
    }
    // Another page takes the place of the first, and goes: its tools go with it.
    Client::host(&server, "lamp").await.leave().await;
    let called = called.await.unwrap();
    assert_eq!(called.len(), 2);
    assert_eq!(called[0]["reason"], "it is dark");
    let client = Mcp::new(&server, "/mcp", Era::Current).await;
    assert!(
        !client
            .tools()
            .await
            .iter()
            .any(|tool| tool.starts_with("page"))
    );
    let gone = client
        .call("page-lamp__switch", json!({ "on": true, "reason": "x" }))
        .await;
    assert!(gone.unwrap_err().contains("no tool"));
}

#[tokio::test]
async fn keys_for_tools_reach_the_pages_that_they_name() {
    let server = TestServer::start().await;
    lamp(Client::host(&server, "lamp").await);
    for (pattern, sees) in [
        ("page-lamp/*", true),
        ("page-lamp/look", true),
        ("memory/*", false),
    ] {
        let request = json!({ "name": "k", "scopes": [format!("tools:{pattern}")] });
        let (_, key) = server.post("/api/keys", request).await;
        let key = key["key"].as_str().unwrap().to_owned();
        let client = Mcp::with_key(&server, "/mcp", Era::Current, Some(&key)).await;
        let tools = client.tools().await;
        assert_eq!(
            tools.iter().any(|tool| tool == "page-lamp__look"),
            sees,
            "{pattern}: {tools:?}"
        );
        let switch = client
            .call("page-lamp__switch", json!({ "on": true, "reason": "x" }))
            .await;
        assert_eq!(switch.is_ok(), pattern == "page-lamp/*", "{pattern}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_built_in_loop_drives_the_page_of_its_chat_and_no_other() {
    let call = calls(&[(
        "page-lamp__switch",
        r#"{"on":true,"reason":"you asked for light"}"#,
    )]);
    let model = Fake::streams(&[&says("It burns."), &end()]).first_says(&[&call]);
    let server = matrix::with_model(&model, "none").await;
    let session = server.session().await;
    let other = server.session().await;
    let join = json!({ "role": "host", "sessionId": "lamp", "gangwaySession": session });
    let called = lamp(Client::joined(&server, join).await.0);
    let elsewhere = json!({ "role": "host", "sessionId": "elsewhere", "gangwaySession": other });
    let _foreign = lamp(Client::joined(&server, elsewhere).await.0);
    assert_eq!(server.ask(&session, "Light, please").await, "It burns.");
    let asked = model.asked();
    let offered: Vec<_> = asked[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["function"]["name"].as_str().unwrap())
        .collect();
    assert!(
        offered.contains(&"page-lamp__switch") && offered.contains(&"page-lamp__look"),
        "{offered:?}"
    );
    assert!(
        !offered
            .iter()
            .any(|name| name.starts_with("page-elsewhere")),
        "{offered:?}"
    );
    Client::host(&server, "lamp").await.leave().await;
    let called = called.await.unwrap();
    assert_eq!(called[0]["reason"], "you asked for light");
}

#[tokio::test]
async fn the_page_of_an_app_offers_itself_to_the_chat_that_it_was_launched_from() {
    let server = weblets::server().await;
    let launched = apps::launch(&server, json!("claude")).await;
    let host = apps::app_host(&server);
    let token = apps::token(&launched);
    let opened = apps::get(&server, &format!("/?launch={token}"), &[]).await;
    let cookie = opened.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let chat = launched["sessionId"].as_str().unwrap().parse().unwrap();
    let join = json!({ "role": "host", "sessionId": "notes" });
    let offered = || {
        let pages = server.app.pages.of_session(chat);
        pages.iter().any(|page| page.name == "notes")
    };
    // The URL alone, or another browser, is not the launched page.
    for cookie in ["", "gangway_browser=0123456789012345678901234567890"] {
        let page = Client::page(&server, &host, &format!("?launch={token}"), cookie).await;
        assert_eq!(page.err(), Some(StatusCode::UNAUTHORIZED));
        assert!(!offered());
    }
    let mut page = Client::page(&server, &host, &format!("?launch={token}"), &cookie)
        .await
        .unwrap();
    let mut claim = join.clone();
    claim["gangwaySession"] = json!(server.session().await);
    assert_eq!(page.ask("relay.join", claim).await["type"], "relay.joined");
    assert!(offered(), "and what it says of itself counts for nothing");
    page.leave().await;
    // Without a token it can join sessions that have no tokens, but no others.
    let name = "notes".parse().unwrap();
    server.app.relay.tokens.make(&name).await.unwrap();
    let mut late = Client::page(&server, &host, &format!("?launch={token}"), &cookie)
        .await
        .unwrap();
    assert_eq!(
        code(&late.ask("relay.join", join).await),
        "SESSION_NOT_ACTIVE"
    );
}

#[tokio::test]
async fn the_page_of_an_app_controls_no_page_and_takes_no_other_s_place() {
    let open = gangway::config::Authentication::OpenToThisMachine;
    let server = weblets::server_with(|config| config.authentication = open).await;
    let host = apps::app_host(&server);
    let mut page = Client::page(&server, &host, "", "").await.unwrap();
    let join = |role: &str| json!({ "role": role, "sessionId": "s" });
    assert_eq!(
        code(&page.ask("relay.join", join("agent")).await),
        "SESSION_NOT_ACTIVE"
    );
    let theirs = Client::host(&server, "s").await;
    assert_eq!(
        code(&page.ask("relay.join", join("host")).await),
        "SESSION_NOT_ACTIVE"
    );
    theirs.leave().await;
    assert_eq!(
        page.ask("relay.join", join("host")).await["type"],
        "relay.joined"
    );
    // A newer page of the same app does take it.
    let mut newer = Client::page(&server, &host, "", "").await.unwrap();
    assert_eq!(
        newer.ask("relay.join", join("host")).await["type"],
        "relay.joined"
    );
    assert_eq!(code(&page.receive().await), "SESSION_NOT_ACTIVE");
    let foreign =
        apps::WebletSocket::open(&server, &host, "/agent/ws", Some("http://evil.localhost")).await;
    assert_eq!(foreign.err(), Some(403));
}

#[tokio::test]
async fn where_keys_are_needed_an_app_s_page_needs_a_launch() {
    let server = weblets::server().await;
    server
        .post("/api/keys", json!({ "name": "k", "scopes": ["admin"] }))
        .await;
    let reached = |config: &mut gangway::config::Config| config.hosts = vec!["chat.example".into()];
    let server = server.restart_with(reached).await;
    let host = apps::app_host(&server);
    let refused = Client::page(&server, &host, "", "").await.err();
    assert_eq!(refused, Some(StatusCode::UNAUTHORIZED));
}
