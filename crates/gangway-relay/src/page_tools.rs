//! Pages on the relay as pages of their chats: tools that a page offers to external agents are available to the agents
//! of its chat too.

use std::{
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use futures_util::future::BoxFuture;
use gangway_core::{Tool, ToolError, ToolName};
use gangway_pages::{ListedTool, PageChannel, PageEvents, TOOLS};
use gangway_schema::Clock;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    FromAgent, FromHost, Refusal, RelaySession,
    page_schema::{RelayTool, tool_of},
    raw,
};

/// The snapshot tool, in addition to the page's own.
pub(crate) const LOOK: &str = "look";

/// Timeout of a page's tool list; an agent's turn waits for it.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Length limit of a page's error message.
const WORDS: usize = 2000;

/// The tools that a page offers, read when they are first needed.
pub struct Offer {
    /// The `toolSchema` of its message, as text.
    schema: String,
    tools: OnceLock<Vec<RelayTool>>,
}

/// The tools in a page's message.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(rename = "toolSchema", borrow)]
    schema: Option<&'a RawValue>,
}

impl Offer {
    /// The tools in a message of the page; `None` if it says nothing about them.
    pub(crate) fn of(text: &RawValue) -> Option<Self> {
        let message: Message<'_> = serde_json::from_str(text.get()).ok()?;
        Some(Self {
            schema: message.schema?.get().to_owned(),
            tools: OnceLock::new(),
        })
    }

    /// The offer of a page without tools.
    pub(crate) fn nothing() -> Self {
        Self {
            schema: String::new(),
            tools: OnceLock::new(),
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let tools = self.tools().iter();
        tools.map(|one| one.tool.name.clone()).collect()
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        self.schema == other.schema
    }

    fn tools(&self) -> &[RelayTool] {
        self.tools.get_or_init(|| {
            let offered: Vec<Value> = serde_json::from_str(&self.schema).unwrap_or_default();
            let offered = offered.into_iter().take(TOOLS);
            let mut tools = Vec::<RelayTool>::new();
            for one in offered.filter_map(|one| tool_of(serde_json::from_value(one).ok()?)) {
                if !tools.iter().any(|tool| tool.tool.name == one.tool.name) {
                    tools.push(one);
                }
            }
            tools
        })
    }

    fn find(&self, name: &str) -> Option<&RelayTool> {
        self.tools().iter().find(|one| one.tool.name == name)
    }
}

/// The page of a relay session, for agents of its chat and for MCP clients.
pub(crate) struct RelayPage {
    /// The session holds its page.
    pub(crate) session: Weak<RelaySession>,
    pub(crate) clock: Clock,
}

impl RelayPage {
    fn session(&self) -> Result<Arc<RelaySession>, ToolError> {
        let closed = || ToolError::Unavailable("the page was closed".to_owned());
        self.session.upgrade().ok_or_else(closed)
    }

    /// Asks the page for its tools; a busy page keeps its previous ones.
    async fn refresh(&self, session: &RelaySession) -> Option<Arc<Offer>> {
        if let Ok((FromHost::SnapshotState, message)) = session.look(TIMEOUT).await {
            session.keep_offer(Offer::of(&message).unwrap_or_else(Offer::nothing));
        }
        session.offer()
    }

    /// What is sent to the page for a call.
    async fn checked(
        &self,
        session: &RelaySession,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let Some(offer) = session.offer() else {
            // A page too busy to list its tools checks them itself.
            return match self.refresh(session).await {
                Some(offer) => self.by_offer(&offer, tool, arguments).await,
                None => call_of(tool, arguments, false),
            };
        };
        match self.by_offer(&offer, tool, arguments.clone()).await {
            Err(ToolError::BadArguments { .. } | ToolError::NotFound(_)) => {}
            done => return done,
        }
        // The page may offer other tools by now.
        let offer = self.refresh(session).await.unwrap_or(offer);
        self.by_offer(&offer, tool, arguments).await
    }

    async fn by_offer(
        &self,
        offer: &Offer,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let known = offer.find(tool.tool());
        let known = known.ok_or_else(|| ToolError::NotFound(tool.clone()))?;
        let arguments = known.tool.check(&self.clock, tool, arguments).await?;
        call_of(tool, arguments, known.own_reason)
    }
}

impl PageChannel for RelayPage {
    fn tools<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Vec<ListedTool>> {
        Box::pin(async move {
            if let Some(session) = self.session.upgrade() {
                self.refresh(&session).await;
            }
            self.last_tools(server)
        })
    }

    fn last_tools(&self, server: &str) -> Vec<ListedTool> {
        let Some(offer) = self.session.upgrade().and_then(|session| session.offer()) else {
            return Vec::new();
        };
        let own = offer.tools().iter();
        let own = own.filter_map(|one| one.tool.listed(server));
        look(server).into_iter().chain(own).collect()
    }

    fn known(&self, tool: &ToolName) -> Option<ListedTool> {
        if tool.tool() == LOOK {
            return look(tool.server());
        }
        let offer = self.session.upgrade()?.offer()?;
        offer.find(tool.tool())?.tool.listed(tool.server())
    }

    fn call<'a>(
        &'a self,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(async move {
            let session = self.session()?;
            let (kind, payload) = match tool.tool() {
                LOOK => (FromAgent::SnapshotGet, json!({})),
                _ => {
                    let payload = self.checked(&session, tool, arguments).await?;
                    (FromAgent::ToolCall, payload)
                }
            };
            match session.ask(kind, &raw(&payload)).await {
                Ok((FromHost::Error, text)) => Err(failed(tool, read(&text)?)),
                Ok((_, text)) => read(&text),
                Err(Refusal { code, message }) => {
                    Err(failed(tool, json!({ "code": code, "message": message })))
                }
            }
        })
    }

    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            match self
                .session()?
                .ask(FromAgent::SnapshotGet, &raw(&json!({})))
                .await
            {
                Ok((FromHost::SnapshotState, text)) => read(&text),
                Ok((_, text)) => Err(unreadable(read(&text)?["message"].as_str())),
                Err(refusal) => Err(unreadable(Some(&refusal.message))),
            }
        })
    }

    fn events(
        &self,
        after: Option<u64>,
        wait: Duration,
    ) -> BoxFuture<'_, Result<PageEvents, ToolError>> {
        Box::pin(async move { Ok(self.session()?.events(after, wait).await) })
    }
}

fn look(server: &str) -> Option<ListedTool> {
    let tool = Tool {
        name: ToolName::new(server, LOOK).ok()?,
        description: "Read what the page shows now, its messages, and its tools.".to_owned(),
        input_schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    };
    Some(ListedTool {
        tool: Arc::new(tool),
        read_only: true,
    })
}

fn call_of(tool: &ToolName, arguments: Value, own_reason: bool) -> Result<Value, ToolError> {
    let wrong = |reason: &str| ToolError::BadArguments {
        tool: tool.clone(),
        reason: reason.to_owned(),
    };
    let Value::Object(mut params) = arguments else {
        return Err(wrong("the arguments must be an object"));
    };
    let reason = match own_reason {
        true => params.get("reason").cloned(),
        false => params.remove("reason"),
    };
    let reason = reason.as_ref().and_then(Value::as_str).map(str::trim);
    let reason = reason.filter(|reason| !reason.is_empty());
    let reason = reason.ok_or_else(|| wrong("`reason` is required"))?;
    Ok(json!({ "toolName": tool.tool(), "params": params, "reason": reason }))
}

fn read(message: &RawValue) -> Result<Value, ToolError> {
    serde_json::from_str(message.get())
        .map_err(|error| ToolError::Failed(format!("the page's answer is invalid: {error}")))
}

fn unreadable(message: Option<&str>) -> ToolError {
    let message = message.unwrap_or("the page gave no reason");
    ToolError::Failed(message.chars().take(WORDS).collect())
}

/// Maps a page's error to a tool error.
fn failed(tool: &ToolName, message: Value) -> ToolError {
    let text = message["message"]
        .as_str()
        .unwrap_or("the page gave no reason");
    let text: String = text.chars().take(WORDS).collect();
    match message["code"].as_str() {
        Some("UNKNOWN_TOOL") => ToolError::NotFound(tool.clone()),
        Some("INVALID_PARAMS") => ToolError::BadArguments {
            tool: tool.clone(),
            reason: text,
        },
        Some("SESSION_NOT_ACTIVE") => ToolError::Unavailable(text),
        _ => ToolError::Failed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(offer: &Offer) -> Vec<&str> {
        let tools = offer.tools().iter();
        tools.map(|one| one.tool.name.as_str()).collect()
    }

    #[test]
    fn a_reason_that_a_tool_wants_for_itself_reaches_it_too() {
        let message = raw(
            &json!({ "toolSchema": [{ "name": "cancel", "parameters": { "reason": { "type": "string" } } }, { "name": "next" }] }),
        );
        let offer = Offer::of(&message).unwrap();
        let own = |name| offer.find(name).unwrap().own_reason;
        assert!(own("cancel") && !own("next"));
        let name = ToolName::new("page-shop", "cancel").unwrap();
        let call = |own| call_of(&name, json!({ "reason": "ill" }), own).unwrap();
        assert_eq!(call(true)["params"], json!({ "reason": "ill" }));
        assert_eq!(
            call(false),
            json!({ "toolName": "cancel", "params": {}, "reason": "ill" })
        );
    }

    #[test]
    fn what_is_no_tool_is_left_out_and_so_are_too_many() {
        let message = raw(
            &json!({ "toolSchema": [7, { "name": "good" }, { "nameless": 1 }, { "name": "good" }] }),
        );
        assert_eq!(names(&Offer::of(&message).unwrap()), ["good"]);
        assert!(names(&Offer::of(&raw(&json!({ "toolSchema": 7 }))).unwrap()).is_empty());
        assert!(Offer::of(&raw(&json!({ "uiSpec": 7 }))).is_none());
        let many: Vec<_> = (0..100)
            .map(|n| json!({ "name": format!("t{n}") }))
            .collect();
        let many = raw(&json!({ "toolSchema": many }));
        assert_eq!(names(&Offer::of(&many).unwrap()).len(), 64);
    }
}
