//! One answer on its way to a page: the turn of a session, heard while it happens, ended when the page or the person wants.

use std::sync::Arc;

use gangway_agents::Heard;
use gangway_core::{
    Command, Ended, Event, Receipt, Scope, SessionId, Source, Subscription, WhenBusy,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{SiteError, SiteTold, Visit, WebAgent, permissions::Used, work::Work};

/// Bytes of events that are taken from the log in one go.
const CHUNK: usize = 64 << 10;

/// Pieces that wait for the page's connection.
const WAITING: usize = 64;

/// Where the events of a call go, and what ends the call.
pub struct Stream {
    /// The page.
    pub visit: Arc<Visit>,
    /// The call.
    pub call: u64,
    /// Cancelled when the page wants no more of it.
    pub stop: CancellationToken,
}

impl Stream {
    /// Says one event, once there is room for it.
    pub(crate) async fn event(&self, event: Value) {
        tokio::select! {
            () = self.visit.outbox.room() => {}
            // A page that takes nothing can still end it.
            () = self.stop.cancelled() => return,
        }
        self.visit.tell(SiteTold::Event {
            id: self.call,
            event,
        });
    }
}

/// What a page is told of something that happened in a turn.
#[derive(Default)]
pub(crate) struct Told {
    /// The event, where there is one for it.
    pub(crate) event: Option<Value>,
    /// How the call ends, where this was the last.
    pub(crate) end: Option<Result<(), SiteError>>,
}

/// A turn that must not go on when nobody hears it.
struct Heeded<'a> {
    work: &'a Work,
}

impl Drop for Heeded<'_> {
    fn drop(&mut self) {
        self.work.unlisten();
    }
}

impl WebAgent {
    /// Has a session of a page answer; `told` makes events of what happens, and says how it ends.
    pub(crate) async fn answer(
        &self,
        stream: &Stream,
        (session, work): (SessionId, &Arc<Work>),
        prompt: String,
        scope: Scope,
        told: fn(Heard) -> Told,
    ) -> Result<(), SiteError> {
        let origin = &stream.visit.origin;
        self.permissions.check(origin, scope)?;
        let mut changes = self.permissions.changes();
        let (listener, mut news) = mpsc::channel(WAITING);
        work.listen(listener);
        let _heeded = Heeded { work };
        let live = self.sessions.hub().open(session).await?;
        let prompt = Command::Prompt {
            prompt,
            source: Source::Page {
                origin: origin.to_string(),
            },
            shown: true,
            // The turn before may still be on its way out.
            when_busy: WhenBusy::Queue,
        };
        let mut log = live.subscribe(live.head());
        let Receipt::Accepted { turn } = live.submit(prompt).await? else {
            return Err(SiteError::wrong("the session took no prompt"));
        };
        let ended = turn_ended(&mut log, turn);
        tokio::pin!(ended);
        // What waits for the page to take what it was told before.
        let mut waiting: Option<Told> = None;
        let result = loop {
            let full = waiting.is_some();
            tokio::select! {
                biased;
                () = stream.stop.cancelled() => {
                    break Err(SiteError::aborted("this was aborted"));
                }
                // The sender lives as long as the server.
                _ = changes.changed() => {
                    if let Err(refused) = self.permissions.check(origin, scope) {
                        break Err(refused.into());
                    }
                }
                () = stream.visit.outbox.room(), if full => {
                    let Told { event, end } = waiting.take().unwrap_or_default();
                    if let Some(event) = event {
                        stream.visit.tell(SiteTold::Event { id: stream.call, event });
                    }
                    if let Some(end) = end {
                        break end;
                    }
                }
                next = news.recv(), if !full => match next {
                    None => break Err(SiteError::aborted("somebody else stopped this")),
                    Some(next) => waiting = Some(told(next)),
                },
                // One that was stopped before it began told nobody.
                () = &mut ended, if !full => {
                    break Err(SiteError::aborted("somebody else stopped this"));
                }
            }
        };
        if result.is_err() {
            // It may be over already.
            let _ = live.submit(Command::Stop).await;
        }
        let outcome = result.as_ref().err().map_or("ok", |error| error.code);
        let what = match scope {
            Scope::ModelTools => "agent.run",
            _ => "ai.prompt",
        };
        let used = Used {
            scope,
            what: what.to_owned(),
            outcome,
            by: stream.visit.by,
        };
        self.permissions.note(origin, used);
        result
    }
}

/// Waits until a turn is over in the log.
async fn turn_ended(log: &mut Subscription, turn: u64) {
    loop {
        match log.next(CHUNK).await {
            Ok(Ok(events)) => {
                let over =
                    |event: &Event| matches!(event, Event::TurnEnded { turn: t, .. } if *t == turn);
                if events.iter().any(|logged| over(&logged.event)) {
                    return;
                }
            }
            // Whoever follows the log too slowly still hears the turn itself.
            Ok(Err(Ended::Slow)) => std::future::pending().await,
            // The log is gone, and the turn with it.
            Ok(Err(_)) | Err(_) => return,
        }
    }
}
