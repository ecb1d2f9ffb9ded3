//! Calls of a page's tools that wait for the page.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use gangway_core::{ToolError, ToolName};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::offer::{DEEPEST, is_deeper};

/// Maximum number of concurrent calls of a page's tools.
const CALLS: usize = 16;

/// A call as it is sent to its page.
#[derive(Debug, Clone, PartialEq)]
pub struct PageCall {
    /// Its number; counts up.
    pub call: u64,
    /// The name of the tool.
    pub tool: String,
    pub arguments: Arc<Value>,
}

/// The way to a page.
pub trait PageLink: Send + Sync {
    fn call(&self, call: PageCall);

    /// Nobody waits for the result any more.
    fn cancel(&self, call: u64);
}

pub(crate) struct Calls {
    timeout: Duration,
    state: Mutex<State>,
}

struct State {
    last: u64,
    open: BTreeMap<u64, Open>,
    /// Why the page takes no more calls.
    left: Option<&'static str>,
}

struct Open {
    sent: PageCall,
    reply: oneshot::Sender<Result<Value, ToolError>>,
}

/// An open call; dropping it notifies the page.
struct Asked<'a> {
    calls: &'a Calls,
    link: &'a dyn PageLink,
    call: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.calls.lock().open.remove(&self.call).is_some() {
            self.link.cancel(self.call);
        }
    }
}

impl Calls {
    /// The numbers of calls start after `last`.
    pub(crate) fn new(timeout: Duration, last: u64) -> Self {
        let state = State {
            last,
            open: BTreeMap::new(),
            left: None,
        };
        Self {
            timeout,
            state: Mutex::new(state),
        }
    }

    pub(crate) async fn call(
        &self,
        link: &dyn PageLink,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let (reply, answer) = oneshot::channel();
        let asked = {
            let mut state = self.lock();
            if let Some(why) = state.left {
                return Err(ToolError::Unavailable(why.to_owned()));
            }
            if state.open.len() >= CALLS {
                let message =
                    format!("the page can work on at most {CALLS} calls; try again later");
                return Err(ToolError::Busy(message));
            }
            state.last += 1;
            let call = state.last;
            let sent = PageCall {
                call,
                tool: tool.tool().to_owned(),
                arguments: Arc::new(arguments),
            };
            let stored = Open {
                sent: sent.clone(),
                reply,
            };
            state.open.insert(call, stored);
            // Under the lock: the page gets calls in the order of their numbers.
            link.call(sent);
            Asked {
                calls: self,
                link,
                call,
            }
        };
        let result = tokio::time::timeout(self.timeout, answer).await;
        drop(asked);
        match result {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(ToolError::Unavailable(
                self.lock().left.unwrap_or(RELOADED).to_owned(),
            )),
            Err(_) => Err(ToolError::Timeout {
                tool: tool.clone(),
                seconds: self.timeout.as_secs(),
            }),
        }
    }

    /// Delivers the page's result; false if no such call is open.
    pub(crate) fn answer(&self, call: u64, result: Result<Value, ToolError>) -> bool {
        let Some(open) = self.lock().open.remove(&call) else {
            return false;
        };
        let result = result.and_then(|value| match is_deeper(&value, DEEPEST) {
            true => Err(ToolError::Failed(format!(
                "the page's result must be nested at most {DEEPEST} levels deep"
            ))),
            false => Ok(value),
        });
        // The caller may have gone.
        let _ = open.reply.send(result);
        true
    }

    /// Passes on the open calls, oldest first; none begins or ends meanwhile.
    pub(crate) fn resend(&self, send: impl FnOnce(Vec<PageCall>)) {
        let state = self.lock();
        send(state.open.values().map(|open| open.sent.clone()).collect());
    }

    /// Another document took the page's place, which knows nothing of the open calls: they fail.
    pub(crate) fn reset(&self) {
        self.lock().open.clear();
    }

    /// The page was closed: open calls fail, and so do later ones.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.left = Some(CLOSED);
        state.open.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// What became of a call is unknown: the page may have carried it out.
const CLOSED: &str = "the page was closed before it answered; the call may have taken effect";
const RELOADED: &str = "the page was reloaded before it answered; the call may have taken effect";
