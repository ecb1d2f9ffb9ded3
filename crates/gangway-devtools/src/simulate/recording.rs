//! Recordings of runs, for replay.

use std::{fmt::Write as _, path::Path};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::script::{AppMessage, LaunchWith, Reply, Step, read_yaml};

/// Format version of recordings.
const FORM: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recording {
    recording: u32,
    pub(super) app: String,
    #[serde(default)]
    pub(super) launch: LaunchWith,
    /// Whether uncaught errors of the page are allowed.
    #[serde(default)]
    pub(super) allow_errors: bool,
    pub(super) talk: Vec<RecordingEntry>,
}

/// Has exactly one of `app`, `agent`, `page` and `done`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RecordingEntry {
    /// Milliseconds since the start.
    pub(super) at: u64,
    /// A message of the app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) app: Option<AppLine>,
    /// An action of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<AgentLine>,
    /// A step of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) page: Option<Step>,
    /// The following entries happened during this step.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) meanwhile: bool,
    /// The step is done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) done: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AppLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    payload: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    params: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AgentLine {
    /// Acknowledged the event with this index among the app's messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    ack: Option<usize>,
    /// Answered the request with this index.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<usize>,
    #[serde(skip_serializing_if = "Value::is_null")]
    result: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unknown: bool,
    /// Sent an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    send: Option<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    payload: Value,
}

/// An action of the agent, for replay.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AgentAction {
    /// A reply to the app's message with this index.
    Reply(usize, Reply),
    Send(String, Value),
}

impl AppLine {
    pub(super) fn of(message: &AppMessage) -> Self {
        let (name, with) = (Some(message.name.clone()), message.with.clone());
        match message.request {
            true => Self {
                request: name,
                params: with,
                ..Self::default()
            },
            false => Self {
                event: name,
                payload: with,
                ..Self::default()
            },
        }
    }

    /// `None` if the entry is invalid.
    pub(super) fn said(&self) -> Option<AppMessage> {
        let (request, name, with) = match (&self.event, &self.request) {
            (Some(event), None) => (false, event, &self.payload),
            (None, Some(request)) => (true, request, &self.params),
            _ => return None,
        };
        Some(AppMessage {
            request,
            name: name.clone(),
            with: with.clone(),
        })
    }
}

impl AgentLine {
    pub(super) fn of(act: &AgentAction) -> Self {
        match act {
            AgentAction::Reply(to, reply) => Self::reply(*to, reply),
            AgentAction::Send(event, payload) => Self {
                send: Some(event.clone()),
                payload: payload.clone(),
                ..Self::default()
            },
        }
    }

    fn reply(to: usize, reply: &Reply) -> Self {
        let mut line = Self::default();
        match reply {
            Reply::Ack => line.ack = Some(to),
            _ => line.answer = Some(to),
        }
        match reply.clone() {
            Reply::Ack => {}
            Reply::Result(result) => line.result = result,
            Reply::Deny(why) => line.deny = Some(why),
            Reply::Unknown => line.unknown = true,
        }
        line
    }

    /// `None` if the entry is invalid.
    pub(super) fn act(&self) -> Option<AgentAction> {
        match (self.ack, self.answer, &self.send) {
            (Some(to), None, None) => Some(AgentAction::Reply(to, Reply::Ack)),
            (None, Some(to), None) => {
                let reply = match (&self.deny, self.unknown) {
                    (Some(why), false) => Reply::Deny(why.clone()),
                    (None, true) => Reply::Unknown,
                    (None, false) => Reply::Result(self.result.clone()),
                    _ => return None,
                };
                Some(AgentAction::Reply(to, reply))
            }
            (None, None, Some(event)) => {
                Some(AgentAction::Send(event.clone(), self.payload.clone()))
            }
            _ => None,
        }
    }
}

impl RecordingEntry {
    fn makes_sense(&self, received: &mut usize) -> bool {
        let kinds = [
            self.app.is_some(),
            self.agent.is_some(),
            self.page.is_some(),
            self.done,
        ];
        if kinds.iter().filter(|one| **one).count() != 1 {
            return false;
        }
        if let Some(app) = &self.app {
            *received += 1;
            return app.said().is_some();
        }
        let known = |act: AgentAction| match act {
            AgentAction::Reply(to, _) => to >= 1 && to <= *received,
            AgentAction::Send(..) => true,
        };
        match (&self.agent, &self.page) {
            (Some(agent), _) => agent.act().is_some_and(known),
            (None, Some(step)) => step.check().is_ok(),
            (None, None) => true,
        }
    }
}

impl Recording {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let recording: Self = read_yaml(file)?;
        ensure!(
            recording.recording == FORM,
            "{}: recording format {} is not supported; this version reads format {FORM}",
            file.display(),
            recording.recording
        );
        let mut received = 0;
        for (n, entry) in recording.talk.iter().enumerate() {
            ensure!(
                entry.makes_sense(&mut received),
                "{}: talk, number {}: needs one of `app` (an event or a request), `agent` (`ack` or \
                 `answer` to something before it, or `send`), `page` (a step) and `done`",
                file.display(),
                n + 1
            );
        }
        Ok(recording)
    }

    pub(super) fn new(
        app: &str,
        launch: &LaunchWith,
        allow_errors: bool,
        talk: &[RecordingEntry],
    ) -> Self {
        Self {
            recording: FORM,
            app: app.to_owned(),
            launch: launch.clone(),
            allow_errors,
            talk: talk.to_vec(),
        }
    }

    pub(super) fn write(&self, file: &Path) -> anyhow::Result<()> {
        std::fs::write(file, self.text()?).with_context(|| format!("writing {}", file.display()))
    }

    /// YAML in which every line of `talk` is JSON, so that it is unambiguous.
    fn text(&self) -> anyhow::Result<String> {
        let mut text =
            String::from("# Written by `gangway simulate --record`; play it with --replay.\n");
        writeln!(text, "recording: {FORM}")?;
        writeln!(text, "app: {}", line(&self.app)?)?;
        writeln!(text, "launch: {}", line(&self.launch)?)?;
        if self.allow_errors {
            writeln!(text, "allow_errors: true")?;
        }
        let empty = if self.talk.is_empty() { " []" } else { "" };
        writeln!(text, "talk:{empty}")?;
        for entry in &self.talk {
            writeln!(text, "  - {}", line(entry)?)?;
        }
        Ok(text)
    }
}

/// One line of JSON, with characters escaped that YAML does not allow.
fn line(value: &impl Serialize) -> anyhow::Result<String> {
    let mut text = String::new();
    for c in serde_json::to_string(value)?.chars() {
        match c {
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                write!(text, "\\u{:04x}", u32::from(c))?;
            }
            c => text.push(c),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::{script::Step, transcript::Transcript},
        *,
    };

    #[test]
    fn what_is_written_is_read_again_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.yaml");
        let mut talk = Transcript::new(false);
        let odd = json!({"no": "yes", "1": "1", "s": "a: b # c\n\u{2028}\u{7f}é🂡\"'", "n": [1.5, null, -0.0, 1e300], "deep": {"~": "~"}});
        let message = |request, name: &str| AppMessage {
            request,
            name: name.to_owned(),
            with: odd.clone(),
        };
        let step = Step {
            click: Some("#a > [b='c']".to_owned()),
            ..Step::default()
        };
        talk.begins(&step);
        let one = talk.app(&message(false, "one"));
        talk.agent(&AgentAction::Reply(one, Reply::Ack));
        talk.ends();
        talk.begins(&step);
        talk.ends();
        let two = talk.app(&message(true, "two"));
        talk.agent(&AgentAction::Reply(two, Reply::Deny("no".to_owned())));
        talk.agent(&AgentAction::Reply(two, Reply::Unknown));
        talk.agent(&AgentAction::Reply(two, Reply::Result(odd.clone())));
        talk.agent(&AgentAction::Send("three".to_owned(), odd.clone()));
        let launch = LaunchWith {
            agent: Some("no".to_owned()),
            data: odd.as_object().unwrap().clone(),
            ..LaunchWith::default()
        };
        let stored = Recording::new("app", &launch, true, &talk.talk);
        stored.write(&file).unwrap();
        let read = Recording::read(&file).unwrap();
        assert_eq!(read, stored);
        assert!(talk.talk[0].meanwhile && talk.talk[3].done && !talk.talk[4].meanwhile);
    }

    #[test]
    fn a_line_that_makes_no_sense_is_refused_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.yaml");
        for bad in [
            "- {at: 1, agent: {ack: 1}}",
            "- {at: 1, app: {event: a, request: b}}",
            "- {at: 1}",
            "- {at: 1, page: {click: a, wait: b}}",
        ] {
            let text = format!("recording: 1\napp: a\ntalk:\n  - {{at: 0, done: true}}\n  {bad}\n");
            std::fs::write(&file, text).unwrap();
            let error = Recording::read(&file).unwrap_err().to_string();
            assert!(error.contains("number 2"), "{bad}: {error}");
        }
        std::fs::write(&file, "recording: 2\napp: a\ntalk: []\n").unwrap();
        assert!(
            Recording::read(&file)
                .unwrap_err()
                .to_string()
                .contains("format 1")
        );
    }
}
