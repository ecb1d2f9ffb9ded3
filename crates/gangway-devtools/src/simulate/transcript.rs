//! The transcript of a run: printed, and kept for a recording.

use std::time::Instant;

use gangway_terminal::say;

use super::{
    recording::{AgentAction, AgentLine, AppLine, RecordingEntry},
    script::{AppMessage, Reply, Step},
};

/// Limit of a run; an app that sends more is in a loop.
const MOST: usize = 10_000;

pub(super) struct Transcript {
    began: Instant,
    aloud: bool,
    pub(super) talk: Vec<RecordingEntry>,
    /// Names of the app's messages so far.
    names: Vec<String>,
    /// Index of the running step.
    step: Option<usize>,
}

impl Transcript {
    /// Printed as it grows if `aloud`.
    pub(super) fn new(aloud: bool) -> Self {
        Self {
            began: Instant::now(),
            aloud,
            talk: Vec::new(),
            names: Vec::new(),
            step: None,
        }
    }

    /// How often the app sent a message of this name.
    pub(super) fn heard(&self, name: &str) -> usize {
        self.names.iter().filter(|one| *one == name).count()
    }

    pub(super) fn is_full(&self) -> bool {
        self.talk.len() >= MOST
    }

    /// Prints a line that is not part of the transcript.
    pub(super) fn note(&self, who: &str, message: &str) {
        if self.aloud {
            say!(
                "{:>9.3}  {who:<12}  {message}",
                self.began.elapsed().as_secs_f64()
            );
        }
    }

    fn add(&mut self, entry: RecordingEntry) {
        let at = self.began.elapsed().as_millis();
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        self.talk.push(RecordingEntry { at, ..entry });
    }

    /// A message of the app; returns its number.
    pub(super) fn app(&mut self, message: &AppMessage) -> usize {
        let kind = if message.request { "request" } else { "event" };
        self.note(
            "app → agent",
            &format!("{kind} {} {}", message.name, message.with),
        );
        self.add(RecordingEntry {
            app: Some(AppLine::of(message)),
            ..RecordingEntry::default()
        });
        self.names.push(message.name.clone());
        self.names.len()
    }

    pub(super) fn agent(&mut self, act: &AgentAction) {
        let message = match act {
            AgentAction::Reply(to, reply) => {
                let about = self
                    .names
                    .get(to.wrapping_sub(1))
                    .map_or("", String::as_str);
                match reply {
                    Reply::Ack => format!("ack {about}"),
                    Reply::Result(result) => format!("result of {about} {result}"),
                    Reply::Deny(why) => format!("denied {about}: {why}"),
                    Reply::Unknown => format!("unknown action {about}"),
                }
            }
            AgentAction::Send(event, payload) => format!("event {event} {payload}"),
        };
        self.note("agent → app", &message);
        self.add(RecordingEntry {
            agent: Some(AgentLine::of(act)),
            ..RecordingEntry::default()
        });
    }

    pub(super) fn begins(&mut self, step: &Step) {
        self.note("page", &step.describe());
        self.step = Some(self.talk.len());
        self.add(RecordingEntry {
            page: Some(step.clone()),
            ..RecordingEntry::default()
        });
    }

    /// Recorded only if something happened during the step.
    pub(super) fn ends(&mut self) {
        let Some(at) = self.step.take() else { return };
        if at + 1 == self.talk.len() {
            return;
        }
        if let Some(entry) = self.talk.get_mut(at) {
            entry.meanwhile = true;
        }
        self.add(RecordingEntry {
            done: true,
            ..RecordingEntry::default()
        });
    }
}
