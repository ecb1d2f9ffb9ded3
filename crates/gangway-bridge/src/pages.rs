//! Web pages: each has its own connection to the server, over which its broker's frames are forwarded unparsed.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::{
    Error, Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};
use tokio_util::sync::CancellationToken;

use crate::{
    bridge::Bridge,
    fields::PageOpen,
    frame,
    message::RequestId,
    problem::Problem,
    requests::{BudgetShare, MemoryBudget, OpenRequest},
    server::Socket,
    streams::{closed, closed_by},
};

const SOCKET: &str = "/ws/web-agent";

/// Size limit of a page's frame.
const FRAME: usize = 2 << 20;

/// Frames queued until the connection is open.
const EARLY: usize = 64;

/// Frames queued for a slow server.
const WAITING: usize = 1024;

enum QueuedFrame {
    /// A frame, with its share of memory.
    Frame(String, BudgetShare),
    Close,
}

/// Why a page is closed early.
#[derive(Debug, Clone, Copy)]
enum CloseReason {
    TooLarge,
    TooMany,
}

impl CloseReason {
    fn answer(self) -> Result<String, Problem> {
        match self {
            Self::TooLarge => Ok(closed(1009, "a frame is too large")),
            Self::TooMany => Err(Problem::too_many(
                "the page sends faster than the server reads",
            )),
        }
    }
}

/// The sending end to a page's connection.
#[derive(Clone)]
pub(crate) struct PageChannel {
    frames: mpsc::Sender<QueuedFrame>,
    open: Arc<AtomicBool>,
    end: CancellationToken,
    why: Arc<OnceLock<CloseReason>>,
}

/// The receiving end.
pub(crate) struct Frames {
    waiting: mpsc::Receiver<QueuedFrame>,
    line: PageChannel,
}

impl PageChannel {
    pub(crate) fn new() -> (Self, Frames) {
        let (frames, waiting) = mpsc::channel(WAITING);
        let line = Self {
            frames,
            open: Arc::default(),
            end: CancellationToken::new(),
            why: Arc::default(),
        };
        let ours = line.clone();
        (
            line,
            Frames {
                waiting,
                line: ours,
            },
        )
    }

    /// Queues a frame; never waits.
    pub(crate) fn push(&self, room: &MemoryBudget, text: String) {
        if text.len() > FRAME {
            return self.end(CloseReason::TooLarge);
        }
        let waiting = self.frames.max_capacity() - self.frames.capacity();
        let early = !self.open.load(Ordering::Relaxed) && waiting >= EARLY;
        let share = room.share(text.len()).filter(|_| !early);
        let stored = share.is_some_and(|share| {
            // If the receiver is gone, the page has just been answered.
            let sent = self.frames.try_send(QueuedFrame::Frame(text, share));
            !matches!(sent, Err(mpsc::error::TrySendError::Full(_)))
        });
        if !stored {
            self.end(CloseReason::TooMany);
        }
    }

    /// Closes the page after its queued frames.
    pub(crate) fn close(&self) {
        if self.frames.try_send(QueuedFrame::Close).is_err() {
            self.end(CloseReason::TooMany);
        }
    }

    fn end(&self, why: CloseReason) {
        let _ = self.why.set(why);
        self.end.cancel();
    }
}

/// Whether a frame may be forwarded: only the bridge says `hello`.
fn is_allowed(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Any {
        #[serde(rename = "type")]
        kind: Option<Value>,
    }
    // serde would parse a list as fields in order.
    let object = text.trim_ascii_start().starts_with('{');
    let read: Option<Any> = serde_json::from_str(text).ok().filter(|_| object);
    read.is_some_and(|any| any.kind.is_none_or(|kind| kind != "hello"))
}

impl Bridge {
    /// Connects a page and forwards frames until one side closes.
    pub(crate) async fn page(
        &self,
        open: &OpenRequest,
        request: PageOpen,
        frames: Frames,
    ) -> Result<String, Problem> {
        let Frames { waiting, line } = frames;
        let connect = async {
            let core = self.core().await?;
            let mut socket = core.socket(SOCKET).await?;
            let mut hello = json!({
                "type": "hello", "v": 1, "origin": request.origin, "tab": request.tab.to_string(),
                "ancestors": request.ancestors,
            });
            if let Some(visit) = request.visit {
                hello["visit"] = visit.into();
            }
            if let Some(seen) = request.seen {
                hello["seen"] = seen.into();
            }
            let message = socket.send(Message::text(hello.to_string())).await;
            Ok::<_, Problem>(message.is_ok().then_some(socket))
        };
        let ended = || {
            line.why
                .get()
                .map_or(Ok(closed(1000, "")), |why| why.answer())
        };
        let socket = tokio::select! {
            () = line.end.cancelled() => return ended(),
            socket = connect => socket?,
        };
        let Some(socket) = socket else {
            return Ok(closed(1006, ""));
        };
        line.open.store(true, Ordering::Relaxed);
        tokio::select! {
            () = line.end.cancelled() => ended(),
            done = self.pass(&open.id, socket, waiting) => Ok(done),
        }
    }

    async fn pass(
        &self,
        id: &RequestId,
        socket: Socket,
        mut waiting: mpsc::Receiver<QueuedFrame>,
    ) -> String {
        let (mut sink, mut inbox) = socket.split();
        let (code, reason) = tokio::select! {
            ended = self.hear_server(id, &mut inbox) => return closed(ended.0, &ended.1),
            ended = tell(&mut sink, &mut waiting) => ended,
        };
        let close = CloseFrame {
            code: CloseCode::from(code),
            reason: reason.into(),
        };
        // Does not wait for the server: the page is gone.
        let _ = sink.send(Message::Close(Some(close))).await;
        closed(code, reason)
    }

    /// Forwards the server's frames to a page until the connection closes.
    async fn hear_server(&self, id: &RequestId, inbox: &mut SplitStream<Socket>) -> (u16, String) {
        let too_large = || (1009, "a message is too large".to_owned());
        loop {
            match inbox.next().await {
                Some(Ok(Message::Text(text))) => {
                    // Encoding a string cannot fail.
                    let text = serde_json::to_string(text.as_str()).unwrap_or_default();
                    let json = format!(r#"{{"type":"page_frame","page":"{id}","frame":{text}}}"#);
                    if json.len() > frame::MESSAGE {
                        return too_large();
                    }
                    self.out.message(json).await;
                }
                Some(Ok(Message::Close(frame))) => return closed_by(frame),
                Some(Ok(_)) => {}
                Some(Err(Error::Capacity(_))) => return too_large(),
                Some(Err(_)) | None => return (1006, String::new()),
            }
        }
    }
}

/// Forwards a page's frames until one is not allowed.
async fn tell(
    sink: &mut SplitSink<Socket, Message>,
    waiting: &mut mpsc::Receiver<QueuedFrame>,
) -> (u16, &'static str) {
    while let Some(held) = waiting.recv().await {
        let QueuedFrame::Frame(text, _share) = held else {
            return (1000, "");
        };
        if !is_allowed(&text) {
            return (1008, "a page may send JSON objects only, and no hello");
        }
        if sink.send(Message::text(text)).await.is_err() {
            // The other direction reports why.
            std::future::pending::<()>().await;
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_cannot_say_who_it_is_however_it_spells_it() {
        for text in [
            r#"{"type":"hello"}"#,
            r#"{"type":"\u0068ello","v":1}"#,
            r#" {"v":1,"\u0074ype":"hello"}"#,
            r#"{"type":"call","type":"hello"}"#,
            r#"["hello"]"#,
            r#""hello""#,
            "{",
            "",
        ] {
            assert!(!is_allowed(text), "{text}");
        }
        for text in [
            r#"{"type":"bye"}"#,
            r#"{"type":"call","params":{"type":"hello"}}"#,
            r#"{"type":7}"#,
            "{}",
        ] {
            assert!(is_allowed(text), "{text}");
        }
    }
}
