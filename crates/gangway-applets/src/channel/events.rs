//! Session events as messages of the channel.

use std::sync::Arc;

use bytes::Bytes;
use gangway_core::{Event, Logged, Outcome, SessionId, Slug, Source, TurnId};
use gangway_http::socket::to_json;

use crate::wire::channel::{AppletServerMessage, SourceKind};

/// The event as JSON, encoded once for all channels; `None` if this channel does not get it.
pub(super) fn encode_event(
    session: SessionId,
    applet: Option<&Slug>,
    state_of: &Slug,
    logged: &Arc<Logged>,
) -> Option<Bytes> {
    match &logged.event {
        // A page gets only the state that it can change.
        Event::StateChanged { applet: of, .. } if state_of != of => return None,
        Event::ReloadAsked { applet: Some(of) } if applet.is_some_and(|own| own != of) => {
            return None;
        }
        Event::StateChanged { .. }
        | Event::ReloadAsked { .. }
        | Event::MessageStarted { .. }
        | Event::TurnStarted { .. }
        | Event::TurnEnded { .. } => {}
        _ => return None,
    }
    Some(
        logged.encoded("applet.json", |logged| match frame(session, logged) {
            Some(frame) => to_json(&frame),
            None => Bytes::new(),
        }),
    )
}

fn frame(session: SessionId, logged: &Logged) -> Option<AppletServerMessage> {
    let seq = logged.seq;
    let stream = |seq| TurnId { session, seq }.to_string();
    Some(match &logged.event {
        Event::StateChanged {
            applet,
            version,
            patch,
            ..
        } => AppletServerMessage::StateUpdate {
            id: None,
            applet: applet.to_string(),
            data: patch.clone(),
            version: *version,
            seq,
        },
        Event::MessageStarted {
            prompt,
            source,
            shown,
        } => {
            let (source, applet_slug) = match source {
                Source::Person => (SourceKind::Person, None),
                Source::Applet { slug } => (SourceKind::Applet, Some(slug.clone())),
                Source::Agent { .. } => (SourceKind::Agent, None),
                Source::Page { .. } => (SourceKind::Page, None),
            };
            AppletServerMessage::MessageStarted {
                prompt: prompt.clone(),
                source,
                applet_slug,
                stream_id: stream(seq),
                show_in_chat: *shown,
                seq,
            }
        }
        Event::TurnStarted { turn, .. } => AppletServerMessage::StreamReady {
            stream_id: stream(*turn),
            seq,
        },
        Event::TurnEnded { turn, outcome, .. } => AppletServerMessage::MessageDone {
            stream_id: stream(*turn),
            outcome: (*outcome).into(),
            seq,
        },
        Event::ReloadAsked { .. } => AppletServerMessage::Reload,
        _ => return None,
    })
}

pub(super) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Stopped => "stopped",
        Outcome::Failed => "failed",
        Outcome::Interrupted => "interrupted",
    }
}
