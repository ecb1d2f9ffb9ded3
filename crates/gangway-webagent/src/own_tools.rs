//! Tools that a page implements: agents call them in the page.

use std::{collections::HashMap, sync::Arc, time::Duration};

use gangway_core::{Tool, ToolError, ToolName};
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use ts_rs::TS;

use crate::{message::SiteTold, outbox::Outbox};

/// The server name of a page's own tools, as the page sees it.
pub const PAGE: &str = "page";

/// Maximum number of tools of a page.
const TOOLS: usize = 128;

/// Maximum length of a description, and size of a schema.
const WORDS: usize = 4096;
const SCHEMA: usize = 64 << 10;

/// Maximum number of concurrent calls of a page's tools.
const CALLS: usize = 16;

/// A tool as its page describes it.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "PageTool")]
pub struct Described {
    /// Its name.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
    /// Its input schema, of type object.
    #[serde(default)]
    #[ts(optional, type = "JsonValue")]
    pub input_schema: Option<Value>,
}

/// The tools of one page.
pub struct OwnTools {
    /// Timeout of a call.
    timeout: Duration,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    tools: Vec<Arc<Tool>>,
    last: u64,
    asked: HashMap<u64, oneshot::Sender<Result<Value, ToolError>>>,
}

/// A running call of a page's tool; dropping it notifies the page.
struct Asked<'a> {
    tools: &'a OwnTools,
    outbox: &'a Outbox,
    call: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.tools.lock().asked.remove(&self.call).is_some() {
            self.outbox.tell(SiteTold::ToolCancel { call: self.call });
        }
    }
}

impl OwnTools {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            known: Mutex::default(),
        }
    }

    /// Replaces the tools; invalid ones are ignored.
    pub fn set(&self, described: Vec<Described>) {
        let known = described.into_iter().take(TOOLS).filter_map(|tool| {
            let schema = tool.input_schema.filter(Value::is_object);
            let input_schema = schema.unwrap_or_else(|| json!({ "type": "object" }));
            (input_schema.to_string().len() <= SCHEMA).then_some(())?;
            Some(Arc::new(Tool {
                name: ToolName::new(PAGE, &tool.name).ok()?,
                description: tool.description.chars().take(WORDS).collect(),
                input_schema,
            }))
        });
        self.lock().tools = known.collect();
    }

    /// The current tools.
    pub fn list(&self) -> Vec<Arc<Tool>> {
        self.lock().tools.clone()
    }

    /// Calls a tool in the page.
    pub async fn call(
        &self,
        outbox: &Outbox,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let (reply, answer) = oneshot::channel();
        let asked = {
            let mut known = self.lock();
            if !known.tools.iter().any(|one| one.name == *tool) {
                return Err(ToolError::NotFound(tool.clone()));
            }
            if known.asked.len() >= CALLS {
                let message = "the page works on too many calls already; try again later";
                return Err(ToolError::Busy(message.to_owned()));
            }
            known.last += 1;
            let call = known.last;
            known.asked.insert(call, reply);
            Asked {
                tools: self,
                outbox,
                call,
            }
        };
        outbox.tell(SiteTold::ToolCall {
            call: asked.call,
            name: tool.tool().to_owned(),
            args: arguments,
        });
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(ToolError::Unavailable("the page was closed".to_owned())),
            Err(_) => Err(ToolError::Timeout {
                tool: tool.clone(),
                seconds: self.timeout.as_secs(),
            }),
        }
    }

    /// Delivers the page's result.
    pub fn answer(&self, call: u64, result: Result<Value, ToolError>) {
        if let Some(reply) = self.lock().asked.remove(&call) {
            // The caller may have gone.
            let _ = reply.send(result);
        }
    }

    /// The page was closed: all pending calls fail.
    pub fn leave(&self) {
        let mut known = self.lock();
        known.tools.clear();
        known.asked.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }
}
