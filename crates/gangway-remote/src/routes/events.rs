//! The stream of one agent: its session's feed, with what it is doing in between and its end at the end.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, extract::State, http::HeaderMap, response::Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use gangway_core::{Event, Logged, SessionId, Subscription};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::Query,
    feed::{
        begin, closing, encode,
        frame::{EventBody, EventFrame, FeedFrame},
        sse::{CHUNK, RETRY, events as as_events},
    },
    metrics::Counted,
    socket::{Ending, to_json},
};
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use super::caller::Caller;
use crate::{AgentState, LiveAgent, Progress, RemoteState, wire::AgentFrame};

/// Where to begin.
#[derive(Deserialize)]
pub struct Since {
    since: Option<String>,
}

/// Follow an agent over SSE
///
/// Without `since` (or `Last-Event-ID`) the first frame is a `snapshot`; with it, every event after that number follows,
/// or a `resync` where that cannot be done without a gap. `agent.state` frames, which have no number, say what the agent is
/// doing: one at the start and one with each change. `agent.ended` is the last frame of all.
#[utoipa::path(get, path = "/api/remote_agents/{id}/events", tag = "agents", params(
    ("id" = String, Path, description = "The agent"),
    ("since" = Option<String>, Query, description = "The last number that was seen; 0 for everything"),
    ("token" = Option<String>, Query, description = "The token, where no header can be sent"),
    ("Last-Event-ID" = Option<String>, Header, description = "The same as `since`, as browsers send it; it beats `since`"),
), responses(
    (status = 200, description = "Frames of the session's feed and of `AgentFrame`", body = FeedFrame, content_type = "text/event-stream"),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
))]
pub async fn events(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    Query(query): Query<Since>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let session = state.remote.hub.open(caller.session).await?;
    let last = headers
        .get("last-event-id")
        .map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
    let (subscription, opening) = begin(&session, last.or(query.since).as_deref()).await?;
    // What follows is followed event by event, so what was before must be known up to the same number.
    let store = state.remote.hub.store();
    let next = Some(subscription.after() + 1);
    let before = store.tail(caller.session, next, STATE_EVENTS).await?;
    let progress = Progress::of(&gangway_core::conversation::Conversation::fold(&before));
    let mut first = BytesMut::from(RETRY);
    if let Some(mut frame) = opening {
        if let FeedFrame::Snapshot { snapshot } | FeedFrame::Resync { snapshot, .. } = &mut frame {
            // Where its folder is, is nobody's business on another site.
            snapshot.session.cwd.clear();
        }
        first.extend_from_slice(&encode::sse_frame(&frame));
    }
    first.extend_from_slice(&state_frame(progress.state));
    let reader = Reader {
        subscription,
        progress,
        heartbeat: Duration::from_secs(state.http.limits.heartbeat_seconds.max(1)),
        opening: Some(first.freeze()),
        over: false,
        _counted: Counted::new(&state.http.metrics.readers),
        state,
        agent: Arc::clone(&caller.agent),
        token: caller.token,
    };
    let chunks = stream::unfold(reader, |mut reader| async move {
        let chunk = reader.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), reader))
    });
    Ok(as_events(Body::from_stream(chunks)))
}

/// How long the end of what an agent was doing is waited for once its process is gone.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Events that say what an agent is doing.
const STATE_EVENTS: usize = 400;

struct Reader {
    subscription: Subscription,
    progress: Progress,
    heartbeat: Duration,
    opening: Option<Bytes>,
    over: bool,
    state: Arc<RemoteState>,
    agent: Arc<LiveAgent>,
    token: String,
    _counted: Counted,
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(opening) = self.opening.take() {
            return Some(opening);
        }
        if self.over {
            return None;
        }
        let silent_until = Instant::now() + self.heartbeat;
        let (agent, state) = (&self.agent, self.progress.state);
        let over = async {
            agent.ended.cancelled().await;
            // What it was doing is written down as failed just after.
            if !matches!(state, AgentState::Idle | AgentState::Complete) {
                tokio::time::sleep(LAST_WORDS).await;
            }
        };
        // What was said comes before the end, also where it must be read from the disk first.
        let behind = self.subscription.is_behind();
        let next = tokio::select! {
            biased;
            () = agent.revoked(&self.token) => return Some(self.close(Ending::Revoked)),
            next = timeout_at(silent_until, self.subscription.next(CHUNK)) => next,
            () = over, if !behind => return Some(self.end()),
        };
        let Ok(next) = next else {
            return Some(Bytes::from_static(b": still here\n\n"));
        };
        match next {
            Ok(Ok(events)) => Some(self.encode(&events)),
            Ok(Err(why)) => Some(self.close(Ending::Log(why))),
            Err(error) => Some(self.close(Ending::unreadable(&error))),
        }
    }

    /// These events in one piece; a single event that changes nothing is shared, not copied.
    fn encode(&mut self, events: &[Arc<Logged>]) -> Bytes {
        let mut frames = Vec::with_capacity(events.len());
        for event in events {
            let before = self.progress.state;
            self.progress.follow(event);
            frames.push(encode_one(self.agent.session, event));
            if self.progress.state != before {
                frames.push(state_frame(self.progress.state));
            }
        }
        match frames.len() {
            1 => frames.pop().unwrap_or_default(),
            _ => frames.concat().into(),
        }
    }

    fn end(&mut self) -> Bytes {
        self.over = true;
        let reason = self.agent.record().ended_reason;
        let reason = reason.unwrap_or_else(|| "it ended".into());
        let frame = AgentFrame::Ended { reason };
        encode::sse_text("agent.ended", None, &to_json(&frame)).into()
    }

    fn close(&mut self, why: Ending) -> Bytes {
        self.over = true;
        why.count(&self.state.http.metrics);
        encode::sse_frame(&closing(why))
    }
}

fn state_frame(state: AgentState) -> Bytes {
    let frame = AgentFrame::State { state };
    encode::sse_text("agent.state", None, &to_json(&frame)).into()
}

/// An event as others get it who follow its session, but for where its folder is.
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
