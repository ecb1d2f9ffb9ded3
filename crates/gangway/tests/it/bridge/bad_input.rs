//! Invalid messages, and how they are handled.

use std::{
    io::{Read, Write},
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    alone, bridged,
    pipe::{Pipe, framed},
};
use crate::support::{Gangway, TestServer};

/// What a frame is answered with at once: the id and the code.
fn refused(pipe: &mut Pipe, bytes: &[u8]) -> (Value, String) {
    pipe.throw(&framed(bytes));
    let error = pipe.until(|message| message["type"] == "error");
    let code = error["error"]["code"].as_str().unwrap().to_owned();
    (error["request_id"].clone(), code)
}

#[test]
fn an_invalid_message_is_refused_and_the_next_one_is_served() {
    let folder = alone();
    let mut pipe = Pipe::start(folder.path());
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = format!(r#"{{"type":"list_servers","request_id":"d","x":{deep}}}"#);
    for (bytes, id, code) in [
        (&b""[..], Value::Null, "bad_message"),
        (b"\xff\xfe{}", Value::Null, "bad_message"),
        (
            b"{\"type\":\"ping\xc3\",\"request_id\":\"a\"}",
            Value::Null,
            "bad_message",
        ),
        (b"{", Value::Null, "bad_message"),
        (b"[\"ping\",\"a\"]", Value::Null, "bad_message"),
        (b"\"ping\"", Value::Null, "bad_message"),
        (b"7", Value::Null, "bad_message"),
        (b"null", Value::Null, "bad_message"),
        (b"{}", Value::Null, "bad_message"),
        (b"{\"type\":7}", Value::Null, "bad_message"),
        (
            b"{\"type\":7,\"request_id\":\"a\"}",
            json!("a"),
            "bad_message",
        ),
        (b"{\"request_id\":\"a\"}", json!("a"), "bad_message"),
        (b"{\"type\":\"ping\"}", Value::Null, "bad_message"),
        (
            b"{\"type\":\"ping\",\"request_id\":7}",
            Value::Null,
            "bad_message",
        ),
        (
            b"{\"type\":\"ping\",\"request_id\":\"\"}",
            Value::Null,
            "bad_message",
        ),
        (
            b"{\"type\":\"ping\",\"request_id\":\"a b\"}",
            Value::Null,
            "bad_message",
        ),
        (
            b"{\"type\":\"ping\",\"type\":\"ping\",\"request_id\":\"a\"}",
            Value::Null,
            "bad_message",
        ),
        (
            b"{\"type\":\"nothing\",\"request_id\":\"a\"}",
            json!("a"),
            "unknown_type",
        ),
        (
            b"{\"type\":\"ping_result\",\"request_id\":\"a\"}",
            json!("a"),
            "unknown_type",
        ),
        (
            b"{\"type\":\"page_frame\",\"request_id\":\"a\"}",
            json!("a"),
            "bad_field",
        ),
        (
            b"{\"type\":\"remove_server\",\"request_id\":\"a\"}",
            json!("a"),
            "bad_field",
        ),
        (
            b"{\"type\":\"remove_server\",\"request_id\":\"a\",\"server_id\":7}",
            json!("a"),
            "bad_field",
        ),
        (
            b"{\"type\":\"remove_server\",\"request_id\":\"a\",\"server_id\":\"\"}",
            json!("a"),
            "bad_field",
        ),
        (
            b"{\"type\":\"remove_server\",\"request_id\":\"a\",\"server_id\":\"..\"}",
            json!("a"),
            "bad_field",
        ),
        (
            b"{\"type\":\"hello\",\"request_id\":\"a\"}",
            json!("a"),
            "bad_field",
        ),
        (
            b"{\"type\":\"hello\",\"request_id\":\"a\",\"protocol\":2}",
            json!("a"),
            "wrong_protocol",
        ),
        (
            b"{\"type\":\"hello\",\"request_id\":\"a\",\"protocol\":0}",
            json!("a"),
            "wrong_protocol",
        ),
    ] {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(refused(&mut pipe, bytes), (id, code.into()), "{text}");
    }
    let long = format!(r#"{{"type":"ping","request_id":"{}"}}"#, "a".repeat(65));
    assert_eq!(refused(&mut pipe, long.as_bytes()).1, "bad_message");
    // Depth does not matter where the content is not parsed.
    pipe.throw(&framed(deep.as_bytes()));
    pipe.answer("d").unwrap();
    let error = pipe
        .ask("remove_server", json!({ "server_id": 7 }))
        .unwrap_err();
    assert!(
        error["message"].as_str().unwrap().contains("server_id"),
        "{error}"
    );
    assert_eq!(
        pipe.get("ping", json!({ "data": { "a": [1, "é"] } })),
        json!({ "a": [1, "é"] })
    );
    assert_eq!(pipe.get("ping", json!({})), Value::Null);
    assert_eq!(pipe.end(), 0);
}

#[test]
fn a_frame_that_is_announced_too_large_ends_the_bridge_and_takes_no_memory() {
    for length in [(16 << 20) + 1, u32::MAX - 3, u32::MAX] {
        let folder = alone();
        let mut pipe = Pipe::start(folder.path());
        pipe.get("ping", json!({}));
        pipe.throw(&length.to_ne_bytes());
        let error = pipe.receive();
        assert_eq!(error["request_id"], Value::Null);
        assert_eq!(error["error"]["code"], "too_large");
        assert_eq!(pipe.end(), 1, "{length}");
    }
}

#[test]
fn the_largest_frame_is_taken_and_answered_in_parts() {
    let folder = alone();
    let mut pipe = Pipe::start(folder.path());
    let around = r#"{"type":"ping","request_id":"big","data":""}"#;
    let data = json!("x".repeat((16 << 20) - around.len())).to_string();
    let message = around.replace("\"\"}", &format!("{data}}}"));
    assert_eq!(message.len(), 16 << 20);
    pipe.throw(&framed(message.as_bytes()));
    let answer = pipe.answer("big").unwrap();
    assert_eq!(json!(answer).to_string(), data);
    assert_eq!(pipe.joined, 1);
    assert_eq!(pipe.end(), 0);
}

#[test]
fn half_a_message_and_half_a_length_end_it_with_a_failure() {
    for half in [&b"\x05"[..], b"\x05\0\0", &framed(b"{\"type\"")[..8]] {
        let folder = alone();
        let mut pipe = Pipe::start(folder.path());
        pipe.get("ping", json!({}));
        pipe.throw(half);
        assert_eq!(pipe.end(), 1, "{half:?}");
    }
}

#[test]
fn a_browser_that_reads_no_more_ends_the_bridge() {
    let folder = alone();
    let mut command = Gangway::command(folder.path());
    let command = command.arg("bridge").stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut from = child.stdout.take().unwrap();
    let mut to = child.stdin.take().unwrap();
    let ping = framed(br#"{"type":"ping","request_id":"a"}"#);
    to.write_all(&ping).unwrap();
    from.read_exact(&mut [0; 10]).unwrap();
    drop(from);
    to.write_all(&ping).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(to);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_request_of_a_name_is_refused_and_the_first_continues() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let session = server.session().await;
    let follow = json!({
        "type": "chat_follow", "request_id": "same", "session_id": session,
    });
    pipe.send_message(&follow);
    pipe.until(|message| message["n"] == 0);
    pipe.until(|message| message["event"]["type"] == "snapshot");
    for message in [
        follow.clone(),
        json!({ "type": "ping", "request_id": "same" }),
        json!({ "type": "list_servers", "request_id": "same" }),
        json!({ "type": "page_open", "request_id": "same", "origin": "https://a.example", "tab": "0".repeat(32) }),
    ] {
        pipe.send_message(&message);
        let error = pipe.until(|message| message["type"] == "error");
        assert_eq!(error["error"]["code"], "duplicate_request", "{message}");
        assert_eq!(error["refused"], true);
    }
    // Nor does anything else that is wrong end it.
    pipe.send_message(&json!({ "type": "nothing", "request_id": "same" }));
    let error = pipe.until(|message| message["type"] == "error");
    assert_eq!(
        (&error["error"]["code"], &error["refused"]),
        (&json!("unknown_type"), &json!(true))
    );
    server.send_message(&session, "Hello").await;
    let next = pipe.until(|message| message["type"] == "chat_follow_event");
    assert_eq!(next["n"], 2);
    assert_eq!(
        pipe.get("cancel", json!({ "target": "same" })),
        json!({ "found": true })
    );
    assert_eq!(pipe.answer("same").unwrap_err()["code"], "cancelled");
    // Its name is free again.
    pipe.send_message(&json!({ "type": "ping", "request_id": "same" }));
    pipe.answer("same").unwrap();
    assert_eq!(
        pipe.get("cancel", json!({ "target": "same" })),
        json!({ "found": false })
    );
    assert_eq!(
        pipe.get("cancel", json!({ "target": "/" })),
        json!({ "found": false })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_at_once_are_all_answered() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let mut all = Vec::new();
    let kinds = [
        "list_servers",
        "list_agents",
        "permission_list",
        "chat_list_sessions",
    ];
    for n in 0..1000 {
        let message = json!({ "type": kinds[n % 4], "request_id": format!("q{n}") });
        all.extend(framed(message.to_string().as_bytes()));
    }
    let mut to = pipe.to.take().unwrap();
    let writing = std::thread::spawn(move || {
        to.write_all(&all).unwrap();
        to
    });
    for n in 0..1000 {
        pipe.answer(&format!("q{n}")).unwrap();
    }
    pipe.to = Some(writing.join().unwrap());
    assert_eq!(
        pipe.hear_within(Duration::from_millis(200))
            .filter(|m| m["type"] != "status"),
        None
    );
    assert_eq!(pipe.end(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_and_streams_are_counted_and_one_too_many_is_refused() {
    let server = TestServer::start().await;
    let (mut pipe, _note) = bridged(&server);
    let session = server.session().await;
    for n in 0..64 {
        let follow =
            json!({ "type": "chat_follow", "request_id": format!("s{n}"), "session_id": session });
        pipe.send_message(&follow);
    }
    let (code, _) = pipe.refused("chat_follow", json!({ "session_id": session }));
    assert_eq!(code, "too_many_requests");
    pipe.get("cancel", json!({ "target": "s7" }));
    let again = pipe.begin("chat_follow", json!({ "session_id": session }));
    let first = pipe.until(|message| message["request_id"] == json!(again));
    assert_eq!(first["type"], "chat_follow_event");
}

#[test]
fn nothing_but_frames_is_on_the_pipe_however_much_is_logged() {
    let folder = alone();
    let mut command = Gangway::command(folder.path());
    command.arg("bridge").env("RUST_LOG", "trace");
    // The client fails at the first byte that is no frame.
    let mut pipe = Pipe::spawn(command);
    assert_eq!(pipe.hello()["attached"], "own");
    for kind in ["list_servers", "llm_list_models", "check_runtimes"] {
        pipe.get(kind, json!({}));
    }
    pipe.page("v1", "https://shop.example");
    pipe.page_hears("v1", "welcome");
    assert_eq!(pipe.end(), 0);
}

#[test]
fn only_what_is_wrong_is_logged() {
    let folder = alone();
    let mut command = Gangway::command(folder.path());
    let command = command.arg("bridge").stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let hello = framed(br#"{"type":"hello","request_id":"a","protocol":1}"#);
    to.write_all(&hello).unwrap();
    // It is answered when the server is there.
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut [0; 40])
        .unwrap();
    drop(to);
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
}
