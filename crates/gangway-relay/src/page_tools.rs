//! Tools of pages on the relay: tools that a page offers to external agents are available to the agents of its chat
//! too.

use std::{collections::HashSet, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, join_all};
use gangway_core::{Caller, SessionId, Tool, ToolError, ToolName, ToolSource};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::sync::watch;

use crate::{FromAgent, FromHost, Refusal, Relay, RelaySession, page_schema::tool_of, raw};

/// Prefix of a page's tool server; the name of the relay session follows.
pub(crate) const PAGE: &str = "page-";

/// The snapshot tool, in addition to the page's own.
pub(crate) const LOOK: &str = "look";

/// Timeout of a page's tool list; an agent's turn waits for it.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of tools per page.
const TOOLS: usize = 64;

/// Length limit of a page's error message.
const WORDS: usize = 2000;

pub struct PageTools {
    relay: Arc<Relay>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot {
    #[serde(default)]
    tool_schema: Vec<Value>,
}

impl PageTools {
    #[must_use]
    pub fn new(relay: Arc<Relay>) -> Self {
        Self { relay }
    }

    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let pages = self.pages().into_iter();
        pages.map(|page| page.name().to_string()).collect()
    }

    /// The snapshot tool of a page.
    pub fn look_at(page: &str) -> Option<ToolName> {
        ToolName::new(&format!("{PAGE}{page}"), LOOK).ok()
    }

    async fn call_page(
        &self,
        chat: Option<SessionId>,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let missing = || ToolError::NotFound(tool.clone());
        let name = tool.server().strip_prefix(PAGE).ok_or_else(missing)?;
        let mut pages = self.pages().into_iter();
        let page = pages.find(|page| page.name().as_str() == name);
        let page = page.filter(|page| chat.is_none_or(|chat| page.is_offered_to(chat)));
        let page = page.ok_or_else(missing)?;
        let (kind, payload) = if tool.tool() == LOOK {
            (FromAgent::SnapshotGet, json!({}))
        } else {
            let own = page
                .offer()
                .is_some_and(|said| wants_reason(&said, tool.tool()));
            (FromAgent::ToolCall, call_of(tool, arguments, own)?)
        };
        match page.ask(kind, &raw(&payload)).await {
            Ok((FromHost::Error, said)) => Err(failed(tool, read(&said)?)),
            Ok((_, said)) => read(&said),
            Err(Refusal { code, message }) => {
                Err(failed(tool, json!({ "code": code, "message": message })))
            }
        }
    }

    fn pages(&self) -> Vec<Arc<RelaySession>> {
        self.relay.hosted()
    }
}

impl ToolSource for PageTools {
    fn tools<'a>(&'a self, session: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        let mut pages = self.pages();
        pages.retain(|page| page.is_offered_to(session));
        Box::pin(offered(pages))
    }

    fn all(&self) -> BoxFuture<'_, Vec<Arc<Tool>>> {
        Box::pin(offered(self.pages()))
    }

    fn servers(&self) -> Vec<String> {
        let names = self.names().into_iter();
        names.map(|page| format!("{PAGE}{page}")).collect()
    }

    fn has(&self, tool: &ToolName) -> bool {
        tool.server().starts_with(PAGE)
    }

    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(self.call_page(caller.session, tool, arguments))
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.relay.changes())
    }

    fn calls_change_tools(&self) -> bool {
        true
    }
}

async fn offered(pages: Vec<Arc<RelaySession>>) -> Vec<Arc<Tool>> {
    let asked = pages.iter().map(|page| async move {
        let said: Option<Arc<RawValue>> = match page.look(TIMEOUT).await {
            Ok((FromHost::SnapshotState, said)) => {
                let said = Arc::<RawValue>::from(said);
                page.keep_offer(Arc::clone(&said));
                Some(said)
            }
            // A busy page keeps its previous tools.
            _ => page.offer(),
        };
        said.map(|said| tools_of(page.name().as_str(), &said))
            .unwrap_or_default()
    });
    join_all(asked).await.into_iter().flatten().collect()
}

fn tools_of(page: &str, said: &RawValue) -> Vec<Arc<Tool>> {
    let snapshot = serde_json::from_str(said.get());
    let snapshot = snapshot.unwrap_or(Snapshot {
        tool_schema: Vec::new(),
    });
    let look = PageTools::look_at(page).map(|name| Tool {
        name,
        description: "Read what the page shows now, its messages, and its tools.".to_owned(),
        input_schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    });
    let own = snapshot.tool_schema.into_iter().take(TOOLS);
    let own = own.filter_map(|offered| tool_of(page, serde_json::from_value(offered).ok()?));
    let mut seen = HashSet::new();
    let all = look.into_iter().chain(own);
    all.filter(|tool| seen.insert(tool.name.clone()))
        .map(Arc::new)
        .collect()
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

/// Whether a tool has its own parameter `reason`, which then gets the value too.
fn wants_reason(said: &RawValue, tool: &str) -> bool {
    let snapshot = serde_json::from_str::<Snapshot>(said.get());
    let offered = snapshot
        .map(|snapshot| snapshot.tool_schema)
        .unwrap_or_default();
    offered
        .iter()
        .any(|one| one["name"] == tool && one["parameters"].get("reason").is_some())
}

fn read(said: &RawValue) -> Result<Value, ToolError> {
    serde_json::from_str(said.get())
        .map_err(|error| ToolError::Failed(format!("the page's answer is invalid: {error}")))
}

/// Maps a page's error to a tool error.
fn failed(tool: &ToolName, said: Value) -> ToolError {
    let words = said["message"]
        .as_str()
        .unwrap_or("the page gave no reason");
    let words: String = words.chars().take(WORDS).collect();
    match said["code"].as_str() {
        Some("UNKNOWN_TOOL") => ToolError::NotFound(tool.clone()),
        Some("INVALID_PARAMS") => ToolError::BadArguments {
            tool: tool.clone(),
            reason: words,
        },
        Some("SESSION_NOT_ACTIVE") => ToolError::Unavailable(words),
        _ => ToolError::Failed(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_a_tool_wants_for_itself_reaches_it_too() {
        let said = raw(
            &json!({ "toolSchema": [{ "name": "cancel", "parameters": { "reason": { "type": "string" } } }, { "name": "next" }] }),
        );
        assert!(wants_reason(&said, "cancel") && !wants_reason(&said, "next"));
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
        let said = raw(&json!({ "toolSchema": [7, { "name": "good" }, { "nameless": 1 }] }));
        let names: Vec<_> = tools_of("shop", &said)
            .iter()
            .map(|t| t.name.to_string())
            .collect();
        assert_eq!(names, ["page-shop/look", "page-shop/good"]);
        assert_eq!(tools_of("shop", &raw(&json!({ "toolSchema": 7 }))).len(), 1);
        let many: Vec<_> = (0..100)
            .map(|n| json!({ "name": format!("t{n}") }))
            .collect();
        assert_eq!(
            tools_of("shop", &raw(&json!({ "toolSchema": many }))).len(),
            65
        );
    }
}
