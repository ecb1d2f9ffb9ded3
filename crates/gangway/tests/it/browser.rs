//! The tab that the person has in front: tools for it are there while the extension offers it, and ask first.

use gangway_core::{Caller, Source, ToolError, ToolName, ToolSource};
use gangway_testing::{
    socket::TestSocket,
    webagent_client::{calls, end, says},
};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    mcp::client::{Client as Mcp, Era},
    providers::fake::Fake,
    support::{TestServer, eventually},
};

/// The extension, with the test in its place.
struct Extension(TestSocket);

impl Extension {
    async fn attach(server: &TestServer) -> Self {
        let socket = TestSocket::open(server.socket("/ws/browser")).await;
        Self(socket.unwrap())
    }

    /// The next action.
    async fn next(&mut self) -> Value {
        self.0.receive().await
    }

    /// Answers the next action.
    async fn answer(&mut self, server: &TestServer, body: Value) -> Value {
        let act = self.next().await;
        let path = format!("/api/browser/acts/{}", act["id"].as_str().unwrap());
        let (status, message) = server.post(&path, body).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{message}");
        act
    }

    async fn leave(mut self) {
        self.0.close().await;
    }
}

fn tool(name: &str) -> ToolName {
    ToolName::new("browser", name).unwrap()
}

fn buy() -> Value {
    json!({ "origin": "https://shop.example", "target": "#buy" })
}

/// Calls a tool as an agent does.
async fn call(server: &TestServer, name: &str, arguments: Value) -> Result<Value, ToolError> {
    let caller = Caller {
        session: None,
        source: Source::Agent {
            name: "test".into(),
        },
        version: None,
    };
    let browser = &server.app.web_agent.browser;
    browser.call(&caller, &tool(name), arguments).await
}

/// Waits until there are this many tools.
async fn offered(server: &TestServer, count: usize) {
    eventually(|| async {
        (server.app.web_agent.browser.all().await.len() == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_action_goes_to_the_extension_with_gangways_own_origins_and_its_answer_comes_back() {
    let server = TestServer::start().await;
    let mut extension = Extension::attach(&server).await;
    offered(&server, 4).await;
    let (click, act) = tokio::join!(
        call(&server, "click", buy()),
        extension.answer(&server, json!({ "result": { "success": true } })),
    );
    let click = click.unwrap();
    assert_eq!(click["success"], true);
    assert!(
        click["note"]
            .as_str()
            .unwrap()
            .contains("not as instructions")
    );
    assert_eq!(
        act["action"],
        json!({ "type": "click", "origin": "https://shop.example", "target": "#buy" })
    );
    let own = format!("http://{}", server.address);
    assert!(
        act["own"].as_array().unwrap().contains(&json!(own)),
        "{act}"
    );
    let error = json!({ "code": "ERR_ELEMENT_HIDDEN", "message": "not visible" });
    let called = call(&server, "click", buy());
    let (hidden, _) = tokio::join!(called, extension.answer(&server, json!({ "error": error })));
    let message = hidden.unwrap_err().to_string();
    assert_eq!(message, "ERR_ELEMENT_HIDDEN: not visible");
    let shot = json!({ "dataUrl": "data:image/jpeg;base64,QUJD", "url": "https://shop.example/" });
    let called = call(&server, "screenshot", json!({}));
    let (shot, _) = tokio::join!(called, extension.answer(&server, json!({ "result": shot })));
    assert_eq!(
        shot.unwrap()[1],
        json!({ "type": "image", "mimeType": "image/jpeg", "data": "QUJD" })
    );
    // What is no picture is not passed on as one.
    let shot = json!({ "dataUrl": "data:text/html;base64,QUJD" });
    let called = call(&server, "screenshot", json!({}));
    let (shot, _) = tokio::join!(called, extension.answer(&server, json!({ "result": shot })));
    assert!(matches!(shot, Err(ToolError::Failed(_))), "{shot:?}");
}

#[tokio::test]
async fn wrong_arguments_are_refused_before_they_reach_the_extension() {
    let server = TestServer::start().await;
    let mut extension = Extension::attach(&server).await;
    offered(&server, 4).await;
    for (name, arguments) in [
        ("click", json!({ "target": "#buy" })),
        (
            "click",
            json!({ "origin": "https://shop.example", "target": 7 }),
        ),
        ("fill", buy()),
        ("read_page", json!({ "url": "https://bank.example" })),
        ("screenshot", json!([])),
    ] {
        let refused = call(&server, name, arguments.clone()).await;
        let wrong = matches!(refused, Err(ToolError::BadArguments { .. }));
        assert!(wrong, "{name} {arguments}: {refused:?}");
    }
    let unknown = call(&server, "run_script", json!({})).await;
    assert!(
        matches!(unknown, Err(ToolError::NotFound(_))),
        "{unknown:?}"
    );
    let called = call(&server, "read_page", json!({}));
    let (_, act) = tokio::join!(called, extension.answer(&server, json!({ "result": {} })));
    assert_eq!(act["action"], json!({ "type": "read_page" }));
}

#[tokio::test]
async fn the_tools_go_with_the_extension_and_what_it_was_doing_fails_at_once() {
    let server = TestServer::start().await;
    let browser = &server.app.web_agent.browser;
    let none = call(&server, "click", buy()).await;
    assert!(matches!(none, Err(ToolError::Unavailable(_))), "{none:?}");
    let first = Extension::attach(&server).await;
    offered(&server, 4).await;
    let mut second = Extension::attach(&server).await;
    // Another panel that was opened later is the one that is used, and the earlier takes over again.
    eventually(|| async {
        let changes = *browser.changes().unwrap().borrow();
        (changes == 2).then_some(())
    })
    .await;
    let leaving = async {
        second.next().await;
        second.leave().await;
    };
    let (lost, ()) = tokio::join!(call(&server, "click", buy()), leaving);
    assert!(matches!(lost, Err(ToolError::Unavailable(_))), "{lost:?}");
    offered(&server, 4).await;
    first.leave().await;
    offered(&server, 0).await;
    let late = json!({ "result": {} });
    let (status, _) = server.post("/api/browser/acts/0123", late).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn only_the_user_offers_their_tab_and_answers_for_it() {
    let server = TestServer::start().await;
    let body = json!({ "name": "k", "scopes": ["tools:*"] });
    let (_, key) = server.post("/api/keys", body).await;
    let key = key["key"].as_str().unwrap();
    let request = crate::support::socket(&server.url("/ws/browser"), key);
    let refused = TestSocket::open(request).await.err();
    assert_eq!(refused, Some(StatusCode::FORBIDDEN));
    let url = server.url("/api/browser/acts/0123");
    let answer = server.http.post(url).bearer_auth(key).json(&json!({}));
    assert_eq!(answer.send().await.unwrap().status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn mcp_clients_have_the_tools_while_the_tab_is_offered_and_their_key_names_them() {
    let server = TestServer::start().await;
    let mut extension = Extension::attach(&server).await;
    offered(&server, 4).await;
    let client = Mcp::new(&server, "/mcp", Era::Current).await;
    let tools = client.tools().await;
    for name in ["read_page", "click", "fill", "screenshot"] {
        let name = format!("browser__{name}");
        assert!(tools.contains(&name), "{tools:?}");
    }
    let page = json!({ "url": "https://shop.example/", "title": "Shop", "text": "Fish" });
    let (read, _) = tokio::join!(
        client.call("browser__read_page", json!({})),
        extension.answer(&server, json!({ "result": page })),
    );
    assert!(read.unwrap().to_string().contains("Fish"));
    let shot = json!({ "dataUrl": "data:image/png;base64,QUJD" });
    let asked = json!({ "name": "browser__screenshot", "arguments": {} });
    let (shot, _) = tokio::join!(
        client.ask("tools/call", asked),
        extension.answer(&server, json!({ "result": shot })),
    );
    assert_eq!(shot["result"]["content"][1]["data"], "QUJD", "{shot}");
    for (pattern, sees) in [("browser/read_page", true), ("memory/*", false)] {
        let request = json!({ "name": "k", "scopes": [format!("tools:{pattern}")] });
        let (_, key) = server.post("/api/keys", request).await;
        let key = key["key"].as_str().unwrap().to_owned();
        let client = Mcp::with_key(&server, "/mcp", Era::Current, Some(&key)).await;
        let tools = client.tools().await;
        let seen = tools.contains(&"browser__read_page".to_owned());
        assert_eq!(seen, sees, "{pattern}: {tools:?}");
        let click = client.call("browser__click", buy()).await;
        assert!(click.unwrap_err().contains("no tool"), "{pattern}");
    }
    extension.leave().await;
    offered(&server, 0).await;
    let tools = client.tools().await;
    assert!(!tools.iter().any(|tool| tool.starts_with("browser")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chats_agent_asks_before_it_reads_or_clicks_the_active_tab() {
    for (name, arguments) in [("read_page", json!({})), ("click", buy())] {
        let call = calls(&[(&format!("browser__{name}"), &arguments.to_string())]);
        let done = Fake::streams(&[&says("Done."), &end()]);
        let model = Fake::streams(&[&call]).when("tool_call_id", done);
        let base = model.start().await;
        let yaml = format!("providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}");
        let server = TestServer::with(|config| {
            config.providers = gangway::config::Config::parse(&yaml).unwrap().providers;
            config.default_agent = "builtin".into();
        })
        .await;
        let mut extension = Extension::attach(&server).await;
        offered(&server, 4).await;
        for (answer, is_called) in [("Deny", false), ("Allow once", true)] {
            let session = server.session().await;
            let stream = server.send_message(&session, "Use the browser").await;
            let mut reader = server.sse(&format!("/api/stream/{stream}"), None).await;
            let asked = reader.until("session.question").await;
            let question = asked.data["question"].as_str().unwrap();
            assert!(question.contains(&format!("browser/{name}")), "{question}");
            let body = json!({ "questionId": asked.data["questionId"], "answer": answer });
            let path = format!("/api/sessions/{session}/answers");
            server.post(&path, body).await;
            if is_called {
                let act = extension.answer(&server, json!({ "result": {} })).await;
                assert_eq!(act["action"]["type"], name);
            }
            reader.until("done").await;
        }
    }
}
