//! Events of a page, read from the log of its session.

use std::{sync::Arc, time::Duration};

use gangway_core::{Event, Hub, SessionId, SubscriptionEnd, ToolError, tool_error};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::page::PageEvents;

/// Bytes of events that are read from the log at once.
const CHUNK: usize = 256 << 10;

/// Maximum number of events that are returned at once.
pub const EVENTS: usize = 100;

/// The events after a number that `of_page` selects; without a number, only later ones. Waits until there are some.
pub async fn from_log(
    hub: &Arc<Hub>,
    session: SessionId,
    after: Option<u64>,
    wait: Duration,
    of_page: impl Fn(&Event) -> Option<Value>,
) -> Result<PageEvents, ToolError> {
    let until = Instant::now() + wait;
    let session = hub.open(session).await.map_err(tool_error)?;
    let head = session.head();
    let mut found = PageEvents {
        last: after.unwrap_or(head).min(head),
        gap: after.is_some_and(|after| after > head),
        ..PageEvents::default()
    };
    let mut log = session.subscribe(found.last);
    loop {
        let Ok(next) = timeout_at(until, log.next(CHUNK)).await else {
            return Ok(found);
        };
        let events = match next.map_err(tool_error)? {
            Ok(events) => events,
            // Events that are no longer in memory are read from the store.
            Err(SubscriptionEnd::Slow) => {
                log = session.subscribe(log.after());
                continue;
            }
            Err(_) => return Err(ToolError::Unavailable("the session ended".to_owned())),
        };
        for logged in events {
            found.last = logged.seq;
            if let Some(event) = of_page(&logged.event) {
                found.events.push((logged.seq, event));
            }
            if found.events.len() >= EVENTS {
                return Ok(found);
            }
        }
        if !found.events.is_empty() {
            return Ok(found);
        }
    }
}
