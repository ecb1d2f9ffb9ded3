//! The loop that serves a WebSocket: sends what the protocol has ready, passes on the client's messages, limits their
//! rate, keeps the connection alive, and closes it with a reason when the key is revoked or the server stops.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use axum::extract::ws::{Message, Utf8Bytes};
use futures_util::{SinkExt, StreamExt};
use gangway_core::SubscriptionEnd;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{
    Ending, MessageRate, RateDecision, Sink, Socket, WhenWoken, answer_close, refuse, say_goodbye,
    within,
};
use crate::{Http, auth::Admitted};

#[derive(Debug)]
pub enum Incoming {
    Text(Utf8Bytes),
    /// Not used by any of our protocols.
    Binary,
    /// A ping or pong; the library answers pings.
    Control,
}

#[derive(Debug)]
pub enum Handled {
    /// The message counts against the rate limit.
    Counted,
    /// It does not: a client that waits for each response limits its own rate.
    Uncounted,
    /// The client ended the connection in its protocol; nothing more is sent.
    Leave,
    End(Ending),
}

/// A protocol's side of a connection.
pub trait Peer: Send {
    /// Whether the connection outlives the start of the shutdown, because its log ends it.
    const FOLLOWS_LOG: bool = false;

    /// Waits until `take` has something, or nothing more will come. Must be cancel-safe.
    fn ready(&mut self) -> impl Future<Output = Result<(), Ending>> + Send;

    /// The next message for the client; `None` when all that was ready is taken.
    fn take(&mut self) -> Option<Message>;

    fn incoming(&mut self, message: Incoming) -> Handled;

    /// Whether the next message can be accepted; backpressure for the client.
    fn accepts(&self) -> bool {
        true
    }

    /// The client closed the connection, as a page does that is closed or reloaded; it will not reconnect.
    fn closed(&mut self) {}

    /// Releases shared resources, before the client has received its last message.
    fn on_close(&mut self) {}

    /// The last message before the close frame.
    fn closing(&self, _why: Ending) -> Option<Message> {
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseCause {
    /// The connection broke; the client may reconnect.
    Lost,
    /// The client ended the connection in its protocol.
    Goodbye,
    Ended(Ending),
}

enum Next {
    Ready(Result<(), Ending>),
    Received(Option<Result<Message, axum::Error>>),
    Beat,
    End(Ending),
}

/// Serves a client until it disconnects or the server closes the connection.
pub async fn serve<P: Peer>(
    http: &Http,
    admitted: &Admitted,
    socket: Socket,
    peer: &mut P,
) -> CloseCause {
    let heartbeat = Duration::from_secs(http.limits.heartbeat_seconds.max(1));
    let stalled = Duration::from_secs(http.limits.stalled_seconds.max(1));
    let (mut sink, mut inbox) = socket.split();
    let mut beat = interval_at(Instant::now() + heartbeat, heartbeat);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // These futures are created once, not for each message.
    let mut revoked = pin!(admitted.ended(http));
    let mut stopped = pin!(http.stop.cancelled());
    let mut rate = MessageRate::default();
    // No timer unless delayed: most connections are idle.
    let mut delayed_until: Option<Instant> = None;
    let (woken, mut accepted, mut ready_first) = (WhenWoken::new(), true, false);
    let why = loop {
        // A write that the client does not read is given up by the connection below.
        if !send_all(&mut sink, peer).await {
            return CloseCause::Lost;
        }
        let accepts = peer.accepts();
        if accepts != accepted || delayed_until.is_some() {
            woken.again();
        }
        (accepted, ready_first) = (accepts, !ready_first);
        let next = {
            let receive = async {
                if let Some(until) = delayed_until {
                    tokio::time::sleep_until(until).await;
                }
                inbox.next().await
            };
            let mut rest = pin!(async {
                tokio::select! {
                    received = receive, if accepts => Next::Received(received),
                    _ = beat.tick() => Next::Beat,
                    () = &mut revoked => Next::End(Ending::Revoked),
                    () = &mut stopped, if !P::FOLLOWS_LOG => {
                        Next::End(Ending::Log(SubscriptionEnd::Stopping))
                    }
                }
            });
            let mut ready = pin!(peer.ready());
            poll_fn(|context| {
                // In turns, so that neither keeps the other waiting.
                for ready_now in [ready_first, !ready_first] {
                    let next = match ready_now {
                        true => ready.as_mut().poll(context).map(Next::Ready),
                        false => woken.poll(rest.as_mut(), context),
                    };
                    if next.is_ready() {
                        return next;
                    }
                }
                Poll::Pending
            })
            .await
        };
        let received = match next {
            Next::Ready(Ok(())) => continue,
            Next::Ready(Err(why)) | Next::End(why) => break why,
            Next::Received(received) => received,
            Next::Beat => {
                woken.again();
                let ping = sink.send(Message::Ping(Default::default()));
                match within(stalled, ping).await {
                    Some(Ok(())) => continue,
                    _ => return CloseCause::Lost,
                }
            }
        };
        woken.again();
        let message = match received {
            None => return CloseCause::Lost,
            Some(Ok(Message::Close(_))) => {
                peer.closed();
                peer.on_close();
                Box::pin(within(stalled, answer_close(&mut inbox))).await;
                return CloseCause::Lost;
            }
            Some(Err(error)) => {
                peer.on_close();
                Box::pin(within(stalled, refuse(sink, error))).await;
                return CloseCause::Lost;
            }
            Some(Ok(Message::Text(text))) => Incoming::Text(text),
            Some(Ok(Message::Binary(_))) => Incoming::Binary,
            Some(Ok(_)) => Incoming::Control,
        };
        match peer.incoming(message) {
            Handled::Uncounted => {}
            Handled::Leave => return CloseCause::Goodbye,
            Handled::End(why) => break why,
            Handled::Counted => match rate.take() {
                RateDecision::Accept => delayed_until = None,
                RateDecision::Delay(time) => delayed_until = Some(Instant::now() + time),
                RateDecision::Disconnect => break Ending::Flood,
            },
        }
    };
    peer.on_close();
    why.count(&http.metrics);
    let last = peer.closing(why);
    let last = last.unwrap_or_else(|| Message::Ping(Default::default()));
    // Boxed, so that an open connection does not keep room for its end.
    Box::pin(within(stalled, say_goodbye(sink, inbox, last, why.close()))).await;
    CloseCause::Ended(why)
}

/// Sends what is ready, in as few writes as possible; false when the client is gone.
async fn send_all<P: Peer>(sink: &mut Sink, peer: &mut P) -> bool {
    let Some(first) = peer.take() else {
        return true;
    };
    let mut next = Some(first);
    while let Some(message) = next {
        if sink.feed(message).await.is_err() {
            return false;
        }
        next = peer.take();
    }
    sink.flush().await.is_ok()
}
