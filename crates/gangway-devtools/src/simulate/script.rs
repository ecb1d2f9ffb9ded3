//! Scripts of simulated agents.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use gangway_apps::manifest::is_event_name;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::matching::{Fit, differences};

/// Size limit of a script or recording.
const MOST: u64 = 16 << 20;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    #[serde(default)]
    pub(super) launch: LaunchWith,
    /// Rules for messages of the app; the first match applies.
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
    /// Events that the agent sends.
    #[serde(default)]
    pub(super) send: Vec<Push>,
    /// Messages that the app must send, in this order.
    #[serde(default)]
    pub(super) expect: Vec<Expected>,
    /// Steps of the person in the page.
    #[serde(default)]
    pub(super) page: Vec<Step>,
    /// Whether uncaught errors of the page are allowed.
    #[serde(default)]
    pub(super) allow_errors: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LaunchWith {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) capabilities: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) data: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) config: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// An event, or `*`.
    event: Option<String>,
    /// A request, or `*`.
    request: Option<String>,
    /// Applies only if payload or params contain this.
    #[serde(rename = "where")]
    only: Option<Value>,
    /// Maximum number of applications.
    pub(super) times: Option<u32>,
    /// Delay in milliseconds.
    #[serde(default)]
    pub(super) delay: u64,
    #[serde(default)]
    ack: bool,
    #[serde(default)]
    ignore: bool,
    result: Option<Value>,
    deny: Option<String>,
    #[serde(default)]
    unknown: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Ack,
    Result(Value),
    /// With this reason.
    Deny(String),
    /// Unknown action.
    Unknown,
}

/// A message of the app.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AppMessage {
    pub(super) request: bool,
    /// The event or action.
    pub(super) name: String,
    /// The payload or params.
    pub(super) with: Value,
}

impl Rule {
    pub(super) fn fits(&self, message: &AppMessage) -> bool {
        let name = if message.request {
            &self.request
        } else {
            &self.event
        };
        let named = name.as_deref() == Some("*") || name.as_deref() == Some(&message.name);
        let holds = |only: &Value| differences(only, &message.with, Fit::Part).is_empty();
        named && self.only.as_ref().is_none_or(holds)
    }

    /// `None` if the app gets no answer.
    pub(super) fn reply(&self) -> Option<Reply> {
        if self.ignore {
            return None;
        }
        if self.unknown {
            return Some(Reply::Unknown);
        }
        if let Some(why) = &self.deny {
            return Some(Reply::Deny(why.clone()));
        }
        match (&self.result, &self.request) {
            (Some(result), _) => Some(Reply::Result(result.clone())),
            (None, Some(_)) => Some(Reply::Result(Value::Null)),
            (None, None) => Some(Reply::Ack),
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.event.is_some() != self.request.is_some(),
            "needs either `event` or `request`"
        );
        let done = [
            self.ack,
            self.ignore,
            self.result.is_some(),
            self.deny.is_some(),
            self.unknown,
        ];
        ensure!(
            done.iter().filter(|one| **one).count() <= 1,
            "can have one of `ack`, `ignore`, `result`, `deny` and `unknown`"
        );
        let answers = self.result.is_some() || self.deny.is_some() || self.unknown;
        ensure!(
            self.request.is_some() || !answers,
            "an event can only have `ack` or `ignore`; `result`, `deny` and `unknown` are for requests"
        );
        ensure!(self.event.is_some() || !self.ack, "`ack` is for events");
        Ok(())
    }
}

/// An event that the agent sends.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Push {
    pub(super) event: String,
    #[serde(default)]
    pub(super) payload: Value,
    /// Sent after this event of the app.
    after_event: Option<String>,
    /// Sent after this request of the app.
    after_request: Option<String>,
    /// Milliseconds after that, or after the page has opened.
    #[serde(default)]
    pub(super) delay: u64,
}

impl Push {
    /// Whether it waits for a message of the app.
    pub(super) fn waits(&self) -> bool {
        self.after_event.is_some() || self.after_request.is_some()
    }

    pub(super) fn follows(&self, message: &AppMessage) -> bool {
        let after = if message.request {
            &self.after_request
        } else {
            &self.after_event
        };
        after.as_deref() == Some(&message.name)
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.after_event.is_none() || self.after_request.is_none(),
            "can have `after_event` or `after_request`, not both"
        );
        ensure!(
            is_event_name(&self.event),
            "`event` must be lowercase letters, digits and hyphens, beginning with a letter"
        );
        Ok(())
    }
}

/// A message that the app must send.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    event: Option<String>,
    request: Option<String>,
    payload: Option<Value>,
    params: Option<Value>,
    /// Milliseconds after the previous one, or after the page has opened.
    pub(super) within: Option<u64>,
}

impl Expected {
    /// Whether the names match.
    pub(super) fn names(&self, message: &AppMessage) -> bool {
        let name = if message.request {
            &self.request
        } else {
            &self.event
        };
        name.as_deref() == Some(&message.name)
    }

    pub(super) fn against(&self, message: &AppMessage) -> Vec<String> {
        let wanted = self.payload.as_ref().or(self.params.as_ref());
        wanted.map_or_else(Vec::new, |wanted| {
            differences(wanted, &message.with, Fit::Part)
        })
    }

    pub(super) fn describe(&self) -> String {
        let (kind, name) = match (&self.event, &self.request) {
            (Some(event), _) => ("event", event.as_str()),
            (None, request) => ("request", request.as_deref().unwrap_or_default()),
        };
        let wanted = self.payload.as_ref().or(self.params.as_ref());
        wanted.map_or_else(
            || format!("{kind} {name}"),
            |with| format!("{kind} {name} {with}"),
        )
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.event.is_some() != self.request.is_some(),
            "needs either `event` or `request`"
        );
        ensure!(
            self.event.is_some() || self.payload.is_none(),
            "a request has `params`; `payload` is for events"
        );
        ensure!(
            self.request.is_some() || self.params.is_none(),
            "an event has a `payload`; `params` are for requests"
        );
        Ok(())
    }
}

/// A step of the person in the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Step {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) click: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fill: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) press: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wait: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) eval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pause: Option<u64>,
    /// Waits until the app has sent this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) heard: Option<String>,
    /// The minimum number of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<usize>,
    /// The value for `fill`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<Value>,
    /// The text that the element must contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// The expected result of `eval`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is: Option<Value>,
    /// Timeout in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) within: Option<u64>,
}

impl Step {
    pub(super) fn describe(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn check(&self) -> anyhow::Result<()> {
        let acts = [
            self.click.is_some(),
            self.fill.is_some(),
            self.press.is_some(),
            self.wait.is_some(),
            self.gone.is_some(),
            self.eval.is_some(),
            self.pause.is_some(),
            self.heard.is_some(),
        ];
        ensure!(
            acts.iter().filter(|one| **one).count() == 1,
            "needs one of `click`, `fill`, `press`, `wait`, `gone`, `eval`, `pause` and `heard`"
        );
        ensure!(
            self.fill.is_some() == self.value.is_some(),
            "`fill` needs a `value`, and nothing else has one"
        );
        ensure!(
            self.heard.is_some() || self.times.is_none(),
            "`times` is for `heard`"
        );
        ensure!(
            self.wait.is_some() || self.text.is_none(),
            "`text` is for `wait`"
        );
        ensure!(
            self.eval.is_some() || self.is.is_none(),
            "`is` is for `eval`"
        );
        Ok(())
    }
}

impl Script {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let script: Self = read_yaml(file)?;
        let at = |list: &str, at: usize| format!("{}: {list}, number {}", file.display(), at + 1);
        for (n, rule) in script.rules.iter().enumerate() {
            rule.check().with_context(|| at("rules", n))?;
        }
        for (n, push) in script.send.iter().enumerate() {
            push.check().with_context(|| at("send", n))?;
        }
        for (n, expected) in script.expect.iter().enumerate() {
            expected.check().with_context(|| at("expect", n))?;
        }
        for (n, step) in script.page.iter().enumerate() {
            step.check().with_context(|| at("page", n))?;
        }
        Ok(script)
    }

    /// The actions that it answers.
    pub(super) fn actions(&self) -> impl Iterator<Item = &str> {
        let named = self.rules.iter().filter_map(|rule| rule.request.as_deref());
        named.filter(|name| *name != "*")
    }

    /// Whether it ends by itself.
    pub(super) fn ends(&self) -> bool {
        !(self.send.is_empty() && self.expect.is_empty() && self.page.is_empty())
    }
}

pub(super) fn read_yaml<T: DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let message = || format!("reading {}", file.display());
    if std::fs::metadata(file).with_context(message)?.len() > MOST {
        bail!("{} must be at most {MOST} bytes", file.display());
    }
    let text = std::fs::read_to_string(file).with_context(message)?;
    serde_saphyr::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{}: {}", file.display(), error.without_snippet()))
}
