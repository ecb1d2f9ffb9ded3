//! The session channel: a WebSocket on which pages share state, use files and talk to the agent.

mod channel;
pub mod decode;
mod events;
mod file;
mod files;
mod invoke;
mod out;
mod speak;
mod state;
pub mod wire;

use std::sync::Arc;

use axum::{
    Extension,
    extract::{State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::StatusCode,
    response::Response,
};
use gangway_core::{Session, SessionId, Slug, Subscription};
use gangway_http::{
    access::{Rate, Scope, scope},
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Query,
    routes::Routes,
    socket::PROTOCOL,
};
use serde::Deserialize;
use wire::AppletTold;

use crate::{applets::frame_path, server::App};

/// Bytes of events that are taken from the log in one go.
const CHUNK: usize = 64 << 10;

/// What a connection gathers before it writes.
const WRITE: usize = 16 << 10;

/// Which channel.
#[derive(Deserialize)]
struct Which {
    session: Option<String>,
    applet: Option<String>,
    since: Option<String>,
    client: Option<String>,
}

/// The route.
#[must_use]
pub fn routes() -> Routes<Arc<App>> {
    Routes::new().get(
        "/ws/applet",
        scope(Scope::Chat).url_token().rate(Rate::Messages),
        open,
    )
}

async fn open(
    State(app): State<Arc<App>>,
    Query(which): Query<Which>,
    Extension(admitted): Extension<Admitted>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let upgrade = upgrade.map_err(|_| {
        ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "bad_upgrade",
            "this address takes WebSockets of version 13 alone",
        )
    })?;
    let id = which.session.as_deref();
    let id = id.ok_or_else(|| ApiError::invalid("name the session: /ws/applet?session=ID"))?;
    let id: SessionId = id.parse().map_err(|_| {
        let message = "no session has this id; /api/sessions lists them";
        ApiError::new(StatusCode::NOT_FOUND, "session_not_found", message)
    })?;
    let applet = which.applet.map(|slug| slug.parse::<Slug>()).transpose();
    let applet = applet.map_err(|error| ApiError::invalid(format!("`applet`: {error}")))?;
    if which
        .client
        .as_ref()
        .is_some_and(|client| client.len() > 100)
    {
        return Err(ApiError::invalid("`client` has more than 100 characters"));
    }
    admitted.check_session(&app.http, &app.hub, id).await?;
    let session = app.hub.open(id).await?;
    let state_of = match &applet {
        Some(applet) => applet.clone(),
        None => app.applets.unnamed(&app.hub, id).await?,
    };
    let (subscription, first) =
        begin(&app, &session, applet.as_ref(), &state_of, which.since).await?;
    let most = app.http.limits.applet_bytes;
    let channel = channel::Channel::new(
        Arc::clone(&app),
        session,
        applet,
        state_of,
        which.client,
        admitted,
    );
    Ok(upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(4096)
        .write_buffer_size(WRITE)
        // Twice what is taken: a message that is somewhat too large is answered, and the channel lives on.
        .max_message_size(2 * most)
        .max_frame_size(2 * most)
        .on_upgrade(move |socket| {
            let feeds = app.http.sockets.clone();
            feeds.track_future(channel.run(socket, subscription, first))
        }))
}

/// A subscription from the right place, and the message that comes first.
async fn begin(
    app: &App,
    session: &Arc<Session>,
    applet: Option<&Slug>,
    state_of: &Slug,
    since: Option<String>,
) -> ApiResult<(Subscription, AppletTold)> {
    // Before the state is read: a change in between is told once more, never lost.
    let head = session.head();
    let state = app.hub.state(session.id(), state_of).await?;
    let version = state.map_or(0, |state| state.version);
    let reason = match since.as_deref().map(|text| text.trim().parse::<u64>()) {
        None => None,
        Some(Err(_)) => Some("malformed"),
        Some(Ok(after)) => match session.resume(after).await? {
            Ok(subscription) => {
                return Ok((subscription, ready(app, session, applet, after, version)));
            }
            Err(gap) => Some(gap.reason()),
        },
    };
    let first = match reason {
        None => ready(app, session, applet, head, version),
        Some(reason) => AppletTold::Resync {
            reason: reason.to_owned(),
            seq: head,
            version,
        },
    };
    Ok((session.subscribe(head), first))
}

fn ready(
    app: &App,
    session: &Session,
    applet: Option<&Slug>,
    seq: u64,
    version: u64,
) -> AppletTold {
    AppletTold::Ready {
        session: session.id().to_string(),
        applet: applet.map(Slug::to_string),
        frame: applet.map(|slug| frame_path(app, slug)),
        seq,
        version,
    }
}
