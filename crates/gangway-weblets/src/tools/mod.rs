//! Tools for agents: find an app, launch it, receive its events, answer its requests, send it events.

mod offered;

use std::{future::ready, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use gangway_apps::{manifest::is_event_name, rank::rank};
use gangway_core::{
    AppAgent, AppEvent, AppRefusal, Caller, Launch, OWN, SessionId, Source, Tool, ToolError,
    ToolName, ToolSource, parse_arguments, session_meant, tool_error,
};
use gangway_http::error::ApiError;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::{
    Launches, Side,
    inbox::Item,
    launch::{LaunchRequest, is_version},
};

/// Default and maximum milliseconds to wait for an event.
const WAIT: u64 = 30_000;
const LONGEST_WAIT: u64 = 600_000;

pub struct WebletTools {
    launches: Arc<Launches>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    query: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OpenParams {
    app: String,
    agent: Option<String>,
    #[serde(default)]
    data: Map<String, Value>,
    #[serde(default)]
    config: Map<String, Value>,
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NextParams {
    launch_id: String,
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RespondParams {
    launch_id: String,
    request_id: String,
    #[serde(default)]
    result: Value,
    error: Option<Fault>,
}

/// The error of an answer: a message, optionally with a code.
#[derive(Deserialize)]
#[serde(untagged)]
enum Fault {
    Words(String),
    Whole {
        code: Option<String>,
        message: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SendParams {
    launch_id: String,
    event: String,
    #[serde(default)]
    payload: Value,
}

const NAMES: [&str; 5] = [
    "list_apps",
    "launch_app",
    "next_app_event",
    "answer_app_request",
    "send_app_event",
];

impl WebletTools {
    #[must_use]
    pub fn new(launches: Arc<Launches>) -> Self {
        Self { launches }
    }

    async fn dispatch(
        &self,
        caller: &Caller,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let launches = &self.launches;
        match tool.tool() {
            "list_apps" => list(launches, parse_arguments(tool, arguments)?).await,
            "launch_app" => open(launches, caller, parse_arguments(tool, arguments)?).await,
            "next_app_event" => next(launches, caller, parse_arguments(tool, arguments)?).await,
            "answer_app_request" => {
                respond(launches, caller, parse_arguments(tool, arguments)?).await
            }
            "send_app_event" => send(launches, caller, parse_arguments(tool, arguments)?).await,
            _ => Err(ToolError::NotFound(tool.clone())),
        }
    }
}

impl ToolSource for WebletTools {
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(self.fitting(session, sentence))
    }

    fn all(&self) -> BoxFuture<'_, Vec<Arc<Tool>>> {
        Box::pin(ready(Self::every()))
    }

    fn servers(&self) -> Vec<String> {
        vec![OWN.to_owned()]
    }

    fn has(&self, tool: &ToolName) -> bool {
        tool.server() == OWN && NAMES.contains(&tool.tool())
    }

    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(self.dispatch(caller, tool, arguments))
    }
}

fn failure(error: ApiError) -> ToolError {
    ToolError::Failed(error.message)
}

async fn list(launches: &Launches, args: ListParams) -> Result<Value, ToolError> {
    let all = launches.apps.list().await;
    let found = match args.query.as_deref().map(str::trim) {
        None | Some("") => all,
        Some(query) => rank(Some(query), &all)
            .into_iter()
            .map(|(_, app)| app)
            .collect(),
    };
    let open =
        |one: &&Arc<gangway_apps::App>| one.manifest.agent.discoverable && one.broken().is_none();
    let apps: Vec<_> = found
        .iter()
        .filter(open)
        .map(|one| {
            let (manifest, agent) = (&one.manifest, &one.manifest.agent);
            json!({
                "name": one.name, "title": manifest.title, "description": manifest.description,
                "version": manifest.version, "category": manifest.category, "tags": manifest.tags,
                "triggers": agent.triggers, "provides": agent.provides, "launchable": agent.launchable,
                "context": agent.context,
                "events": agent.events.iter().map(|event| json!({
                    "name": event.name, "description": event.description,
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    Ok(json!({ "apps": apps }))
}

async fn open(launches: &Launches, caller: &Caller, args: OpenParams) -> Result<Value, ToolError> {
    let session = match (&args.session_id, caller.session) {
        (None, None) => None,
        _ => Some(
            session_meant(
                &*launches.hub().map_err(tool_error)?,
                caller,
                args.session_id.as_deref(),
            )
            .await?,
        ),
    };
    let name = args.agent.unwrap_or_else(|| match &caller.source {
        Source::Agent { name } => name.clone(),
        _ => "agent".to_owned(),
    });
    let own = caller.session.is_some();
    let agent = AppAgent {
        name,
        version: match own {
            true => env!("CARGO_PKG_VERSION").to_owned(),
            false => caller
                .version
                .as_deref()
                .map_or_else(unknown, whole_version),
        },
        capabilities: Vec::new(),
    };
    let request = LaunchRequest {
        // A built-in agent is the agent of its session.
        agent: (!own).then_some(agent),
        outside: !own,
        data: args.data,
        config: args.config,
        session,
        ..LaunchRequest::default()
    };
    let launched = launches.launch(&args.app, request).await.map_err(failure)?;
    Ok(json!({
        "launchId": launched.launch.id, "url": launched.url, "expiresAt": launched.launch.expires_at,
        "sessionId": launched.launch.session.to_string(), "warnings": launched.warnings,
    }))
}

fn unknown() -> String {
    "0.0.0".to_owned()
}

/// A semantic version from a client's own version.
fn whole_version(text: &str) -> String {
    let text = text.trim_start_matches(['v', 'V']);
    let (core, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let mut parts: Vec<&str> = core.split('.').collect();
    if parts.len() < 3 {
        parts.resize(3, "0");
    }
    let core = parts.join(".");
    let whole = [format!("{core}{rest}"), core].into_iter();
    let mut whole = whole.filter(|version| is_version(version));
    whole.next().unwrap_or_else(unknown)
}

/// Finds a launch; an agent of a session has access only to its own.
async fn find(launches: &Launches, caller: &Caller, id: &str) -> Result<Launch, ToolError> {
    let missing = || ToolError::Failed("launch not found; create one with launch_app".to_owned());
    let id = id.parse().map_err(|_| missing())?;
    let launch = launches
        .hub()
        .map_err(tool_error)?
        .launch(id)
        .await
        .map_err(tool_error)?;
    match caller.session.is_none_or(|own| own == launch.session) {
        true => Ok(launch),
        false => Err(missing()),
    }
}

async fn next(launches: &Launches, caller: &Caller, args: NextParams) -> Result<Value, ToolError> {
    let launch = find(launches, caller, &args.launch_id).await?;
    if launch.in_house {
        let message =
            "this app was launched for a built-in agent, which receives its events directly";
        return Err(ToolError::Failed(message.to_owned()));
    }
    let wait = Duration::from_millis(args.timeout_ms.unwrap_or(WAIT).min(LONGEST_WAIT));
    let _present = launches.presence.enter(launch.id, Side::Agent);
    let inbox = launches.inbox(&launch);
    let item = inbox.next(launches, &launch, Instant::now() + wait).await;
    let Some(Item {
        seq, at, app_event, ..
    }) = item.map_err(tool_error)?
    else {
        return Ok(json!({ "event": null }));
    };
    let weblet = launch.app.to_string();
    let timestamp = at.as_millisecond();
    Ok(match app_event {
        AppEvent::Emitted {
            id, event, payload, ..
        } => {
            let session = launches
                .hub()
                .map_err(tool_error)?
                .open(launch.session)
                .await
                .map_err(tool_error)?;
            let by = &launch.agent.name;
            let taken = launches.acknowledge(&session, &launch, &id, by).await;
            if let Err(error) = taken {
                inbox.give_back(seq).await;
                return Err(tool_error(error));
            }
            json!({ "event": {
                "kind": "event", "type": "weblet-event", "event": event, "payload": payload,
                "id": id, "timestamp": timestamp, "weblet": weblet, "seq": seq,
            } })
        }
        AppEvent::Requested {
            request,
            action,
            params,
        } => json!({ "event": {
            "kind": "request", "type": "weblet-request", "action": action, "params": params,
            "requestId": request, "timestamp": timestamp, "weblet": weblet, "seq": seq,
        } }),
        _ => json!({ "event": null }),
    })
}

async fn respond(
    launches: &Launches,
    caller: &Caller,
    args: RespondParams,
) -> Result<Value, ToolError> {
    let launch = find(launches, caller, &args.launch_id).await?;
    let session = launches
        .hub()
        .map_err(tool_error)?
        .open(launch.session)
        .await
        .map_err(tool_error)?;
    let short = |text: String| text.chars().take(2000).collect::<String>();
    let result = match args.error {
        None => Ok(args.result),
        Some(fault) => {
            let (code, message) = match fault {
                Fault::Words(reason) => (None, Some(reason)),
                Fault::Whole { code, message } => (code, message),
            };
            Err(AppRefusal {
                code: code.map_or_else(|| "E-AGT-004".to_owned(), short),
                message: message.map_or_else(|| "the agent gave no reason".to_owned(), short),
            })
        }
    };
    let by = launch.agent.name.clone();
    let answered = launches.answer_request(&session, &launch, &args.request_id, result, &by);
    match answered.await.map_err(tool_error)? {
        true => Ok(json!({ "answered": true })),
        false => Err(ToolError::Failed(
            "request not found; next_app_event returns requests".to_owned(),
        )),
    }
}

async fn send(launches: &Launches, caller: &Caller, args: SendParams) -> Result<Value, ToolError> {
    let launch = find(launches, caller, &args.launch_id).await?;
    if !is_event_name(&args.event) {
        let message =
            "`event` must be lowercase letters, digits and hyphens, beginning with a letter";
        return Err(ToolError::Failed(message.to_owned()));
    }
    let session = launches
        .hub()
        .map_err(tool_error)?
        .open(launch.session)
        .await
        .map_err(tool_error)?;
    let source = caller.source.clone();
    let sent = launches.send_event(&session, &launch, args.event, args.payload, source, None);
    Ok(json!({ "sent": true, "seq": sent.await.map_err(tool_error)? }))
}

#[cfg(test)]
mod tests {
    use super::whole_version;

    #[test]
    fn what_a_client_calls_its_version_becomes_one_of_three_numbers() {
        for (message, whole) in [
            ("1", "1.0.0"),
            ("2.3", "2.3.0"),
            ("v1.2.3", "1.2.3"),
            ("1.2.3-beta.1", "1.2.3-beta.1"),
            ("2026.11.17", "2026.11.17"),
            ("1.2.3.4", "0.0.0"),
            ("latest", "0.0.0"),
            ("", "0.0.0"),
        ] {
            assert_eq!(whole_version(message), whole, "{message}");
        }
    }
}
