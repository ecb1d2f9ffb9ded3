//! The script that stands first in a launched page, with all that it needs.

use std::sync::Arc;

use axum::http::StatusCode;
use gangway_apps::serve::Injection;
use gangway_http::error::{ApiError, ApiResult};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{OURS, quote::push_text, storage};
use crate::{
    Weblets,
    launch::seen,
    token::{Opened, Token},
};

/// The file that makes the context of a page; it is called with what it needs.
const RUNTIME: &str = "context.js";

/// Bytes of data that stand in the page itself; more would hold up the page, and are fetched when they are first used.
const INLINE: usize = 64 << 10;

/// What the script in a launched page is told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Boot<'a> {
    launch_id: String,
    app: &'a str,
    agent: gangway_core::AppAgent,
    config: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_url: Option<String>,
    socket: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<String>,
    seq: u64,
    parent_origin: Option<&'a str>,
    reload: bool,
}

/// The script that makes the context, with all it needs.
pub(super) async fn injection(
    weblets: &Arc<Weblets>,
    opened: &Opened,
    token: &Token,
) -> ApiResult<Injection> {
    let launch = &opened.launch;
    let runtime = gangway_assets::text(RUNTIME).ok_or_else(|| {
        let message = "this build has no pages in it; build them with `make web` and start again";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_built", message)
    })?;
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
        // A page without an origin could not be told from a stranger's.
        storage: (!weblets.http.addresses.shared()).then(|| {
            let proof = &opened.proof;
            format!("{server}{}?launch={token}&proof={proof}", storage::PATH)
        }),
        seq: session.head(),
        parent_origin: opened.embed_origin.as_deref(),
        reload: launch.reload,
    };
    let boot = serde_json::to_string(&boot).unwrap_or_default();
    // As texts that the script reads: written out as objects, a key `__proto__` would be no key.
    let mut script =
        String::with_capacity(runtime.len() + 2 * (boot.len() + opened.data.len().min(INLINE)));
    script.push('(');
    script.push_str(runtime.trim_end().trim_end_matches(';'));
    script.push_str(")(");
    push_text(&mut script, &boot);
    if inline {
        script.push(',');
        push_text(&mut script, &opened.data);
    }
    script.push(')');
    Ok(Injection {
        script,
        connect: vec![server, sockets],
    })
}
