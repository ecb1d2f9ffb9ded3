//! Sessions of a server without routes for them.

use std::{collections::VecDeque, path::PathBuf, sync::Arc, time::Duration};

use gangway_core::{
    Caller, Command, Hub, Logged, NewSession, Session, SessionId, Source, Subscription, ToolError,
    ToolSource, WhenBusy, own_tool,
};
use gangway_http::feed::{self, encode, sse::CHUNK};
use gangway_workspaces::Sessions;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::server::{Service, ServiceServer};

/// Far longer than any step takes; a test that hangs should fail with its location.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A service with sessions.
pub trait HasSessions: Service {
    fn sessions(&self) -> &Sessions;
}

impl<S: HasSessions> ServiceServer<S> {
    pub fn hub(&self) -> &Arc<Hub> {
        self.service.sessions().hub()
    }

    /// A new session's id.
    pub async fn session(&self) -> String {
        self.session_in("").await
    }

    /// A new session that works in this folder.
    pub async fn session_in(&self, cwd: &str) -> String {
        let request = NewSession {
            cwd: cwd.to_owned(),
            ..NewSession::default()
        };
        let created = self.service.sessions().create(request).await;
        created.unwrap().0.to_string()
    }

    pub async fn open(&self, session: &str) -> Arc<Session> {
        let id = session.parse().unwrap();
        self.hub().open(id).await.unwrap()
    }

    /// The folder that a session works in, which exists then.
    pub async fn cwd(&self, session: &str) -> PathBuf {
        let folder = PathBuf::from(self.open(session).await.profile().unwrap().cwd);
        let workspaces = self.service.sessions().workspaces();
        workspaces.make_if_default(&folder).unwrap();
        folder
    }

    pub async fn delete(&self, session: &str) {
        let session = self.open(session).await;
        session.submit(Command::Delete).await.unwrap();
    }

    /// Sends a user message.
    pub async fn send_message(&self, session: &str, prompt: &str) {
        let command = Command::Prompt {
            prompt: prompt.to_owned(),
            source: Source::Person,
            shown: true,
            when_busy: WhenBusy::Queue,
        };
        self.open(session).await.submit(command).await.unwrap();
    }

    /// The items of the conversation, as in `/api/history`.
    pub async fn history(&self, session: &str) -> Vec<Value> {
        let (store, id) = (self.hub().store(), session.parse().unwrap());
        let page = feed::page(store, id, None, None).await.unwrap();
        let lines = page.entries.iter().map(serde_json::to_value);
        lines.map(Result::unwrap).collect()
    }

    /// The messages to the agent.
    pub async fn prompts(&self, session: &str) -> Vec<String> {
        let lines = self.history(session).await.into_iter();
        let prompts = lines.filter(|line| line["role"] == "user");
        let text = |line: Value| line["content"].as_str().unwrap().to_owned();
        prompts.map(text).collect()
    }

    /// The events of a session from now on.
    pub async fn feed(&self, session: &str) -> Feed {
        let head = self.open(session).await.head();
        self.feed_after(session, head).await
    }

    /// The events of a session after the one with this number.
    pub async fn feed_after(&self, session: &str, after: u64) -> Feed {
        let session = self.open(session).await;
        Feed {
            session: session.id(),
            subscription: session.subscribe(after),
            read: VecDeque::new(),
        }
    }
}

/// The events of a session, as `/api/sessions/{id}/events` has them.
pub struct Feed {
    session: SessionId,
    subscription: Subscription,
    read: VecDeque<Arc<Logged>>,
}

impl Feed {
    /// Reads until an event of this type.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().await;
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// The events up to the end of the turn.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            events.push(self.next().await);
            if events.last().is_some_and(|event| event["type"] == "done") {
                return events;
            }
        }
    }

    async fn next(&mut self) -> Value {
        loop {
            if let Some(event) = self.read.pop_front() {
                let json = encode::json(self.session, &event);
                return serde_json::from_slice(&json).unwrap();
            }
            let next = tokio::time::timeout(TIMEOUT, self.subscription.next(CHUNK)).await;
            let events = next.expect("nothing came").unwrap();
            self.read = events.expect("the session has ended").into();
        }
    }
}

/// Calls one of Gangway's own tools as the agent `mate`, optionally bound to a session.
pub fn call_tool(
    tools: &Arc<impl ToolSource + 'static>,
    session: Option<&str>,
    name: &str,
    arguments: Value,
) -> JoinHandle<Result<Value, ToolError>> {
    let caller = Caller {
        session: session.map(|id| id.parse().unwrap()),
        source: Source::Agent {
            name: "mate".into(),
        },
        version: None,
    };
    let (tools, tool) = (Arc::clone(tools), own_tool(name));
    tokio::spawn(async move { tools.call(&caller, &tool, arguments).await })
}
