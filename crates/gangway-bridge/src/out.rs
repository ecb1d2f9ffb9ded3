//! Writes frames to the browser.

use std::{
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    frame,
    message::RequestId,
    problem::Problem,
    requests::{BudgetShare, MemoryBudget, OpenRequest, Requests},
    status::{StatusKind, Statuses},
    wire::BridgeMessage,
};

/// Queue limit for a slow browser.
const WAITING: usize = 64;

/// Bytes collected per write.
const GATHERED: usize = 64 << 10;

/// Buffer capacity kept after a large message.
const KEPT: usize = 256 << 10;

/// A JSON text, with its share of the memory for pending answers.
pub(crate) struct ResponseText {
    pub(crate) json: String,
    share: Option<BudgetShare>,
}

impl ResponseText {
    pub(crate) fn new(json: String, share: Option<BudgetShare>) -> Self {
        Self { json, share }
    }
}

impl From<String> for ResponseText {
    fn from(json: String) -> Self {
        Self::new(json, None)
    }
}

pub(crate) enum Outgoing {
    /// A message that answers no request.
    Message(ResponseText),
    Answer(OpenRequest, ResponseText),
    /// The newest status of this kind.
    Status(StatusKind),
}

pub(crate) struct OutputQueue {
    queue: mpsc::Sender<Outgoing>,
    pub(crate) pending: MemoryBudget,
    pipe: Arc<Pipe>,
}

struct Pipe {
    inner: Mutex<Inner>,
    closed: CancellationToken,
}

struct Inner {
    to: Box<dyn Write + Send>,
    frames: Vec<u8>,
    /// Number of messages sent in parts.
    parts: u64,
}

impl Inner {
    fn put(&mut self, json: &str) {
        self.parts += u64::from(json.len() > frame::TO_BROWSER);
        frame::write(&mut self.frames, json, self.parts);
    }
}

impl Pipe {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, inner: &mut Inner) {
        let Inner { to, frames, .. } = inner;
        if to.write_all(frames).and_then(|()| to.flush()).is_err() {
            // The browser closed the pipe.
            self.closed.cancel();
        }
        frames.clear();
        frames.shrink_to(KEPT);
    }
}

impl OutputQueue {
    /// Writes on its own thread; cancels `closed` when the browser no longer reads.
    pub(crate) fn new(
        to: Box<dyn Write + Send>,
        requests: Arc<Requests>,
        statuses: Arc<Statuses>,
        pending: MemoryBudget,
        closed: CancellationToken,
    ) -> std::io::Result<Self> {
        let (queue, mut waiting) = mpsc::channel(WAITING);
        let inner = Mutex::new(Inner {
            to,
            frames: Vec::new(),
            parts: 0,
        });
        let pipe = Arc::new(Pipe { inner, closed });
        let writing = Arc::clone(&pipe);
        let write = move || {
            while let Some(message) = waiting.blocking_recv() {
                let mut inner = writing.lock();
                let mut next = Some(message);
                let mut shares = Vec::new();
                while let Some(message) = next {
                    match message {
                        Outgoing::Message(ResponseText { json, share }) => {
                            inner.put(&json);
                            shares.push(share);
                        }
                        Outgoing::Answer(open, ResponseText { json, share }) => {
                            requests.end(&open);
                            inner.put(&json);
                            shares.push(share);
                        }
                        Outgoing::Status(kind) => {
                            if let Some(json) = statuses.take(kind) {
                                inner.put(&json);
                            }
                        }
                    }
                    let room = inner.frames.len() < GATHERED;
                    next = room.then(|| waiting.try_recv().ok()).flatten();
                }
                writing.write(&mut inner);
            }
        };
        let thread = std::thread::Builder::new().name("gangway-frames".into());
        thread.spawn(write)?;
        Ok(Self {
            queue,
            pending,
            pipe,
        })
    }

    /// Writes immediately, from a thread that may block.
    pub(crate) fn now(&self, json: &str) {
        let mut inner = self.pipe.lock();
        inner.put(json);
        self.pipe.write(&mut inner);
    }

    /// Rejects an invalid message or request.
    pub(crate) fn refuse(&self, id: Option<&RequestId>, problem: &Problem, still_open: bool) {
        self.now(&error(id, problem, still_open));
    }

    pub(crate) async fn say(&self, message: Outgoing) {
        // The receiver lives as long as the process.
        let _ = self.queue.send(message).await;
    }

    /// Sends a message that answers no request, once there is room.
    pub(crate) async fn message(&self, json: String) {
        let share = self.pending.wait(json.len()).await;
        self.say(Outgoing::Message(ResponseText::new(json, share)))
            .await;
    }

    /// Sends the final answer to a request.
    pub(crate) async fn answer(
        &self,
        open: OpenRequest,
        kind: &str,
        result: Result<ResponseText, Problem>,
    ) {
        let id = &open.id;
        let answer = match result {
            Ok(ResponseText { json, share }) => ResponseText::new(
                format!(r#"{{"type":"{kind}_result","request_id":"{id}","result":{json}}}"#),
                share,
            ),
            Err(problem) => error(Some(id), &problem, false).into(),
        };
        let answer = match answer.json.len() > frame::MESSAGE {
            true => error(Some(id), &too_long(), false).into(),
            false => answer,
        };
        self.say(Outgoing::Answer(open, answer)).await;
    }
}

pub(crate) fn too_long() -> Problem {
    let most = frame::MESSAGE;
    Problem::too_large(format!("the answer is longer than {most} bytes"))
}

fn error(id: Option<&RequestId>, problem: &Problem, still_open: bool) -> String {
    let error = BridgeMessage::Error {
        request_id: id.map(ToString::to_string),
        refused: still_open,
        error: problem,
    };
    error.json()
}

#[cfg(test)]
mod tests {
    use std::io;

    use futures_util::FutureExt;

    use super::*;

    /// A browser that reads on demand.
    struct Slow(std::sync::mpsc::Receiver<()>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn what_waits_for_the_browser_is_bounded_in_bytes_and_nothing_is_lost() {
        let (read, browser) = std::sync::mpsc::channel();
        let out = OutputQueue::new(
            Box::new(Slow(browser)),
            Arc::default(),
            Arc::default(),
            MemoryBudget::of(100),
            CancellationToken::new(),
        )
        .unwrap();
        let text = || "x".repeat(60);
        out.message(text()).await;
        let mut second = Box::pin(out.message(text()));
        assert!(second.as_mut().now_or_never().is_none());
        read.send(()).unwrap();
        second.await;
        read.send(()).unwrap();
        // Both shares were released.
        assert!(out.pending.wait(100).await.is_some());
    }
}
