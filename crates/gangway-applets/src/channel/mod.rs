//! One open channel: requests of a page, messages to it, and how it ends.

mod events;
mod files;
mod invoke;
mod outbox;
mod send;
mod state;
mod tools;

use std::{
    collections::{HashMap, VecDeque},
    future::pending,
    sync::Arc,
};

use axum::extract::ws::Message;
use futures_util::future::{BoxFuture, join};
use gangway_core::{Logged, Session, Slug, Subscription};
use gangway_files::{FilePath, Folder};
use gangway_http::{
    auth::Admitted,
    metrics::Counted,
    socket::{Ending, Handled, Incoming, Peer, Socket, serve, text_message},
};
use gangway_pages::Connected;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{sync::OnceCell, task::JoinSet};
use tokio_util::task::AbortOnDropHandle;

use self::{
    outbox::{Outbox, message},
    state::OwnChanges,
};
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
    own: Mutex<OwnChanges>,
    _open: OpenGuard,
    /// The same across reconnects.
    client: Option<String>,
    /// It as a page of its session, with its tools.
    page: Connected,
    folder: OnceCell<Folder>,
    watches: Mutex<HashMap<FilePath, AbortOnDropHandle<()>>>,
    /// Messages to the agent in progress, by the page's message id.
    invokes: Mutex<HashMap<String, PendingInvocation>>,
    out: Arc<Outbox>,
}

/// Error code and message.
#[derive(Debug)]
struct RequestError(String, String);

impl RequestError {
    fn new(code: &str, message: impl Into<String>) -> Self {
        Self(code.to_owned(), message.into())
    }

    /// The response to the request with this id.
    fn of(self, id: Option<Value>) -> AppletServerMessage {
        let Self(code, error) = self;
        AppletServerMessage::Error { id, code, error }
    }
}

impl From<gangway_core::Error> for RequestError {
    fn from(error: gangway_core::Error) -> Self {
        let error = gangway_http::error::ApiError::from(error);
        Self(error.error_code, error.message)
    }
}

/// A page's side of its connection.
pub(super) struct Tab {
    channel: Arc<Channel>,
    subscription: Subscription,
    /// Messages that are ready to be written.
    out: VecDeque<Message>,
    /// The request in progress, which later ones wait for.
    work: Option<BoxFuture<'static, ()>>,
    /// Whether that is a change of the state: it gets its answer, and then later events.
    changes_state: bool,
    /// Requests that later ones do not wait for.
    tasks: JoinSet<()>,
    /// Calls of the page's tools, and changes of the applet's files; never ends.
    forwards: BoxFuture<'static, ()>,
}

impl Channel {
    pub(super) fn new(
        service: Arc<AppletService>,
        session: Arc<Session>,
        applet: Option<Slug>,
        state_of: Slug,
        client: Option<String>,
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
            own: Mutex::default(),
            _open: open,
            client,
            page,
            folder: OnceCell::new(),
            watches: Mutex::default(),
            invokes: Mutex::default(),
            out: Arc::default(),
        }
    }

    /// Reloads the page when the applet's own files change, during development.
    async fn follow_files(&self) {
        if let Some(applet) = &self.applet
            && let Some(mut watch) = self.service.registry.watch(applet).await
        {
            while watch.next().await.is_some() {
                self.out.send(&AppletServerMessage::Reload).await;
            }
        }
    }

    async fn dispatch(self: Arc<Self>, id: Option<Value>, request: AppletClientMessage) {
        let done = match request {
            AppletClientMessage::SetState { data } => self.set_state(&id, data).await,
            AppletClientMessage::GetState { key } => self.get_state(&id, key).await,
            AppletClientMessage::Invoke {
                prompt,
                options,
                plain,
            } => self.invoke(&id, prompt, options, plain).await,
            AppletClientMessage::Stop { invoke } => self.stop(&id, invoke).await,
            AppletClientMessage::OfferTools { tools, reset } => {
                self.offer_tools(&id, tools, reset).await
            }
            AppletClientMessage::ToolResult {
                call,
                result,
                error,
            } => self.return_result(call, result, error),
            AppletClientMessage::Ping => {
                let pong = AppletServerMessage::Pong { id: id.clone() };
                self.out.send(&pong).await;
                Ok(())
            }
            files => self.use_files(&id, files).await,
        };
        if let Err(refusal) = done {
            self.out.send(&refusal.of(id)).await;
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
}

impl Tab {
    pub(super) fn new(
        channel: Channel,
        subscription: Subscription,
        first: &AppletServerMessage,
    ) -> Box<Self> {
        let channel = Arc::new(channel);
        let own = Arc::clone(&channel);
        Box::new(Self {
            channel,
            subscription,
            out: VecDeque::from([message(first)]),
            work: None,
            changes_state: false,
            tasks: JoinSet::new(),
            forwards: Box::pin(async move {
                // Boxed, since it is needed only for a moment.
                join(Box::pin(own.follow_files()), own.forward_calls()).await;
            }),
        })
    }

    /// Serves the page until it disconnects.
    pub(super) async fn run(mut self: Box<Self>, admitted: Admitted, socket: Socket) {
        let http = Arc::clone(&self.channel.service.http);
        let _counted = Counted::new(&http.metrics.readers);
        serve(&http, &admitted, socket, &mut *self).await;
        self.tasks.shutdown().await;
    }

    fn event(&mut self, logged: &Arc<Logged>) {
        let channel = &self.channel;
        let (session, applet) = (channel.session.id(), channel.applet.as_ref());
        let frame = events::encode_event(session, applet, &channel.state_of, logged);
        if let Some(frame) = frame
            && !channel.is_own(logged)
        {
            self.out.push_back(text_message(frame));
        }
    }

    fn start(&mut self, id: Option<Value>, request: AppletClientMessage) {
        use AppletClientMessage::{Invoke, ReadFile, SetState};
        let concurrent = matches!(request, ReadFile { .. } | Invoke { .. });
        let changes_state = matches!(request, SetState { .. });
        let work = Arc::clone(&self.channel).dispatch(id, request);
        if concurrent {
            self.tasks.spawn(work);
        } else {
            // In order: a message after a change comes after it.
            self.work = Some(Box::pin(work));
            self.changes_state = changes_state;
        }
    }
}

impl Peer for Tab {
    const FOLLOWS_LOG: bool = true;

    async fn ready(&mut self) -> Result<(), Ending> {
        let work = async {
            match &mut self.work {
                Some(work) => work.await,
                None => pending().await,
            }
        };
        tokio::select! {
            next = self.subscription.next(CHUNK), if !self.changes_state => match next {
                Ok(Ok(events)) => events.iter().for_each(|logged| self.event(logged)),
                Ok(Err(why)) => return Err(Ending::Log(why)),
                Err(error) => return Err(Ending::unreadable(&error)),
            },
            () = self.channel.out.take(&mut self.out) => {}
            () = work => {
                // Before the response to the next request.
                self.channel.out.take_now(&mut self.out);
                self.work = None;
                self.changes_state = false;
            }
            Some(_) = self.tasks.join_next(), if !self.tasks.is_empty() => {}
            () = &mut self.forwards => {}
        }
        Ok(())
    }

    fn take(&mut self) -> Option<Message> {
        self.out.pop_front()
    }

    fn incoming(&mut self, message: Incoming) -> Handled {
        let read = match message {
            Incoming::Text(text) => {
                decode::read(&text, self.channel.service.http.limits.applet_bytes)
            }
            Incoming::Binary => Err(InvalidMessage {
                id: None,
                code: "invalid_message",
                message: "binary messages are not supported; send JSON text".to_owned(),
            }),
            Incoming::Control => return Handled::Counted,
        };
        match read {
            Ok((id, request)) => self.start(id, request),
            Err(InvalidMessage {
                id,
                code,
                message: reason,
            }) => {
                let refusal = RequestError::new(code, reason).of(id);
                self.out.push_back(outbox::message(&refusal));
            }
        }
        Handled::Counted
    }

    fn accepts(&self) -> bool {
        self.work.is_none() && self.tasks.len() < AT_ONCE
    }

    fn closed(&mut self) {
        self.channel.page.close();
    }

    fn closing(&self, why: Ending) -> Option<Message> {
        let (reason, text, _) = why.close_info();
        Some(message(&AppletServerMessage::Closing {
            reason: reason.to_owned(),
            message: text.to_owned(),
        }))
    }
}
