//! The conversation with a checked agent: answers like a relay and a page, and observes.

use std::{collections::VecDeque, time::Duration};

use futures_util::{SinkExt, StreamExt};
use gangway_relay::VERSION;
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use super::{
    super::{params::params_problem, report::Report},
    page::Page,
    watch::{AgentEnd, Watch},
};

/// Delay of an answer, during which an agent that does not wait shows.
const ANSWER: Duration = Duration::from_millis(100);

/// The call that fails, the one followed by a message of the person, and the one followed by a disconnect.
const FAILS: usize = 2;
const PERSON: usize = 1;
const CUT: usize = 3;

/// More messages than a booking needs.
const MOST: usize = 500;

/// More calls than needed after the booking.
const MOST_AFTER: usize = 5;

type Socket = WebSocketStream<TcpStream>;

pub(super) enum TalkEnd {
    Ended(AgentEnd),
    /// Disconnected by us.
    Cut,
}

enum Flow {
    Go,
    Cut,
    End,
}

/// State across all connections.
pub(super) struct Talk {
    page: Page,
    watch: Watch,
    timeout: Duration,
    idle: Duration,
    /// Whether the disconnect is still to come.
    cuts: bool,
    seq: u64,
    /// Broadcast messages, by number.
    sent: Vec<(u64, String)>,
    /// Messages received during the delay of an answer.
    waiting: VecDeque<String>,
    joined: bool,
    worked: usize,
    after: usize,
}

impl Talk {
    pub(super) fn new(timeout: Duration, idle: Duration, cuts: bool) -> Self {
        Self {
            page: Page::default(),
            watch: Watch::default(),
            timeout,
            idle,
            cuts,
            seq: 0,
            sent: Vec::new(),
            waiting: VecDeque::new(),
            joined: false,
            worked: 0,
            after: 0,
        }
    }

    pub(super) fn report(self, ending: &AgentEnd) -> Report {
        self.watch.report(ending, self.idle.as_secs())
    }

    /// Runs until the agent leaves, has finished, or we disconnect.
    pub(super) async fn run(&mut self, mut socket: Socket) -> TalkEnd {
        self.joined = false;
        self.waiting.clear();
        self.watch.forget_ids();
        let hello = envelope("relay.hello", None, None, json!({ "protocol": VERSION }));
        if socket.send(Message::text(hello)).await.is_err() {
            return TalkEnd::Ended(AgentEnd::Left);
        }
        loop {
            let booked = self.page.is_booked();
            let limit = if booked { self.timeout } else { self.idle };
            let text = match self.waiting.pop_front() {
                Some(text) => text,
                None => match timeout(limit, next(&mut socket)).await {
                    Ok(Some(text)) => text,
                    Ok(None) => return TalkEnd::Ended(AgentEnd::Left),
                    Err(_) if booked => return TalkEnd::Ended(AgentEnd::Booked),
                    Err(_) => return TalkEnd::Ended(AgentEnd::Idle),
                },
            };
            self.watch.messages += 1;
            if self.watch.messages > MOST || self.after > MOST_AFTER {
                return TalkEnd::Ended(AgentEnd::Endless);
            }
            match self.handle(&mut socket, &text).await {
                Some(Flow::Go) => {}
                Some(Flow::Cut) => return TalkEnd::Cut,
                Some(Flow::End) => return TalkEnd::Ended(AgentEnd::Left),
                None => return TalkEnd::Ended(AgentEnd::Left),
            }
        }
    }

    /// Answers one message; `None` when the agent has disconnected.
    async fn handle(&mut self, socket: &mut Socket, text: &str) -> Option<Flow> {
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        let id = message["id"].as_str();
        let kind = message["type"].as_str().unwrap_or_default();
        self.watch.went_on |= self.watch.failed;
        if let Some(reason) = envelope_problem(&message) {
            let invalid = self.refusal(id, "INVALID_MESSAGE", &reason);
            self.watch.fault("envelope", reason);
            send(socket, invalid).await?;
            return Some(Flow::Go);
        }
        self.watch.id(id, kind);
        if kind == "relay.join" {
            return self.join(socket, id, &message["payload"]).await;
        }
        if !self.joined {
            let reason = format!("{kind} was sent before relay.join; join first");
            let refused = self.refusal(id, "SESSION_NOT_ACTIVE", &reason);
            self.watch.fault("join", reason);
            send(socket, refused).await?;
            return Some(Flow::Go);
        }
        let payload = &message["payload"];
        match kind {
            "snapshot.get" => {
                self.watch.looked = true;
                let answer = json!({
                    "sessionId": null, "uiSpec": self.page.spec(), "messageHistory": self.page.history(), "toolSchema": self.page.tools(),
                });
                let text = self.answer("snapshot.state", id, answer);
                send(socket, text).await?;
            }
            "tool.call" => return self.call(socket, id, payload).await,
            "agent.message" => {
                self.watch.replied |= self.watch.asked;
                self.page
                    .note("agent", payload["text"].as_str().unwrap_or_default());
                self.push(socket, "state.updated", self.state("agent"))
                    .await?;
            }
            "session.start" => {
                self.page.reset();
                let answer = json!({ "sessionId": "s-20000101-001" });
                let text = self.answer("session.started", id, answer);
                send(socket, text).await?;
                self.push(socket, "state.updated", self.state("stage"))
                    .await?;
            }
            "agent.status" => {}
            "session.reset" => {
                self.page.reset();
                let answer = json!({
                    "sessionId": null, "uiSpec": self.page.spec(), "messageHistory": self.page.history(), "toolSchema": self.page.tools(),
                });
                let text = self.answer("snapshot.state", id, answer);
                send(socket, text).await?;
            }
            "session.end" => {
                let answer = json!({ "sessionId": "s-20000101-001", "logFile": "logs/study/s-20000101-001.jsonl", "stateReset": true });
                let text = self.answer("session.ended", id, answer);
                send(socket, text).await?;
                return Some(Flow::End);
            }
            _ => {
                let reason = format!(
                    "the agent sent {kind}; agents may send session.start, snapshot.get, tool.call, agent.message, agent.status, session.reset and session.end"
                );
                let refused = self.refusal(id, "INVALID_MESSAGE", &reason);
                self.watch.fault("role", reason);
                send(socket, refused).await?;
            }
        }
        Some(Flow::Go)
    }

    async fn join(&mut self, socket: &mut Socket, id: Option<&str>, asked: &Value) -> Option<Flow> {
        let problem = if self.joined {
            Some("the agent joined twice on one connection")
        } else if asked["role"] != "agent" {
            Some("the agent did not join with the role agent")
        } else if !asked["sessionId"].is_string() {
            Some("relay.join has no sessionId")
        } else {
            None
        };
        if let Some(message) = problem {
            self.watch.fault("join", message);
            let refused = self.refusal(id, "INVALID_MESSAGE", message);
            send(socket, refused).await?;
            return Some(Flow::Go);
        }
        (self.joined, self.watch.joined) = (true, true);
        let since = asked["since"].as_u64();
        if self.watch.dropped {
            self.watch.came_back = Some(since.is_some());
        }
        let joined = json!({
            "role": "agent", "sessionId": asked["sessionId"], "seq": self.seq, "host": true, "agents": 1, "studySession": null,
        });
        send(socket, envelope("relay.joined", id, None, joined)).await?;
        let missed = since.map_or(u64::MAX, |since| since);
        let missed: Vec<_> = self.sent.iter().filter(|(seq, _)| *seq > missed).collect();
        for (_, text) in missed {
            send(socket, text.clone()).await?;
        }
        Some(Flow::Go)
    }

    async fn call(&mut self, socket: &mut Socket, id: Option<&str>, call: &Value) -> Option<Flow> {
        self.watch.calls += 1;
        self.after += usize::from(self.page.is_booked());
        let outcome = self.try_call(call);
        let code = outcome.as_ref().err().map(|(code, _)| *code);
        let what = format!("{} {}", call["toolName"], call["params"]);
        self.watch
            .outcome(what, code.filter(|code| *code != "TOOL_EXECUTION_FAILED"));
        self.listen(socket).await;
        match outcome {
            Err((code, message)) => {
                let refused = self.refusal(id, code, &message);
                send(socket, refused).await?;
                Some(Flow::Go)
            }
            Ok(()) => {
                let mut result = self.state("agent");
                result["ok"] = json!(true);
                result["toolName"] = call["toolName"].clone();
                let text = self.answer("tool.result", id, result);
                send(socket, text).await?;
                self.push(socket, "state.updated", self.state("agent"))
                    .await?;
                self.afterwards(socket).await
            }
        }
    }

    /// The message of the person and the disconnect, each once.
    async fn afterwards(&mut self, socket: &mut Socket) -> Option<Flow> {
        if self.worked == PERSON {
            let text = "At the front, if there is a seat.";
            self.page.note("user", text);
            self.watch.asked = true;
            let message = json!({ "text": text, "stage": self.page.stage() });
            self.push(socket, "user.message", message).await?;
        }
        if self.worked == CUT && self.cuts {
            self.cuts = false;
            self.watch.dropped = true;
            return Some(Flow::Cut);
        }
        Some(Flow::Go)
    }

    fn try_call(&mut self, call: &Value) -> Result<(), (&'static str, String)> {
        let reason = call["reason"].as_str().unwrap_or_default();
        if reason.trim().is_empty() {
            let message = "a tool.call has no reason, which is required and shown to the person";
            self.watch.fault("reason", message);
            return Err(("INVALID_PARAMS", message.into()));
        }
        let tools = self.page.tools();
        let tools = tools.as_array().map_or(&[][..], Vec::as_slice);
        let name = call["toolName"].as_str().unwrap_or_default();
        let Some(tool) = tools.iter().find(|tool| tool["name"] == name) else {
            let offered: Vec<_> = tools
                .iter()
                .filter_map(|one| one["name"].as_str())
                .collect();
            let offered = offered.join(", ");
            if Page::knows(name) {
                let stage = self.page.stage();
                let message = format!(
                    "{name} is not available on the stage {stage}; available are {offered}"
                );
                return Err(("TOOL_EXECUTION_FAILED", message));
            }
            self.watch.unknown_tool(name);
            let message = format!("there is no tool {name:?}; available are {offered}");
            return Err(("UNKNOWN_TOOL", message));
        };
        if let Some(problem) = params_problem(&tool["parameters"], &call["params"]) {
            let message = format!("invalid params of {name}: {problem}");
            self.watch.fault("params", message.clone());
            return Err(("INVALID_PARAMS", message));
        }
        if self.worked + 1 == FAILS && !self.watch.failed {
            self.watch.failed = true;
            let message = "the page was busy and nothing was changed; get a snapshot and continue";
            return Err(("TOOL_EXECUTION_FAILED", message.into()));
        }
        self.page.call(name, &call["params"])?;
        self.worked += 1;
        Ok(())
    }

    /// Receives messages during the delay of an answer: another call is a fault.
    async fn listen(&mut self, socket: &mut Socket) {
        let until = Instant::now() + ANSWER;
        while let Ok(Some(text)) = timeout_at(until, next(socket)).await {
            let kind: Value = serde_json::from_str(&text).unwrap_or_default();
            if kind["type"] == "tool.call" {
                let message = "the agent sent the next tool.call before the answer to the last; the page may have changed by then";
                self.watch.fault("waits", message);
            }
            self.waiting.push_back(text);
            if self.waiting.len() > MOST {
                return;
            }
        }
        tokio::time::sleep_until(until).await;
    }

    fn state(&self, source: &str) -> Value {
        json!({ "source": source, "uiSpec": self.page.spec(), "messageHistory": self.page.history() })
    }

    fn answer(&mut self, kind: &str, id: Option<&str>, payload: Value) -> String {
        self.seq += 1;
        envelope(kind, id, Some(self.seq), payload)
    }

    fn refusal(&mut self, id: Option<&str>, code: &str, message: &str) -> String {
        self.answer("error", id, json!({ "code": code, "message": message }))
    }

    /// Sends an unsolicited message.
    async fn push(&mut self, socket: &mut Socket, kind: &str, payload: Value) -> Option<()> {
        let text = self.answer(kind, None, payload);
        self.sent.push((self.seq, text.clone()));
        send(socket, text).await
    }
}

async fn send(socket: &mut Socket, text: String) -> Option<()> {
    socket.send(Message::text(text)).await.ok()
}

/// The next text; `None` when the agent has disconnected.
async fn next(socket: &mut Socket) -> Option<String> {
    loop {
        match socket.next().await? {
            Ok(Message::Text(text)) => return Some(text.to_string()),
            Ok(Message::Close(_)) | Err(_) => return None,
            // Answered as invalid JSON.
            Ok(Message::Binary(_)) => return Some(String::new()),
            Ok(_) => {}
        }
    }
}

fn envelope(kind: &str, reply_to: Option<&str>, seq: Option<u64>, payload: Value) -> String {
    let mut message = json!({ "v": VERSION, "type": kind, "payload": payload });
    if let Some(id) = reply_to {
        message["replyTo"] = json!(id);
    }
    if let Some(seq) = seq {
        message["seq"] = json!(seq);
    }
    message.to_string()
}

fn envelope_problem(message: &Value) -> Option<String> {
    if !message.is_object() {
        return Some("a message is not a JSON object".into());
    }
    if message["v"] != VERSION {
        return Some(format!("v is {}; it must be {VERSION:?}", message["v"]));
    }
    if !message["type"].is_string() {
        return Some("a message has no type".into());
    }
    (!message["payload"].is_object()).then(|| "payload must be an object; it can be {}".into())
}
