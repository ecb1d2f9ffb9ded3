//! Writes to a page: senders take turns, and nothing is queued.

use std::{sync::Arc, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use futures_util::{SinkExt, stream::SplitSink};
use tokio::{sync::Mutex, time::Instant};

use crate::wire::channel::AppletServerMessage;

pub(super) fn message(outgoing: &AppletServerMessage) -> Message {
    // Cannot fail: all keys are strings. As text, which need not be validated again.
    Message::Text(serde_json::to_string(outgoing).unwrap_or_default().into())
}

#[derive(Clone)]
pub(super) struct SocketWriter(Arc<Mutex<WriterState>>);

struct WriterState {
    /// `None` once the page is gone.
    sink: Option<SplitSink<WebSocket, Message>>,
    used: Instant,
}

impl SocketWriter {
    pub(super) fn new(sink: SplitSink<WebSocket, Message>) -> Self {
        let (sink, used) = (Some(sink), Instant::now());
        Self(Arc::new(Mutex::new(WriterState { sink, used })))
    }

    /// Waits while the page is slow; false when it is gone.
    pub(super) async fn send(&self, outgoing: &AppletServerMessage) -> bool {
        self.raw(message(outgoing)).await
    }

    pub(super) async fn raw(&self, message: Message) -> bool {
        self.all([message]).await
    }

    /// Several messages without others in between, in as few writes as possible.
    pub(super) async fn all(&self, messages: impl IntoIterator<Item = Message>) -> bool {
        let mut writer = self.0.lock().await;
        writer.used = Instant::now();
        let Some(sink) = &mut writer.sink else {
            return false;
        };
        for message in messages {
            if sink.feed(message).await.is_err() {
                return false;
            }
        }
        sink.flush().await.is_ok()
    }

    /// Sends a heartbeat whenever nothing was sent for this long, until the page is gone.
    pub(super) async fn beat(&self, every: Duration) {
        let mut next = Instant::now() + every;
        loop {
            tokio::time::sleep_until(next).await;
            // The holder of the lock is writing. The counter is checked only here, so that senders do no extra work.
            let used = self
                .0
                .try_lock()
                .map_or_else(|_| Instant::now(), |writer| writer.used);
            next = used + every;
            if next <= Instant::now() {
                if !self.raw(Message::Ping(Default::default())).await {
                    return;
                }
                next = Instant::now() + every;
            }
        }
    }

    /// Takes the socket from all other senders, once none is writing.
    pub(super) async fn take(&self) -> Option<SplitSink<WebSocket, Message>> {
        self.0.lock().await.sink.take()
    }
}
