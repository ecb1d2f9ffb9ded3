//! What is said in a run, as it is said: printed, and kept for a recording.

use std::time::Instant;

use gangway_terminal::say;

use super::{
    recording::{Act, AgentLine, AppLine, Entry},
    script::{Reply, Said, Step},
};

/// Lines of one run; whoever says more goes in circles.
const MOST: usize = 10_000;

/// What happens in a run, as it happens.
pub(super) struct Transcript {
    began: Instant,
    aloud: bool,
    /// What happened so far.
    pub(super) talk: Vec<Entry>,
    /// Names of what the app said so far.
    heard: Vec<String>,
    /// Where the step stands that is being done.
    step: Option<usize>,
}

impl Transcript {
    /// An empty one, which is printed as it grows if it is `aloud`.
    pub(super) fn new(aloud: bool) -> Self {
        Self {
            began: Instant::now(),
            aloud,
            talk: Vec::new(),
            heard: Vec::new(),
            step: None,
        }
    }

    /// How often the app said something of this name.
    pub(super) fn heard(&self, name: &str) -> usize {
        self.heard.iter().filter(|one| *one == name).count()
    }

    /// Whether more was said than anyone can follow.
    pub(super) fn is_full(&self) -> bool {
        self.talk.len() >= MOST
    }

    /// Prints a line that is not part of the talk.
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

    /// The app said something; the number by which it is answered.
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

    /// The agent did something.
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

    /// The person begins something.
    pub(super) fn begins(&mut self, step: &Step) {
        self.note("page", &step.words());
        self.step = Some(self.talk.len());
        self.add(Entry {
            page: Some(step.clone()),
            ..Entry::default()
        });
    }

    /// It is done. A recording says so only if something happened meanwhile.
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
