//! The browser's end: starts the bridge, writes frames, and reads them.

use std::{
    collections::{HashMap, VecDeque},
    io::{Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::Gangway;

/// Far longer than anything here takes; a test that hangs should say where.
const TIMEOUT: Duration = Duration::from_secs(40);

/// A bridge and both of its pipes.
pub struct Pipe {
    pub child: Child,
    pub to: Option<ChildStdin>,
    heard: mpsc::Receiver<Vec<u8>>,
    /// Messages that another task waits for.
    kept: VecDeque<Value>,
    parts: HashMap<String, Vec<Option<String>>>,
    /// How many messages came in parts.
    pub joined: usize,
    last: u64,
}

/// One frame with these bytes.
pub fn framed(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_ne_bytes()[..], bytes].concat()
}

/// Reads frames until the pipe ends, which it never does inside one.
fn read(mut from: ChildStdout, to: &mpsc::Sender<Vec<u8>>) {
    loop {
        let mut head = [0; 4];
        match from.read(&mut head[..1]).unwrap() {
            0 => return,
            _ => from.read_exact(&mut head[1..]).unwrap(),
        }
        let length = u32::from_ne_bytes(head) as usize;
        assert!(length <= 1_000_000, "a frame of {length} bytes");
        let mut frame = vec![0; length];
        from.read_exact(&mut frame).unwrap();
        if to.send(frame).is_err() {
            return;
        }
    }
}

impl Pipe {
    /// On a data folder.
    pub fn start(data: &Path) -> Self {
        let mut command = Gangway::command(data);
        command.arg("bridge");
        Self::spawn(command)
    }

    /// Started in a way of the test's own.
    pub fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let (send, received) = mpsc::channel();
        let from = child.stdout.take().unwrap();
        std::thread::spawn(move || read(from, &send));
        Self {
            to: child.stdin.take(),
            child,
            heard: received,
            kept: VecDeque::new(),
            parts: HashMap::new(),
            joined: 0,
            last: 0,
        }
    }

    /// Writes bytes as they are.
    pub fn throw(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(bytes).unwrap();
        to.flush().unwrap();
    }

    pub fn send_message(&mut self, message: &Value) {
        self.throw(&framed(message.to_string().as_bytes()));
    }

    /// The next message, joined where it came in parts.
    pub fn receive(&mut self) -> Value {
        self.hear_within(TIMEOUT).expect("nothing came")
    }

    pub fn hear_within(&mut self, time: Duration) -> Option<Value> {
        if let Some(message) = self.kept.pop_front() {
            return Some(message);
        }
        self.fresh(time)
    }

    fn fresh(&mut self, time: Duration) -> Option<Value> {
        loop {
            let frame = self.heard.recv_timeout(time).ok()?;
            let message: Value = serde_json::from_slice(&frame).unwrap();
            if message["type"] != "part" {
                return Some(message);
            }
            let name = message["part"].as_str().unwrap().to_owned();
            let count = message["count"].as_u64().unwrap() as usize;
            assert!((2..=128).contains(&count));
            let parts = self.parts.entry(name.clone());
            let parts = parts.or_insert_with(|| vec![None; count]);
            let data = message["data"].as_str().unwrap().to_owned();
            assert!(data.len() <= 450_000);
            let place = &mut parts[message["index"].as_u64().unwrap() as usize];
            assert!(place.replace(data).is_none());
            if parts.iter().all(Option::is_some) {
                let parts = self.parts.remove(&name).unwrap();
                let whole: String = parts.into_iter().flatten().collect();
                self.joined += 1;
                return Some(serde_json::from_str(&whole).unwrap());
            }
        }
    }

    /// The next matching message; others are kept for later calls.
    pub fn until(&mut self, target: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&target) {
            return self.kept.remove(at).unwrap();
        }
        loop {
            let message = self.fresh(TIMEOUT).expect("nothing came");
            if target(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// The end of a request.
    pub fn answer(&mut self, id: &str) -> Result<Value, Value> {
        let ends = |message: &Value| {
            let kind = message["type"].as_str().unwrap();
            message["request_id"] == id && (kind.ends_with("_result") || kind == "error")
        };
        let mut message = self.until(ends);
        match message["type"] == "error" {
            true => Err(message["error"].take()),
            false => Ok(message["result"].take()),
        }
    }

    /// Begins a request; its name.
    pub fn begin(&mut self, kind: &str, mut fields: Value) -> String {
        self.last += 1;
        let id = format!("r{}", self.last);
        fields["type"] = json!(kind);
        fields["request_id"] = json!(id);
        self.send_message(&fields);
        id
    }

    pub fn ask(&mut self, kind: &str, fields: Value) -> Result<Value, Value> {
        let id = self.begin(kind, fields);
        self.answer(&id)
    }

    /// The result of what must work.
    pub fn get(&mut self, kind: &str, fields: Value) -> Value {
        let answer = self.ask(kind, fields);
        answer.unwrap_or_else(|error| panic!("{kind}: {error}"))
    }

    /// The code and status of what must not work.
    pub fn refused(&mut self, kind: &str, fields: Value) -> (String, u64) {
        let error = self.ask(kind, fields).unwrap_err();
        let code = error["code"].as_str().unwrap().to_owned();
        assert!(!error["message"].as_str().unwrap().is_empty());
        (code, error["status"].as_u64().unwrap_or(0))
    }

    pub fn hello(&mut self) -> Value {
        let extension = json!({ "version": "0.1.0", "browser": "chromium" });
        self.get("hello", json!({ "protocol": 1, "extension": extension }))
    }

    /// The next status about something.
    pub fn status(&mut self, about: &str) -> Value {
        self.until(|message| message["type"] == "status" && message["about"] == about)
    }

    /// Opens a page of an origin.
    pub fn page(&mut self, id: &str, origin: &str) {
        let open = json!({
            "type": "page_open", "request_id": id, "origin": origin, "tab": "0".repeat(32),
        });
        self.send_message(&open);
    }

    /// A page says something.
    pub fn page_says(&mut self, page: &str, frame: &Value) {
        let frame = frame.to_string();
        self.send_message(&json!({ "type": "page_frame", "page": page, "frame": frame }));
    }

    /// The next message of this type to a page.
    pub fn page_hears(&mut self, page: &str, kind: &str) -> Value {
        let frame = |message: &Value| -> Value {
            serde_json::from_str(message["frame"].as_str().unwrap()).unwrap()
        };
        let target = |message: &Value| {
            message["type"] == "page_frame"
                && message["page"] == page
                && frame(message)["type"] == kind
        };
        frame(&self.until(target))
    }

    /// A page calls something; what comes of it.
    pub fn page_calls(
        &mut self,
        page: &str,
        id: u64,
        method: &str,
        params: Value,
    ) -> Result<Value, Value> {
        let call = json!({ "type": "call", "id": id, "method": method, "params": params });
        self.page_says(page, &call);
        self.page_ends(page, id)
    }

    /// The end of a page's call.
    pub fn page_ends(&mut self, page: &str, id: u64) -> Result<Value, Value> {
        let frame = |message: &Value| -> Value {
            serde_json::from_str(message["frame"].as_str().unwrap()).unwrap()
        };
        let target = |message: &Value| {
            message["type"] == "page_frame" && message["page"] == page && {
                let frame = frame(message);
                frame["id"] == id && (frame["type"] == "result" || frame["type"] == "error")
            }
        };
        let mut end = frame(&self.until(target));
        match end["type"] == "error" {
            true => Err(end["error"].take()),
            false => Ok(end["result"].take()),
        }
    }

    /// Closes its input and waits; the code that it ends with.
    pub fn end(mut self) -> i32 {
        drop(self.to.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
