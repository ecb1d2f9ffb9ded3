//! The transcript of a run: printed, and kept for a recording.

use std::time::Instant;

use gangway_terminal::say;

use super::{
    recording::{Act, AgentLine, AppLine, Entry},
    script::{Reply, Said, Step},
};

/// Limit of a run; an app that sends more is in a loop.
const MOST: usize = 10_000;

pub(super) struct Transcript {
    began: Instant,
    aloud: bool,
    pub(super) talk: Vec<Entry>,
    /// Names of the app's messages so far.
    heard: Vec<String>,
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
            heard: Vec::new(),
            step: None,
        }
    }

    /// How often the app sent a message of this name.
    pub(super) fn heard(&self, name: &str) -> usize {
        self.heard.iter().filter(|one| *one == name).count()
    }

    pub(super) fn is_full(&self) -> bool {
        self.talk.len() >= MOST
    }

    /// Prints a line that is not part of the transcript.
    pub(super) fn note(&self, who: &str, words: &str) {
        if self.aloud {
            say!(
                "{:>9.3}  {who:<12}  {words}",
                self.began.elapsed().as_secs_f64()
            );
        }
    }

    fn add(&mut self, entry: Entry) {
        let at = self.began.elapsed().as_millis();
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        self.talk.push(Entry { at, ..entry });
    }

    /// A message of the app; returns its number.
    pub(super) fn app(&mut self, said: &Said) -> usize {
        let kind = if said.request { "request" } else { "event" };
        self.note(
            "app → agent",
            &format!("{kind} {} {}", said.name, said.with),
        );
        self.add(Entry {
            app: Some(AppLine::of(said)),
            ..Entry::default()
        });
        self.heard.push(said.name.clone());
        self.heard.len()
    }

    pub(super) fn agent(&mut self, act: &Act) {
        let words = match act {
            Act::Reply(to, reply) => {
                let about = self
                    .heard
                    .get(to.wrapping_sub(1))
                    .map_or("", String::as_str);
                match reply {
                    Reply::Ack => format!("ack {about}"),
                    Reply::Result(result) => format!("result of {about} {result}"),
                    Reply::Deny(why) => format!("denied {about}: {why}"),
                    Reply::Unknown => format!("unknown action {about}"),
                }
            }
            Act::Send(event, payload) => format!("event {event} {payload}"),
        };
        self.note("agent → app", &words);
        self.add(Entry {
            agent: Some(AgentLine::of(act)),
            ..Entry::default()
        });
    }

    pub(super) fn begins(&mut self, step: &Step) {
        self.note("page", &step.words());
        self.step = Some(self.talk.len());
        self.add(Entry {
            page: Some(step.clone()),
            ..Entry::default()
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
        self.add(Entry {
            done: true,
            ..Entry::default()
        });
    }
}
