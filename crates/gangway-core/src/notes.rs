//! Events for the logs of sessions, from parts of Gangway that do not wait for them to be written: in order, and bounded.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{command::Command, error::Result, hub::Hub, id::SessionId, session::Session};

/// Events that wait to be written.
const WAITING: usize = 4096;

/// Sessions that the writer keeps awake, and for how long.
const SESSIONS: usize = 64;
const AWAKE: Duration = Duration::from_secs(1);

struct Note {
    session: SessionId,
    command: Command,
    written: Option<oneshot::Sender<()>>,
}

/// Where events are put.
#[derive(Clone)]
pub struct Notes(mpsc::Sender<Note>);

/// Writes them, see [`NoteWriter::run`].
pub struct NoteWriter(mpsc::Receiver<Note>);

/// Without a writer: nothing is logged.
impl Default for Notes {
    fn default() -> Self {
        Self::new().0
    }
}

impl Notes {
    /// A queue, and who writes what is put there.
    #[must_use]
    pub fn new() -> (Self, NoteWriter) {
        let (queue, notes) = mpsc::channel(WAITING);
        (Self(queue), NoteWriter(notes))
    }

    /// Logs an event; it is dropped if too many wait, since its cause must not wait for the log.
    pub fn put(&self, session: SessionId, command: Command) {
        let note = Note {
            session,
            command,
            written: None,
        };
        if let Err(mpsc::error::TrySendError::Full(_)) = self.0.try_send(note) {
            tracing::warn!("an event is not logged: too many are waiting");
        }
    }

    /// The same, but waits for room.
    pub async fn put_waiting(&self, session: SessionId, command: Command) {
        let note = Note {
            session,
            command,
            written: None,
        };
        // It ends with the server.
        let _ = self.0.send(note).await;
    }

    /// Logs an event, and waits until it is written.
    pub async fn write(&self, session: SessionId, command: Command) {
        let (written, waiting) = oneshot::channel();
        let note = Note {
            session,
            command,
            written: Some(written),
        };
        if self.0.send(note).await.is_ok() {
            // Dropped if the session was deleted, or the server stops.
            let _ = waiting.await;
        }
    }
}

impl NoteWriter {
    /// Takes the next event instead of writing it.
    #[cfg(test)]
    pub(crate) async fn next(&mut self) -> Option<(SessionId, Command)> {
        let note = self.0.recv().await?;
        Some((note.session, note.command))
    }

    /// Writes the events to the logs of their sessions, until the server stops.
    pub async fn run(mut self, hub: Arc<Hub>, stop: CancellationToken) {
        let mut open: HashMap<SessionId, Arc<Session>> = HashMap::new();
        let mut opened = Instant::now();
        loop {
            // Events that come one after another do not load their session each time; one that is used no more may sleep.
            if open.len() >= SESSIONS || opened.elapsed() >= AWAKE {
                open.clear();
                opened = Instant::now();
            }
            let note = tokio::select! {
                note = self.0.recv() => note,
                () = tokio::time::sleep_until(opened + AWAKE), if !open.is_empty() => continue,
                () = stop.cancelled() => return,
            };
            let Some(note) = note else {
                return;
            };
            // What is noted goes on first: the answer to a call need not wait for its entry to be committed.
            tokio::task::yield_now().await;
            let id = note.session;
            let session = match open.get(&id) {
                Some(session) => Arc::clone(session),
                None => match hub.open(id).await {
                    Ok(session) => session,
                    // It was deleted.
                    Err(_) => continue,
                },
            };
            match submit(&session, note).await {
                Ok(()) => drop(open.insert(id, session)),
                Err(error) => {
                    open.remove(&id);
                    tracing::debug!(%error, "an event is not logged");
                }
            }
        }
    }
}

/// The order in the session is that of the queue; the disk is waited for only where that was wished.
async fn submit(session: &Session, note: Note) -> Result<()> {
    let submitted = session.enqueue(note.command).await?;
    if let Some(written) = note.written {
        submitted.receipt().await?;
        let _ = written.send(());
    }
    Ok(())
}
