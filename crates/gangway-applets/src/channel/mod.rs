//! One open channel: requests of a page, messages to it, and how it ends.

mod events;
mod files;
mod invoke;
mod out;
mod send;
mod state;
mod tools;

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use futures_util::{
    StreamExt,
    stream::{SplitSink, SplitStream},
};
use gangway_core::{Session, Slug, Subscription};
use gangway_files::{FilePath, Folder};
use gangway_http::{
    auth::Admitted,
    metrics::Counted,
    socket::{
        Ending, MessageRate, RateDecision, answer_close, refuse, say_goodbye, text_message,
        to_json, within,
    },
};
use gangway_pages::Connected;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{
    sync::{OnceCell, Semaphore},
    task::{AbortHandle, JoinSet},
};
use tokio_util::task::AbortOnDropHandle;

use self::{out::SocketWriter, state::OwnChanges};
use crate::{
    AppletService,
    decode::{self, InvalidMessage},
    invocations::PendingInvocation,
    open_applets::OpenGuard,
    wire::channel::{AppletClientMessage, AppletServerMessage},
};

/// Bytes of events read from the log at once.
const CHUNK: usize = 64 << 10;

/// Concurrent reads and messages of one page; more wait, and with them all later messages of the page.
const AT_ONCE: usize = 32;

pub(super) struct Channel {
    service: Arc<AppletService>,
    session: Arc<Session>,
    /// The applet; `None` for a page of the user's own.
    applet: Option<Slug>,
    /// The applet whose state is read and changed.
    state_of: Slug,
    own: tokio::sync::Mutex<OwnChanges>,
    _open: OpenGuard,
    /// The same across reconnects.
    client: Option<String>,
    admitted: Admitted,
    /// It as a page of its session, with its tools.
    page: Connected,
    folder: OnceCell<Folder>,
    watches: Mutex<HashMap<FilePath, AbortHandle>>,
    /// Messages to the agent in progress, by the page's message id.
    invokes: Mutex<HashMap<String, PendingInvocation>>,
}

/// Error code and message.
#[derive(Debug)]
struct RequestError(String, String);

impl RequestError {
    fn new(code: &str, message: impl Into<String>) -> Self {
        Self(code.to_owned(), message.into())
    }
}

impl From<gangway_core::Error> for RequestError {
    fn from(error: gangway_core::Error) -> Self {
        let error = gangway_http::error::ApiError::from(error);
        Self(error.error_code, error.message)
    }
}

enum ChannelEnd {
    /// The connection was lost.
    Left,
    /// The page closed the channel.
    Closed,
    /// A WebSocket protocol error.
    Broken(axum::Error),
    /// Ended by the server.
    Because(Ending),
}

impl Channel {
    pub(super) fn new(
        service: Arc<AppletService>,
        session: Arc<Session>,
        applet: Option<Slug>,
        state_of: Slug,
        client: Option<String>,
        admitted: Admitted,
        page: Connected,
    ) -> Self {
        let named = applet.is_some();
        let open = service
            .registry
            .enter(session.id(), state_of.clone(), named);
        Self {
            service,
            session,
            applet,
            state_of,
            own: tokio::sync::Mutex::default(),
            _open: open,
            client,
            admitted,
            page,
            folder: OnceCell::new(),
            watches: Mutex::default(),
            invokes: Mutex::default(),
        }
    }

    /// Serves a page until it disconnects.
    pub(super) async fn run(
        self,
        socket: WebSocket,
        subscription: Subscription,
        first: AppletServerMessage,
    ) {
        let channel = Arc::new(self);
        let _counted = Counted::new(&channel.service.http.metrics.readers);
        let stalled = Duration::from_secs(channel.service.http.limits.stalled_seconds.max(1));
        let (sink, mut inbox) = socket.split();
        let out = SocketWriter::new(sink);
        let heartbeat = Duration::from_secs(channel.service.http.limits.heartbeat_seconds.max(1));
        let mut tasks = JoinSet::new();
        let opened = out.send(&first).await;
        drop(first);
        let end = if opened {
            // Its own task: session events wake only the task that forwards them.
            let telling = tokio::spawn(Arc::clone(&channel).pump(out.clone(), subscription));
            tokio::select! {
                end = AbortOnDropHandle::new(telling) => end.unwrap_or(ChannelEnd::Left),
                end = channel.receive_messages(&out, &mut inbox, &mut tasks) => end,
                end = channel.follow_files(&out) => end,
                end = channel.forward_calls(&out) => end,
                () = channel.admitted.ended(&channel.service.http) => ChannelEnd::Because(Ending::Revoked),
                () = out.beat(heartbeat) => ChannelEnd::Left,
            }
        } else {
            ChannelEnd::Left
        };
        if matches!(end, ChannelEnd::Closed) {
            channel.page.close();
            within(stalled, answer_close(&mut inbox)).await;
        }
        tasks.shutdown().await;
        channel.forget_watches();
        // Also a page that does not read gets only the usual timeout.
        if let Some(sink) = within(stalled, out.take()).await.flatten() {
            Box::pin(channel.leave(end, sink, inbox, stalled)).await;
        }
    }

    async fn leave(
        &self,
        end: ChannelEnd,
        sink: SplitSink<WebSocket, Message>,
        inbox: SplitStream<WebSocket>,
        stalled: Duration,
    ) {
        let why = match end {
            ChannelEnd::Left | ChannelEnd::Closed => return,
            ChannelEnd::Broken(error) => {
                within(stalled, refuse(sink, error)).await;
                return;
            }
            ChannelEnd::Because(why) => why,
        };
        why.count(&self.service.http.metrics);
        let (reason, message, _) = why.close_info();
        let last = AppletServerMessage::Closing {
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        let last = text_message(to_json(&last));
        within(stalled, say_goodbye(sink, inbox, last, why.close())).await;
    }

    /// Forwards session events to the page.
    async fn pump(
        self: Arc<Self>,
        out: SocketWriter,
        mut subscription: Subscription,
    ) -> ChannelEnd {
        loop {
            match subscription.next(CHUNK).await {
                Ok(Ok(events)) => {
                    let mut lines = Vec::new();
                    for event in events {
                        let applet = self.applet.as_ref();
                        let frame =
                            events::encode_event(self.session.id(), applet, &self.state_of, &event);
                        if let Some(frame) = frame
                            && !self.is_own(&event).await
                        {
                            lines.push(text_message(frame));
                        }
                    }
                    if !lines.is_empty() && !out.all(lines).await {
                        return ChannelEnd::Left;
                    }
                }
                Ok(Err(why)) => return ChannelEnd::Because(Ending::Log(why)),
                Err(error) => return ChannelEnd::Because(Ending::unreadable(&error)),
            }
        }
    }

    /// Reloads the page when the applet's own files change, during development.
    async fn follow_files(&self, out: &SocketWriter) -> ChannelEnd {
        if let Some(applet) = &self.applet
            // Boxed, since it is needed only for a moment.
            && let Some(mut watch) = Box::pin(self.service.registry.watch(applet)).await
        {
            while watch.next().await.is_some() {
                if !out.send(&AppletServerMessage::Reload).await {
                    return ChannelEnd::Left;
                }
            }
        }
        std::future::pending().await
    }

    /// Handles messages of the page.
    async fn receive_messages(
        self: &Arc<Self>,
        out: &SocketWriter,
        inbox: &mut SplitStream<WebSocket>,
        tasks: &mut JoinSet<()>,
    ) -> ChannelEnd {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        let mut rate = MessageRate::default();
        loop {
            let message = match inbox.next().await {
                None => return ChannelEnd::Left,
                Some(Ok(Message::Close(_))) => return ChannelEnd::Closed,
                Some(Err(error)) => return ChannelEnd::Broken(error),
                Some(Ok(message)) => message,
            };
            // Pings count too: each is answered, even if the page reads nothing.
            match rate.take() {
                RateDecision::Accept => {}
                RateDecision::Delay(time) => tokio::time::sleep(time).await,
                RateDecision::Disconnect => return ChannelEnd::Because(Ending::Flood),
            }
            let text = match message {
                Message::Text(text) => text,
                Message::Binary(_) => {
                    let reason = "binary messages are not supported; send JSON text";
                    refuse_one(out, None, RequestError::new("invalid_message", reason)).await;
                    continue;
                }
                _ => continue,
            };
            while tasks.try_join_next().is_some() {}
            let most = self.service.http.limits.applet_bytes;
            let (id, ask) = match decode::read(&text, most) {
                Ok(read) => read,
                Err(InvalidMessage {
                    id,
                    code,
                    message: reason,
                }) => {
                    refuse_one(out, id, RequestError::new(code, reason)).await;
                    continue;
                }
            };
            drop(text);
            if !matches!(
                ask,
                AppletClientMessage::ReadFile { .. } | AppletClientMessage::Invoke { .. }
            ) {
                // In order: a message after a change comes after it. Boxed, since it would take more memory than the
                // rest of the channel.
                Box::pin(self.dispatch(out, id, ask)).await;
                continue;
            }
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
                return ChannelEnd::Left;
            };
            let (channel, out) = (Arc::clone(self), out.clone());
            tasks.spawn(async move {
                channel.dispatch(&out, id, ask).await;
                drop(permit);
            });
        }
    }

    async fn dispatch(
        self: &Arc<Self>,
        out: &SocketWriter,
        id: Option<Value>,
        ask: AppletClientMessage,
    ) {
        let done = match ask {
            AppletClientMessage::SetState { data } => self.set_state(out, &id, data).await,
            AppletClientMessage::GetState { key } => self.get_state(out, &id, key).await,
            AppletClientMessage::Invoke {
                prompt,
                options,
                plain,
            } => self.invoke(out, &id, prompt, options, plain).await,
            AppletClientMessage::Stop { invoke } => self.stop(out, &id, invoke).await,
            AppletClientMessage::OfferTools { tools, reset } => {
                self.offer_tools(out, &id, tools, reset).await
            }
            AppletClientMessage::ToolResult {
                call,
                result,
                error,
            } => self.return_result(call, result, error),
            AppletClientMessage::Ping => {
                out.send(&AppletServerMessage::Pong { id: id.clone() })
                    .await;
                Ok(())
            }
            files => self.use_files(out, &id, files).await,
        };
        if let Err(refusal) = done {
            refuse_one(out, id, refusal).await;
        }
    }

    async fn folder(&self) -> Result<&Folder, RequestError> {
        let open = || async {
            let cwd = self.session.profile()?.cwd;
            let opened = self
                .service
                .sessions
                .workspaces()
                .open(std::path::Path::new(&cwd))
                .await;
            opened.map_err(|error| RequestError::new(error.code(), error.to_string()))
        };
        self.folder.get_or_try_init(open).await
    }

    fn forget_watches(&self) {
        let mut watches = self.watches.lock();
        for (_, watch) in watches.drain() {
            watch.abort();
        }
    }
}

async fn refuse_one(
    out: &SocketWriter,
    id: Option<Value>,
    RequestError(code, error): RequestError,
) -> bool {
    out.send(&AppletServerMessage::Error { id, code, error })
        .await
}
