//! The agent of the sessions of remote agents: it takes turns by way of their runners.

use std::sync::Arc;

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use gangway_core::{Agent, AgentError, CallId, Readiness, Turn, Usage};
use gangway_runner::wire::What;
use tokio::sync::oneshot;

use super::LiveAgents;

/// What is taken of a runner before it is told that all of it is kept.
const AT_ONCE: usize = 64;

/// The name by which the sessions of remote agents know who takes their turns.
pub const AGENT: &str = "remote";

/// Takes turns by way of runners.
pub struct Thinker(pub Arc<LiveAgents>);

impl Agent for Thinker {
    fn description(&self) -> String {
        "Works in a process of its own, for another site".into()
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn is_for_choosing(&self) -> bool {
        false
    }

    fn survives(&self) -> bool {
        true
    }

    fn run(&self, turn: Turn) -> BoxFuture<'_, Result<Option<Usage>, AgentError>> {
        self.answer(turn).boxed()
    }
}

/// How a turn goes on.
enum Next {
    More,
    Over(Result<Option<Usage>, AgentError>),
}

type Answers = FuturesUnordered<BoxFuture<'static, Option<(u32, String)>>>;

impl Thinker {
    async fn answer(&self, mut turn: Turn) -> Result<Option<Usage>, AgentError> {
        let member = self.0.of_session(turn.session()).ok_or_else(over)?;
        let mut heard = turn.marked().await?;
        let mut answers = Answers::new();
        let mut given = Vec::new();
        for (n, (question, answer)) in (1..).zip(turn.asked_before().to_vec()) {
            match answer {
                Some(text) => given.push((n, text)),
                None => answers.push(wait(n, turn.await_answer(&question))),
            }
        }
        let (number, source) = (turn.number(), turn.source().clone());
        let mut seat = member.line.sit(number, turn.prompt(), &source, given);
        loop {
            let said = tokio::select! {
                said = seat.next() => said,
                Some(answer) = answers.next(), if !answers.is_empty() => {
                    if let Some((question, text)) = answer {
                        seat.answered(question, text);
                    }
                    continue;
                }
                () = member.ended.cancelled() => return Err(over()),
            };
            let mut said = Some(said.ok_or_else(over)?);
            let mut taken = 0;
            while let Some((n, what)) = said {
                // What was kept before the line broke comes again after it.
                if n > heard {
                    heard = n;
                    turn.mark(n);
                    if let Next::Over(end) = take(&mut turn, what, &mut answers).await? {
                        return end;
                    }
                }
                taken += 1;
                said = if taken < AT_ONCE {
                    seat.try_next()
                } else {
                    None
                };
            }
            turn.kept().await?;
            seat.heard(heard);
        }
    }
}

/// Writes down one thing that the runner said.
async fn take(turn: &mut Turn, what: What, answers: &mut Answers) -> Result<Next, AgentError> {
    match what {
        What::Taken => {}
        What::Delta { text } => turn.delta(&text).await?,
        What::MessageEnd => turn.end_message().await?,
        What::Call {
            tool, arguments, ..
        } => {
            turn.tool_call(&tool, arguments).await?;
        }
        What::Result { call, tool, result } => {
            let call = CallId::nth(turn.number(), call);
            turn.tool_result(call, &tool, result).await?;
        }
        What::Question {
            question,
            text,
            options,
        } => {
            let (_, answer) = turn.put_question(&text, &options).await?;
            answers.push(wait(question, answer));
        }
        What::Notice { text } => turn.notice(&text).await?,
        What::Context { used, window } => turn.context(used, window).await?,
        What::Done { usage } => return Ok(Next::Over(Ok(usage))),
        What::Failed {
            code,
            message,
            retryable,
        } => {
            return Ok(Next::Over(Err(AgentError {
                code,
                message,
                retryable,
            })));
        }
    }
    Ok(Next::More)
}

fn wait(n: u32, answer: oneshot::Receiver<String>) -> BoxFuture<'static, Option<(u32, String)>> {
    async move { Some((n, answer.await.ok()?)) }.boxed()
}

fn over() -> AgentError {
    AgentError {
        code: "agent_ended".into(),
        message: "This agent has ended, and takes no more messages.".into(),
        retryable: false,
    }
}
