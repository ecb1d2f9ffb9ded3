//! The runner of the tests: as `gangway agent`, with one model on OpenAI's wire and no tools.

use std::{path::Path, sync::Arc};

use futures_util::future::BoxFuture;
use gangway_core::{SessionId, Tool, ToolError, ToolName, Toolbox};
use gangway_models::openai::OpenAi;
use gangway_runner::{
    Pane, RunnerError,
    builtin::{BuiltinFactory, BuiltinParts, OwnTools},
    run, typing,
    wire::Setup,
};
use serde_json::Value;

/// Tool calls per turn; there are no tools.
const CALLS: u32 = 1;

struct OneModel;

impl BuiltinFactory for OneModel {
    fn parts(&self, setup: &Setup) -> Result<BuiltinParts, String> {
        let text = |name: &str| setup.settings[name].as_str().map(str::to_owned);
        let base_url = text("base_url").ok_or("the settings have no `base_url`")?;
        Ok(BuiltinParts {
            models: Arc::new(OpenAi::new(&base_url, None, text("model"))),
            tools: Arc::new(NoTools),
            max_tool_calls: CALLS,
        })
    }
}

struct NoTools;

impl Toolbox for NoTools {
    fn tools<'a>(&'a self, _: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    fn call(
        &self,
        _: SessionId,
        tool: ToolName,
        _: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(std::future::ready(Err(ToolError::NotFound(tool))))
    }
}

impl OwnTools for NoTools {
    fn open(&self) {}

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::main]
async fn main() -> Result<(), RunnerError> {
    // `agent --ticket FILE`.
    let ticket = std::env::args_os().nth(3).unwrap_or_default();
    let pane = Pane::on(std::io::stdout());
    let typed = typing::lines(pane.clone());
    let stop = typing::told_to_end(pane.clone());
    run(Path::new(&ticket), &OneModel, pane, typed, stop).await
}
