//! What agents in a chat may read: its pages with their states, their tools, and the newest messages; all within limits.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use gangway_core::{
    PageKind, Result, SessionId, Source, Store,
    conversation::{Conversation, Entry, EntryBody},
    sanitize::strip_to_line,
};
use gangway_pages::{DEEPEST, ListedTool, Page, Pages, is_deeper, reader_tools};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::Chat;

/// Maximum number of pages.
const PAGES: usize = 50;

/// Characters of a page's title, name and origin.
const NAME: usize = 200;

/// How long the pages have to show their states and tools.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes of the state of one page, of all states, and of all tools.
const STATE: usize = 64 << 10;
const STATES: usize = 512 << 10;
const TOOLS: usize = 512 << 10;

/// Messages in a snapshot and in an update, as pages on the relay send them.
const HISTORY: usize = 50;
pub(super) const HISTORY_IN_UPDATES: usize = 10;

/// Characters of a message.
const TEXT: usize = 500;

/// Events that are read for the newest messages.
const EVENTS: usize = 400;

/// The pages of a chat, as an agent reads them.
#[derive(PartialEq)]
pub(super) struct View {
    pub(super) ui_spec: Value,
    pub(super) tool_schema: Value,
}

/// The payload of `snapshot.state`.
pub(super) async fn read(chat: &Chat, pages: &Pages) -> Result<Value> {
    let _reading = chat.reading.lock().await;
    let history = history(chat.hub.store(), chat.id, HISTORY).await?;
    let View {
        ui_spec,
        tool_schema,
    } = view(chat, pages).await?;
    Ok(json!({
        "sessionId": chat.id.to_string(), "uiSpec": ui_spec, "messageHistory": history, "toolSchema": tool_schema,
    }))
}

pub(super) async fn view(chat: &Chat, pages: &Pages) -> Result<View> {
    let (profile, _) = chat.hub.describe(chat.id).await?;
    let all = pages.of_session(chat.id);
    let shown = join_all(all.iter().take(PAGES).map(read_page)).await;
    let (mut states, mut tools) = (Budget(STATES), Budget(TOOLS));
    let (mut listed, mut offered) = (Vec::new(), Vec::new());
    for (page, state, its) in shown {
        let state = bounded(state).filter(|state| states.takes(state));
        listed.push(about(&page, state, its.len()));
        let its = its.iter().map(|tool| described(page.kind, tool));
        offered.extend(its.filter(|tool| tools.takes(tool)));
    }
    // Beside the states above, for events.
    if !all.is_empty() {
        let reader = reader_tools(false).into_iter();
        let reader = reader.map(|tool| ListedTool {
            tool,
            read_only: true,
        });
        offered.extend(reader.map(|tool| described(PageKind::App, &tool)));
    }
    let title = profile.title.unwrap_or_default();
    Ok(View {
        ui_spec: json!({ "title": strip_to_line(&title, NAME), "pages": listed }),
        tool_schema: offered.into(),
    })
}

async fn read_page(page: &Arc<Page>) -> (Arc<Page>, Value, Vec<ListedTool>) {
    // The tools first: a page on the relay gets its name with them.
    let tools = timeout(TIMEOUT, page.tools()).await;
    let tools = tools.unwrap_or_else(|_| page.last_tools());
    let state = timeout(TIMEOUT, page.channel.state()).await;
    let state = state.ok().and_then(std::result::Result::ok);
    let mut state = state.unwrap_or_default();
    // Of a page on the relay, the rest of its snapshot is elsewhere in this one.
    if page.kind == PageKind::Relay {
        state = state["uiSpec"].take();
    }
    (Arc::clone(page), state, tools)
}

/// Bytes that are left.
struct Budget(usize);

impl Budget {
    fn takes(&mut self, value: &Value) -> bool {
        let size = value.to_string().len();
        let fits = size <= self.0;
        if fits {
            self.0 -= size;
        }
        fits
    }
}

fn bounded(state: Value) -> Option<Value> {
    (!is_deeper(&state, DEEPEST) && state.to_string().len() <= STATE).then_some(state)
}

/// A page; one whose state is too large has `stateOmitted`.
fn about(page: &Page, state: Option<Value>, tools: usize) -> Value {
    let mut about = json!({
        "id": page.id.to_string(), "kind": page.kind.name(), "name": strip_to_line(&page.name, NAME),
        "title": strip_to_line(&page.title, NAME), "origin": strip_to_line(&page.origin, NAME),
        "server": page.server(), "present": page.is_present(), "tools": tools,
    });
    match state {
        Some(state) => about["state"] = state,
        None => about["stateOmitted"] = json!(true),
    }
    about
}

/// A tool, in the notation of the relay and with its JSON Schema.
fn described(kind: PageKind, listed: &ListedTool) -> Value {
    let tool = &listed.tool;
    let schema = &tool.input_schema;
    let required = schema["required"].as_array();
    let is_required = |name: &str| {
        // The relay's `reason` is that of the call.
        let given = kind == PageKind::Relay && name == "reason";
        !given && required.is_some_and(|all| all.iter().any(|one| one == name))
    };
    let properties = schema["properties"].as_object();
    let parameters = properties.into_iter().flatten().map(|(name, schema)| {
        let mut parameter = schema.as_object().cloned().unwrap_or_default();
        if !is_required(name) {
            parameter.insert("optional".to_owned(), json!(true));
        }
        (name.clone(), Value::Object(parameter))
    });
    let parameters: Map<String, Value> = parameters.collect();
    json!({
        "name": tool.name.to_string(), "description": tool.description, "parameters": parameters,
        "inputSchema": schema, "readOnly": listed.read_only,
    })
}

/// The newest messages of a chat, oldest first.
pub(super) async fn history(store: &Store, chat: SessionId, most: usize) -> Result<Vec<Value>> {
    let tail = store.tail(chat, None, EVENTS).await?;
    let entries = Conversation::fold(&tail).entries.into_iter().rev();
    let mut newest: Vec<_> = entries.filter_map(message).take(most).collect();
    newest.reverse();
    Ok(newest)
}

fn message(entry: Entry) -> Option<Value> {
    let (from, name, text) = match entry.line {
        _ if entry.hidden => return None,
        EntryBody::User { text, source } => match source {
            Source::Person => ("user", None, text),
            Source::Applet { slug } => ("system", Some(slug), text),
            Source::Agent { name } => ("agent", Some(name), text),
            Source::Page { origin } => ("system", Some(origin), text),
        },
        EntryBody::Assistant { text, .. } => ("agent", None, text),
        EntryBody::PageMessage { text, by, .. } => match by {
            Some(name) => ("agent", Some(name), text),
            None => ("user", None, text),
        },
        _ => return None,
    };
    let mut shown: String = text.chars().take(TEXT).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    let mut message = json!({
        "id": entry.seq.to_string(), "type": from, "timestamp": entry.at.to_string(), "text": shown,
    });
    if let Some(name) = name {
        message["name"] = json!(strip_to_line(&name, NAME));
    }
    Some(message)
}
