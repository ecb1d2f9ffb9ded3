//! What is said to the browser: whole frames, one after another, and nothing else.

use std::{
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    frame,
    message::RequestId,
    problem::Problem,
    requests::{Open, Requests},
    status::{Kind, Statuses},
};

/// Messages that may wait for a browser that is slow.
const WAITING: usize = 64;

/// Bytes that are gathered before they are written.
const GATHERED: usize = 64 << 10;

/// What is kept for the next message after a large one.
const KEPT: usize = 256 << 10;

pub(super) enum Said {
    /// Something that answers nothing.
    Message(String),
    /// The answer to a request.
    Answer(Open, String),
    /// Whatever is newest about something.
    Status(Kind),
}

/// The way to the browser.
pub(super) struct Out {
    queue: mpsc::Sender<Said>,
    pipe: Arc<Pipe>,
}

/// The browser's end, and what is on its way into it.
struct Pipe {
    inner: Mutex<Inner>,
    closed: CancellationToken,
}

struct Inner {
    to: Box<dyn Write + Send>,
    frames: Vec<u8>,
    /// Counts messages that went in parts.
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
            // Nobody listens any more.
            self.closed.cancel();
        }
        frames.clear();
        frames.shrink_to(KEPT);
    }
}

impl Out {
    /// Writes in a thread of its own, until `closed` is told that nobody reads.
    pub(super) fn new(
        to: Box<dyn Write + Send>,
        requests: Arc<Requests>,
        statuses: Arc<Statuses>,
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
            while let Some(said) = waiting.blocking_recv() {
                let mut inner = writing.lock();
                let mut next = Some(said);
                while let Some(said) = next {
                    match said {
                        Said::Message(json) => inner.put(&json),
                        Said::Answer(open, json) => {
                            requests.end(&open);
                            inner.put(&json);
                        }
                        Said::Status(kind) => {
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
        Ok(Self { queue, pipe })
    }

    /// Says it now, from a thread that may wait.
    pub(super) fn now(&self, json: &str) {
        let mut inner = self.pipe.lock();
        inner.put(json);
        self.pipe.write(&mut inner);
    }

    /// Says that a message was not understood or not taken.
    pub(super) fn refuse(&self, id: Option<&RequestId>, problem: &Problem, still_open: bool) {
        self.now(&error(id, problem, still_open));
    }

    pub(super) async fn say(&self, said: Said) {
        // The other end lives as long as the process.
        let _ = self.queue.send(said).await;
    }

    /// Answers a request for good.
    pub(super) async fn answer(&self, open: Open, kind: &str, result: Result<String, Problem>) {
        let id = &open.id;
        let json = match result {
            Ok(result) => {
                format!(r#"{{"type":"{kind}_result","request_id":"{id}","result":{result}}}"#)
            }
            Err(problem) => error(Some(id), &problem, false),
        };
        let json = match json.len() > frame::MESSAGE {
            true => error(Some(id), &too_long(), false),
            false => json,
        };
        self.say(Said::Answer(open, json)).await;
    }
}

/// What is longer than anything that is sent.
pub(super) fn too_long() -> Problem {
    let most = frame::MESSAGE;
    Problem::too_large(format!("the answer is longer than {most} bytes"))
}

fn error(id: Option<&RequestId>, problem: &Problem, still_open: bool) -> String {
    let id = id.map_or_else(|| "null".to_owned(), |id| format!("\"{id}\""));
    // Strings and numbers can always be written.
    let problem = serde_json::to_string(problem).unwrap_or_default();
    let refused = if still_open { r#","refused":true"# } else { "" };
    format!(r#"{{"type":"error","request_id":{id}{refused},"error":{problem}}}"#)
}
