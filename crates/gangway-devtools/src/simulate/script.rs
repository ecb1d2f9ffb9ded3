//! What a fake agent does, as its author wrote it down.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use gangway_apps::manifest::is_event_name;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::matching::{Fit, differences};

/// Bytes of a script or a recording.
const MOST: u64 = 16 << 20;

/// A script.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// What the app is launched with.
    #[serde(default)]
    pub(super) launch: LaunchWith,
    /// What is done about what the app says; the first rule that fits.
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
    /// What the agent says by itself.
    #[serde(default)]
    pub(super) send: Vec<Push>,
    /// What the app must say, in this order.
    #[serde(default)]
    pub(super) expect: Vec<Expected>,
    /// What the person does in the page.
    #[serde(default)]
    pub(super) page: Vec<Step>,
    /// Whether the page may throw errors that nobody catches.
    #[serde(default)]
    pub(super) allow_errors: bool,
}

/// What an app is launched with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LaunchWith {
    /// The agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    /// What it says that it can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) capabilities: Option<Vec<String>>,
    /// The app's data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) data: Map<String, Value>,
    /// Its config.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) config: Map<String, Value>,
}

/// What is done about an event or a request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// The event, or `*`.
    event: Option<String>,
    /// The request, or `*`.
    request: Option<String>,
    /// Only if the payload, or the params, hold this.
    #[serde(rename = "where")]
    only: Option<Value>,
    /// How often it applies at the most.
    pub(super) times: Option<u32>,
    /// Milliseconds until it is done.
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

/// What the agent does about something that the app said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// It takes the event.
    Ack,
    /// It did what was asked for.
    Result(Value),
    /// It will not, for this reason.
    Deny(String),
    /// It does not know how.
    Unknown,
}

/// Something that the app said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// Whether it waits for more than to be taken.
    pub(super) request: bool,
    /// The event or the action.
    pub(super) name: String,
    /// The payload or the params.
    pub(super) with: Value,
}

impl Rule {
    /// Whether it is about this.
    pub(super) fn fits(&self, said: &Said) -> bool {
        let name = if said.request {
            &self.request
        } else {
            &self.event
        };
        let named = name.as_deref() == Some("*") || name.as_deref() == Some(&said.name);
        let holds = |only: &Value| differences(only, &said.with, Fit::Part).is_empty();
        named && self.only.as_ref().is_none_or(holds)
    }

    /// What is done; nothing when the app waits in vain.
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
            "it needs `event` or `request`, and not both"
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
            "it can do one of `ack`, `ignore`, `result`, `deny` and `unknown`"
        );
        let answers = self.result.is_some() || self.deny.is_some() || self.unknown;
        ensure!(
            self.request.is_some() || !answers,
            "an event is taken or ignored; `result`, `deny` and `unknown` are for requests"
        );
        ensure!(self.event.is_some() || !self.ack, "`ack` is for events");
        Ok(())
    }
}

/// Something that the agent says by itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Push {
    /// The event.
    pub(super) event: String,
    /// What comes with it.
    #[serde(default)]
    pub(super) payload: Value,
    /// The event of the app that it follows.
    after_event: Option<String>,
    /// The request of the app that it follows.
    after_request: Option<String>,
    /// Milliseconds after that, or after the page is there.
    #[serde(default)]
    pub(super) delay: u64,
}

impl Push {
    /// Whether it waits for something that the app says.
    pub(super) fn waits(&self) -> bool {
        self.after_event.is_some() || self.after_request.is_some()
    }

    /// Whether this is what it waits for.
    pub(super) fn follows(&self, said: &Said) -> bool {
        let after = if said.request {
            &self.after_request
        } else {
            &self.after_event
        };
        after.as_deref() == Some(&said.name)
    }

    fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.after_event.is_none() || self.after_request.is_none(),
            "it can have `after_event` or `after_request`, and not both"
        );
        ensure!(
            is_event_name(&self.event),
            "`event` must be lowercase letters, digits and hyphens, beginning with a letter"
        );
        Ok(())
    }
}

/// Something that the app must say.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    event: Option<String>,
    request: Option<String>,
    payload: Option<Value>,
    params: Option<Value>,
    /// Milliseconds after the one before it, or after the page is there.
    pub(super) within: Option<u64>,
}

impl Expected {
    /// Whether it has this name at all.
    pub(super) fn names(&self, said: &Said) -> bool {
        let name = if said.request {
            &self.request
        } else {
            &self.event
        };
        name.as_deref() == Some(&said.name)
    }

    /// What keeps this from being it.
    pub(super) fn against(&self, said: &Said) -> Vec<String> {
        let wanted = self.payload.as_ref().or(self.params.as_ref());
        wanted.map_or_else(Vec::new, |wanted| {
            differences(wanted, &said.with, Fit::Part)
        })
    }

    /// What it is, in words.
    pub(super) fn words(&self) -> String {
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
            "it needs `event` or `request`, and not both"
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

/// Something that the person does in the page.
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
    /// Waits until the app has said this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) heard: Option<String>,
    /// How often, at the least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<usize>,
    /// What is filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<Value>,
    /// What the element must say that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// What must come out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is: Option<Value>,
    /// Milliseconds that it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) within: Option<u64>,
}

impl Step {
    /// What it is, in words.
    pub(super) fn words(&self) -> String {
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
            "it needs one of `click`, `fill`, `press`, `wait`, `gone`, `eval`, `pause` and `heard`"
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
    /// Reads a script from a file.
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

    /// The requests that it has answers for.
    pub(super) fn actions(&self) -> impl Iterator<Item = &str> {
        let named = self.rules.iter().filter_map(|rule| rule.request.as_deref());
        named.filter(|name| *name != "*")
    }

    /// Whether it comes to an end by itself.
    pub(super) fn ends(&self) -> bool {
        !(self.send.is_empty() && self.expect.is_empty() && self.page.is_empty())
    }
}

/// Reads a file of YAML.
pub(super) fn read_yaml<T: DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let told = || format!("reading {}", file.display());
    if std::fs::metadata(file).with_context(told)?.len() > MOST {
        bail!("{} is larger than {MOST} bytes", file.display());
    }
    let text = std::fs::read_to_string(file).with_context(told)?;
    serde_saphyr::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{}: {}", file.display(), error.without_snippet()))
}
