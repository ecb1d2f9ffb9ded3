//! Where a reader begins: after the number it has seen, or with the session as it is.

use std::sync::Arc;

use gangway_core::{Session, SessionId, Store, Subscription, conversation::Conversation};

use super::{
    frame::FeedFrame,
    wire::{self, Snapshot},
};
use crate::error::{ApiError, ApiResult};

/// Events folded into a snapshot at the most; older lines are in the history.
const SNAPSHOT_EVENTS: usize = 400;

/// A subscription from the right place, with the frame that must come first.
pub async fn begin(
    session: &Arc<Session>,
    since: Option<&str>,
) -> ApiResult<(Subscription, Option<FeedFrame>)> {
    let reason = match since {
        None => None,
        Some(text) => match text.trim().parse() {
            Ok(after) => match session.resume(after).await? {
                Ok(subscription) => return Ok((subscription, None)),
                Err(gap) => Some(gap.reason()),
            },
            Err(_) => Some("malformed"),
        },
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
    // From the log where it is there: a change that the number covers must not be missing.
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

/// Events folded into a page of history at the most, and when nobody says.
const MOST: usize = 2000;
const USUAL: usize = 400;

/// What was said before a number, oldest line first.
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
