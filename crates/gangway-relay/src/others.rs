//! Tools of the other pages of a chat, for the external agents of the page that belongs to it: the person is asked before
//! a call that changes something.

use std::{collections::HashSet, sync::Arc, time::Duration};

use gangway_core::{
    AskBody, AskDecision, Asker as AskedBy, Asks, Lane, NewAsk, Source, ToolError, ToolName,
    sanitize::escape_line,
};
use gangway_pages::{Page, Pages};
use parking_lot::Mutex;
use serde_json::{Value, json, value::RawValue};

use crate::{Code, FromHost, Refusal, Seat, StudyAsker, raw, wire::call_of};

/// How long the person has to decide.
const CONSENT: Duration = Duration::from_secs(60);

/// Open requests of the agents of one relay session; more would hide those of others.
const OPEN_REQUESTS: usize = 3;

/// Calls of other pages that the agents of one relay session have open.
const CALLS: usize = 64;

/// Characters of arguments that the person is asked about.
const SHOWN: usize = 2000;

/// The other pages that agents of a relay session may use.
pub(crate) struct Others {
    pub(crate) pages: Arc<Pages>,
    pub(crate) asks: Arc<Asks>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: usize,
    /// Agents and tools that the person always allows, with what the tool was then.
    allowed: HashSet<(String, ToolName, String)>,
}

/// Counts a call until dropped.
struct Open<'a>(&'a Others);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.state.lock().open -= 1;
    }
}

impl Others {
    pub(crate) fn new(pages: Arc<Pages>, asks: Arc<Asks>) -> Self {
        Self {
            pages,
            asks,
            state: Mutex::default(),
        }
    }

    /// The other pages of the chat of this page.
    fn of(&self, page: &Page) -> Vec<Arc<Page>> {
        let Some(chat) = page.session() else {
            return Vec::new();
        };
        let mut pages = self.pages.of_session(chat);
        pages.retain(|other| other.id != page.id);
        pages
    }

    /// The tools of the other pages, for a snapshot; `None` if there are none.
    pub(crate) fn listed(&self, page: &Page) -> Option<Value> {
        let pages = self.of(page);
        let tools = pages.iter().flat_map(|page| page.last_tools());
        let listed = tools.map(|listed| {
            json!({
                "name": listed.tool.name.to_string(), "description": listed.tool.description,
                "inputSchema": listed.tool.input_schema,
            })
        });
        let listed: Vec<_> = listed.collect();
        (!listed.is_empty()).then(|| listed.into())
    }

    async fn call(
        &self,
        page: &Page,
        agent: &str,
        tool: &ToolName,
        params: Value,
    ) -> Result<Value, ToolError> {
        let _open = self.begin()?;
        let missing = || ToolError::NotFound(tool.clone());
        let pages = self.of(page);
        let other = pages
            .iter()
            .find(|page| page.server() == Some(tool.server()));
        let other = other.ok_or_else(missing)?;
        let known = other.channel.known(tool).ok_or_else(missing)?;
        if !known.read_only {
            let is = format!("{} {}", known.tool.description, known.tool.input_schema);
            let allowed = (agent.to_owned(), tool.clone(), is);
            self.ask(page, allowed, &params).await?;
        }
        let by = Source::Agent {
            name: agent.to_owned(),
        };
        self.pages.call_as(by, other, tool, params).await
    }

    fn begin(&self) -> Result<Open<'_>, ToolError> {
        let mut state = self.state.lock();
        if state.open >= CALLS {
            let message = format!("at most {CALLS} calls of other pages can be open; wait for one");
            return Err(ToolError::Busy(message));
        }
        state.open += 1;
        Ok(Open(self))
    }

    async fn ask(
        &self,
        page: &Page,
        allowed: (String, ToolName, String),
        params: &Value,
    ) -> Result<(), ToolError> {
        if self.state.lock().allowed.contains(&allowed) {
            return Ok(());
        }
        let (agent, tool, _) = &allowed;
        let arguments: String = params.to_string().chars().take(SHOWN).collect();
        let message = format!("call {tool} with {arguments}");
        let new = NewAsk {
            asker: AskedBy::Agent(escape_line(agent)),
            body: AskBody::Action {
                message: escape_line(&message),
                lasting: true,
                url: None,
            },
            lane: Lane {
                name: format!("external/{}", page.name),
                limit: OPEN_REQUESTS,
                one_at_a_time: false,
            },
            timeout: Some(CONSENT),
            hidden: false,
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
    let (named, params) = call_of(body)?;
    let unknown = || {
        let message = format!("there is no tool {named:?}; a snapshot lists `otherTools`");
        Refusal::new(Code::UnknownTool, message)
    };
    let tool: ToolName = named.parse().map_err(|_| unknown())?;
    let asker = seat.asker();
    let page = asker.session().page().ok_or_else(unknown)?;
    let (id, agent) = (id.map(str::to_owned), asker.label());
    // In a task of its own: the agent may do other things while the person decides.
    tokio::spawn(async move {
        let others = &asker.session().others;
        let result = others.call(&page, &agent, &tool, params).await;
        answer(&asker, id.as_deref(), &tool, result);
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
