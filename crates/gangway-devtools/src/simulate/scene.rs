//! App, agent and page of a run.

use anyhow::bail;
use serde_json::Value;

use super::{
    page::{News, Page},
    recording::Act,
    script::{Reply, Step},
    stage::{Heard, Line},
    transcript::Transcript,
};

/// Maximum number of kept page errors.
const ERRORS: usize = 100;

pub(super) struct Scene {
    line: Line,
    page: Option<Page>,
    pub(super) talk: Transcript,
    /// All messages of the app; numbers start at 1.
    heard: Vec<Heard>,
    /// Whether a step is running.
    pub(super) busy: bool,
    /// Uncaught errors of the page.
    pub(super) errors: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Happening {
    /// A message of the app, by number.
    Said(usize),
    StepDone,
    StepFailed(String),
}

impl Scene {
    /// With or without a driven page.
    pub(super) fn new(line: Line, page: Option<Page>, talk: Transcript) -> Self {
        Self {
            line,
            page,
            talk,
            heard: Vec::new(),
            busy: false,
            errors: Vec::new(),
        }
    }

    pub(super) fn heard(&self, number: usize) -> Option<&Heard> {
        self.heard.get(number.checked_sub(1)?)
    }

    /// Waits for the next event; cancel safe.
    pub(super) async fn next(&mut self) -> anyhow::Result<Happening> {
        loop {
            let Self { line, page, .. } = self;
            let page = async {
                match page {
                    Some(page) => page.next().await,
                    None => std::future::pending().await,
                }
            };
            let news = tokio::select! {
                heard = line.hear() => {
                    let heard = heard?;
                    if self.talk.is_full() {
                        bail!("the app sent too many messages; it may be in a loop");
                    }
                    let number = self.talk.app(&heard.said);
                    self.heard.push(heard);
                    return Ok(Happening::Said(number));
                }
                news = page => news,
            };
            match news {
                News::Done => {
                    self.busy = false;
                    self.talk.ends();
                    return Ok(Happening::StepDone);
                }
                News::Failed(why) => {
                    self.busy = false;
                    return Ok(Happening::StepFailed(why));
                }
                News::Threw(error) => {
                    self.talk.note("page error", &error);
                    if self.errors.len() < ERRORS {
                        self.errors.push(error);
                    }
                }
                News::Wrote(words) => self.talk.note("page", &words),
                News::Lost(why) => bail!("{why}"),
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

    pub(super) async fn act(&mut self, act: &Act) -> anyhow::Result<()> {
        self.talk.agent(act);
        match act {
            Act::Reply(number, reply) => self.reply(*number, reply).await,
            Act::Send(event, payload) => self.send(event, payload).await,
        }
    }

    async fn reply(&mut self, number: usize, reply: &Reply) -> anyhow::Result<()> {
        let at = number.checked_sub(1);
        match at.and_then(|at| self.heard.get(at)) {
            Some(heard) => self.line.reply(heard, reply).await,
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
