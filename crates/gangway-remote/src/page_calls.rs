//! Calls of the tools of a session's open pages, by its runner: approved by the user, made at most once, and logged here.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use gangway_agents::run::decided;
use gangway_core::{
    Approval, CallId, Choice, QuestionId, SessionId, Tool, ToolError, ToolName, Toolbox, Turn,
    conversation::EntryBody,
};
use gangway_runner::{
    executor::bounded,
    wire::{PAGE_ARGUMENTS, PageTool, ToRunner},
};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::LiveAgent;

/// Calls of one runner, from their begin until their results are sent.
pub(super) const CALLS: usize = 16;

/// Bytes of a result.
const RESULT: usize = 4 << 20;

/// Bytes of the descriptions and schemas in a list of tools; those beyond it are left out.
const LIST: usize = 4 << 20;

const LOST: &str =
    "the connection to the agent was lost during the call; the call may have taken effect";
const BEFORE: &str = "not called: the connection to the agent was lost before";
const GIVEN_UP: &str = "the agent cancelled the call; it may have taken effect";

/// The tools of the open pages of sessions, with approvals. A call reaches only pages of its session, and nothing but pages.
pub trait SessionPages: Toolbox {
    /// The tools as they were last offered, without asking the pages.
    fn last_tools(&self, session: SessionId) -> Vec<Arc<Tool>>;

    /// Counts up whenever pages of any session change.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// Tools for a runner, within limits.
pub(super) fn listed(tools: &[Arc<Tool>]) -> Vec<PageTool> {
    let mut room = LIST;
    let within = tools.iter().map_while(|tool| {
        let size = tool.description.len() + tool.input_schema.to_string().len();
        room = room.checked_sub(size)?;
        Some(PageTool {
            name: tool.name.to_string(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
        })
    });
    within.collect()
}

/// A call as the runner sent it.
pub(super) struct PageCall {
    pub(super) number: u32,
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) connection: u64,
}

/// A call on its way.
struct OpenCall {
    id: CallId,
    number: u32,
    tool: ToolName,
    arguments: Value,
    connection: u64,
    cancel: CancellationToken,
    room: OwnedSemaphorePermit,
}

/// What a call has come to.
pub(super) struct Step(OpenCall, Progress);

enum Progress {
    Checked(Result<Approval, ToolError>),
    Decided(Result<(), ToolError>),
    Done(Result<Value, ToolError>),
    /// The connection was lost, or the agent cancelled it.
    Over(&'static str),
}

/// The calls of one turn; dropping them cancels those that are open.
pub(super) struct PageCalls {
    agent: Arc<LiveAgent>,
    pages: Arc<dyn SessionPages>,
    turn: u64,
    /// Until they are approved; the user is asked about one at a time.
    waiting: VecDeque<OpenCall>,
    /// The call that is being approved.
    asking: Option<CallId>,
    steps: FuturesUnordered<BoxFuture<'static, Step>>,
    open: HashMap<CallId, CancellationToken>,
    /// All calls since the turn began or was resumed, and whether the runner is to report their results.
    seen: HashMap<CallId, bool>,
}

impl PageCalls {
    pub(super) fn new(agent: Arc<LiveAgent>, pages: Arc<dyn SessionPages>, turn: u64) -> Self {
        Self {
            agent,
            pages,
            turn,
            waiting: VecDeque::new(),
            asking: None,
            steps: FuturesUnordered::new(),
            open: HashMap::new(),
            seen: HashMap::new(),
        }
    }

    /// Whether there is anything to wait for.
    pub(super) fn is_open(&self) -> bool {
        !self.steps.is_empty()
    }

    pub(super) async fn next(&mut self) -> Option<Step> {
        self.steps.next().await
    }

    /// The runner began a call of its own.
    pub(super) fn saw(&mut self, call: CallId) {
        self.seen.insert(call, true);
    }

    /// Whether the runner's result of this call is logged; that of a page's tool it does not decide.
    pub(super) async fn takes_result(
        &mut self,
        call: &CallId,
        turn: &Turn,
    ) -> gangway_core::Result<bool> {
        if let Some(cancel) = self.open.get(call) {
            cancel.cancel();
            return Ok(false);
        }
        if let Some(waits) = self.seen.insert(call.clone(), false) {
            return Ok(waits);
        }
        // A call from before a restart, which may have its result.
        let entries = turn.so_far().await?;
        Ok(entries.iter().any(|entry| match &entry.line {
            EntryBody::Tool {
                call: one, result, ..
            } => one == call && result.is_none(),
            _ => false,
        }))
    }

    /// Logs a call, and makes it once it is approved.
    pub(super) async fn begin(
        &mut self,
        call: PageCall,
        turn: &mut Turn,
    ) -> gangway_core::Result<()> {
        let id = turn.tool_call(&call.tool, bounded(&call.arguments)).await?;
        self.seen.insert(id.clone(), false);
        let PageCall {
            number,
            tool: name,
            arguments,
            connection,
        } = call;
        let refused = match (name.parse::<ToolName>(), self.agent.channel.room()) {
            _ if !self.agent.channel.is_connection(connection) => {
                ToolError::Unavailable(BEFORE.to_owned())
            }
            _ if arguments.to_string().len() > PAGE_ARGUMENTS => {
                let message = format!("the arguments must be at most {PAGE_ARGUMENTS} bytes");
                ToolError::Failed(message)
            }
            (Ok(tool), Some(room)) => {
                let cancel = CancellationToken::new();
                self.open.insert(id.clone(), cancel.clone());
                self.waiting.push_back(OpenCall {
                    id,
                    number,
                    tool,
                    arguments,
                    connection,
                    cancel,
                    room,
                });
                self.approve_next();
                return Ok(());
            }
            (Ok(_), None) => ToolError::Busy(format!(
                "at most {CALLS} calls of page tools can be open; wait for one"
            )),
            (Err(error), _) => ToolError::Failed(error.to_string()),
        };
        let result = Err(refused.to_string());
        turn.tool_failed(id, &name, &refused).await?;
        self.send(number, connection, result, None);
        Ok(())
    }

    /// Asks whether the next call needs approval, unless one is being approved.
    fn approve_next(&mut self) {
        if self.asking.is_some() {
            return;
        }
        let Some(call) = self.waiting.pop_front() else {
            return;
        };
        self.asking = Some(call.id.clone());
        let (pages, session) = (Arc::clone(&self.pages), self.agent.session);
        let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
        self.step(call, async move {
            Progress::Checked(pages.approval(session, &tool, &arguments).await)
        });
    }

    /// Goes on with a call until it has come to something, or is over.
    fn step(&self, call: OpenCall, work: impl Future<Output = Progress> + Send + 'static) {
        let (agent, cancel) = (Arc::clone(&self.agent), call.cancel.clone());
        let step = async move {
            let progress = tokio::select! {
                // First, so that nothing begins for a runner that is gone.
                biased;
                () = agent.channel.lost(call.connection) => Progress::Over(LOST),
                () = cancel.cancelled() => Progress::Over(GIVEN_UP),
                progress = work => progress,
            };
            Step(call, progress)
        };
        self.steps.push(step.boxed());
    }

    /// Takes a call on to what comes next.
    pub(super) async fn go_on(
        &mut self,
        Step(call, progress): Step,
        turn: &mut Turn,
    ) -> gangway_core::Result<()> {
        let (pages, session) = (Arc::clone(&self.pages), self.agent.session);
        if let Progress::Checked(Ok(Approval::Ask { question, choices })) = &progress {
            let options = Choice::labels(choices);
            let answer = turn.ask_about(&call.id, question, &options).await?;
            let tool = call.tool.clone();
            self.step(call, async move {
                let Ok(answer) = answer.await else {
                    // The turn ends.
                    return std::future::pending().await;
                };
                Progress::Decided(decided(&*pages, session, &tool, &answer).await)
            });
            return Ok(());
        }
        if self.asking.as_ref() == Some(&call.id) {
            self.asking = None;
            self.approve_next();
        }
        let result = match progress {
            Progress::Checked(Ok(Approval::NotNeeded)) | Progress::Decided(Ok(())) => {
                let (agent, tool) = (Arc::clone(&self.agent), call.tool.clone());
                let arguments = call.arguments.clone();
                self.step(call, async move {
                    let result = pages.call(session, tool, arguments).await;
                    // The page may have other tools in its new state.
                    agent.channel.list(pages.tools(session, "").await);
                    Progress::Done(result.and_then(within_limit))
                });
                return Ok(());
            }
            Progress::Checked(Ok(Approval::Denied(message))) => Err(ToolError::Refused {
                code: "ERR_PERMISSION_DENIED",
                message,
            }),
            Progress::Checked(Ok(Approval::Ask { .. })) => return Ok(()),
            Progress::Checked(Err(error)) | Progress::Decided(Err(error)) => Err(error),
            Progress::Done(result) => result,
            Progress::Over(why) => {
                let question = QuestionId::about(&call.id);
                turn.withdraw(&question, "not needed: the call was given up")
                    .await?;
                Err(ToolError::Unavailable(why.to_owned()))
            }
        };
        self.open.remove(&call.id);
        let tool = call.tool.to_string();
        match &result {
            Ok(value) => turn.tool_result(call.id, &tool, Ok(bounded(value))).await?,
            Err(error) => turn.tool_failed(call.id, &tool, error).await?,
        }
        let result = result.map_err(|error| error.to_string());
        self.send(call.number, call.connection, result, Some(call.room));
        Ok(())
    }

    fn send(
        &self,
        call: u32,
        connection: u64,
        result: Result<Value, String>,
        room: Option<OwnedSemaphorePermit>,
    ) {
        let turn = self.turn;
        let message = ToRunner::PageResult { turn, call, result };
        self.agent.channel.send_result(connection, message, room);
    }
}

fn within_limit(value: Value) -> Result<Value, ToolError> {
    let size = value.to_string().len();
    if size > RESULT {
        let message = format!("the page's result must be at most {RESULT} bytes, but has {size}");
        return Err(ToolError::Failed(message));
    }
    Ok(value)
}
