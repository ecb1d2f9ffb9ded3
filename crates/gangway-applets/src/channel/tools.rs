//! The tools of an applet: offered by its page, called by agents.

use gangway_pages::{OfferedTool, ToPage, ToolProblem};
use serde_json::Value;

use super::{Channel, RequestError, outbox::message};
use crate::wire::channel::AppletServerMessage;

impl Channel {
    /// The tools that the page offers now, all of them.
    pub(super) async fn offer_tools(
        &self,
        id: &Option<Value>,
        tools: Vec<OfferedTool>,
        reset: bool,
    ) -> Result<(), RequestError> {
        let accepted = self.page.offer(tools, reset);
        let outgoing = AppletServerMessage::ToolsOffered {
            id: id.clone(),
            server: accepted.server,
            tools: accepted.tools,
            refused: accepted.refused,
        };
        self.out.send(&outgoing).await;
        Ok(())
    }

    pub(super) fn return_result(
        &self,
        call: u64,
        result: Value,
        error: Option<ToolProblem>,
    ) -> Result<(), RequestError> {
        let result = error.map_or(Ok(result), |problem| Err(problem.into()));
        match self.page.answer(call, result) {
            true => Ok(()),
            // It may have timed out, or been cancelled.
            false => {
                let message = format!("no call {call} of a tool is open");
                Err(RequestError::new("call_not_found", message))
            }
        }
    }

    /// Forwards calls of the page's tools.
    pub(super) async fn forward_calls(&self) {
        loop {
            let outgoing = message(&match self.page.next().await {
                ToPage::Call(call) => AppletServerMessage::ToolCall {
                    call: call.call,
                    name: call.tool,
                    arguments: Value::clone(&call.arguments),
                },
                ToPage::Cancel(call) => AppletServerMessage::ToolCancel { call },
            });
            self.out.all([outgoing]).await;
        }
    }
}
