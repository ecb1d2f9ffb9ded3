//! The tools of an applet: offered by its page, called by agents.

use gangway_pages::{OfferedTool, ToPage, ToolProblem};
use serde_json::Value;

use super::{Channel, End, Refusal, out::Out};
use crate::wire::channel::AppletTold;

impl Channel {
    /// The tools that the page offers now, all of them.
    pub(super) async fn offer_tools(
        &self,
        out: &Out,
        id: &Option<Value>,
        tools: Vec<OfferedTool>,
        reset: bool,
    ) -> Result<(), Refusal> {
        let accepted = self.page.offer(tools, reset);
        let told = AppletTold::ToolsOffered {
            id: id.clone(),
            server: accepted.server,
            tools: accepted.tools,
            refused: accepted.refused,
        };
        out.tell(&told).await;
        Ok(())
    }

    pub(super) fn return_result(
        &self,
        call: u64,
        result: Value,
        error: Option<ToolProblem>,
    ) -> Result<(), Refusal> {
        let result = error.map_or(Ok(result), |problem| Err(problem.into()));
        match self.page.answer(call, result) {
            true => Ok(()),
            // It may have timed out, or been cancelled.
            false => {
                let words = format!("no call {call} of a tool is open");
                Err(Refusal::new("call_not_found", words))
            }
        }
    }

    /// Forwards calls of the page's tools.
    pub(super) async fn forward_calls(&self, out: &Out) -> End {
        loop {
            let told = match self.page.next().await {
                ToPage::Call(call) => AppletTold::ToolCall {
                    call: call.call,
                    name: call.tool,
                    arguments: Value::clone(&call.arguments),
                },
                ToPage::Cancel(call) => AppletTold::ToolCancel { call },
            };
            if !out.tell(&told).await {
                return End::Left;
            }
        }
    }
}
