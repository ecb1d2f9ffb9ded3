//! The chat's agent asks before it calls tools that are not read-only.

use gangway_core::{Command, QuestionId, TurnId};
use gangway_testing::{fake::Fake, sessions::Feed};
use serde_json::{Value, json};

use crate::server::{TestServer, ready, with_memory};

/// A model that calls this tool of the memory server this many times at once, and answers "Done." to the result.
async fn model(tool: &str, times: usize) -> (Fake, String) {
    let call = |n: usize| {
        let arguments = json!({ "entities": [{ "name": format!("Ada{n}"), "entityType": "person", "observations": [] }] });
        let arguments = match tool {
            "create_entities" => arguments.to_string(),
            _ => "{}".to_owned(),
        };
        json!({ "index": n, "id": format!("c{n}"), "function": { "name": format!("memory__{tool}"), "arguments": arguments } })
    };
    let calls: Vec<_> = (0..times).map(call).collect();
    let event = |value: Value| format!("data: {value}\n\n");
    let asks = event(
        json!({ "choices": [{ "delta": { "tool_calls": calls }, "finish_reason": "tool_calls" }] }),
    );
    let says =
        event(json!({ "choices": [{ "delta": { "content": "Done." }, "finish_reason": "stop" }] }));
    let model = Fake::streams(&[&asks]).when("tool_call_id", Fake::streams(&[&says]));
    let base = model.start().await;
    (model, base)
}

async fn server(base: &str, approval: &str) -> TestServer {
    with_memory(|config| {
        config.model = Some(base.to_owned());
        config.tools.approval = serde_json::from_value(json!(approval)).unwrap();
    })
    .await
}

/// A chat in which the agent is about to call the tool.
async fn asking(server: &TestServer) -> (String, Feed) {
    let session = server.session().await;
    let feed = server.feed(&session).await;
    server.send_message(&session, "Remember Ada").await;
    (session, feed)
}

/// The turn of a question, from its beginning.
async fn turn_of(server: &TestServer, asked: &Value) -> Feed {
    let turn: TurnId = asked["streamId"].as_str().unwrap().parse().unwrap();
    server.feed_after(&turn.session.to_string(), turn.seq).await
}

async fn answer(server: &TestServer, session: &str, asked: &Value, text: &str) {
    let command = Command::Answer {
        question: QuestionId::from(asked["questionId"].as_str().unwrap()),
        text: text.to_owned(),
    };
    server.open(session).await.submit(command).await.unwrap();
}

fn results(events: &[Value]) -> Vec<bool> {
    let done = events
        .iter()
        .filter(|event| event["type"] == "tool.execution_complete");
    done.map(|event| event["success"] == true).collect()
}

fn questions(events: &[Value]) -> usize {
    let asked = events
        .iter()
        .filter(|one| one["type"] == "session.question");
    asked.count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_writes_is_called_only_after_the_user_allows_it() {
    let (_model, base) = model("create_entities", 1).await;
    let server = server(&base, "writes").await;
    for (text, called) in [
        ("Allow once", true),
        ("Deny", false),
        ("Use another name", false),
    ] {
        let (session, mut reader) = asking(&server).await;
        let asked = reader.until("session.question").await;
        let question = asked["question"].as_str().unwrap();
        assert!(
            question.contains("memory/create_entities") && question.contains("Ada0"),
            "{question}"
        );
        let options = json!([
            "Allow once",
            "Allow in this chat",
            "Always allow",
            "Deny",
            "Never allow"
        ]);
        assert_eq!(asked["options"], options);
        answer(&server, &session, &asked, text).await;
        let frames = reader.rest().await;
        assert_eq!(results(&frames), [called], "{text}: {frames:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_reads_why_a_call_was_denied() {
    let (model, base) = model("create_entities", 1).await;
    let server = server(&base, "writes").await;
    let (session, mut reader) = asking(&server).await;
    let asked = reader.until("session.question").await;
    answer(&server, &session, &asked, "Use another name").await;
    reader.rest().await;
    let asked = model.asked();
    let last = asked.last().unwrap()["messages"].as_array().unwrap();
    let result = last.last().unwrap()["content"].as_str().unwrap();
    assert!(result.contains("Use another name"), "{result}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn allowed_in_this_chat_holds_for_this_chat_alone() {
    let (_model, base) = model("create_entities", 2).await;
    let server = server(&base, "writes").await;
    let (session, mut reader) = asking(&server).await;
    let asked = reader.until("session.question").await;
    answer(&server, &session, &asked, "Allow in this chat").await;
    let frames = reader.rest().await;
    assert_eq!(
        (questions(&frames), results(&frames)),
        (0, vec![true, true])
    );
    let (_, mut reader) = asking(&server).await;
    reader.until("session.question").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn always_and_never_hold_in_every_chat_and_after_a_restart_until_they_are_forgotten() {
    let (_model, base) = model("create_entities", 1).await;
    let mut server = server(&base, "writes").await;
    for (text, called, listed) in [
        ("Always allow", true, "always"),
        ("Never allow", false, "never"),
    ] {
        let (session, mut reader) = asking(&server).await;
        let asked = reader.until("session.question").await;
        answer(&server, &session, &asked, text).await;
        reader.rest().await;
        server = restarted(server).await;
        let (_, reader) = asking(&server).await;
        let frames = reader.rest().await;
        assert_eq!((questions(&frames), results(&frames)), (0, vec![called]));
        let (_, list) = server.get("/api/tools/approvals").await;
        let tool = json!({ "tool": "memory/create_entities", "choice": listed });
        assert_eq!(list["tools"], json!([tool]));
        let forget = json!({ "tool": "memory/create_entities" });
        let path = "/api/tools/approvals";
        let (status, body) = server.call(reqwest::Method::PUT, path, Some(forget)).await;
        assert_eq!(status, 204, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_policy_decides_for_tools_without_a_choice() {
    for (tool, policy, asks) in [
        ("read_graph", "writes", false),
        ("read_graph", "all", true),
        ("create_entities", "none", false),
    ] {
        let (_model, base) = model(tool, 1).await;
        let server = server(&base, policy).await;
        let (_, mut reader) = asking(&server).await;
        if asks {
            reader.until("session.question").await;
            continue;
        }
        let frames = reader.rest().await;
        assert_eq!(
            (questions(&frames), results(&frames)),
            (0, vec![true]),
            "{tool}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_added_has_a_policy_of_its_own_and_one_from_the_settings_does_not_change()
{
    let server = TestServer::start().await;
    let added = json!({ "mcpServers": { "x": { "command": "true", "disabled": true } } });
    assert_eq!(server.post("/api/mcp/servers", added).await.0, 201);
    let put = |id: &str, body: Value| {
        let path = format!("/api/mcp/servers/{id}/approval");
        let server = &server;
        async move { server.call(reqwest::Method::PUT, &path, Some(body)).await }
    };
    assert_eq!(put("x", json!({ "policy": "all" })).await.0, 204);
    assert_eq!(put("x", json!({ "policy": "maybe" })).await.0, 400);
    assert_eq!(put("y", json!({ "policy": "all" })).await.0, 404);
    let (_, list) = server.get("/api/tools/approvals").await;
    let own = json!([{ "id": "x", "policy": "all", "fromConfig": false }]);
    assert_eq!(
        (&list["servers"], &list["defaultPolicy"]),
        (&own, &json!("writes"))
    );
    let unknown = json!({ "tool": "x/none", "choice": "always" });
    let path = "/api/tools/approvals";
    let (status, _) = server.call(reqwest::Method::PUT, path, Some(unknown)).await;
    assert_eq!(status, 404);
}

/// An MCP server with one tool, whose description it reads from a file.
const CHANGING: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, answer = asked["method"], {}
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif method == "tools/list":
        about = open(sys.argv[1]).read()
        answer = {"tools": [{"name": "create_entities", "description": about, "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": "done"}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_does_not_hold_for_a_tool_that_changed_while_the_user_was_asked() {
    let (_model, base) = model("create_entities", 1).await;
    let folder = tempfile::tempdir().unwrap();
    let about = folder.path().join("about");
    std::fs::write(&about, "Keeps a note.").unwrap();
    let entry = json!({ "command": "python3", "args": ["-c", CHANGING, about] });
    let server = with_memory(|config| {
        let entry = serde_json::from_value(entry).unwrap();
        config.mcp_servers.insert("memory".into(), entry);
        config.model = Some(base);
    })
    .await;
    let (session, mut reader) = asking(&server).await;
    let asked = reader.until("session.question").await;
    std::fs::write(&about, "Deletes everything.").unwrap();
    for what in ["stop", "start"] {
        let path = format!("/api/mcp/servers/memory/{what}");
        let (status, answer) = server.post(&path, json!({})).await;
        assert!(status.is_success(), "{what}: {answer}");
    }
    let id = "memory".parse().unwrap();
    server.service.tools.host.ready(&id).await.unwrap();
    answer(&server, &session, &asked, "Always allow").await;
    assert_eq!(results(&reader.rest().await), [false]);
    let (_, stored) = server.get("/api/tools/approvals").await;
    assert_eq!(stored["tools"], json!([]), "{stored}");
}

/// The same server on the same data folder, with its MCP server ready.
async fn restarted(server: TestServer) -> TestServer {
    let server = server.restart().await;
    ready(&server, "memory").await;
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_survives_a_restart_and_its_answer_continues_the_turn() {
    for (text, called) in [("Allow once", true), ("Deny", false)] {
        let (model, base) = model("create_entities", 2).await;
        let server = server(&base, "writes").await;
        let (session, mut reader) = asking(&server).await;
        let first = reader.until("session.question").await;
        answer(&server, &session, &first, "Allow once").await;
        let asked = reader.until("session.question").await;
        drop(reader);
        let server = restarted(server).await;
        let described = server.hub().describe(session.parse().unwrap()).await;
        let (_, running) = described.unwrap();
        assert!(running);
        answer(&server, &session, &asked, text).await;
        let frames = turn_of(&server, &asked).await.rest().await;
        // The first call was approved but not made when the process ended: it is reported and never repeated.
        assert_eq!(results(&frames), [false, called], "{text}: {frames:?}");
        assert_eq!(frames.last().unwrap()["outcome"], "completed");
        let requests = model.asked();
        let read = requests.last().unwrap()["messages"].to_string();
        assert!(read.contains("Gangway was restarted first"), "{read}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_after_a_restart_does_not_hold_for_a_tool_that_changed_meanwhile() {
    let (_model, base) = model("create_entities", 1).await;
    let folder = tempfile::tempdir().unwrap();
    let about = folder.path().join("about");
    std::fs::write(&about, "Keeps a note.").unwrap();
    let entry = json!({ "command": "python3", "args": ["-c", CHANGING, about] });
    let server = with_memory(|config| {
        let entry = serde_json::from_value(entry).unwrap();
        config.mcp_servers.insert("memory".into(), entry);
        config.model = Some(base);
    })
    .await;
    let (session, mut reader) = asking(&server).await;
    let asked = reader.until("session.question").await;
    drop(reader);
    std::fs::write(&about, "Deletes everything.").unwrap();
    let server = restarted(server).await;
    answer(&server, &session, &asked, "Always allow").await;
    let frames = turn_of(&server, &asked).await.rest().await;
    assert_eq!(results(&frames), [false], "{frames:?}");
}
