//! The tools of the open pages of the agent's session. The server lists them, asks the user, makes the calls and logs
//! them; a call belongs to one connection and fails with it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use futures_util::future::{BoxFuture, pending};
use gangway_core::{Approval, Choice, OWN, SessionId, Tool, ToolError, ToolName, Toolbox};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use crate::{
    builtin::OwnTools,
    executor::TurnSink,
    wire::{PAGE_ARGUMENTS, PageTool},
};

/// Servers of pages that are remembered, so that a call after a page was closed gets a clear error.
const SERVERS: usize = 1000;

const AWAY: &str =
    "not called: the connection to Gangway is lost; try again once it is reestablished";
const LOST: &str =
    "the connection to Gangway was lost during the call; the call may have taken effect";

const ENDED: &str = "cancelled with its turn; the call may have taken effect";
const CANCELLED: &str = "the agent cancelled the call; it may have taken effect";

/// The pages as the server lists them, and the calls that wait for it.
#[derive(Default)]
pub struct Pages {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    /// The connection that calls belong to; `None` without one.
    connection: Option<u64>,
    tools: Vec<Arc<Tool>>,
    /// The servers of these tools, and of earlier ones.
    servers: BTreeSet<String>,
    /// By turn and number.
    open: HashMap<(u64, u32), oneshot::Sender<Result<Value, String>>>,
}

/// An open call, until dropped.
struct OpenCall<'a> {
    pages: &'a Pages,
    id: (u64, u32),
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.pages.state.lock().open.remove(&self.id);
    }
}

impl Pages {
    /// The server lists the tools.
    pub(crate) fn listed(&self, connection: u64, tools: Vec<PageTool>) {
        let tools = tools.into_iter().filter_map(|tool| {
            Some(Arc::new(Tool {
                name: tool.name.parse().ok()?,
                description: tool.description,
                input_schema: tool.input_schema,
            }))
        });
        let mut state = self.state.lock();
        state.connection = Some(connection);
        state.tools = tools.collect();
        if state.servers.len() > SERVERS {
            state.servers.clear();
        }
        let servers: Vec<_> = state.tools.iter().map(|tool| server_of(tool)).collect();
        state.servers.extend(servers);
        drop(state);
        self.changes.send_modify(|count| *count += 1);
    }

    /// The connection was lost, and the open calls with it.
    pub(crate) fn disconnected(&self) {
        let mut state = self.state.lock();
        state.connection = None;
        state.open.clear();
    }

    pub(crate) fn answered(&self, turn: u64, call: u32, result: Result<Value, String>) {
        // Nobody waits for a call that was cancelled.
        if let Some(waiting) = self.state.lock().open.remove(&(turn, call)) {
            let _ = waiting.send(result);
        }
    }

    pub(crate) fn tools(&self) -> Vec<Arc<Tool>> {
        self.state.lock().tools.clone()
    }

    /// Counts up whenever the server lists the tools.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The server has cancelled the open calls of this turn.
    pub(crate) fn end_turn(&self, turn: u64) {
        let mut state = self.state.lock();
        for (_, waiting) in state.open.extract_if(|(of, _), _| *of == turn) {
            let _ = waiting.send(Err(ENDED.to_owned()));
        }
    }

    /// Calls a tool in a turn, until it is cancelled. Dropping it leaves the call to the end of the turn.
    pub(crate) async fn call(
        &self,
        sink: &TurnSink,
        tool: &ToolName,
        arguments: &Value,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Value, ToolError> {
        if arguments.to_string().len() > PAGE_ARGUMENTS {
            let message = format!("the arguments must be at most {PAGE_ARGUMENTS} bytes");
            return Err(ToolError::Failed(message));
        }
        let connection = self.state.lock().connection;
        let away = || ToolError::Unavailable(AWAY.to_owned());
        let connection = connection.ok_or_else(away)?;
        let (sender, answer) = oneshot::channel();
        let mut sender = Some(sender);
        let turn = sink.turn();
        // The answer may come as soon as the call is sent.
        let open = |call| {
            let mut state = self.state.lock();
            if state.connection != Some(connection) {
                return None;
            }
            let id = (turn, call);
            state.open.insert(id, sender.take()?);
            Some(OpenCall { pages: self, id })
        };
        let open = sink.page_call(tool, arguments, connection, open).await;
        let open = open.ok_or_else(away)?;
        let (_, call) = open.id;
        let answer = tokio::select! {
            answer = answer => answer.map_err(|_| LOST),
            () = cancelled => Err(CANCELLED),
        };
        drop(open);
        let tool = tool.to_string();
        match answer {
            Ok(result) => {
                let shown = result.as_ref().map_err(String::as_str);
                sink.show_result(call, &tool, shown);
                result.map_err(ToolError::Failed)
            }
            Err(why) => {
                sink.result(call, &tool, Err(why)).await;
                Err(ToolError::Unavailable(why.to_owned()))
            }
        }
    }
}

fn server_of(tool: &Tool) -> String {
    tool.name.server().to_owned()
}

/// The tools of one turn of the built-in loop: the agent's own, and those of pages.
pub(crate) struct TurnTools<'a> {
    own: &'a dyn OwnTools,
    listed: Vec<Arc<Tool>>,
    /// Pages are not called by these names: the agent's own servers take precedence.
    own_servers: BTreeSet<String>,
    pages: &'a Pages,
    sink: &'a TurnSink,
}

impl<'a> TurnTools<'a> {
    pub(crate) async fn new(
        own: &'a dyn OwnTools,
        session: SessionId,
        sentence: &str,
        pages: &'a Pages,
        sink: &'a TurnSink,
    ) -> Self {
        let listed = own.tools(session, sentence).await;
        Self {
            own,
            own_servers: listed.iter().map(|tool| server_of(tool)).collect(),
            listed,
            pages,
            sink,
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<Tool>> {
        let own = self.listed.iter().cloned();
        own.chain(self.of_pages()).collect()
    }

    /// Whether a tool is a page's; the server logs its calls.
    pub(crate) fn is_of_page(&self, tool: &ToolName) -> bool {
        match tool.server() {
            OWN => self.pages.tools().iter().any(|one| one.name == *tool),
            server => !self.is_hidden(tool) && self.pages.state.lock().servers.contains(server),
        }
    }

    /// Whether a server of its own has the name of the page. Of Gangway's own tools, some read pages.
    fn is_hidden(&self, tool: &ToolName) -> bool {
        tool.server() != OWN && self.own_servers.contains(tool.server())
    }

    fn of_pages(&self) -> Vec<Arc<Tool>> {
        let mut tools = self.pages.tools();
        tools.retain(|tool| !self.is_hidden(&tool.name));
        tools
    }
}

impl Toolbox for TurnTools<'_> {
    fn tools<'a>(&'a self, _: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(std::future::ready(self.all()))
    }

    fn reader(&self) -> Option<Arc<Tool>> {
        self.own.reader()
    }

    fn offered_after<'a>(
        &'a self,
        session: SessionId,
        called: &'a [ToolName],
    ) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move {
            let mut tools = self.own.offered_after(session, called).await;
            if called.iter().any(|tool| self.is_of_page(tool)) {
                tools.extend(self.of_pages());
            }
            tools
        })
    }

    fn approval<'a>(
        &'a self,
        session: SessionId,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Approval, ToolError>> {
        match self.is_of_page(tool) {
            // The server asks.
            true => Box::pin(std::future::ready(Ok(Approval::NotNeeded))),
            false => self.own.approval(session, tool, arguments),
        }
    }

    fn chosen<'a>(
        &'a self,
        session: SessionId,
        tool: &'a ToolName,
        choice: Choice,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        self.own.chosen(session, tool, choice)
    }

    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        if !self.is_of_page(&tool) {
            return self.own.call(session, tool, arguments);
        }
        Box::pin(async move {
            let result = self
                .pages
                .call(self.sink, &tool, &arguments, pending())
                .await?;
            Ok(self.own.bounded(session, result))
        })
    }
}
