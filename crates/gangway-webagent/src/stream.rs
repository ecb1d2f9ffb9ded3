//! Streams an answer to a page: follows the session's log, and stops the turn when the page or the user wants.
//!
//! The stream is a reader of the log like any other: a slow page slows neither the turn nor other readers.

use std::{collections::VecDeque, sync::Arc};

use gangway_core::{Command, Receipt, Scope, SessionId, Source, SubscriptionEnd, WhenBusy};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    SiteError, SiteServerMessage, Visit, WebAgent,
    permissions::PermissionUse,
    reader::{CallKind, ConvertedEvent, Reader},
};

/// Bytes of events that are read from the log at once.
const CHUNK: usize = 64 << 10;

/// Where the events of a call are sent, and what cancels it.
pub struct Stream {
    /// The page.
    pub visit: Arc<Visit>,
    /// The call.
    pub call: u64,
    /// Cancelled when the page aborts the call.
    pub stop: CancellationToken,
}

impl Stream {
    /// Sends one event, once the backlog has room for it.
    pub(crate) async fn event(&self, event: Value) {
        tokio::select! {
            () = self.visit.outbox.room() => {}
            // A page with a full backlog can still abort.
            () = self.stop.cancelled() => return,
        }
        self.visit.send(SiteServerMessage::Event {
            id: self.call,
            event,
        });
    }
}

impl WebAgent {
    /// Starts a turn in a page's session, and streams its events to the page.
    pub(crate) async fn answer(
        &self,
        stream: &Stream,
        session: SessionId,
        prompt: String,
        kind: CallKind,
    ) -> Result<(), SiteError> {
        let origin = &stream.visit.origin;
        let (scope, what) = match kind {
            CallKind::Text => (Scope::ModelPrompt, "ai.prompt"),
            CallKind::Run => (Scope::ModelTools, "agent.run"),
        };
        self.permissions.check(origin, scope)?;
        let mut changes = self.permissions.changes();
        let live = self.sessions.hub().open(session).await?;
        let prompt = Command::Prompt {
            prompt,
            source: Source::Page {
                origin: origin.to_string(),
            },
            shown: true,
            // The previous turn may still be ending.
            when_busy: WhenBusy::Queue,
        };
        let mut log = live.subscribe(live.head());
        let Receipt::Accepted { turn } = live.submit(prompt).await? else {
            return Err(SiteError::wrong("the session accepted no prompt"));
        };
        let mut reader = Reader::new(kind);
        // Events that wait for room in the page's backlog.
        let mut waiting = VecDeque::new();
        let stopped = || SiteError::aborted("the user or another page stopped this");
        let result = loop {
            tokio::select! {
                biased;
                () = stream.stop.cancelled() => {
                    break Err(SiteError::aborted("the call was aborted"));
                }
                // The sender lives as long as the server.
                _ = changes.changed() => {
                    if let Err(refused) = self.permissions.check(origin, scope) {
                        break Err(refused.into());
                    }
                }
                () = stream.visit.outbox.room(), if !waiting.is_empty() => {
                    let Some(ConvertedEvent { event, end }) = waiting.pop_front() else {
                        continue;
                    };
                    if let Some(event) = event {
                        stream.visit.send(SiteServerMessage::Event { id: stream.call, event });
                    }
                    if let Some(end) = end {
                        break end;
                    }
                }
                next = log.next(CHUNK), if waiting.is_empty() => match next {
                    Ok(Ok(events)) => {
                        let own = events
                            .iter()
                            .filter(|logged| logged.event.turn(logged.seq) == Some(turn));
                        waiting.extend(own.filter_map(|logged| reader.read(&logged.event)));
                    }
                    // Events that are no longer in memory are read from the store.
                    Ok(Err(SubscriptionEnd::Slow)) => log = live.subscribe(log.after()),
                    Ok(Err(_)) => break Err(stopped()),
                    Err(error) => break Err(error.into()),
                },
            }
        };
        if result.is_err() {
            // It may have ended already.
            let _ = live.submit(Command::Stop).await;
        }
        let used = PermissionUse {
            scope,
            what: what.to_owned(),
            outcome: result.as_ref().err().map_or("ok", |error| error.code),
            by: stream.visit.by,
        };
        self.permissions.note(origin, used);
        result
    }
}
