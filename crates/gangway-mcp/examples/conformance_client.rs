//! The client for the official conformance suite: `conformance_client URL`. It connects with a `Host`, logs in whenever
//! it is asked to, accepts every question, and calls every tool.

use std::{
    collections::HashMap,
    process::ExitCode,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::future::BoxFuture;
use gangway_core::ToolName;
use gangway_mcp::{
    Asker, ElicitationAnswer, ElicitationRequest, Host, LoginClient, ServerId, ServerSpec,
    Settings, State, TokenStore, UrlPolicy,
};
use serde_json::{Map, Value, json};

/// Login attempts.
const LOGINS: usize = 3;

#[derive(Default)]
struct Tokens(Mutex<HashMap<ServerId, String>>);

impl TokenStore for Tokens {
    fn load(&self, server: ServerId) -> BoxFuture<'_, Result<Option<String>, String>> {
        let stored = self.0.lock().unwrap_or_else(|e| e.into_inner());
        Box::pin(std::future::ready(Ok(stored.get(&server).cloned())))
    }

    fn save(&self, server: ServerId, secret: Option<String>) -> BoxFuture<'_, Result<(), String>> {
        let mut stored = self.0.lock().unwrap_or_else(|e| e.into_inner());
        match secret {
            Some(secret) => stored.insert(server, secret),
            None => stored.remove(&server),
        };
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Accepts every form with its defaults.
struct Agrees;

impl Asker for Agrees {
    fn ask(&self, question: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        let schema = question.schema.unwrap_or_default();
        let mut form = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"].as_array();
            let is_required = required.is_some_and(|names| names.contains(&json!(name)));
            match field.get("default") {
                Some(value) => drop(form.insert(name.clone(), value.clone())),
                None if is_required => drop(form.insert(name.clone(), example(field))),
                None => {}
            }
        }
        Box::pin(std::future::ready(ElicitationAnswer::Accept(
            Value::Object(form),
        )))
    }
}

/// A value for a simple schema.
fn example(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!("example"),
        Some("integer" | "number") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => arguments(schema),
        _ => Value::Null,
    }
}

/// Only the required arguments.
fn arguments(schema: &Value) -> Value {
    let names = schema["required"].as_array().into_iter().flatten();
    let names = names.filter_map(Value::as_str);
    names
        .map(|name| (name.to_owned(), example(&schema["properties"][name])))
        .collect::<Map<_, _>>()
        .into()
}

/// The context that the suite passes in the environment.
fn context() -> Value {
    let text = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// A pre-registered client, if the suite gives one.
fn registered() -> Option<LoginClient> {
    let context = context();
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    Some(LoginClient {
        id: text("client_id")?,
        secret: text("client_secret"),
    })
}

/// The calls that the suite asks for; otherwise every tool once.
fn calls(host: &Host) -> Result<Vec<(ToolName, Value)>, String> {
    let context = context();
    if let Some(wanted) = context["toolCalls"].as_array() {
        let call = |wanted: &Value| {
            let name = format!("it/{}", wanted["name"].as_str().unwrap_or_default());
            let name = name.parse().map_err(|error| format!("{name}: {error}"))?;
            Ok((name, wanted["arguments"].clone()))
        };
        return wanted.iter().map(call).collect();
    }
    let tools = host.tools().into_iter();
    let first = host.tools().into_iter().next();
    let schema = first.map_or(Value::Null, |tool| tool.input_schema.clone());
    Ok(tools
        .map(|tool| {
            let mut arguments = arguments(&tool.input_schema);
            // One scenario checks the schema of its other tool as received here.
            if let Some(wanted) = arguments.get_mut("schema") {
                *wanted = schema.clone();
            }
            (tool.name.clone(), arguments)
        })
        .collect())
}

/// Opens the login page and returns where it redirects to.
async fn visit(page: &str) -> Result<String, String> {
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let browser = browser.build().map_err(|error| error.to_string())?;
    let answer = browser.get(page).send().await;
    let answer = answer.map_err(|error| error.to_string())?;
    let back = answer.headers().get(http::header::LOCATION);
    let back = back.and_then(|value| value.to_str().ok());
    back.map(str::to_owned)
        .ok_or_else(|| format!("the login page responded with {}", answer.status()))
}

async fn settled(host: &Host) -> State {
    let mut changes = host.changes();
    loop {
        changes.borrow_and_update();
        match host.status().into_iter().next().map(|status| status.state) {
            Some(state @ (State::Ready | State::Unauthorized | State::Failed { .. })) => {
                return state;
            }
            _ => drop(changes.changed().await),
        }
    }
}

async fn run(url: &str) -> Result<(), String> {
    let settings = Settings {
        start_timeout: Duration::from_secs(20),
        tokens: Some(Arc::new(Tokens::default())),
        tries: 1,
        ..Settings::default()
    };
    let host = Host::new(settings, Some(Arc::new(Agrees)));
    let it: ServerId = "it".parse().map_err(|error| format!("{error}"))?;
    let mut spec = ServerSpec::http(it.clone(), url, UrlPolicy::Any);
    spec.login = registered();
    host.set_up(vec![spec]).await;
    let mut failed = None;
    for logins in 0..=LOGINS {
        match settled(&host).await {
            State::Failed { reason, .. } => return Err(reason),
            State::Ready => {
                failed = None;
                for (tool, arguments) in calls(&host)? {
                    if let Err(error) = host.call("suite", &tool, arguments, None).await {
                        failed = Some(error.to_string());
                    }
                }
            }
            _ => failed = Some("it asks for a login again and again".to_owned()),
        }
        let is_done = settled(&host).await == State::Ready
            && !host.status().iter().any(|status| status.wants_more);
        if is_done || logins == LOGINS {
            break;
        }
        let page = host.log_in(&it, "http://127.0.0.1:3000/callback").await?;
        let back = visit(&page).await?;
        host.logged_in(&back).await?;
    }
    host.shutdown().await;
    failed.map_or(Ok(()), Err)
}

#[allow(clippy::print_stderr, reason = "the suite shows what its client says")]
fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        return ExitCode::FAILURE;
    };
    let Ok(runtime) = tokio::runtime::Runtime::new() else {
        return ExitCode::FAILURE;
    };
    match runtime.block_on(run(&url)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
