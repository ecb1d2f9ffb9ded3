//! Tools of the pages of a chat, for external agents that joined the chat or one of its pages: the person is asked before a
//! call that changes something.

use std::{collections::HashSet, num::NonZeroU32, sync::Arc, time::Duration};

use gangway_core::{
    AskBody, AskDecision, Asker as AskedBy, Asks, Lane, NewAsk, PageId, PageKind, SessionId,
    Source, ToolError, ToolName, sanitize::escape_line,
};
use gangway_http::rate_limit::{Quota, TokenBucket};
use gangway_pages::{NAME, Page, Pages, is_reader, read_pages, reader_tools};
use parking_lot::Mutex;
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    Code, FromHost, Refusal, Seat, StudyAsker, raw,
    wire::{RelayCall, call_of},
};

/// How long the person has to decide.
const CONSENT: Duration = Duration::from_secs(60);

/// Open requests of the agents of one relay session; more would hide those of others.
const OPEN_REQUESTS: usize = 3;

/// Calls of other pages that the agents of one relay session have open, and those that they can begin in a minute: each is in
/// the log of the chat.
const CALLS: usize = 64;
const IN_A_MINUTE: NonZeroU32 = NonZeroU32::new(240).unwrap();

/// What an agent of one page is allowed beside tools.
const READING: &str = "reading all pages of the chat";

/// Characters of arguments that the person is asked about.
const SHOWN: usize = 2000;

/// The other pages that agents of a relay session may use.
pub(crate) struct Others {
    pub(crate) pages: Arc<Pages>,
    pub(crate) asks: Arc<Asks>,
    rate: TokenBucket,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub(crate) struct State {
    open: usize,
    /// Agents and pages whose tools the person always lets them call.
    allowed: HashSet<(String, String)>,
}

/// Counts a request until dropped.
pub(crate) struct Open(Arc<Mutex<State>>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.lock().open -= 1;
    }
}

/// On whose behalf pages are called.
struct Caller<'a> {
    chat: SessionId,
    /// The page on the relay whose agent it is; its own tools are called otherwise.
    own: Option<PageId>,
    agent: &'a StudyAsker,
}

impl Others {
    pub(crate) fn new(pages: Arc<Pages>, asks: Arc<Asks>) -> Self {
        Self {
            pages,
            asks,
            rate: TokenBucket::new(Quota::per_minute(IN_A_MINUTE)),
            state: Arc::default(),
        }
    }

    /// The pages of a chat, without this one.
    fn of(&self, chat: SessionId, own: Option<PageId>) -> Vec<Arc<Page>> {
        let mut pages = self.pages.of_session(chat);
        pages.retain(|other| Some(other.id) != own);
        pages
    }

    /// The tools of the other pages, for a snapshot; `None` if there are none.
    pub(crate) fn listed(&self, page: &Page) -> Option<Value> {
        let pages = self.of(page.session()?, Some(page.id));
        if pages.is_empty() {
            return None;
        }
        let tools = pages.iter().flat_map(|page| page.last_tools());
        let tools = tools.map(|listed| listed.tool).chain(reader_tools(false));
        let listed = tools.map(|tool| {
            json!({
                "name": tool.name.to_string(), "description": tool.description,
                "inputSchema": tool.input_schema,
            })
        });
        Some(listed.collect())
    }

    async fn call(
        &self,
        caller: Caller<'_>,
        tool: &ToolName,
        mut params: Map<String, Value>,
        reason: String,
    ) -> Result<Value, ToolError> {
        let missing = || ToolError::NotFound(tool.clone());
        let identity = caller.agent.identity().to_owned();
        if is_reader(tool) {
            // Its token is for one page; an agent that was invited to the chat is shown the others anyway.
            if caller.own.is_some() {
                let allowed = (identity, READING.to_owned());
                self.ask(&caller, allowed, tool, &params).await?;
            }
            let pages = self.of(caller.chat, caller.own);
            return read_pages(pages, tool, params.into()).await;
        }
        let pages = self.of(caller.chat, caller.own);
        let other = pages
            .iter()
            .find(|page| page.server() == Some(tool.server()));
        let other = other.ok_or_else(missing)?;
        let known = other.channel.known(tool).ok_or_else(missing)?;
        if !known.read_only {
            let allowed = (identity, other.target());
            self.ask(&caller, allowed, tool, &params).await?;
        }
        // The person may have disconnected it instead of answering at once.
        if other.session() != Some(caller.chat) {
            return Err(missing());
        }
        // A page on the relay shows it to the person.
        if other.kind == PageKind::Relay {
            params.entry("reason").or_insert(reason.into());
        }
        let by = Source::Agent {
            name: caller.agent.label().to_owned(),
        };
        self.pages.call_as(by, other, tool, params.into()).await
    }

    /// Counts a request that is not passed to the page of the relay session.
    pub(crate) fn begin(&self) -> Result<Open, ToolError> {
        let mut state = self.state.lock();
        if state.open >= CALLS {
            let message = format!(
                "at most {CALLS} requests about pages of the chat can be open; wait for one"
            );
            return Err(ToolError::Busy(message));
        }
        state.open += 1;
        Ok(Open(Arc::clone(&self.state)))
    }

    async fn ask(
        &self,
        Caller { chat, agent, .. }: &Caller<'_>,
        allowed: (String, String),
        tool: &ToolName,
        params: &Map<String, Value>,
    ) -> Result<(), ToolError> {
        if self.state.lock().allowed.contains(&allowed) {
            return Ok(());
        }
        let arguments = serde_json::to_string(params).unwrap_or_default();
        let arguments: String = arguments.chars().take(SHOWN).collect();
        let scope = match is_reader(tool) {
            true => READING,
            false => "all tools of this page",
        };
        let message = format!("call {tool} with {arguments}. “Always allow” is for {scope}");
        let new = NewAsk {
            asker: AskedBy::Agent(escape_line(agent.label())),
            body: AskBody::Action {
                message: escape_line(&message),
                lasting: true,
                url: None,
            },
            lane: Lane {
                name: format!("external/{}", agent.session().name()),
                limit: OPEN_REQUESTS,
                one_at_a_time: false,
            },
            timeout: Some(CONSENT),
            hidden: false,
            session: Some(*chat),
        };
        let refused = |message: &str| ToolError::Refused {
            code: "ERR_PERMISSION_DENIED",
            message: message.to_owned(),
        };
        let reply = self.asks.ask(new, |_| Ok(())).await;
        let reply = reply.map_err(|error| ToolError::Busy(error.to_string()))?;
        match reply.decision {
            AskDecision::Once => Ok(()),
            AskDecision::Always => {
                self.state.lock().allowed.insert(allowed);
                Ok(())
            }
            AskDecision::Deny => Err(refused("the person denied this call")),
            AskDecision::Dismiss => Err(refused("the person did not answer")),
        }
    }
}

/// Starts a call of another page's tool by an agent.
pub(crate) fn start(seat: &Seat, id: Option<&str>, body: &RawValue) -> Result<(), Refusal> {
    let RelayCall {
        tool: named,
        params,
        reason,
    } = call_of(body)?;
    let unknown = || {
        let named: String = named.chars().take(NAME).collect();
        let message = format!("there is no tool {named:?}; a snapshot lists the tools");
        Refusal::new(Code::UnknownTool, message)
    };
    let tool: ToolName = named.parse().map_err(|_| unknown())?;
    let asker = seat.asker();
    let (chat, own) = asker.session().reach().ok_or_else(unknown)?;
    if !asker.session().others.rate.take() {
        let message = format!(
            "agents may call tools of pages of the chat at most {IN_A_MINUTE} times in a minute; wait a moment"
        );
        return Err(Refusal::new(Code::ToolExecutionFailed, message));
    }
    let id = id.map(str::to_owned);
    let open = asker.session().others.begin();
    let open = open.map_err(|error| Refusal::new(Code::ToolExecutionFailed, error.to_string()))?;
    // In a task of its own: the agent may do other things while the person decides.
    tokio::spawn(async move {
        let caller = Caller {
            chat,
            own,
            agent: &asker,
        };
        let others = &asker.session().others;
        let result = others.call(caller, &tool, params, reason).await;
        answer(&asker, id.as_deref(), &tool, result);
        drop(open);
    });
    Ok(())
}

fn answer(asker: &StudyAsker, id: Option<&str>, tool: &ToolName, result: Result<Value, ToolError>) {
    match result {
        Ok(result) => {
            let message = json!({ "ok": true, "toolName": tool.to_string(), "result": result });
            asker.answer(FromHost::ToolResult, id, &raw(&message));
        }
        Err(error) => {
            let code = match &error {
                ToolError::NotFound(_) => Code::UnknownTool,
                ToolError::BadArguments { .. } => Code::InvalidParams,
                _ => Code::ToolExecutionFailed,
            };
            let message = json!({ "code": code, "message": error.to_string() });
            asker.answer(FromHost::Error, id, &raw(&message));
        }
    }
}
