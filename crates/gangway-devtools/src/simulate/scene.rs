//! App, agent and page of a run.

use anyhow::bail;
use serde_json::Value;

use super::{
    page::{Page, PageEvent},
    recording::AgentAction,
    script::{Reply, Step},
    stage::{AppSocket, ReceivedMessage},
    transcript::Transcript,
};

/// Maximum number of kept page errors.
const ERRORS: usize = 100;

pub(super) struct Scene {
    line: AppSocket,
    page: Option<Page>,
    pub(super) talk: Transcript,
    /// All messages of the app; numbers start at 1.
    messages: Vec<ReceivedMessage>,
    /// Whether a step is running.
    pub(super) busy: bool,
    /// Uncaught errors of the page.
    pub(super) errors: Vec<String>,
}

#[derive(Debug)]
pub(super) enum SceneEvent {
    /// A message of the app, by number.
    Said(usize),
    StepDone,
    StepFailed(String),
}

impl Scene {
    /// With or without a driven page.
    pub(super) fn new(line: AppSocket, page: Option<Page>, talk: Transcript) -> Self {
        Self {
            line,
            page,
            talk,
            messages: Vec::new(),
            busy: false,
            errors: Vec::new(),
        }
    }

    pub(super) fn heard(&self, number: usize) -> Option<&ReceivedMessage> {
        self.messages.get(number.checked_sub(1)?)
    }

    /// Waits for the next event; cancel safe.
    pub(super) async fn next(&mut self) -> anyhow::Result<SceneEvent> {
        loop {
            let Self { line, page, .. } = self;
            let page = async {
                match page {
                    Some(page) => page.next().await,
                    None => std::future::pending().await,
                }
            };
            let news = tokio::select! {
                received = line.receive() => {
                    let received = received?;
                    if self.talk.is_full() {
                        bail!("the app sent too many messages; it may be in a loop");
                    }
                    let number = self.talk.app(&received.message);
                    self.messages.push(received);
                    return Ok(SceneEvent::Said(number));
                }
                news = page => news,
            };
            match news {
                PageEvent::Done => {
                    self.busy = false;
                    self.talk.ends();
                    return Ok(SceneEvent::StepDone);
                }
                PageEvent::Failed(why) => {
                    self.busy = false;
                    return Ok(SceneEvent::StepFailed(why));
                }
                PageEvent::Threw(error) => {
                    self.talk.note("page error", &error);
                    if self.errors.len() < ERRORS {
                        self.errors.push(error);
                    }
                }
                PageEvent::Wrote(message) => self.talk.note("page", &message),
                PageEvent::Lost(why) => bail!("{why}"),
            }
        }
    }

    pub(super) async fn begin(&mut self, step: &Step) -> anyhow::Result<()> {
        let Some(page) = &self.page else {
            bail!("page steps need --headless");
        };
        self.busy = true;
        self.talk.begins(step);
        page.begin(step.clone()).await;
        Ok(())
    }

    pub(super) async fn act(&mut self, act: &AgentAction) -> anyhow::Result<()> {
        self.talk.agent(act);
        match act {
            AgentAction::Reply(number, reply) => self.reply(*number, reply).await,
            AgentAction::Send(event, payload) => self.send(event, payload).await,
        }
    }

    async fn reply(&mut self, number: usize, reply: &Reply) -> anyhow::Result<()> {
        let at = number.checked_sub(1);
        match at.and_then(|at| self.messages.get(at)) {
            Some(received) => self.line.reply(received, reply).await,
            None => bail!("the app sent fewer than {number} messages"),
        }
    }

    async fn send(&mut self, event: &str, payload: &Value) -> anyhow::Result<()> {
        self.line.send(event, payload).await
    }

    /// Closes page and channel; returns the transcript.
    pub(super) fn close(self) -> (Transcript, Vec<String>) {
        (self.talk, self.errors)
    }
}
