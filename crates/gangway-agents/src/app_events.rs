//! Events of apps in the conversation that a model reads.

use std::collections::HashMap;

use gangway_core::{
    AppEvent, AppName, LaunchId, Result, Turn,
    conversation::{Entry, EntryBody},
};
use serde_json::Value;

/// Events per launch that a model reads: the newest.
const EVENTS: usize = 20;

/// Characters per event.
const CHARS: usize = 4000;

/// The events of one launch, from the newest back.
#[derive(Default)]
struct LaunchEvents {
    read: usize,
    left_out: usize,
    /// The oldest that is read.
    first: u64,
}

/// Removes events that are part of a message and those above the limit; returns notes about the latter and where they
/// go.
pub(crate) async fn newest(
    turn: &Turn,
    mut entries: Vec<Entry>,
) -> Result<(Vec<Entry>, HashMap<u64, String>)> {
    let mut launches: HashMap<(LaunchId, AppName), LaunchEvents> = HashMap::new();
    let mut stored = Vec::with_capacity(entries.len());
    while let Some(entry) = entries.pop() {
        if let EntryBody::App {
            launch,
            app,
            app_event,
        } = &entry.line
            && let AppEvent::Emitted { id, .. } = app_event
            && is_read(app_event)
        {
            let of = launches.entry((*launch, app.clone())).or_default();
            if of.read == EVENTS {
                of.left_out += 1;
                continue;
            }
            // The user may have allowed the message after the event was recorded.
            if turn.carries(*launch, id).await? {
                continue;
            }
            of.read += 1;
            of.first = entry.seq;
        }
        stored.push(entry);
    }
    stored.reverse();
    launches.retain(|_, events| events.left_out > 0);
    let notes = launches.into_iter().map(|((_, app), events)| {
        let text = match events.left_out {
            1 => format!("[app:{app}] one earlier event was left out"),
            many => format!("[app:{app}] {many} earlier events were left out"),
        };
        (events.first, text)
    });
    Ok((stored, notes.collect()))
}

/// Whether a model reads the event itself: not if a message contains it, or another agent receives it.
fn is_read(app_event: &AppEvent) -> bool {
    matches!(
        app_event,
        AppEvent::Emitted {
            turn: false,
            taken: true,
            ..
        }
    )
}

pub(crate) fn about(app: &AppName, app_event: &AppEvent) -> Option<String> {
    let short = |value: &Value| -> String { value.to_string().chars().take(CHARS).collect() };
    match app_event {
        AppEvent::Emitted { event, payload, .. } if is_read(app_event) => {
            Some(format!("[app:{app}] event {event} {}", short(payload)))
        }
        _ => None,
    }
}
