//! Every kind of page and every kind of agent: a page's tools, its state and its events, by way of its session.

mod approved;
mod decisions;
mod driven;
mod invited;
mod logged;
pub mod matrix;
mod read;
mod remote;
mod strangers;

use gangway_testing::{
    relay_client,
    socket::TestSocket,
    webagent_client::{Broker, SHOP},
    weblets_client::{WebletSocket, opened, show},
};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{TestServer, eventually};

/// The page's tool: the arguments are checked by their schema, and the result shows that it ran in the page.
pub fn add() -> Value {
    let number = json!({ "type": "integer" });
    json!({ "name": "add", "description": "Adds two numbers.", "inputSchema": {
        "type": "object", "required": ["a", "b"], "properties": { "a": number, "b": number } } })
}

fn sum(arguments: &Value) -> Value {
    json!({ "sum": arguments["a"].as_i64().unwrap() + arguments["b"].as_i64().unwrap() })
}

/// A session with an open page of each kind, each of which offers `add`.
pub struct Pages {
    pub session: String,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// The servers of the tools of all kinds of pages.
pub const SERVERS: [&str; 4] = [
    "page-notes",
    "page-calculator",
    "page-shop-example",
    "page-lamp",
];

impl Pages {
    /// Opens them in a session of this agent.
    pub async fn open(server: &TestServer, agent: &str) -> Self {
        Self::of(server, opened(server, json!(agent)).await).await
    }

    /// Opens them in this session.
    pub async fn open_in(server: &TestServer, session: &str) -> Self {
        Self::of(server, opened_in(server, session).await).await
    }

    async fn of(server: &TestServer, launched: Value) -> Self {
        let session = launched["sessionId"].as_str().unwrap().to_owned();
        let tasks = vec![
            app(server, &launched).await,
            applet(server, &session).await,
            site(server, &session).await,
            relay(server, &session).await,
        ];
        Self { session, tasks }
    }
}

/// A launch in this session, whose page is open.
pub async fn opened_in(server: &TestServer, session: &str) -> Value {
    let request = json!({ "session": session, "data": { "notes": ["a"] } });
    let (status, mut launched) = server.post("/api/apps/notes/launch", request).await;
    assert_eq!(status, StatusCode::CREATED, "{launched}");
    show(server, &mut launched).await;
    launched
}

async fn app(server: &TestServer, launched: &Value) -> JoinHandle<()> {
    let mut page = WebletSocket::page(server, launched, "&page=p1").await;
    page.send_message(json!({ "type": "weblet-tools", "tools": [add()] }))
        .await;
    assert_eq!(page.receive().await["server"], SERVERS[0]);
    tokio::spawn(async move {
        loop {
            let received = page.receive().await;
            if received["type"] == "tool-call" {
                page.emit("e1", "note-added", json!({ "text": "added" }))
                    .await;
                let result = json!({ "type": "weblet-tool-result", "call": received["call"], "success": true,
                    "result": sum(&received["arguments"]) });
                page.send_message(result).await;
            }
        }
    })
}

/// The socket of an applet.
pub async fn open_applet(server: &TestServer, session: &str) -> TestSocket {
    let path = format!("/ws/applet?session={session}&applet=calculator&client=c1");
    let mut applet = TestSocket::open(server.socket(&path)).await.unwrap();
    assert_eq!(applet.receive().await["type"], "ready");
    applet
}

async fn applet(server: &TestServer, session: &str) -> JoinHandle<()> {
    let mut page = open_applet(server, session).await;
    page.send(&json!({ "type": "offerTools", "id": 1, "tools": [add()] }))
        .await;
    assert_eq!(page.until("toolsOffered").await["server"], SERVERS[1]);
    tokio::spawn(async move {
        loop {
            let call = page.until("toolCall").await;
            let result = sum(&call["arguments"]);
            page.send(&json!({ "type": "setState", "id": 2, "data": { "n": "added" } }))
                .await;
            page.send(&json!({ "type": "toolResult", "call": call["call"], "result": result }))
                .await;
        }
    })
}

async fn site(server: &TestServer, session: &str) -> JoinHandle<()> {
    let mut page = Broker::of(server, SHOP).await;
    page.send_message(json!({ "type": "tools", "tools": [add()] }))
        .await;
    // The person connects the site to the session.
    let id = eventually(async || {
        let (_, listed) = server.get("/api/pages").await;
        let pages = listed["pages"].as_array().unwrap().clone();
        let site = pages
            .into_iter()
            .find(|page| page["kind"] == "site" && page["server"] == SERVERS[2]);
        site.map(|site| site["pageId"].as_str().unwrap().to_owned())
    })
    .await;
    let request = json!({ "sessionId": session });
    let (status, message) = server
        .call(
            reqwest::Method::PUT,
            &format!("/api/pages/{id}/session"),
            Some(request),
        )
        .await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{message}");
    tokio::spawn(async move {
        loop {
            let call = page.until("tool_call").await;
            let result = sum(&call["args"]);
            page.send_message(
                json!({ "type": "tool_result", "call": call["call"], "result": result }),
            )
            .await;
        }
    })
}

async fn relay(server: &TestServer, session: &str) -> JoinHandle<()> {
    let join = json!({ "role": "host", "sessionId": "lamp", "gangwaySession": session });
    relay_page(server, join).await
}

/// A host on the relay with the tool.
pub async fn relay_page(server: &TestServer, join: Value) -> JoinHandle<()> {
    let mut host = relay_client::Client::joined(server, join).await.0;
    tokio::spawn(async move {
        while let Some(asked) = host.next().await {
            let number = json!({ "type": "integer", "description": "A number" });
            let tool = |name: &str, reads: bool| {
                json!({ "name": name, "description": "Adds.", "readOnly": reads,
                    "parameters": { "a": number, "b": number } })
            };
            let tools = [
                tool("add", false),
                tool("add_again", false),
                tool("peek", true),
            ];
            match asked["type"].as_str().unwrap() {
                "snapshot.get" => {
                    let state = json!({ "uiSpec": { "kind": "lamp" }, "messageHistory": [], "toolSchema": tools });
                    host.reply(&asked, "snapshot.state", state).await;
                }
                "tool.call" => {
                    let mut result = sum(&asked["payload"]["params"]);
                    result["ok"] = json!(true);
                    host.push("user.message", json!({ "text": "added" })).await;
                    host.reply(&asked, "tool.result", result).await;
                }
                _ => {}
            }
        }
    })
}

/// Arguments that every page takes.
pub fn numbers(a: i64, b: i64, server: &str) -> Value {
    let mut arguments = json!({ "a": a, "b": b });
    if server == "page-lamp" {
        arguments["reason"] = json!("to know");
    }
    arguments
}
