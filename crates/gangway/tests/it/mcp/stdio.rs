//! `gangway mcp serve`: the same door on stdin and stdout.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use gangway_mcp::{Host, ServerSpec, Settings, Transport};
use gangway_testing::socket::TestSocket;
use serde_json::{Value, json};

use crate::support::{Gangway, current_token, socket};

/// A client that has just started the command.
struct Pipe {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Pipe {
    fn start(data: &Path, arguments: &[&str]) -> Self {
        let mut command = Gangway::command(data);
        command.args(["mcp", "serve"]).args(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from }
    }

    fn send_message(&mut self, message: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(format!("{message}\n").as_bytes()).unwrap();
        to.flush().unwrap();
    }

    /// The next message that answers a request.
    fn receive(&mut self) -> Value {
        self.receive_where(|message| message.get("id").is_some())
    }

    fn receive_where(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "it ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Waits until the list of tools changes, and returns the names of those of pages.
    fn changed_page_tools(&mut self, id: u64) -> Vec<String> {
        self.receive_where(|message| message["method"] == "notifications/tools/list_changed");
        let list = self.ask(id, "tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap();
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
        let of_pages = names.filter(|name| name.starts_with("page-"));
        of_pages.map(str::to_owned).collect()
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn greet(&mut self) {
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "piped", "version": "1" },
        });
        let hello = self.ask(0, "initialize", hello);
        assert_eq!(hello["result"]["serverInfo"]["name"], "gangway", "{hello}");
        self.send_message(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    fn end(mut self) {
        drop(self.to.take());
        assert!(self.child.wait().unwrap().success());
    }
}

fn tool(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

#[test]
fn a_client_that_starts_the_command_drives_the_gangway_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Gangway::serve(folder.path(), &[]);
    let mut pipe = Pipe::start(folder.path(), &[]);
    pipe.send_message("this is no JSON");
    assert_eq!(pipe.receive()["error"]["code"], -32700);
    pipe.greet();
    let send = tool(
        "send_message",
        json!({ "prompt": "help", "newSession": true, "waitSeconds": 0 }),
    );
    let sent = pipe.ask(1, "tools/call", send);
    let session = &sent["result"]["structuredContent"]["sessionId"];
    let set = tool(
        "set_applet_state",
        json!({ "applet": "a", "data": { "x": 1 } }),
    );
    pipe.ask(2, "tools/call", set);
    let state = pipe.ask(3, "tools/call", tool("get_applet_state", json!({})));
    let state = &state["result"]["structuredContent"];
    assert_eq!(
        (&state["sessionId"], &state["data"]),
        (session, &json!({ "x": 1 }))
    );

    // The Gangway is started again in between; the client does not notice.
    server.kill();
    let server = Gangway::serve(folder.path(), &[]);
    let state = pipe.ask(4, "tools/call", tool("get_applet_state", json!({})));
    assert_eq!(
        state["result"]["structuredContent"]["data"],
        json!({ "x": 1 }),
        "{state}"
    );
    // It ends, and the command becomes a server itself.
    server.kill();
    let state = pipe.ask(5, "tools/call", tool("get_applet_state", json!({})));
    assert_eq!(
        state["result"]["structuredContent"]["data"],
        json!({ "x": 1 }),
        "{state}"
    );
    pipe.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_over_the_pipe_drives_a_page_whose_tools_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let server = Gangway::serve(folder.path(), &[]);
    let mut pipe = Pipe::start(folder.path(), &[]);
    pipe.greet();
    let send = json!({ "prompt": "help", "newSession": true, "waitSeconds": 0 });
    let sent = pipe.ask(1, "tools/call", tool("send_message", send));
    let session = &sent["result"]["structuredContent"]["sessionId"];
    let session = session.as_str().unwrap();
    let url = server.url.replacen("http", "ws", 1);
    let url = format!("{url}/ws/applet?session={session}&applet=lamp&client=c1");
    let mut page = TestSocket::open(socket(&url, &current_token()))
        .await
        .unwrap();
    let offered = json!({ "name": "switch", "description": "Switches the lamp." });
    page.send(&json!({ "type": "offerTools", "id": 1, "tools": [offered] }))
        .await;
    page.until("toolsOffered").await;
    assert_eq!(pipe.changed_page_tools(2), ["page-lamp__switch"]);
    let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": tool("page-lamp__switch", json!({})) });
    pipe.send_message(&call.to_string());
    let call = page.until("toolCall").await["call"].clone();
    page.send(&json!({ "type": "toolResult", "id": 2, "call": call, "result": { "on": true } }))
        .await;
    let result = pipe.receive();
    assert_eq!(result["result"]["structuredContent"], json!({ "on": true }));
    page.close().await;
    assert!(pipe.changed_page_tools(4).is_empty());
    pipe.end();
}

#[test]
fn a_hundred_calls_at_once_over_the_pipe_are_all_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut entry = gangway_testing::mcp_servers::installed("memory");
    entry["env"] = json!({ "MEMORY_FILE_PATH": folder.path().join("memory.json") });
    let config = json!({ "mcp_servers": { "memory": entry } });
    std::fs::write(folder.path().join("config.yaml"), config.to_string()).unwrap();
    let mut pipe = Pipe::start(folder.path(), &["--only", "memory"]);
    pipe.greet();
    for id in 1..=100 {
        let params = tool("read_graph", json!({}));
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        pipe.send_message(&call.to_string());
    }
    let mut answered: Vec<u64> = (0..100)
        .map(|_| {
            let answer = pipe.receive();
            assert!(answer["result"]["isError"] != true, "{answer}");
            assert!(answer.get("error").is_none(), "{answer}");
            answer["id"].as_u64().unwrap()
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, (1..=100).collect::<Vec<u64>>());
    pipe.end();
}

#[test]
fn where_no_gangway_runs_the_command_is_one_for_as_long_as_its_client_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Pipe::start(folder.path(), &[]);
    first.greet();
    let list = Gangway::run(folder.path(), &["key", "list", "--json"]);
    assert!(list.status.success(), "commands find the server that it is");
    // A second client shares it.
    let mut second = Pipe::start(folder.path(), &[]);
    second.greet();
    first.ask(
        1,
        "tools/call",
        tool("send_message", json!({ "prompt": "x", "waitSeconds": 0 })),
    );
    let seen = second.ask(1, "tools/call", tool("list_sessions", json!({})));
    let seen = &seen["result"]["structuredContent"]["sessions"];
    assert_eq!(seen.as_array().unwrap().len(), 1);
    first.end();
    let seen = second.ask(2, "tools/call", tool("list_sessions", json!({})));
    assert_eq!(
        seen["result"]["structuredContent"]["sessions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    second.end();
    let note = std::fs::read_to_string(folder.path().join("server.lock")).unwrap();
    assert_eq!(note, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_the_current_revision_finds_the_same_tools() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new(Settings::default(), None);
    let spec = ServerSpec {
        id: "self".parse().unwrap(),
        transport: Transport::Stdio {
            command: env!("CARGO_BIN_EXE_gangway").into(),
            args: ["mcp", "serve", "--data"]
                .map(Into::into)
                .into_iter()
                .chain([folder.path().into()])
                .collect(),
            env: Default::default(),
            cwd: None,
        },
        timeout: None,
        tool_timeouts: Default::default(),
        enabled: true,
        login: None,
    };
    let id = spec.id.clone();
    host.set_up(vec![spec]).await;
    host.ready(&id).await.unwrap();
    assert_eq!(host.status()[0].protocol.as_deref(), Some("2026-07-28"));
    let name = "self/list_sessions".parse().unwrap();
    let listed = host.call("test", &name, json!({}), None).await.unwrap();
    assert_eq!(listed, json!({ "sessions": [] }));
    host.shutdown().await;
}
