//! An external agent that was invited to a chat uses every kind of page of it; also the example agents do.

use std::path::{Path, PathBuf};

use gangway_testing::relay_client::Client;
use serde_json::{Value, json};
use tokio::process::Command;

use super::{Pages, SERVERS};
use crate::{
    support::{TestServer, eventually},
    weblets,
};

pub async fn invite(server: &TestServer, session: &str) -> String {
    let path = format!("/api/sessions/{session}/invitations");
    let (_, created) = server.post(&path, json!({ "label": "Helper" })).await;
    created["token"].as_str().unwrap().to_owned()
}

/// Decides about the next request of an agent, which it returns.
pub async fn decide(server: &TestServer, decision: &str) -> Value {
    let ask = eventually(async || {
        let (_, asks) = server.get("/api/asks").await;
        asks["asks"].as_array()?.first().cloned()
    })
    .await;
    let path = format!("/api/asks/{}", ask["id"].as_str().unwrap());
    let (status, text) = server.post(&path, json!({ "decision": decision })).await;
    assert!(status.is_success(), "{text}");
    ask
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invited_agent_calls_a_tool_of_every_page_of_the_chat_that_the_person_allows() {
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    let token = invite(&server, &pages.session).await;
    let mut agent = Client::stranger(&server).await;
    let join =
        json!({ "role": "agent", "sessionId": pages.session, "token": token, "presence": false });
    let joined = agent.ask("relay.join", join).await;
    assert_eq!(joined["payload"]["host"], true, "{joined}");
    let snapshot = agent.ask("snapshot.get", json!({})).await;
    let shown = snapshot["payload"]["uiSpec"]["pages"].as_array().unwrap();
    let states: Vec<_> = shown.iter().map(|page| page["state"].to_string()).collect();
    for (state, has) in states.iter().zip([
        "\"notes\":[\"a\"]",
        "\"version\":0",
        "https://shop.example",
        "\"kind\":\"lamp\"",
    ]) {
        assert!(state.contains(has), "{states:?}");
    }
    let tools = snapshot["payload"]["toolSchema"].to_string();
    for page in SERVERS {
        let name = format!("{page}/add");
        assert!(tools.contains(&name), "{tools}");
        let call = json!({ "toolName": name, "params": { "a": 2, "b": 3 }, "reason": "to know" });
        for (decision, sum) in [("deny", Value::Null), ("once", json!(5))] {
            let id = agent.send_message("tool.call", call.clone()).await;
            let ask = decide(&server, decision).await;
            assert_eq!(ask["asker"]["name"], "Helper", "{ask}");
            let answer = loop {
                let received = agent.receive().await;
                if received["replyTo"] == id.as_str() {
                    break received;
                }
            };
            assert_eq!(answer["payload"]["result"]["sum"], sum, "{answer}");
        }
    }
    // Who called is in the log of the chat.
    let by = eventually(async || {
        let (_, history) = server
            .get(&format!("/api/history?session={}", pages.session))
            .await;
        let entries = history["entries"].as_array()?.clone();
        let calls = entries.iter().filter(|entry| entry["role"] == "pageCall");
        let by: Vec<_> = calls.map(|entry| entry["by"]["name"].clone()).collect();
        (by.len() >= 4).then_some(by)
    })
    .await;
    assert_eq!(by, vec![json!("Helper"); 4]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_was_disconnected_while_the_person_was_asked_is_not_called() {
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    let token = invite(&server, &pages.session).await;
    let mut agent = Client::stranger(&server).await;
    let join = json!({ "role": "agent", "sessionId": pages.session, "token": token });
    agent.ask("relay.join", join).await;
    let call = json!({ "toolName": "page-shop-example/add", "params": { "a": 2, "b": 3 }, "reason": "to know" });
    let disconnect = async {
        eventually(async || {
            let (_, asks) = server.get("/api/asks").await;
            (!asks["asks"].as_array()?.is_empty()).then_some(())
        })
        .await;
        let (_, listed) = server.get("/api/pages").await;
        let mut all = listed["pages"].as_array().unwrap().iter();
        let site = all.find(|page| page["kind"] == "site").unwrap();
        let path = format!("/api/pages/{}/session", site["pageId"].as_str().unwrap());
        let nowhere = Some(json!({ "sessionId": null }));
        server.call(reqwest::Method::PUT, &path, nowhere).await;
        decide(&server, "always").await;
    };
    let (answer, ()) = tokio::join!(agent.ask("tool.call", call), disconnect);
    assert_eq!(answer["payload"]["code"], "UNKNOWN_TOOL", "{answer}");
}

/// Runs an example agent as the command in the chat does.
async fn run_example(mut command: Command, server: &TestServer, session: &str) -> String {
    let token = invite(server, session).await;
    command
        .arg(r#"page-notes/add {"a": 2, "b": 3}"#)
        .env("GANGWAY_URL", format!("http://{}", server.address))
        .env("GANGWAY_SESSION", session)
        .env("GANGWAY_KEY", token)
        .kill_on_drop(true);
    let (output, _) = tokio::join!(command.output(), decide(server, "once"));
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(path)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_agents_in_python_and_rust_join_a_chat_and_use_a_tool_of_its_pages() {
    let server = weblets::server().await;
    let pages = Pages::open(&server, "demo").await;
    let mut python = Command::new("python3");
    python.arg(example("python-agent/agent.py"));
    let rust = Path::new(env!("CARGO_BIN_EXE_gangway")).with_file_name("examples/agent");
    for command in [python, Command::new(rust)] {
        let said = run_example(command, &server, &pages.session).await;
        assert!(said.contains(r#"page-notes/add: {"sum"#), "{said}");
    }
}
