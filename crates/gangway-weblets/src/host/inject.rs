//! The script injected first into a launched page.

use std::sync::Arc;

use axum::http::StatusCode;
use gangway_apps::serve::Injection;
use gangway_core::{AppAgent, Launch};
use gangway_http::error::{ApiError, ApiResult};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{OURS, quote::push_text, storage};
use crate::{
    Weblets,
    launch::seen,
    token::{OpenedPage, Token},
};

/// Creates the context of a page.
const RUNTIME: &str = "context.js";

/// Data above this size is not inlined, since it would delay the page; it is loaded on first use.
const INLINE: usize = 64 << 10;

/// Parameters of the injected script.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Boot<'a> {
    launch_id: String,
    app: &'a str,
    agent: AppAgent,
    config: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_url: Option<String>,
    socket: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<String>,
    seq: u64,
    parent_origin: Option<&'a str>,
    reload: bool,
    /// Whether the page is shown in a replay, which answers instead of us.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replay: bool,
}

pub(super) async fn injection(
    weblets: &Arc<Weblets>,
    opened: &OpenedPage,
    token: &Token,
) -> ApiResult<Injection> {
    let launch = &opened.launch;
    let session = weblets.hub.open(launch.session).await?;
    let server = weblets.http.addresses.server(&launch.app);
    let prefix = weblets.http.addresses.prefix(&launch.app);
    let inline = opened.data.len() <= INLINE;
    let sockets = server.replacen("http", "ws", 1);
    let boot = Boot {
        launch_id: launch.id.to_string(),
        app: launch.app.as_str(),
        agent: seen(&launch.agent),
        config: &launch.config,
        data_url: (!inline).then(|| {
            format!(
                "{server}{prefix}{OURS}data?launch={token}&proof={}",
                opened.proof
            )
        }),
        socket: format!(
            "{sockets}{prefix}{OURS}ws?launch={token}&proof={}",
            opened.proof
        ),
        // A page without an origin cannot be distinguished from another app's.
        storage: (!weblets.http.addresses.shared()).then(|| {
            let proof = &opened.proof;
            format!("{server}{}?launch={token}&proof={proof}", storage::PATH)
        }),
        seq: session.head(),
        parent_origin: opened.embed_origin.as_deref(),
        reload: launch.reload,
        replay: false,
    };
    let data = inline.then_some(&*opened.data);
    Ok(Injection {
        script: script(&boot, data)?,
        connect: vec![server, sockets],
    })
}

/// The script of a page in a replay; without a launch, its context is empty.
pub(super) fn recorded(found: &gangway_apps::App, launch: Option<&Launch>) -> ApiResult<Injection> {
    let nothing = Map::new();
    let agent = AppAgent {
        name: String::new(),
        version: "0.0.0".to_owned(),
        capabilities: Vec::new(),
    };
    let boot = Boot {
        launch_id: launch.map_or_else(String::new, |launch| launch.id.to_string()),
        app: found.name.as_str(),
        agent: seen(launch.map_or(&agent, |launch| &launch.agent)),
        config: launch.map_or(&nothing, |launch| &launch.config),
        data_url: None,
        socket: String::new(),
        storage: None,
        // Every event of the log is a later one.
        seq: 0,
        // Its policy says who may frame it.
        parent_origin: Some("*"),
        reload: false,
        replay: true,
    };
    let data = launch.map_or(&nothing, |launch| &launch.data);
    let data = serde_json::to_string(data).unwrap_or_default();
    Ok(Injection {
        script: script(&boot, Some(&data))?,
        connect: Vec::new(),
    })
}

fn script(boot: &Boot<'_>, data: Option<&str>) -> ApiResult<String> {
    let runtime = gangway_assets::text(RUNTIME).ok_or_else(|| {
        let message = "this build contains no pages; build them with `make web` and restart";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_built", message)
    })?;
    let boot = serde_json::to_string(boot).unwrap_or_default();
    // Parsed from strings: in an object literal, the key `__proto__` would not be a key.
    let room = runtime.len() + 2 * (boot.len() + data.map_or(0, str::len));
    let mut script = String::with_capacity(room);
    script.push('(');
    script.push_str(runtime.trim_end().trim_end_matches(';'));
    script.push_str(")(");
    push_text(&mut script, &boot);
    if let Some(data) = data {
        script.push(',');
        push_text(&mut script, data);
    }
    script.push(')');
    Ok(script)
}
