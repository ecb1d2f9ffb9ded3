//! Opens the WebSocket `/ws/applet`, on which pages share state, use files and send messages to the agent.

use std::sync::Arc;

use axum::{Extension, extract::State, http::StatusCode, response::Response};
use gangway_core::{Session, SessionId, Slug, Subscription};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Query,
    feed::{self, Start},
    socket::{self, Frames, UpgradeResult},
};
use gangway_pages::PageView;
use serde::Deserialize;

use crate::{
    AppletService,
    channel::{Channel, Tab},
    routes::frame_path,
    view::{View, page_of},
    wire::channel::AppletServerMessage,
};

#[derive(Deserialize)]
pub(super) struct ConnectQuery {
    session: Option<String>,
    applet: Option<String>,
    since: Option<String>,
    client: Option<String>,
}

pub(super) async fn open(
    State(service): State<Arc<AppletService>>,
    Query(which): Query<ConnectQuery>,
    Extension(admitted): Extension<Admitted>,
    upgrade: UpgradeResult,
) -> ApiResult<Response> {
    // Twice the limit: a message somewhat too large gets an error, and the channel stays open.
    let frames = Frames::of(2 * service.http.limits.applet_bytes);
    let upgrade = socket::upgrade(upgrade, frames)?;
    let id = which.session.as_deref();
    let id = id.ok_or_else(|| ApiError::invalid("`session` is required: /ws/applet?session=ID"))?;
    let id: SessionId = id.parse().map_err(|_| {
        let message = "session not found; GET /api/sessions lists all sessions";
        ApiError::new(StatusCode::NOT_FOUND, "session_not_found", message)
    })?;
    let applet = which.applet.map(|slug| slug.parse::<Slug>()).transpose();
    let applet = applet.map_err(|error| ApiError::invalid(format!("`applet`: {error}")))?;
    if which
        .client
        .as_ref()
        .is_some_and(|client| client.len() > 100)
    {
        return Err(ApiError::invalid("`client` must be at most 100 characters"));
    }
    admitted
        .check_session(&service.http, &service.hub, id)
        .await?;
    let session = service.hub.open(id).await?;
    let state_of = match &applet {
        Some(applet) => applet.clone(),
        None => service.registry.unnamed(&service.hub, id).await?,
    };
    let named = service.registry.find(&state_of).await;
    let view = || {
        let (hub, session) = (Arc::clone(&service.hub), id);
        let applet = state_of.clone();
        Box::new(View {
            hub,
            session,
            applet,
        }) as Box<dyn PageView>
    };
    let key = which.client.as_ref();
    let key = key.map(|client| format!("{id}/{state_of}/{client}"));
    let new = page_of(id, &state_of, named.map(|applet| applet.name));
    let page = service.open.connect(key, new, view).map_err(|error| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        ApiError::new(status, "too_many_pages", error.to_string())
    })?;
    let (subscription, first) =
        begin(&service, &session, applet.as_ref(), &state_of, which.since).await?;
    let channel = Channel::new(
        Arc::clone(&service),
        session,
        applet,
        state_of,
        which.client,
        page,
    );
    let tab = Tab::new(channel, subscription, &first);
    Ok(socket::accept(&service.http, upgrade, move |socket| {
        tab.run(admitted, socket)
    }))
}

/// Subscribes from the right number, and returns the first message.
async fn begin(
    service: &AppletService,
    session: &Arc<Session>,
    applet: Option<&Slug>,
    state_of: &Slug,
    since: Option<String>,
) -> ApiResult<(Subscription, AppletServerMessage)> {
    // Before the state is read: a change in between is sent twice, never lost.
    let head = session.head();
    let state = service.hub.state(session.id(), state_of).await?;
    let version = state.map_or(0, |state| state.version);
    let first = match feed::resume(session, since.as_deref()).await? {
        Start::Resumed(subscription) => {
            let first = ready(service, session, applet, subscription.after(), version);
            return Ok((subscription, first));
        }
        Start::Now => ready(service, session, applet, head, version),
        Start::Gap(reason) => AppletServerMessage::Resync {
            reason: reason.to_owned(),
            seq: head,
            version,
        },
    };
    Ok((session.subscribe(head), first))
}

fn ready(
    service: &AppletService,
    session: &Session,
    applet: Option<&Slug>,
    seq: u64,
    version: u64,
) -> AppletServerMessage {
    AppletServerMessage::Ready {
        session: session.id().to_string(),
        applet: applet.map(Slug::to_string),
        frame: applet.map(|slug| frame_path(service, slug)),
        seq,
        version,
    }
}
