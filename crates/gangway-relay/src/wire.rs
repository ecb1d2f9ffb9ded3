//! The envelope of the external agent protocol, as it comes in.

use std::borrow::Cow;

use crate::{Code, Refusal, Role, VERSION};
use serde::Deserialize;
use serde_json::value::RawValue;
use ts_rs::TS;

use crate::socket::{Readable, is_plain};

/// The longest name of a question, and of whoever joins.
const NAME: usize = 128;

/// A message as it came.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayMessage<'a> {
    /// The version.
    #[serde(borrow)]
    pub v: Option<Cow<'a, str>>,
    /// The type.
    #[serde(borrow)]
    pub r#type: Option<Cow<'a, str>>,
    /// The name of a question.
    #[serde(borrow)]
    pub id: Option<Cow<'a, str>>,
    /// The question that it answers.
    #[serde(borrow)]
    pub reply_to: Option<Cow<'a, str>>,
    /// What it says.
    #[serde(borrow)]
    pub payload: Option<&'a RawValue>,
}

/// What somebody who joins says.
#[derive(Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "RelayJoin", optional_fields)]
pub struct JoinPayload {
    /// As what.
    pub role: Role,
    /// The relay session; `default` when absent.
    #[serde(default = "default_session")]
    #[ts(as = "Option<String>")]
    pub session_id: String,
    /// The last number it saw.
    pub since: Option<u64>,
    /// What it calls itself, to get answers that it missed.
    pub client_id: Option<String>,
    /// Whether it wants `relay.presence`; agents do unless they say otherwise.
    pub presence: Option<bool>,
    /// The token of the session, where it has one.
    pub token: Option<String>,
    /// The chat whose agents may use the page too.
    pub gangway_session: Option<String>,
}

fn default_session() -> String {
    "default".into()
}

fn invalid(words: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidMessage, words)
}

impl<'a> RelayMessage<'a> {
    /// Reads a message; what is wrong with it, and the name of the question if that could be read.
    pub fn read(text: &'a str) -> Result<Self, (Refusal, Option<String>)> {
        let no_message = |error: serde_json::Error| {
            let words = match error.is_data() {
                true => {
                    "a message is an object: v, type, id and replyTo are text, payload is an object"
                        .to_owned()
                }
                false => format!("this is no JSON that everybody can read: {error}"),
            };
            (invalid(words), None)
        };
        let message: Self = serde_json::from_str(text).map_err(no_message)?;
        if !is_plain(text) {
            serde_json::from_str::<Readable>(text).map_err(no_message)?;
        }
        message.check().map_err(|words| {
            let id = message.id.as_deref().filter(|id| id.len() <= NAME);
            (invalid(words), id.map(str::to_owned))
        })?;
        Ok(message)
    }

    fn check(&self) -> Result<(), String> {
        match self.v.as_deref() {
            Some(VERSION) => {}
            Some(_) => return Err(format!("v must be {VERSION:?}")),
            None => return Err(format!("v is missing; it must be {VERSION:?}")),
        }
        if self.r#type.is_none() {
            return Err("type is missing".into());
        }
        let long = |name: &Option<Cow<'_, str>>| name.as_ref().is_some_and(|n| n.len() > NAME);
        if long(&self.id) || long(&self.reply_to) {
            return Err(format!("id and replyTo must have at most {NAME} bytes"));
        }
        match self.payload {
            Some(payload) if payload.get().starts_with('{') => Ok(()),
            Some(_) => Err("payload must be an object".into()),
            None => Err("payload is missing; it may be {}".into()),
        }
    }

    /// Its type.
    pub fn kind(&self) -> &str {
        self.r#type.as_deref().unwrap_or_default()
    }

    /// What it says.
    pub fn body(&self) -> &RawValue {
        self.payload.unwrap_or(RawValue::NULL)
    }
}

/// The id of a message that is not read any further.
pub fn id_of(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        id: Option<Cow<'a, str>>,
    }
    let named = serde_json::from_str::<Named<'_>>(text).ok()?;
    named.id.filter(|id| id.len() <= NAME).map(Cow::into_owned)
}

/// What is looked at of a tool call before the page gets it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallPayload<'a> {
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
}

/// Refuses a call that no page could carry out.
pub fn check_call(payload: &RawValue) -> Result<(), Refusal> {
    let wrong = |words: &str| Err(Refusal::new(Code::InvalidParams, words));
    let Ok(call) = serde_json::from_str::<CallPayload<'_>>(payload.get()) else {
        return wrong("toolName and reason must be text");
    };
    if call.tool_name.is_none_or(|name| name.trim().is_empty()) {
        return wrong("toolName is missing");
    }
    if call.reason.is_none_or(|reason| reason.trim().is_empty()) {
        return wrong("reason is missing: say why this tool is used");
    }
    match call.params.map(RawValue::get) {
        None => Ok(()),
        Some(params) if params.starts_with('{') => Ok(()),
        Some(_) => wrong("params must be an object"),
    }
}

/// What begins a study session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartPayload {
    /// The study.
    pub study_id: Option<String>,
    /// The participant.
    pub participant_id: Option<String>,
}

/// What ends one.
#[derive(Deserialize)]
pub struct EndPayload {
    /// Why.
    pub reason: Option<String>,
}
