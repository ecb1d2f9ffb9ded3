//! Tools that a page implements itself: agents call them in the page.

use std::{collections::HashMap, sync::Arc, time::Duration};

use gangway_core::{Tool, ToolError, ToolName};
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use ts_rs::TS;

use crate::{message::SiteTold, outbox::Outbox};

/// The server that a page's own tools belong to, in its own eyes.
pub const PAGE: &str = "page";

/// Tools of one page.
const TOOLS: usize = 128;

/// Characters of a description, and bytes of a schema.
const WORDS: usize = 4096;
const SCHEMA: usize = 64 << 10;

/// Calls into a page at the same time.
const CALLS: usize = 16;

/// A tool as a page describes it.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "PageTool")]
pub struct Described {
    /// Its name.
    pub name: String,
    /// What it is good for.
    #[serde(default)]
    pub description: String,
    /// A JSON Schema of type object.
    #[serde(default)]
    #[ts(optional, type = "JsonValue")]
    pub input_schema: Option<Value>,
}

/// The tools of one page.
pub struct OwnTools {
    /// How long a call may take.
    timeout: Duration,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    tools: Vec<Arc<Tool>>,
    last: u64,
    asked: HashMap<u64, oneshot::Sender<Result<Value, ToolError>>>,
}

/// A call that a page works on; dropping it tells the page.
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

    /// These are the tools from now on; what makes no sense is left out.
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

    /// The tools there are.
    pub fn list(&self) -> Vec<Arc<Tool>> {
        self.lock().tools.clone()
    }

    /// Has the page run one.
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
                let words = "the page works on too many calls already; try again later";
                return Err(ToolError::Busy(words.to_owned()));
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
            Ok(Err(_)) => Err(ToolError::Unavailable("the page has gone".to_owned())),
            Err(_) => Err(ToolError::Timeout {
                tool: tool.clone(),
                seconds: self.timeout.as_secs(),
            }),
        }
    }

    /// The page has a result.
    pub fn answer(&self, call: u64, result: Result<Value, ToolError>) {
        if let Some(reply) = self.lock().asked.remove(&call) {
            // Nobody may wait any more.
            let _ = reply.send(result);
        }
    }

    /// The page is gone: nobody gets an answer any more.
    pub fn leave(&self) {
        let mut known = self.lock();
        known.tools.clear();
        known.asked.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }
}
