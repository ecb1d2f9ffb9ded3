//! `/ws/browser`, on which the extension hears what it is to do, and where it says what came of it.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::StatusCode,
    response::Response,
};
use futures_util::{SinkExt, StreamExt};
use gangway_core::Ended;
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    metrics::Counted,
    socket::{Ending, PROTOCOL, answer_close, refuse, say_goodbye, text_message, to_json, within},
};
use tokio::time::{MissedTickBehavior, interval};

use crate::{WebAgent, browser::BrowserAct};

/// Nothing that the extension says here is longer.
const FRAME: usize = 1024;

pub(crate) async fn open(
    State(agent): State<Arc<WebAgent>>,
    Extension(admitted): Extension<Admitted>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let upgrade = upgrade.map_err(|_| {
        ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "bad_upgrade",
            "this address takes WebSockets of version 13 alone",
        )
    })?;
    Ok(upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(1024)
        .write_buffer_size(4096)
        .max_message_size(FRAME)
        .max_frame_size(FRAME)
        .on_upgrade(move |socket| {
            let feeds = agent.http.sockets.clone();
            feeds.track_future(serve(agent, admitted, socket))
        }))
}

/// Passes on what is to be done, until the extension leaves.
async fn serve(agent: Arc<WebAgent>, admitted: Admitted, socket: WebSocket) {
    let _counted = Counted::new(&agent.http.metrics.readers);
    let stalled = Duration::from_secs(agent.http.limits.stalled_seconds.max(1));
    let mut beats = interval(Duration::from_secs(
        agent.http.limits.heartbeat_seconds.max(1),
    ));
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (attached, mut actions) = agent.browser.attach();
    let own: Vec<_> = agent.http.guard.own_origins().collect();
    let (mut sink, mut inbox) = socket.split();
    let ending = loop {
        let message = tokio::select! {
            next = actions.recv() => match next {
                Some((id, action)) => {
                    let act = BrowserAct { id, action, own: own.clone() };
                    text_message(to_json(&act))
                }
                // The sender goes with `attached` alone.
                None => return,
            },
            heard = inbox.next() => match heard {
                None => return,
                Some(Err(error)) => {
                    drop(attached);
                    within(stalled, refuse(sink, error)).await;
                    return;
                }
                Some(Ok(Message::Close(_))) => {
                    drop(attached);
                    within(stalled, answer_close(&mut inbox)).await;
                    return;
                }
                Some(Ok(Message::Pong(_))) => continue,
                // Answers come another way.
                Some(Ok(_)) => break Ending::Flood,
            },
            _ = beats.tick() => Message::Ping(bytes::Bytes::new()),
            () = admitted.ended(&agent.http) => break Ending::Revoked,
            () = agent.http.stop.cancelled() => break Ending::Log(Ended::Stopping),
        };
        if !matches!(within(stalled, sink.send(message)).await, Some(Ok(()))) {
            return;
        }
    };
    drop(attached);
    ending.count(&agent.http.metrics);
    let ping = Message::Ping(bytes::Bytes::new());
    within(stalled, say_goodbye(sink, inbox, ping, ending.close())).await;
}
