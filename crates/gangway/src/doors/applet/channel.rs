//! One open channel: what a page asks, what it is told, and how it ends.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::extract::ws::{Message, WebSocket};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use gangway_core::{Ended, Session, Slug, Subscription};
use serde_json::Value;
use tokio::{
    sync::{OnceCell, Semaphore, mpsc},
    task::{AbortHandle, JoinSet},
};

use super::{
    events,
    pace::{Pace, Verdict},
    wire::{AppletAsk, AppletTold},
};
use crate::{
    auth::Admitted,
    files::{FilePath, Folder},
    metrics::Counted,
    server::App,
    socket::{Ending, refuse, revoked, say_goodbye, text_message, to_json, within},
};

/// Messages that may wait for a slow page.
const WAITING: usize = 16;

/// Reads and invocations of one page at the same time; more wait, and with them whatever the page says after them.
const AT_ONCE: usize = 32;

/// Bytes of events that are taken from the log in one go.
const CHUNK: usize = 64 << 10;

/// A channel and all it needs.
pub(super) struct Channel {
    pub(super) app: Arc<App>,
    pub(super) session: Arc<Session>,
    /// Who speaks here; a page of the person's own when absent.
    pub(super) applet: Option<Slug>,
    /// The same over several connections.
    pub(super) client: Option<String>,
    admitted: Admitted,
    folder: OnceCell<Folder>,
    pub(super) watches: Mutex<HashMap<FilePath, AbortHandle>>,
}

/// Why a message cannot be obeyed: a word for machines, and a sentence.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) String, pub(super) String);

impl Refusal {
    pub(super) fn new(code: &str, words: impl Into<String>) -> Self {
        Self(code.to_owned(), words.into())
    }
}

impl From<gangway_core::Error> for Refusal {
    fn from(error: gangway_core::Error) -> Self {
        let error = crate::error::ApiError::from(error);
        Self(error.error_code, error.message)
    }
}

/// Where answers go.
#[derive(Clone)]
pub(super) struct Out(mpsc::Sender<Waiting>);

/// A message, and one that must follow it at once.
type Waiting = (Message, Option<Message>);

impl Out {
    /// Waits while the page is slow; false when it is gone.
    pub(super) async fn tell(&self, told: &AppletTold) -> bool {
        self.raw(text_message(to_json(told))).await
    }

    pub(super) async fn raw(&self, message: Message) -> bool {
        self.0.send((message, None)).await.is_ok()
    }

    /// Two messages with nothing between them.
    pub(super) async fn pair(&self, first: Message, then: Message) -> bool {
        self.0.send((first, Some(then))).await.is_ok()
    }

    async fn refuse(&self, id: Option<Value>, Refusal(code, error): Refusal) -> bool {
        self.tell(&AppletTold::Error { id, code, error }).await
    }
}

/// Why a channel ends.
enum End {
    /// The page left, or its connection did.
    Left,
    /// What came is no WebSocket.
    Broken(axum::Error),
    /// The server has a reason.
    Because(Ending),
    /// The page says too much.
    Flood,
}

impl Channel {
    pub(super) fn new(
        app: Arc<App>,
        session: Arc<Session>,
        applet: Option<Slug>,
        client: Option<String>,
        admitted: Admitted,
    ) -> Self {
        Self {
            app,
            session,
            applet,
            client,
            admitted,
            folder: OnceCell::new(),
            watches: Mutex::default(),
        }
    }

    /// Serves a page until it leaves.
    pub(super) async fn run(
        self,
        socket: WebSocket,
        subscription: Subscription,
        first: AppletTold,
    ) {
        let channel = Arc::new(self);
        let _counted = Counted::new(&channel.app.metrics.readers);
        let stalled = Duration::from_secs(channel.app.config.limits.stalled_seconds.max(1));
        let (sink, mut inbox) = socket.split();
        let (out, waiting) = mpsc::channel(WAITING);
        let out = Out(out);
        let heartbeat = Duration::from_secs(channel.app.config.limits.heartbeat_seconds.max(1));
        let mut writing = tokio::spawn(write(sink, waiting, heartbeat));
        let mut tasks = JoinSet::new();
        let end = if out.tell(&first).await {
            tokio::select! {
                end = channel.pump(&out, subscription) => end,
                end = channel.hear(&out, &mut inbox, &mut tasks) => end,
                end = channel.follow_files(&out) => end,
                () = revoked(&channel.app, channel.admitted.0.as_ref()) => End::Because(Ending::Revoked),
                _ = &mut writing => End::Left,
            }
        } else {
            End::Left
        };
        tasks.shutdown().await;
        channel.forget_watches();
        drop(out);
        let Some(sink) = (match writing.is_finished() {
            true => None,
            false => within(stalled, writing)
                .await
                .and_then(|sink| sink.ok().flatten()),
        }) else {
            return;
        };
        channel.leave(end, sink, inbox, stalled).await;
    }

    async fn leave(
        &self,
        end: End,
        sink: SplitSink<WebSocket, Message>,
        inbox: SplitStream<WebSocket>,
        stalled: Duration,
    ) {
        let (reason, message, close) = match end {
            End::Left => return,
            End::Broken(error) => {
                within(stalled, refuse(sink, inbox, error)).await;
                return;
            }
            End::Because(why) => {
                why.count(&self.app.metrics);
                let (reason, message, _) = why.words();
                (reason, message, why.close())
            }
            End::Flood => {
                self.app.metrics.refuse("flood");
                let words = "Too many messages for too long. Say less, and connect again.";
                ("flood", words, (1008, words))
            }
        };
        let last = AppletTold::Closing {
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        let last = text_message(to_json(&last));
        within(stalled, say_goodbye(sink, inbox, last, close)).await;
    }

    /// Tells the page what happens in the session.
    async fn pump(&self, out: &Out, mut subscription: Subscription) -> End {
        loop {
            match subscription.next(CHUNK).await {
                Ok(Ok(events)) => {
                    for event in events {
                        let told = events::told(self.session.id(), self.applet.as_ref(), &event);
                        // Given back before the wait: a page that stalls holds what it is sent, not every form of it.
                        drop(event);
                        if let Some(json) = told
                            && !out.raw(text_message(json)).await
                        {
                            return End::Left;
                        }
                    }
                }
                Ok(Err(why)) => return End::Because(Ending::Log(why)),
                Err(error) => {
                    tracing::error!(%error, "a channel could not be read");
                    return End::Because(Ending::Log(Ended::Failed));
                }
            }
        }
    }

    /// Has the page loaded anew when the applet's own files change; it is being written.
    async fn follow_files(&self, out: &Out) -> End {
        if let Some(applet) = &self.applet
            && let Some(mut watch) = self.app.applets.watch(applet).await
        {
            while watch.next().await.is_some() {
                if !out.tell(&AppletTold::Reload).await {
                    return End::Left;
                }
            }
        }
        std::future::pending().await
    }

    /// Obeys the page.
    async fn hear(
        self: &Arc<Self>,
        out: &Out,
        inbox: &mut SplitStream<WebSocket>,
        tasks: &mut JoinSet<()>,
    ) -> End {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        let mut pace = Pace::new();
        loop {
            let text = match inbox.next().await {
                None | Some(Ok(Message::Close(_))) => return End::Left,
                Some(Err(error)) => return End::Broken(error),
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Binary(_))) => {
                    let words = "binary messages are not understood; send JSON text";
                    out.refuse(None, Refusal::new("invalid_message", words))
                        .await;
                    continue;
                }
                Some(Ok(_)) => continue,
            };
            match pace.take() {
                Verdict::Go => {}
                Verdict::Wait(time) => tokio::time::sleep(time).await,
                Verdict::Flood => return End::Flood,
            }
            while tasks.try_join_next().is_some() {}
            let (id, ask) = match self.read(&text) {
                Ok(read) => read,
                Err((id, refusal)) => {
                    out.refuse(id, refusal).await;
                    continue;
                }
            };
            drop(text);
            if !matches!(ask, AppletAsk::ReadFile { .. } | AppletAsk::Invoke { .. }) {
                // In order: what is said after a change comes after it.
                self.obey(out, id, ask).await;
                continue;
            }
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
                return End::Left;
            };
            let (channel, out) = (Arc::clone(self), out.clone());
            tasks.spawn(async move {
                channel.obey(&out, id, ask).await;
                drop(permit);
            });
        }
    }

    async fn obey(self: &Arc<Self>, out: &Out, id: Option<Value>, ask: AppletAsk) {
        let done = match ask {
            AppletAsk::SetState { data } => self.set_state(out, &id, data).await,
            AppletAsk::GetState { key } => self.get_state(out, &id, key).await,
            AppletAsk::Invoke {
                prompt,
                options,
                plain,
            } => self.invoke(out, &id, prompt, options, plain).await,
            AppletAsk::Stop => self.stop(out, &id).await,
            AppletAsk::Ping => {
                out.tell(&AppletTold::Pong { id: id.clone() }).await;
                Ok(())
            }
            files => self.use_files(out, &id, files).await,
        };
        if let Err(refusal) = done {
            out.refuse(id, refusal).await;
        }
    }

    /// The session's folder.
    pub(super) async fn folder(&self) -> Result<&Folder, Refusal> {
        let open = || async {
            let cwd = self.session.profile()?.cwd;
            let opened = Folder::open(std::path::Path::new(&cwd)).await;
            opened.map_err(|error| Refusal::new(error.code(), error.to_string()))
        };
        self.folder.get_or_try_init(open).await
    }

    fn forget_watches(&self) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, watch) in watches.drain() {
            watch.abort();
        }
    }
}

/// Writes what waits, and a sign of life where nothing does. Gives the sink back when there is nobody left who writes.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut waiting: mpsc::Receiver<Waiting>,
    heartbeat: Duration,
) -> Option<SplitSink<WebSocket, Message>> {
    loop {
        let first = match tokio::time::timeout(heartbeat, waiting.recv()).await {
            Ok(Some(message)) => message,
            Ok(None) => return Some(sink),
            Err(_) => (Message::Ping(Default::default()), None),
        };
        let mut next = Some(first);
        while let Some((message, then)) = next {
            sink.feed(message).await.ok()?;
            if let Some(then) = then {
                sink.feed(then).await.ok()?;
            }
            next = waiting.try_recv().ok();
        }
        sink.flush().await.ok()?;
    }
}
