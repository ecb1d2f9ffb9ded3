//! Events and requests waiting for an external agent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gangway_core::{AppEvent, Event, Launch, Logged, Result};
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::{Launches, launch::is_ours};

/// Limit per launch.
const MOST: usize = 1000;

/// Limit per launch in bytes.
const BYTES: usize = 16 << 20;

/// How long a page waits for an acknowledgement and for an answer. Nothing is delivered after that: the page was told
/// that it failed and may have retried.
const EVENT: SignedDuration = SignedDuration::from_secs(30);
const REQUEST: SignedDuration = SignedDuration::from_secs(60);

/// Bytes of events read at once.
const CHUNK: usize = 256 << 10;

#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its number in the log.
    pub seq: u64,
    pub at: Timestamp,
    /// Its size in the log.
    size: usize,
    pub app_event: AppEvent,
}

#[derive(Default)]
pub struct Inbox {
    state: tokio::sync::Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The log is read up to here.
    read: u64,
    open: BTreeMap<u64, Item>,
    bytes: usize,
    numbers: HashMap<String, u64>,
    /// Requests that were delivered to an agent and are not answered yet.
    handed: BTreeSet<u64>,
}

impl Item {
    fn is_over(&self, now: Timestamp) -> bool {
        let limit = match self.app_event {
            AppEvent::Requested { .. } => REQUEST,
            _ => EVENT,
        };
        now.duration_since(self.at) >= limit
    }
}

impl State {
    /// Drops items that timed out.
    fn expire(&mut self, now: Timestamp) {
        let over = self.open.values().filter(|item| item.is_over(now));
        let names: Vec<String> = over.filter_map(|item| name_of(&item.app_event)).collect();
        for name in names {
            self.remove(&name);
        }
    }

    fn ingest(&mut self, launch: &Launch, logged: &Logged) {
        self.read = logged.seq;
        let Event::App {
            launch: of,
            app_event,
            ..
        } = &logged.event
        else {
            return;
        };
        if *of != launch.id {
            return;
        }
        match app_event {
            AppEvent::Emitted { taken: false, .. } => self.add(logged, app_event),
            AppEvent::Requested { action, .. } if !is_ours(launch, action) => {
                self.add(logged, app_event)
            }
            AppEvent::Taken { id, .. } => self.remove(&format!("e/{id}")),
            AppEvent::Answered { request, .. } => self.remove(&format!("r/{request}")),
            _ => {}
        }
    }

    fn add(&mut self, logged: &Logged, app_event: &AppEvent) {
        let Some(name) = name_of(app_event) else {
            return;
        };
        let item = Item {
            seq: logged.seq,
            at: logged.at,
            size: logged.size,
            app_event: app_event.clone(),
        };
        self.bytes += item.size;
        self.open.insert(logged.seq, item);
        self.numbers.insert(name, logged.seq);
    }

    fn remove(&mut self, name: &str) {
        if let Some(seq) = self.numbers.remove(name) {
            let gone = self.open.remove(&seq);
            self.bytes -= gone.map_or(0, |item| item.size);
            self.handed.remove(&seq);
        }
    }
}

/// The key of an item.
fn name_of(app_event: &AppEvent) -> Option<String> {
    match app_event {
        AppEvent::Emitted { id, .. } => Some(format!("e/{id}")),
        AppEvent::Requested { request, .. } => Some(format!("r/{request}")),
        _ => None,
    }
}

impl Inbox {
    /// Drops an item that its page cancelled.
    pub(crate) async fn cancel(
        &self,
        launches: &Launches,
        launch: &Launch,
        id: &str,
    ) -> Result<()> {
        let mut state = self.read_on(launches, launch).await?;
        state.remove(&format!("e/{id}"));
        state.remove(&format!("r/{id}"));
        Ok(())
    }

    pub(crate) async fn is_full(&self, launches: &Launches, launch: &Launch) -> Result<bool> {
        let state = self.read_on(launches, launch).await?;
        Ok(state.open.len() >= MOST || state.bytes >= BYTES)
    }

    /// Makes an undelivered event available again.
    pub(crate) async fn give_back(&self, seq: u64) {
        self.state.lock().await.handed.remove(&seq);
    }

    async fn read_on(
        &self,
        launches: &Launches,
        launch: &Launch,
    ) -> Result<tokio::sync::MutexGuard<'_, State>> {
        let mut state = self.state.lock().await;
        loop {
            let page = launches
                .hub()?
                .store()
                .read(launch.session, state.read, CHUNK)
                .await?;
            if page.events.is_empty() {
                state.expire(Timestamp::now());
                return Ok(state);
            }
            for logged in &page.events {
                state.ingest(launch, logged);
            }
        }
    }

    /// All items, oldest first, and the number up to which the log was read.
    pub async fn waiting(&self, launches: &Launches, launch: &Launch) -> Result<(Vec<Item>, u64)> {
        let state = self.read_on(launches, launch).await?;
        Ok((state.open.values().cloned().collect(), state.read))
    }

    /// Waits for the next item. A request is delivered once; an event until it is acknowledged.
    pub(crate) async fn next(
        &self,
        launches: &Launches,
        launch: &Launch,
        until: Instant,
    ) -> Result<Option<Item>> {
        let session = launches.hub()?.open(launch.session).await?;
        loop {
            let read = {
                let mut state = self.read_on(launches, launch).await?;
                let fresh = state
                    .open
                    .values()
                    .find(|item| !state.handed.contains(&item.seq));
                if let Some(item) = fresh.cloned() {
                    state.handed.insert(item.seq);
                    return Ok(Some(item));
                }
                state.read
            };
            let mut events = session.subscribe(read);
            tokio::select! {
                more = events.next(CHUNK) => {
                    if more?.is_err() {
                        return Ok(None);
                    }
                }
                () = tokio::time::sleep_until(until) => return Ok(None),
                () = launches.http.stop.cancelled() => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_waited_for_long_enough_is_over() {
        let at = Timestamp::UNIX_EPOCH;
        let (id, payload) = ("x".to_owned(), serde_json::Value::Null);
        let event = AppEvent::Emitted {
            id: id.clone(),
            event: "a".to_owned(),
            payload: payload.clone(),
            declared: true,
            turn: false,
            taken: false,
        };
        let request = AppEvent::Requested {
            request: id,
            action: "a".to_owned(),
            params: payload,
        };
        for (app_event, seconds) in [(event, 30), (request, 60)] {
            let (seq, size) = (1, 1);
            let item = Item {
                seq,
                at,
                size,
                app_event,
            };
            assert!(!item.is_over(at + SignedDuration::from_secs(seconds - 1)));
            assert!(item.is_over(at + SignedDuration::from_secs(seconds)));
        }
    }
}
