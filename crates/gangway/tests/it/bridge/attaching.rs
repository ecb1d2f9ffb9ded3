//! The Gangway behind the bridge: one that runs, one of its own, one that goes and comes back.

use gangway_client::ServerNote;
use serde_json::{Value, json};

use tokio::net::TcpStream;

use super::{alone, pipe::Pipe};
use crate::support::{Gangway, LOCAL_TOKEN, TestServer, eventually};

const CONFIG: &str = super::ALONE;

#[test]
fn hello_says_what_there_is() {
    let folder = alone();
    let server = Gangway::serve(folder.path(), &[]);
    let mut pipe = Pipe::start(folder.path());
    let hello = pipe.hello();
    assert_eq!(
        hello,
        json!({
            "protocol": 1, "gangway": env!("CARGO_PKG_VERSION"), "pid": pipe.child.id(),
            "attached": "server", "base_url": server.url,
            "capabilities": [
                "pages", "servers", "mcp", "catalog", "installer", "llm", "chat", "permissions", "asks", "parts",
            ],
            "limits": { "frame_bytes": 16_777_216, "reply_bytes": 1_000_000, "requests": 1024, "pages": 1000 },
        })
    );
    let status = pipe.status("server");
    assert_eq!(
        status,
        json!({
            "type": "status", "about": "server", "state": "up", "attached": "server", "base_url": server.url,
        })
    );
    let asks = pipe.status("asks");
    assert_eq!(asks["frame"], json!({ "type": "asks", "asks": [] }));
    assert_eq!(pipe.end(), 0);
    // The server was there before, and stays.
    assert!(ServerNote::read(folder.path()).is_some());
}

#[test]
fn where_no_gangway_runs_the_bridge_starts_one_that_others_find_and_that_outlives_it() {
    let folder = alone();
    let mut pipe = Pipe::start(folder.path());
    let hello = pipe.hello();
    assert_eq!(hello["attached"], "own");
    let note = ServerNote::read(folder.path()).unwrap();
    assert_eq!(json!(note.url), hello["base_url"]);
    assert_ne!(note.pid, pipe.child.id());
    let list = Gangway::run(folder.path(), &["key", "list", "--json"]);
    assert!(list.status.success(), "commands find the server");
    let mut second = Pipe::start(folder.path());
    assert_eq!(second.hello()["base_url"], hello["base_url"]);
    let made = second.get(
        "chat_create_session",
        json!({ "body": { "title": "Shared" } }),
    );
    let seen = pipe.get(
        "chat_get_session",
        json!({ "session_id": made["sessionId"] }),
    );
    assert_eq!(seen["title"], "Shared");
    // The first goes, and the second does not notice.
    assert_eq!(pipe.end(), 0);
    let seen = second.get(
        "chat_get_session",
        json!({ "session_id": made["sessionId"] }),
    );
    assert_eq!(seen["title"], "Shared");
    assert_eq!(second.end(), 0);
    let still = ServerNote::read(folder.path()).unwrap();
    assert_eq!((still.pid, still.url), (note.pid, note.url));
}

#[test]
fn a_page_continues_where_it_was_when_the_bridge_that_started_its_gangway_is_killed() {
    let folder = alone();
    let mut pipe = Pipe::start(folder.path());
    pipe.page("v1", "https://shop.example");
    let visit = pipe.page_hears("v1", "welcome")["visit"].clone();
    pipe.page_calls("v1", 1, "permissions.list", json!({}))
        .unwrap();
    // Killed, not closed.
    drop(pipe);
    let mut pipe = Pipe::start(folder.path());
    let open = json!({
        "type": "page_open", "request_id": "v1", "origin": "https://shop.example", "tab": "0".repeat(32),
        "visit": visit, "seen": 0,
    });
    pipe.send_message(&open);
    assert_eq!(pipe.page_hears("v1", "welcome")["resumed"], true);
    // What it had not acknowledged comes again.
    pipe.page_ends("v1", 1).unwrap();
}

#[tokio::test]
async fn a_connection_or_a_running_turn_needs_a_gangway_and_nothing_else_does() {
    let server = TestServer::scripted("turns: [{steps: [{ask: {question: 'Go on?'}}]}]").await;
    assert!(!server.app.is_needed());
    let needed = async |wanted: bool| {
        eventually(async || (server.app.is_needed() == wanted).then_some(())).await;
    };
    let socket = TcpStream::connect(server.address).await.unwrap();
    needed(true).await;
    drop(socket);
    needed(false).await;
    // A turn continues when its client has left.
    let client = reqwest::Client::builder().pool_max_idle_per_host(0);
    let client = client.no_proxy().build().unwrap();
    let post = async |path: &str, body: Value| {
        let request = client.post(server.url(path)).bearer_auth(LOCAL_TOKEN);
        let answer = request.json(&body).send().await.unwrap();
        answer.json::<Value>().await.unwrap()
    };
    let session = post("/api/sessions", json!({})).await;
    needed(false).await;
    let path = format!("/api/sessions/{}", session["sessionId"].as_str().unwrap());
    post(&format!("{path}/messages"), json!({ "prompt": "Go" })).await;
    eventually(async || (server.app.http.metrics.connections.get() == 0).then_some(())).await;
    needed(true).await;
    post(&format!("{path}/stop"), json!({})).await;
    needed(false).await;
}

#[test]
fn a_gangway_for_a_browser_ends_when_it_is_no_longer_needed() {
    let folder = alone();
    let served = Gangway::run(folder.path(), &["serve", "--for-browser", "0.1"]);
    assert!(served.status.success());
    assert!(String::from_utf8_lossy(&served.stdout).contains("is listening on"));
    super::eventually_free(folder.path());
}

#[test]
fn a_gangway_for_a_browser_makes_room_for_one_that_a_user_starts() {
    let folder = alone();
    let mut pipe = Pipe::start(folder.path());
    assert_eq!(pipe.hello()["attached"], "own");
    assert_eq!(pipe.status("server")["attached"], "own");
    // Not for one that cannot be.
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let refused = Gangway::run(folder.path(), &["serve", "--listen", &taken]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && message.contains("already in use"),
        "{message}"
    );
    assert_eq!(pipe.get("list_servers", json!({}))["servers"], json!([]));
    let server = Gangway::serve(folder.path(), &[]);
    assert_eq!(pipe.status("server")["state"], "gone");
    let up = pipe.status("server");
    assert_eq!(
        (&up["state"], &up["attached"], &up["base_url"]),
        (&json!("up"), &json!("server"), &json!(server.url))
    );
    // One that a person started stays.
    let second = Gangway::run(folder.path(), &["serve"]);
    assert!(!second.status.success());
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(message.contains("in use"), "{message}");
}

#[test]
fn requests_before_the_hello_wait_for_the_server_and_nothing_is_pushed_before_it() {
    let folder = alone();
    let mut pipe = Pipe::start(folder.path());
    assert_eq!(
        pipe.get("list_servers", json!({})),
        json!({ "servers": [] })
    );
    assert_eq!(
        pipe.hear_within(std::time::Duration::from_millis(300)),
        None
    );
    pipe.hello();
    assert_eq!(pipe.status("server")["state"], "up");
}

#[test]
fn a_server_that_dies_ends_everything_that_was_open_and_the_next_one_is_used() {
    let folder = alone();
    let server = Gangway::serve(folder.path(), &[]);
    let mut pipe = Pipe::start(folder.path());
    pipe.hello();
    let session = pipe.get("chat_create_session", json!({}));
    let session = session["sessionId"].clone();
    let follow = pipe.begin("chat_follow", json!({ "session_id": session }));
    pipe.until(|message| message["type"] == "chat_follow_event");
    pipe.page("v1", "https://shop.example");
    let visit = pipe.page_hears("v1", "welcome")["visit"].clone();
    server.kill();
    assert_eq!(pipe.answer(&follow).unwrap_err()["code"], "server_gone");
    assert_eq!(
        pipe.answer("v1").unwrap(),
        json!({ "code": 1006, "reason": "" })
    );
    pipe.status("server");
    assert_eq!(pipe.status("server")["state"], "gone");
    // It answers itself what needs no server.
    assert_eq!(pipe.get("ping", json!({ "data": 1 })), json!(1));
    let up = pipe.status("server");
    assert_eq!(
        (&up["state"], &up["attached"]),
        (&json!("up"), &json!("own"))
    );
    let again = pipe.begin("chat_follow", json!({ "session_id": session, "since": 0 }));
    pipe.until(|message| message["request_id"] == json!(again));
    let open = json!({
        "type": "page_open", "request_id": "v2", "origin": "https://shop.example", "tab": "0".repeat(32),
        "visit": visit, "seen": 0,
    });
    pipe.send_message(&open);
    // Another process knows nothing of that visit.
    assert_eq!(pipe.page_hears("v2", "welcome")["resumed"], false);
}

#[test]
fn what_a_server_says_when_it_is_stopped_is_passed_on() {
    let folder = alone();
    let server = Gangway::serve(folder.path(), &[]);
    let mut pipe = Pipe::start(folder.path());
    pipe.hello();
    let session = pipe.get("chat_create_session", json!({}));
    let follow = pipe.begin("chat_follow", json!({ "session_id": session["sessionId"] }));
    pipe.until(|message| message["type"] == "chat_follow_event");
    pipe.page("v1", "https://shop.example");
    pipe.page_hears("v1", "welcome");
    server.terminate();
    let ended = pipe.answer(&follow).unwrap();
    assert_eq!(ended["code"], 1001, "{ended}");
    assert!(!ended["reason"].as_str().unwrap().is_empty());
    // A page's connection may be cut before it is closed.
    let ended = pipe.answer("v1").unwrap();
    assert!(
        [1001, 1006].map(Value::from).contains(&ended["code"]),
        "{ended}"
    );
}

#[test]
fn what_is_in_the_way_of_a_server_is_reported_with_what_to_do_and_may_be_put_right_meanwhile() {
    let folder = alone();
    let config = folder.path().join("config.yaml");
    std::fs::write(&config, "listen: nowhere\n").unwrap();
    let mut pipe = Pipe::start(folder.path());
    let hello = json!({ "protocol": 1 });
    let error = pipe.ask("hello", hello.clone()).unwrap_err();
    assert_eq!(error["code"], "server_gone");
    assert!(
        error["message"].as_str().unwrap().contains("listen"),
        "{error}"
    );
    assert_eq!(pipe.refused("list_servers", json!({})).0, "server_gone");
    // What is wrong only once it starts.
    std::fs::write(&config, "listen: 127.0.0.1:0\napps: [./missing]\n").unwrap();
    let message = loop {
        let error = pipe.ask("hello", hello.clone()).unwrap_err();
        let message = error["message"].as_str().unwrap().to_owned();
        if !message.contains("nowhere") {
            break message;
        }
    };
    assert!(message.contains("is not a folder"), "{message}");
    std::fs::write(&config, CONFIG).unwrap();
    let hello = loop {
        match pipe.ask("hello", hello.clone()) {
            Ok(hello) => break hello,
            Err(error) => assert_eq!(error["code"], "server_gone"),
        }
    };
    assert_eq!(hello["attached"], "own");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_ends_pages_without_a_goodbye_so_that_they_may_come_back() {
    let server = crate::support::TestServer::start().await;
    let (mut pipe, _note) = super::bridged(&server);
    pipe.page("v1", "https://shop.example");
    let visit = pipe.page_hears("v1", "welcome")["visit"].clone();
    assert_eq!(pipe.end(), 0);
    let mut pipe = Pipe::start(server.folder.path());
    let open = json!({
        "type": "page_open", "request_id": "v9", "origin": "https://shop.example", "tab": "0".repeat(32),
        "visit": visit, "seen": 0,
    });
    pipe.send_message(&open);
    assert_eq!(pipe.page_hears("v9", "welcome")["resumed"], true);
}

#[test]
fn a_browser_that_starts_it_for_another_extension_is_rejected() {
    let folder = alone();
    for strangers in [
        &["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"][..],
        &["/somewhere/gangway.bridge.json", "other@example"],
    ] {
        let mut arguments = vec!["bridge"];
        arguments.extend(strangers);
        let done = Gangway::run(folder.path(), &arguments);
        assert_eq!(done.status.code(), Some(2));
        assert!(done.stdout.is_empty());
        assert_eq!(String::from_utf8_lossy(&done.stderr).lines().count(), 1);
    }
    let mut command = Gangway::command(folder.path());
    command.args([
        "bridge",
        "chrome-extension://njoboigjinompkfkjgolajikglchoefc/",
        "--parent-window=0",
    ]);
    let mut pipe = Pipe::spawn(command);
    assert_eq!(pipe.get("ping", json!({})), Value::Null);
}

#[test]
fn what_a_page_says_before_its_connection_stands_waits_and_not_without_end() {
    let folder = alone();
    // A process holds the folder and accepts connections, but never responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut taken = gangway_client::DataFolder::take(folder.path()).unwrap();
    let note = ServerNote {
        pid: 1,
        url: format!("http://{}", silent.local_addr().unwrap()),
        token: "x".into(),
        for_browser: false,
    };
    taken.announce(&note).unwrap();
    let mut pipe = Pipe::start(folder.path());
    for page in ["v1", "v2"] {
        pipe.page(page, "https://shop.example");
    }
    for _ in 0..64 {
        pipe.page_says("v1", &json!({ "type": "call" }));
        pipe.page_says("v2", &json!({ "type": "call" }));
    }
    assert_eq!(pipe.get("ping", json!({})), Value::Null);
    assert_eq!(
        pipe.hear_within(std::time::Duration::from_millis(200)),
        None
    );
    pipe.page_says("v2", &json!({ "type": "call" }));
    assert_eq!(pipe.answer("v2").unwrap_err()["code"], "too_many_requests");
    // The end waits for no request.
    assert_eq!(pipe.end(), 0);
}
