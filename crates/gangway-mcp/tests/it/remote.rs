//! Servers at a URL.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use gangway_core::ToolError;
use gangway_mcp::{Host, Resolve, ServerSpec, Settings, State, UrlPolicy};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use crate::support::*;

fn at(url: &str) -> ServerSpec {
    ServerSpec::http(id("remote"), url, UrlPolicy::Any)
}

/// A real server over HTTP, on a free port.
async fn everything(kind: &str) -> (Child, u16) {
    let port = {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        free.local_addr().unwrap().port()
    };
    (everything_at(kind, port).await, port)
}

async fn everything_at(kind: &str, port: u16) -> Child {
    let script = installed("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let child = Command::new("node")
        .arg(script)
        .arg(kind)
        .env("PORT", port.to_string())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    for _ in 0..1000 {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return child;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it does not listen");
}

#[tokio::test]
async fn a_server_over_streamable_http_is_used_and_missed_when_it_goes() {
    let (mut child, port) = everything("streamableHttp").await;
    let host = host(brisk(), vec![at(&format!("http://127.0.0.1:{port}/mcp"))]).await;
    let texts = call(&host, "remote/echo", json!({"message": "hi"}))
        .await
        .unwrap();
    assert_eq!(texts[0]["text"], "Echo: hi");
    child.kill().await.unwrap();
    let gone = call(&host, "remote/echo", json!({"message": "hi"})).await;
    assert!(matches!(gone, Err(ToolError::Unavailable(_))), "{gone:?}");
    let status = until(&host, |state| matches!(state, State::Failed { .. })).await;
    assert!(
        format!("{status:?}").contains("cannot be reached"),
        "{status:?}"
    );
}

#[tokio::test]
async fn a_server_that_was_away_comes_back_by_itself_and_a_call_tries_at_once() {
    let (mut child, port) = everything("streamableHttp").await;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let host = host(brisk(), vec![at(&url)]).await;
    child.kill().await.unwrap();
    let echo = || call(&host, "remote/echo", json!({"message": "hi"}));
    assert!(matches!(echo().await, Err(ToolError::Unavailable(_))));
    until(&host, |state| matches!(state, State::Failed { .. })).await;
    assert!(!host.tools().is_empty(), "its tools are forgotten");
    let _back = everything_at("streamableHttp", port).await;
    until(&host, |state| *state == State::Ready).await;
    assert_eq!(echo().await.unwrap()[0]["text"], "Echo: hi");

    // With an hour between two attempts only the call can reconnect.
    let settings = Settings {
        backoff: Duration::from_secs(3600),
        ..brisk()
    };
    let (mut child, port) = everything("streamableHttp").await;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let host = crate::support::host(settings, vec![at(&url)]).await;
    let echo = || call(&host, "remote/echo", json!({"message": "hi"}));
    child.kill().await.unwrap();
    assert!(matches!(echo().await, Err(ToolError::Unavailable(_))));
    let _back = everything_at("streamableHttp", port).await;
    assert_eq!(echo().await.unwrap()[0]["text"], "Echo: hi");
}

#[tokio::test]
async fn a_call_just_after_a_restart_of_its_server_is_answered() {
    let (mut child, port) = everything("streamableHttp").await;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let host = host(brisk(), vec![at(&url)]).await;
    child.kill().await.unwrap();
    let _back = everything_at("streamableHttp", port).await;
    let message = call(&host, "remote/echo", json!({"message": "hi"})).await;
    assert_eq!(message.unwrap()[0]["text"], "Echo: hi");
}

#[tokio::test]
async fn a_server_over_the_older_http_with_events_is_used() {
    let (mut child, port) = everything("sse").await;
    let host = host(brisk(), vec![at(&format!("http://127.0.0.1:{port}/sse"))]).await;
    let texts = call(&host, "remote/echo", json!({"message": "hi"}))
        .await
        .unwrap();
    assert_eq!(texts[0]["text"], "Echo: hi");
    child.kill().await.unwrap();
    until(&host, |state| *state != State::Ready).await;
}

/// A web server that responds with a function, and its number of connections.
pub async fn web(
    answer: impl Fn(String) -> (String, Option<Duration>) + Send + Sync + 'static,
) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut request = vec![0; 64 * 1024];
                let mut read = 0;
                // The requests here are small, and arrive in one or two parts.
                while let Ok(n @ 1..) = socket.read(&mut request[read..]).await {
                    read += n;
                    let text = String::from_utf8_lossy(&request[..read]).into_owned();
                    if is_whole(&text) {
                        let (message, pause) = answer(text);
                        match pause {
                            None => drop(socket.write_all(message.as_bytes()).await),
                            Some(pause) => {
                                for byte in message.bytes() {
                                    if socket.write_all(&[byte]).await.is_err() {
                                        return;
                                    }
                                    tokio::time::sleep(pause).await;
                                }
                            }
                        }
                        return;
                    }
                }
            });
        }
    });
    (url, count)
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        value.parse::<usize>().ok().filter(|_| is_length)
    });
    body.len() >= length.unwrap_or(0)
}

pub fn page(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// The response of a small MCP server to a POST; a tool result has this many bytes.
pub fn mcp(request: &str, kind: &str, bytes: usize) -> String {
    let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
    let message: Value = serde_json::from_str(body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => {
            json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"}})
        }
        Some("tools/list") => {
            json!({"tools": [{"name": "big", "inputSchema": {"type": "object"}}]})
        }
        Some("tools/call") => json!({"content": [{"type": "text", "text": "x".repeat(bytes)}]}),
        Some("notifications/initialized" | "notifications/cancelled") => {
            return page("202 Accepted", kind, "");
        }
        _ => return page("400 Bad Request", "text/plain", "no"),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    if kind == "application/json" {
        page("200 OK", kind, &answer)
    } else {
        page(
            "200 OK",
            kind,
            &format!("event: message\ndata: {answer}\n\n"),
        )
    }
}

#[tokio::test]
async fn a_result_of_fifty_megabytes_is_refused_over_http_too() {
    for kind in ["application/json", "text/event-stream"] {
        let (url, _) = web(move |request| (mcp(&request, kind, 50_000_000), None)).await;
        let settings = Settings {
            max_message_bytes: 1_000_000,
            ..brisk()
        };
        let host = host(settings, vec![at(&url)]).await;
        let refused = call(&host, "remote/big", Value::Null).await.unwrap_err();
        assert!(
            matches!(&refused, ToolError::Failed(why) if why.contains("more than 1000000 bytes")),
            "{kind}: {refused:?}"
        );
        assert_eq!(status(&host).state, State::Ready, "{kind}");
    }
}

/// Why a server at this URL does not start.
async fn refused(url: &str, policy: UrlPolicy, settings: Settings) -> String {
    let settings = Settings {
        tries: 1,
        ..settings
    };
    let host = Host::new(settings, None);
    host.set_up(vec![ServerSpec::http(id("remote"), url, policy)])
        .await;
    host.ready(&id("remote")).await.unwrap_err()
}

#[tokio::test]
async fn what_is_no_mcp_server_or_too_slow_is_reported() {
    let (url, _) = web(|_| (page("200 OK", "text/html", "<h1>Hello</h1>"), None)).await;
    let why = refused(&url, UrlPolicy::Any, brisk()).await;
    assert!(
        why.contains("not an MCP server") && why.contains("Hello"),
        "{why}"
    );
    let (url, _) = web(|_| (page("404 Not Found", "text/plain", "nope"), None)).await;
    let why = refused(&url, UrlPolicy::Any, brisk()).await;
    assert!(why.contains("404"), "{why}");
    let unauthorized =
        "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\n\r\n";
    let (url, _) = web(move |_| (unauthorized.to_owned(), None)).await;
    let why = refused(&url, UrlPolicy::Any, brisk()).await;
    assert!(why.contains("needs a login"), "{why}");
    let drip = Duration::from_millis(50);
    let (url, _) = web(move |request| (mcp(&request, "application/json", 9), Some(drip))).await;
    let settings = Settings {
        start_timeout: Duration::from_secs(2),
        ..brisk()
    };
    let why = refused(&url, UrlPolicy::Any, settings).await;
    assert!(why.contains("not ready within"), "{why}");
    let why = refused("http://127.0.0.1:1/mcp", UrlPolicy::Any, brisk()).await;
    assert!(why.contains("cannot be reached"), "{why}");
}

/// A resolver with a different answer every time.
struct Fickle(AtomicUsize, Vec<IpAddr>);

impl Resolve for Fickle {
    fn resolve(&self, _name: String) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        let turn = self.0.fetch_add(1, Ordering::Relaxed);
        let address = self.1[turn.min(self.1.len() - 1)];
        Box::pin(std::future::ready(Ok(vec![address])))
    }
}

#[tokio::test]
async fn a_url_from_a_page_never_reaches_this_machine() {
    // P17: whatever the spelling, the redirect or the resolver, no connection is made.
    let (url, count) = web(|request| (mcp(&request, "application/json", 9), None)).await;
    let port = url.rsplit(':').next().unwrap().to_owned();
    for host in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "localhost",
        "0",
    ] {
        let why = refused(
            &format!("http://{host}:{port}"),
            UrlPolicy::PublicOnly,
            brisk(),
        )
        .await;
        assert!(why.contains("public internet"), "{host}: {why}");
    }
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    // Public and unassigned, so that nothing is ever there.
    let public: IpAddr = "2e00::1".parse().unwrap();
    for answers in [vec![local], vec![public, local, local, local]] {
        let settings = Settings {
            resolver: Arc::new(Fickle(AtomicUsize::new(0), answers)),
            start_timeout: Duration::from_secs(2),
            ..brisk()
        };
        let url = format!("http://harmless.example:{port}");
        refused(&url, UrlPolicy::PublicOnly, settings).await;
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
    // Redirects are not followed.
    let location = format!("http://127.0.0.1:{port}");
    let (redirecting, asked) = web(move |_| {
        let head = format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {location}\r\n");
        (
            format!("{head}content-length: 0\r\nconnection: close\r\n\r\n"),
            None,
        )
    })
    .await;
    let why = refused(&redirecting, UrlPolicy::Any, brisk()).await;
    assert!(why.contains("307"), "{why}");
    assert!(asked.load(Ordering::Relaxed) > 0);
    assert_eq!(count.load(Ordering::Relaxed), 0);
}
