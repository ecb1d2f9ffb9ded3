//! Incoming messages of the external agent protocol.

use std::borrow::Cow;

use crate::{Code, Refusal, Role, VERSION};
use gangway_core::ToolName;
use gangway_pages::{PREFIX, is_reader};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};
use ts_rs::TS;

use crate::socket::{Readable, is_plain};

/// Length limit of request ids.
const NAME: usize = 128;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayMessage<'a> {
    #[serde(borrow)]
    pub v: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub r#type: Option<Cow<'a, str>>,
    /// Request id.
    #[serde(borrow)]
    pub id: Option<Cow<'a, str>>,
    /// Id of the request that it answers.
    #[serde(borrow)]
    pub reply_to: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub payload: Option<&'a RawValue>,
}

#[derive(Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "RelayJoin", optional_fields)]
pub struct JoinPayload {
    pub role: Role,
    /// Default `default`.
    #[serde(default = "default_session")]
    #[ts(as = "Option<String>")]
    pub session_id: String,
    /// The number of the last message received.
    pub since: Option<u64>,
    /// Identifies the client after a reconnect, so that it gets missed answers.
    pub client_id: Option<String>,
    /// Whether to send `relay.presence`; default for agents.
    pub presence: Option<bool>,
    /// The session's token, if it has one.
    pub token: Option<String>,
    /// The chat whose agents may use the page too.
    pub gangway_session: Option<String>,
}

fn default_session() -> String {
    "default".into()
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidMessage, message)
}

impl<'a> RelayMessage<'a> {
    /// Parses a message; an error has the request id if that could be read.
    pub fn read(text: &'a str) -> Result<Self, (Refusal, Option<String>)> {
        let no_message = |error: serde_json::Error| {
            let reason = match error.is_data() {
                true => {
                    "a message must be an object: v, type, id and replyTo are strings, payload is an object"
                        .to_owned()
                }
                false => format!("invalid JSON: {error}"),
            };
            (invalid(reason), None)
        };
        let message: Self = serde_json::from_str(text).map_err(no_message)?;
        if !is_plain(text) {
            serde_json::from_str::<Readable>(text).map_err(no_message)?;
        }
        message.check().map_err(|reason| {
            let id = message.id.as_deref().filter(|id| id.len() <= NAME);
            (invalid(reason), id.map(str::to_owned))
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
            return Err(format!("id and replyTo must be at most {NAME} bytes"));
        }
        match self.payload {
            Some(payload) if payload.get().starts_with('{') => Ok(()),
            Some(_) => Err("payload must be an object".into()),
            None => Err("payload is missing; it can be {}".into()),
        }
    }

    pub fn kind(&self) -> &str {
        self.r#type.as_deref().unwrap_or_default()
    }

    pub fn body(&self) -> &RawValue {
        self.payload.unwrap_or(RawValue::NULL)
    }
}

/// The id of a message that is not parsed further.
pub fn id_of(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        id: Option<Cow<'a, str>>,
    }
    let named = serde_json::from_str::<Named<'_>>(text).ok()?;
    named.id.filter(|id| id.len() <= NAME).map(Cow::into_owned)
}

/// The fields of a tool call that the relay checks.
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

/// A call of a tool.
pub struct RelayCall {
    pub tool: String,
    pub params: Map<String, Value>,
    pub reason: String,
}

pub fn call_of(payload: &RawValue) -> Result<RelayCall, Refusal> {
    let call: CallPayload<'_> = serde_json::from_str(payload.get())
        .map_err(|error| Refusal::new(Code::InvalidParams, error.to_string()))?;
    let params = call.params.map(RawValue::get).unwrap_or("{}");
    let params = serde_json::from_str(params)
        .map_err(|error| Refusal::new(Code::InvalidParams, error.to_string()))?;
    Ok(RelayCall {
        tool: call.tool_name.unwrap_or_default().into_owned(),
        params,
        reason: call.reason.unwrap_or_default().into_owned(),
    })
}

/// Parses a payload; `wrong` says what it must be.
pub fn payload_of<T: DeserializeOwned>(payload: &RawValue, wrong: &str) -> Result<T, Refusal> {
    serde_json::from_str(payload.get()).map_err(|_| Refusal::new(Code::InvalidParams, wrong))
}

/// Checks a call before it is forwarded; returns whether it is for another page of the chat.
pub fn check_call(payload: &RawValue) -> Result<bool, Refusal> {
    let wrong = |message: &str| Err(Refusal::new(Code::InvalidParams, message));
    let Ok(call) = serde_json::from_str::<CallPayload<'_>>(payload.get()) else {
        return wrong("toolName and reason must be strings");
    };
    if call
        .tool_name
        .as_ref()
        .is_none_or(|name| name.trim().is_empty())
    {
        return wrong("toolName is missing");
    }
    if call.reason.is_none_or(|reason| reason.trim().is_empty()) {
        return wrong("reason is missing: explain why this tool is called");
    }
    let is_other = |name: &Cow<'_, str>| {
        let is_known = |tool: ToolName| tool.server().starts_with(PREFIX) || is_reader(&tool);
        // Those of its own page have no server.
        name.contains('/') && name.parse().is_ok_and(is_known)
    };
    let for_other = call.tool_name.as_ref().is_some_and(is_other);
    match call.params.map(RawValue::get) {
        None => Ok(for_other),
        Some(params) if params.starts_with('{') => Ok(for_other),
        Some(_) => wrong("params must be an object"),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartPayload {
    pub study_id: Option<String>,
    pub participant_id: Option<String>,
}

#[derive(Deserialize)]
pub struct EndPayload {
    pub reason: Option<String>,
}
