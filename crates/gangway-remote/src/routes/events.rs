//! The event stream of one agent: its session's feed with frames for its state and its end.

use std::{sync::Arc, time::Duration};

use axum::{extract::State, http::HeaderMap, response::Response};
use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use gangway_core::{Event, Logged, SessionId};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::Query,
    feed::{
        begin, encode,
        frame::{EventBody, EventFrame, FeedFrame},
        last_seen, sse,
    },
    socket::to_json,
};
use serde::Deserialize;

use super::caller::Caller;
use crate::{AgentState, LiveAgent, Progress, RemoteState, wire::AgentFrame};

#[derive(Deserialize)]
pub struct EventsQuery {
    since: Option<String>,
}

/// Follow an agent over SSE
///
/// Without `since` (or `Last-Event-ID`) the first frame is a `snapshot`; with it, every event after that number
/// follows, or a `resync` if there is a gap. `agent.state` frames, which have no number, have the agent's state: one
/// at the start and one with each change. `agent.ended` is the last frame.
#[utoipa::path(get, path = "/api/remote_agents/{id}/events", tag = "agents", params(
    ("id" = String, Path, description = "The agent"),
    ("since" = Option<String>, Query, description = "The number of the last event received; 0 for all events"),
    ("token" = Option<String>, Query, description = "The token, if no header can be sent"),
    ("Last-Event-ID" = Option<String>, Header, description = "The same as `since`, as browsers send it; takes precedence"),
), responses(
    (status = 200, description = "Frames of the session's feed and of `AgentFrame`", body = FeedFrame, content_type = "text/event-stream"),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
))]
pub async fn events(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let session = state.remote.hub.open(caller.session).await?;
    let since = last_seen(&headers, query.since);
    let (subscription, mut opening) = begin(&session, since.as_deref()).await?;
    // The stream continues event by event, so the state before must be known up to the same number.
    let store = state.remote.hub.store();
    let next = Some(subscription.after() + 1);
    let before = store.tail(caller.session, next, STATE_EVENTS).await?;
    let progress = Progress::of(&gangway_core::conversation::Conversation::fold(&before));
    if let Some(FeedFrame::Snapshot { snapshot } | FeedFrame::Resync { snapshot, .. }) =
        &mut opening
    {
        // Other sites must not learn the path of its folder.
        snapshot.session.cwd.clear();
    }
    let mut first = sse::begin(opening.as_ref());
    first.extend_from_slice(&state_frame(progress.state));
    let source = AgentEvents {
        progress,
        agent: Arc::clone(&caller.agent),
        token: caller.token,
    };
    Ok(sse::follow(&state.http, subscription, source, first))
}

/// How long the stream waits for the end of a running turn after the agent's process has exited.
const LAST_EVENTS: Duration = Duration::from_secs(1);

/// Number of events from which the state is derived.
const STATE_EVENTS: usize = 400;

struct AgentEvents {
    progress: Progress,
    agent: Arc<LiveAgent>,
    token: String,
}

impl sse::Source for AgentEvents {
    fn revoked(&self) -> BoxFuture<'static, ()> {
        let (agent, token) = (Arc::clone(&self.agent), self.token.clone());
        async move { agent.revoked(&token).await }.boxed()
    }

    async fn finished(&self) -> Bytes {
        self.agent.ended.cancelled().await;
        // The running turn is logged as failed just after.
        if !matches!(self.progress.state, AgentState::Idle | AgentState::Complete) {
            tokio::time::sleep(LAST_EVENTS).await;
        }
        let reason = self.agent.record().ended_reason;
        let reason = reason.unwrap_or_else(|| "the agent ended".into());
        let frame = AgentFrame::Ended { reason };
        encode::sse_text("agent.ended", None, &to_json(&frame)).into()
    }

    fn encode(&mut self, event: &Logged, frames: &mut Vec<Bytes>) -> bool {
        let before = self.progress.state;
        self.progress.follow(event);
        // What the owner of this Gangway is asked for, and decides, is not for other sites.
        if !matches!(event.event, Event::Ask { .. }) {
            frames.push(encode_one(self.agent.session, event));
        }
        if self.progress.state != before {
            frames.push(state_frame(self.progress.state));
        }
        true
    }
}

fn state_frame(state: AgentState) -> Bytes {
    let frame = AgentFrame::State { state };
    encode::sse_text("agent.state", None, &to_json(&frame)).into()
}

/// An event of the session, without the path of its folder.
fn encode_one(session: SessionId, event: &Logged) -> Bytes {
    let mut frame = match &event.event {
        Event::Created { .. } => EventFrame::new(session, event),
        _ => return encode::sse(session, event),
    };
    if let EventBody::Created { cwd, .. } = &mut frame.event {
        cwd.clear();
    }
    encode::sse_text(frame.name(), Some(frame.seq), &to_json(&frame)).into()
}
