//! The agent of remote agents' sessions: their runners take the turns.

use std::sync::Arc;

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use gangway_core::{Agent, AgentError, CallId, Readiness, Turn, Usage};
use gangway_runner::wire::TurnEvent;
use tokio::sync::oneshot;

use super::{
    LiveAgents, SessionPages,
    page_calls::{PageCall, PageCalls},
};

/// Events written before the runner gets an acknowledgement.
const BATCH: usize = 64;

/// Why a question about a call needs no answer after a restart.
const RESTARTED: &str = "not needed: Gangway was restarted, and the call was given up";

/// The name of this agent in sessions.
pub const AGENT: &str = "remote";

pub struct RunnerAgent {
    pub live: Arc<LiveAgents>,
    pub pages: Arc<dyn SessionPages>,
}

impl Agent for RunnerAgent {
    fn description(&self) -> String {
        "A remote agent, in its own process".into()
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

enum TurnStep {
    More,
    Over(Result<Option<Usage>, AgentError>),
}

type Answers = FuturesUnordered<BoxFuture<'static, Option<(u32, String)>>>;

impl RunnerAgent {
    async fn answer(&self, mut turn: Turn) -> Result<Option<Usage>, AgentError> {
        let agent = self.live.of_session(turn.session()).ok_or_else(over)?;
        let mut acked = turn.marked().await?;
        let mut answers = Answers::new();
        let mut given = Vec::new();
        let asked = turn.asked_before().to_vec().into_iter();
        let (about_calls, asked): (Vec<_>, Vec<_>) =
            asked.partition(|(question, _)| question.is_about_call());
        for (question, _) in about_calls {
            // The runner has given the call up.
            turn.withdraw(&question, RESTARTED).await?;
        }
        for (n, (question, answer)) in (1..).zip(asked) {
            match answer {
                Some(text) => given.push((n, text)),
                None => answers.push(wait(n, turn.await_answer(&question))),
            }
        }
        if agent.channel.status().borrow().connection.is_some() {
            let tools = self.pages.tools(turn.session(), turn.prompt()).await;
            agent.channel.list(tools);
        }
        let (number, source) = (turn.number(), turn.source().clone());
        let mut calls = PageCalls::new(Arc::clone(&agent), Arc::clone(&self.pages), number);
        let mut channel = agent
            .channel
            .begin_turn(number, turn.prompt(), &source, given);
        loop {
            let event = tokio::select! {
                event = channel.next() => event,
                Some(answer) = answers.next(), if !answers.is_empty() => {
                    if let Some((question, text)) = answer {
                        channel.answered(question, text);
                    }
                    continue;
                }
                Some(step) = calls.next(), if calls.is_open() => {
                    calls.go_on(step, &mut turn).await?;
                    continue;
                }
                () = agent.ended.cancelled() => return Err(over()),
            };
            let mut event = Some(event.ok_or_else(over)?);
            let mut taken = 0;
            while let Some((n, what)) = event {
                // A runner that reconnects repeats unacknowledged events.
                if n > acked {
                    acked = n;
                    turn.mark(n);
                    if let TurnStep::Over(end) =
                        take(&mut turn, what, &mut answers, &mut calls).await?
                    {
                        return end;
                    }
                }
                taken += 1;
                event = if taken < BATCH {
                    channel.try_next()
                } else {
                    None
                };
            }
            turn.flushed().await?;
            channel.ack(acked);
        }
    }
}

async fn take(
    turn: &mut Turn,
    what: TurnEvent,
    answers: &mut Answers,
    calls: &mut PageCalls,
) -> Result<TurnStep, AgentError> {
    match what {
        TurnEvent::Taken | TurnEvent::Unknown => {}
        TurnEvent::Delta { text } => turn.delta(&text).await?,
        TurnEvent::MessageEnd => turn.end_message().await?,
        TurnEvent::Call {
            tool, arguments, ..
        } => {
            let call = turn.tool_call(&tool, arguments).await?;
            calls.saw(call);
        }
        TurnEvent::Result { call, tool, result } => {
            let call = CallId::nth(turn.number(), call);
            if calls.takes_result(&call, turn).await? {
                turn.tool_result(call, &tool, result).await?;
            }
        }
        TurnEvent::PageCall {
            call,
            tool,
            arguments,
            connection,
        } => {
            let call = PageCall {
                number: call,
                tool,
                arguments,
                connection,
            };
            calls.begin(call, turn).await?;
        }
        TurnEvent::Question {
            question,
            text,
            options,
        } => {
            let (_, answer) = turn.put_question(&text, &options).await?;
            answers.push(wait(question, answer));
        }
        TurnEvent::Notice { text } => turn.notice(&text).await?,
        TurnEvent::Context { used, window } => turn.context(used, window).await?,
        TurnEvent::Done { usage } => return Ok(TurnStep::Over(Ok(usage))),
        TurnEvent::Failed {
            code,
            message,
            retryable,
        } => {
            return Ok(TurnStep::Over(Err(AgentError {
                code,
                message,
                retryable,
            })));
        }
    }
    Ok(TurnStep::More)
}

fn wait(n: u32, answer: oneshot::Receiver<String>) -> BoxFuture<'static, Option<(u32, String)>> {
    async move { Some((n, answer.await.ok()?)) }.boxed()
}

fn over() -> AgentError {
    AgentError {
        code: "agent_ended".into(),
        message: "This agent has ended and accepts no more messages.".into(),
        retryable: false,
    }
}
