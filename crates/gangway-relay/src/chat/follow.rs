//! Tells the agents in a chat what happens there, for as long as there are any.

use std::{sync::Arc, time::Duration};

use gangway_core::{Event, PageEntry, Result, Session, Source, SubscriptionEnd};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use super::{
    Chat,
    snapshot::{HISTORY_IN_UPDATES, View, history, view},
};
use crate::{FromHost, RelaySession, raw};

/// Bytes of events that are read from the log at once.
const CHUNK: usize = 256 << 10;

/// How long changes are collected for one update, and the least time between two.
const COLLECT: Duration = Duration::from_millis(50);
const BETWEEN: Duration = Duration::from_millis(500);

/// Follows the chat for its agents until the last one leaves, or the chat is deleted.
pub(crate) async fn follow(relay: Arc<RelaySession>, session: Arc<Session>, after: u64) {
    let Some(chat) = &relay.chat else { return };
    let mut log = session.subscribe(after);
    let mut changes = relay.others.pages.changes();
    let (mut pages, mut shown) = (pages_of(&relay, chat), None);
    let mut last = Instant::now();
    let mut due = None;
    loop {
        let left = relay.lock().heard.clone();
        let left = left.notified();
        if relay.stops_following() {
            return;
        }
        let changed = tokio::select! {
            read = log.next(CHUNK) => match read {
                Ok(Ok(events)) => events.iter().fold(false, |changed, logged| {
                    heard(&relay, &logged.event) | changed
                }),
                // Events that are no longer in memory are read from the store.
                Ok(Err(SubscriptionEnd::Slow)) => {
                    log = session.subscribe(log.after());
                    false
                }
                Ok(Err(SubscriptionEnd::Deleted)) => {
                    relay.end_following(true);
                    if let Err(error) = chat.invitations.remove(chat.id, None).await {
                        tracing::warn!(%error, "cannot remove the invitations to a chat");
                    }
                    return;
                }
                Ok(Err(_)) => return relay.end_following(false),
                Err(error) => {
                    tracing::warn!(%error, "cannot follow a chat for its external agents");
                    return relay.end_following(false);
                }
            },
            next = changes.changed() => {
                if next.is_err() {
                    return relay.end_following(false);
                }
                let now = pages_of(&relay, chat);
                let changed = now != pages;
                pages = now;
                relay.set_pages(!pages.is_empty());
                changed
            }
            () = left => false,
            () = at(due) => {
                due = None;
                last = Instant::now();
                if let Err(error) = update(&relay, chat, &mut shown).await {
                    tracing::debug!(%error, "external agents get no update of a chat");
                }
                false
            }
        };
        if changed {
            due = due.or(Some((Instant::now() + COLLECT).max(last + BETWEEN)));
        }
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// The open pages and their tools, to notice changes without asking the pages.
fn pages_of(relay: &RelaySession, chat: &Chat) -> Vec<(String, Vec<String>)> {
    let pages = relay.others.pages.of_session(chat.id);
    let named = pages.iter().map(|page| {
        let tools = page.last_tools().into_iter();
        let tools = tools.map(|one| format!("{} {}", one.tool.name, one.tool.description));
        (page.id.to_string(), tools.collect())
    });
    named.collect()
}

/// Passes a message of the person on; returns whether an event changes what a page shows.
fn heard(relay: &RelaySession, event: &Event) -> bool {
    match event {
        Event::MessageStarted {
            prompt,
            source: Source::Person,
            shown: true,
        } => {
            let message = json!({ "text": prompt, "stage": "chat" });
            relay
                .lock()
                .broadcast(FromHost::UserMessage.name(), &raw(&message), None);
            false
        }
        Event::StateChanged { .. } | Event::App { .. } => true,
        Event::Page { page_event, .. } => match page_event {
            PageEntry::Message { r#type, .. } => r#type == FromHost::StateUpdated.name(),
            PageEntry::Called { .. } => false,
            _ => true,
        },
        _ => false,
    }
}

/// Sends the state of the pages, if it is another one.
async fn update(relay: &RelaySession, chat: &Chat, shown: &mut Option<View>) -> Result<()> {
    let now = {
        let _reading = chat.reading.lock().await;
        view(chat, &relay.others.pages).await?
    };
    if shown.as_ref() == Some(&now) {
        return Ok(());
    }
    let messages = history(chat.hub.store(), chat.id, HISTORY_IN_UPDATES).await?;
    let mut update =
        json!({ "source": "stage", "uiSpec": now.ui_spec, "messageHistory": messages });
    let same_tools = shown
        .as_ref()
        .is_some_and(|shown| shown.tool_schema == now.tool_schema);
    if !same_tools {
        update["toolSchema"] = now.tool_schema.clone();
    }
    *shown = Some(now);
    relay
        .lock()
        .broadcast(FromHost::StateUpdated.name(), &raw(&update), None);
    Ok(())
}
