//! The user's approval of tool calls.

use gangway_core::{Approval, Choice, SessionId, ToolError, ToolName, Toolbox};
use serde_json::Value;

use super::Listener;

/// Makes one call, once it is approved.
pub(crate) async fn call_one<L: Listener>(
    toolbox: &dyn Toolbox,
    session: SessionId,
    tool: &ToolName,
    arguments: &Value,
    listener: &mut L,
) -> Result<Result<Value, ToolError>, L::Error> {
    let call = listener.call(tool, arguments).await?;
    let result = match approve(toolbox, session, tool, arguments, listener).await? {
        Ok(()) => toolbox.call(session, tool.clone(), arguments.clone()).await,
        Err(denied) => Err(denied),
    };
    listener.result(call, tool, &result).await?;
    Ok(result)
}

/// Asks the user where a call needs approval; a free-text answer is a denial that the model reads.
pub(super) async fn approve<L: Listener>(
    toolbox: &dyn Toolbox,
    session: SessionId,
    tool: &ToolName,
    arguments: &Value,
    listener: &mut L,
) -> Result<Result<(), ToolError>, L::Error> {
    let (question, choices) = match toolbox.approval(session, tool, arguments).await {
        Ok(Approval::NotNeeded) => return Ok(Ok(())),
        Ok(Approval::Denied(reason)) => return Ok(Err(denied(reason))),
        Ok(Approval::Ask { question, choices }) => (question, choices),
        Err(error) => return Ok(Err(error)),
    };
    let Some(answer) = listener.ask(&question, &Choice::labels(choices)).await? else {
        let message = format!("{tool} needs approval, but no user can be asked here");
        return Ok(Err(denied(message)));
    };
    Ok(decided(toolbox, session, tool, &answer).await)
}

/// Stores the user's answer about a call; an error if it does not allow the call.
pub async fn decided(
    toolbox: &dyn Toolbox,
    session: SessionId,
    tool: &ToolName,
    answer: &str,
) -> Result<(), ToolError> {
    let Some(choice) = Choice::of(answer) else {
        let message =
            format!("the person did not approve this call of {tool} and answered: {answer}");
        return Err(denied(message));
    };
    toolbox.chosen(session, tool, choice).await?;
    match choice.allows() {
        true => Ok(()),
        false => Err(denied(format!("the person denied this call of {tool}"))),
    }
}

/// Makes a call that the user was asked about before a restart, if the answer allows it.
pub(crate) async fn call_answered(
    toolbox: &dyn Toolbox,
    session: SessionId,
    tool: ToolName,
    arguments: Value,
    answer: &str,
) -> Result<Value, ToolError> {
    decided(toolbox, session, &tool, answer).await?;
    toolbox.call(session, tool, arguments).await
}

fn denied(message: String) -> ToolError {
    ToolError::Refused {
        code: "ERR_PERMISSION_DENIED",
        message,
    }
}
