//! An author's desk: an app, a run of the simulator, and a page that the test plays.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Stdio},
};

use gangway_testing::socket::TestSocket;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::apps::write;
use crate::support::Gangway;

const MANIFEST: &str = "---
name: notes
description: Keeps notes.
agent:
  context:
    data:
      notes: { type: array, required: true }
---
";

/// A folder with an app and files for a run.
pub struct Desk {
    pub folder: tempfile::TempDir,
}

/// A run of the simulator.
pub struct Run {
    pub child: Child,
    out: BufReader<std::process::ChildStdout>,
}

/// What came of a run.
pub struct Ended {
    pub code: i32,
    pub result: Value,
    pub errors: String,
}

impl Desk {
    pub fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(
            &folder.path().join("notes"),
            &[
                ("APP.md", MANIFEST),
                ("index.html", "<!doctype html><title>Notes</title>"),
            ],
        );
        write(folder.path(), &[("script.yaml", script)]);
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn start(&self, arguments: &[&str]) -> Run {
        self.start_talking(&[&["--json"], arguments].concat())
    }

    /// The same, printed for people.
    pub fn start_talking(&self, arguments: &[&str]) -> Run {
        let home = self.folder.path();
        let mut command = Gangway::command(&home.join("data"));
        command
            .env("HOME", home)
            .env_remove("WEBLET_PATH")
            .current_dir(home);
        command
            .args(["simulate", "notes", "--no-open"])
            .args(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Run { child, out }
    }
}

impl Run {
    pub fn line(&mut self) -> Value {
        let line = self.until("{");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    /// The next line that has this in it.
    pub fn until(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.out.read_line(&mut line).unwrap();
            assert!(read > 0, "it ended without {part:?}");
            if line.contains(part) {
                return line;
            }
        }
    }

    pub fn types(&mut self, message: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn end(mut self) -> Ended {
        let result = self.line();
        let code = self.child.wait().unwrap().code().unwrap();
        let mut errors = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        Ended {
            code,
            result,
            errors,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// A page of the app, as its script would speak.
pub struct FakePage(TestSocket);

impl FakePage {
    pub async fn open(run: &mut Run) -> Self {
        let line = run.until("http://");
        let end = |c: char| c == '"' || c.is_whitespace();
        let url = line
            .split(end)
            .find(|word| word.starts_with("http://"))
            .unwrap();
        let (host, query) = url
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let port: u16 = host.rsplit_once(':').unwrap().1.parse().unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let page = gangway_models::http_client().get(format!("http://{address}/{query}"));
        let page = page.header("host", host).send().await.unwrap();
        assert_eq!(page.status(), 200);
        let page = page.text().await.unwrap();
        let (_, rest) = page.split_once("proof=").unwrap();
        let proof: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
        let token = query.split_once("launch=").unwrap().1;
        let path = format!("ws://{host}/__gangway/ws?launch={token}&proof={proof}");
        let mut request = path.into_client_request().unwrap();
        let origin = format!("http://{host}").parse().unwrap();
        request.headers_mut().insert("origin", origin);
        let mut page = Self(TestSocket::connect(address, request).await.unwrap());
        assert_eq!(page.receive().await["type"], "welcome");
        page
    }

    pub async fn emit(&mut self, event: &str, payload: Value) {
        let id = format!("{event}-id");
        self.send_message(
            json!({ "type": "weblet-event", "id": id, "event": event, "payload": payload }),
        )
        .await;
    }

    pub async fn request(&mut self, id: &str, action: &str, params: Value) -> Value {
        self.send_message(json!({ "type": "weblet-request", "requestId": id, "action": action, "params": params })).await;
        let answer = self.receive().await;
        assert_eq!(answer["requestId"], id, "{answer}");
        answer
    }

    pub async fn send_message(&mut self, message: Value) {
        self.0.send(&message).await;
    }

    pub async fn receive(&mut self) -> Value {
        self.0.receive().await
    }

    /// What the app of these tests does; `text` is what it says first.
    pub async fn behave(&mut self, text: &str) -> Vec<Value> {
        self.emit("note-added", json!({ "text": text, "more": 1 }))
            .await;
        let mut received = vec![self.receive().await, self.receive().await];
        let file = json!({ "filename": "a.txt", "content": "a" });
        received.push(self.request("r1", "save-file", file.clone()).await);
        received.push(self.request("r2", "save-file", file).await);
        received.push(self.request("r3", "dance", json!({})).await);
        received
    }
}
