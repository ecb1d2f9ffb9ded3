//! `/ws/permissions`: tells our pages what is asked, and knows when the window of a question is closed.

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
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use gangway_core::Ended;
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Query,
    metrics::Counted,
    pace::{Pace, Verdict},
    socket::{Ending, PROTOCOL, answer_close, refuse, say_goodbye, text_message, to_json, within},
};
use serde::Deserialize;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::{
    WebAgent,
    permissions::{AskId, wire::PermissionsFrame},
};

/// Pages that ask and take back without a pause are told of together.
const TOGETHER: Duration = Duration::from_millis(20);

/// Nothing that a page of ours says here is longer.
const FRAME: usize = 1024;

/// Which question the window is for.
#[derive(Deserialize)]
pub(crate) struct Which {
    ask: Option<String>,
}

pub(crate) async fn open(
    State(agent): State<Arc<WebAgent>>,
    Query(which): Query<Which>,
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
    let ask = which.ask.map(|id| id.parse::<AskId>()).transpose();
    let ask = ask.map_err(|error| ApiError::invalid(format!("`ask`: {error}")))?;
    Ok(upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(1024)
        .write_buffer_size(4096)
        .max_message_size(FRAME)
        .max_frame_size(FRAME)
        .on_upgrade(move |socket| {
            let feeds = agent.http.sockets.clone();
            feeds.track_future(follow(agent, admitted, ask, socket))
        }))
}

/// Why a connection ends.
enum End {
    Left,
    Closed,
    Broken(axum::Error),
    Because(Ending),
}

async fn follow(agent: Arc<WebAgent>, admitted: Admitted, ask: Option<AskId>, socket: WebSocket) {
    let _counted = Counted::new(&agent.http.metrics.readers);
    let window = ask
        .as_ref()
        .and_then(|id| agent.permissions.prompt_window(id));
    let (mut sink, mut inbox) = socket.split();
    let end = tokio::select! {
        end = tell(&agent, ask.as_ref(), &mut sink) => end,
        end = hear(&mut inbox) => end,
        () = admitted.ended(&agent.http) => End::Because(Ending::Revoked),
        () = agent.http.stop.cancelled() => End::Because(Ending::Log(Ended::Stopping)),
    };
    drop(window);
    let stalled = Duration::from_secs(agent.http.limits.stalled_seconds.max(1));
    match end {
        End::Left => {}
        End::Closed => {
            within(stalled, answer_close(&mut inbox)).await;
        }
        End::Broken(error) => {
            within(stalled, refuse(sink, error)).await;
        }
        End::Because(ending) => {
            ending.count(&agent.http.metrics);
            let ping = Message::Ping(bytes::Bytes::new());
            within(stalled, say_goodbye(sink, inbox, ping, ending.close())).await;
        }
    }
}

/// Tells what is asked and that something changed, until the page no longer listens.
async fn tell(
    agent: &WebAgent,
    ask: Option<&AskId>,
    sink: &mut SplitSink<WebSocket, Message>,
) -> End {
    let stalled = Duration::from_secs(agent.http.limits.stalled_seconds.max(1));
    let heartbeat = Duration::from_secs(agent.http.limits.heartbeat_seconds.max(1));
    let mut questions = agent.permissions.questions.subscribe();
    let mut changes = agent.permissions.changes();
    let mut beats = interval(heartbeat);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats.reset();
    let mut told = None;
    loop {
        questions.borrow_and_update();
        let asks = agent.permissions.asks(ask).asks;
        if told.as_ref() != Some(&asks) {
            let frame = PermissionsFrame::Asks { asks: asks.clone() };
            told = Some(asks);
            let message = text_message(to_json(&frame));
            if !matches!(within(stalled, sink.send(message)).await, Some(Ok(()))) {
                return End::Left;
            }
            sleep(TOGETHER).await;
        }
        let message = tokio::select! {
            // The sender lives as long as the server.
            _ = questions.changed() => continue,
            _ = changes.changed() => text_message(to_json(&PermissionsFrame::Changed)),
            _ = beats.tick() => Message::Ping(bytes::Bytes::new()),
        };
        if !matches!(within(stalled, sink.send(message)).await, Some(Ok(()))) {
            return End::Left;
        }
    }
}

/// Hears nothing but that the page leaves.
async fn hear(inbox: &mut SplitStream<WebSocket>) -> End {
    let mut pace = Pace::new();
    loop {
        match inbox.next().await {
            None => return End::Left,
            Some(Err(error)) => return End::Broken(error),
            Some(Ok(Message::Close(_))) => return End::Closed,
            Some(Ok(_)) => {}
        }
        match pace.take() {
            Verdict::Go => {}
            Verdict::Wait(time) => sleep(time).await,
            Verdict::Flood => return End::Because(Ending::Flood),
        }
    }
}
