//! Where a reader starts: after the last number it has seen, or with a snapshot.

use std::sync::Arc;

use axum::http::HeaderMap;
use gangway_core::{Session, SessionId, Store, Subscription, conversation::Conversation};

use super::{
    frame::FeedFrame,
    wire::{self, Snapshot},
};
use crate::error::{ApiError, ApiResult};

/// Events folded into a snapshot at most; older lines are in the history.
const SNAPSHOT_EVENTS: usize = 400;

pub enum Start {
    /// Without a number.
    Now,
    /// After the number it has seen.
    Resumed(Subscription),
    /// The events after its number cannot be sent without a gap, for this reason; it needs a resync.
    Gap(&'static str),
}

/// The last number that a reader has seen: `Last-Event-ID`, which browsers send when they reconnect, or `since`.
#[must_use]
pub fn last_seen(headers: &HeaderMap, since: Option<String>) -> Option<String> {
    let last = headers.get("last-event-id");
    last.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .or(since)
}

/// Resumes after the number in `since`, on any transport.
pub async fn resume(session: &Arc<Session>, since: Option<&str>) -> ApiResult<Start> {
    let Some(since) = since else {
        return Ok(Start::Now);
    };
    let Ok(after) = since.trim().parse() else {
        return Ok(Start::Gap("malformed"));
    };
    Ok(match session.resume(after).await? {
        Ok(subscription) => Start::Resumed(subscription),
        Err(gap) => Start::Gap(gap.reason()),
    })
}

/// Subscribes, and returns the frame to send first.
pub async fn begin(
    session: &Arc<Session>,
    since: Option<&str>,
) -> ApiResult<(Subscription, Option<FeedFrame>)> {
    let reason = match resume(session, since).await? {
        Start::Resumed(subscription) => return Ok((subscription, None)),
        Start::Now => None,
        Start::Gap(reason) => Some(reason),
    };
    let snapshot = snapshot(session).await?;
    let subscription = session.subscribe(snapshot.seq);
    let frame = match reason {
        None => FeedFrame::Snapshot { snapshot },
        Some(reason) => FeedFrame::Resync {
            reason: reason.into(),
            snapshot,
        },
    };
    Ok((subscription, Some(frame)))
}

async fn snapshot(session: &Arc<Session>) -> ApiResult<Snapshot> {
    let tail = session.tail(SNAPSHOT_EVENTS).await?;
    let Conversation {
        entries,
        running,
        queued,
        profile,
        context,
        ..
    } = Conversation::fold(&tail);
    // From the log if it is there: a change that the number covers must not be missing.
    let profile = profile.map_or_else(|| session.profile(), Ok)?;
    let id = session.id();
    let stream = |seq: &u64| {
        gangway_core::TurnId {
            session: id,
            seq: *seq,
        }
        .to_string()
    };
    Ok(Snapshot {
        session: wire::Session::new(id, profile, !running.is_empty()),
        seq: tail.last,
        entries: entries
            .into_iter()
            .map(|entry| wire::Entry::new(id, entry))
            .collect(),
        older: tail.older,
        running: running.first().map(stream),
        queued: queued.iter().map(stream).collect(),
        context: context.map(|(used, window)| wire::ContextUse { used, window }),
    })
}

/// Events folded into a page of history, at most and by default.
const MOST: usize = 2000;
const USUAL: usize = 400;

/// The lines before a number, oldest first.
pub async fn page(
    store: &Store,
    id: SessionId,
    before: Option<u64>,
    limit: Option<usize>,
) -> ApiResult<wire::History> {
    let limit = limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(ApiError::invalid(format!("`limit` must be 1 to {MOST}")));
    }
    let tail = store.tail(id, before, limit).await?;
    let entries = Conversation::fold(&tail).entries.into_iter();
    Ok(wire::History {
        session_id: id.to_string(),
        entries: entries.map(|entry| wire::Entry::new(id, entry)).collect(),
        older: tail.older,
    })
}
