//! The bridge: dispatches messages of the extension and returns the answers.

use std::{
    io::{BufRead, Write},
    sync::Arc,
    time::Duration,
};

use serde_json::json;
use tokio::{
    runtime::Handle,
    sync::{Semaphore, watch},
};
use tokio_util::sync::CancellationToken;

use crate::{
    fields::{Cancel, Hello, PageClose, PageFrame, PageOpen},
    frame::{self, FrameRead},
    message::{self, Message, RequestId},
    named::{self, Operation},
    out::{Outgoing, OutputQueue, ResponseText},
    pages::PageChannel,
    problem::Problem,
    requests::{
        BudgetShare, MemoryBudget, OpenRequest, PAGES, PENDING, REQUESTS, RequestKind, Requests,
    },
    server::Core,
    status::Statuses,
    wire::{BridgeHello, BridgeLimits},
};

/// Protocol version.
pub const PROTOCOL: u64 = 1;

/// Concurrent requests to the server, and as many again that may take forever: those must not delay a decision or a
/// stop.
const AT_ONCE: usize = 64;

/// Timeout of finding or starting a server.
const FOUND: Duration = Duration::from_secs(20);

/// How long to wait for a problem with the server to go away.
const TROUBLE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) enum ServerLink {
    Connecting,
    Connected(Arc<Core>),
    /// Not available, and why.
    Gone(Option<String>),
}

pub(crate) struct Bridge {
    pub(crate) out: OutputQueue,
    pub(crate) requests: Arc<Requests>,
    pub(crate) statuses: Arc<Statuses>,
    pub(crate) room: MemoryBudget,
    pub(crate) place: watch::Sender<ServerLink>,
    at_once: Semaphore,
    patient: Semaphore,
    pub(crate) runtime: Handle,
    /// Cancelled when the browser no longer reads.
    pub(crate) closed: CancellationToken,
}

impl Bridge {
    pub(crate) fn new(to: Box<dyn Write + Send>, runtime: Handle) -> std::io::Result<Arc<Self>> {
        let (requests, statuses) = (Arc::<Requests>::default(), Arc::<Statuses>::default());
        let closed = CancellationToken::new();
        let out = OutputQueue::new(
            to,
            Arc::clone(&requests),
            Arc::clone(&statuses),
            MemoryBudget::of(PENDING),
            closed.clone(),
        )?;
        Ok(Arc::new(Self {
            out,
            requests,
            statuses,
            room: MemoryBudget::default(),
            place: watch::Sender::new(ServerLink::Connecting),
            at_once: Semaphore::new(AT_ONCE),
            patient: Semaphore::new(AT_ONCE),
            runtime,
            closed,
        }))
    }

    /// Reads messages until the end of input; returns whether it ended between two messages.
    pub(crate) fn read(self: &Arc<Self>, mut from: impl BufRead) -> bool {
        let mut buffer = Vec::new();
        loop {
            match frame::read(&mut from, &mut buffer) {
                Ok(FrameRead::Frame) => self.hear(&buffer),
                Ok(FrameRead::End) => return true,
                Err(broken) => {
                    tracing::warn!("{broken}");
                    if let frame::FrameError::TooLarge(_) = broken {
                        let problem = Problem::too_large(broken.to_string());
                        self.out.refuse(None, &problem, false);
                    }
                    return false;
                }
            }
        }
    }

    fn hear(self: &Arc<Self>, bytes: &[u8]) {
        let message = match message::read(bytes) {
            Ok(message) => message,
            Err(wrong) => return self.refuse(wrong.id.as_ref(), &wrong.problem),
        };
        let taken = match (message.kind.as_ref(), &message.id) {
            ("page_frame", _) => self.page_frame(&message),
            ("page_close", _) => self.page_close(&message),
            (_, None) => {
                let text = "`request_id` must be a string of 1 to 64 letters, digits, _ and -";
                Err(Problem::bad_message(text))
            }
            (kind, Some(id)) => self.begin(kind, id, &message),
        };
        if let Err(problem) = taken {
            self.refuse(message.id.as_ref(), &problem);
        }
    }

    /// Rejects a message; an open request with the same id continues.
    fn refuse(&self, id: Option<&RequestId>, problem: &Problem) {
        let still_open = id.is_some_and(|id| self.requests.is_open(id));
        self.out.refuse(id, problem, still_open);
    }

    /// Starts a request.
    fn begin(
        self: &Arc<Self>,
        kind: &str,
        id: &RequestId,
        message: &Message<'_>,
    ) -> Result<(), Problem> {
        if kind == "ping" {
            if self.requests.is_open(id) {
                return Err(Problem::duplicate());
            }
            let data = message.data.map_or("null", |data| data.get());
            self.out.now(&format!(
                r#"{{"type":"ping_result","request_id":"{id}","result":{data}}}"#
            ));
            return Ok(());
        }
        // Released when it is done.
        let share = self.room.share(message.text.len()).ok_or_else(|| {
            Problem::too_many("too many bytes of open requests; wait for answers")
        })?;
        let begin = |sort| self.requests.begin(id.clone(), sort);
        match kind {
            "hello" => {
                let hello: Hello = message.fields()?;
                let open = begin(RequestKind::Plain)?;
                self.run((open, share), kind, move |bridge, _| async move {
                    bridge.greet(&hello).await.map(ResponseText::from)
                });
            }
            "cancel" => {
                let cancel: Cancel = message.fields()?;
                let open = begin(RequestKind::Plain)?;
                self.run((open, share), kind, move |bridge, _| async move {
                    Ok(bridge.cancel(&cancel).await.into())
                });
            }
            "page_open" => {
                let request: PageOpen = message.fields()?;
                let (line, frames) = PageChannel::new();
                let open = begin(RequestKind::Page(line))?;
                self.run((open, share), kind, move |bridge, open| async move {
                    bridge
                        .page(&open, request, frames)
                        .await
                        .map(ResponseText::from)
                });
            }
            _ => {
                let work = named::read(message);
                let work = work.ok_or_else(|| Problem::unknown_type(kind))??;
                let sort = match work.streams() {
                    true => RequestKind::Stream,
                    false => RequestKind::Plain,
                };
                let (open, name) = (begin(sort)?, kind.to_owned());
                self.run((open, share), kind, move |bridge, open| async move {
                    bridge.work(&name, &open, work).await
                });
            }
        }
        Ok(())
    }

    /// Runs work concurrently and answers with its result.
    fn run<F>(
        self: &Arc<Self>,
        (open, share): (OpenRequest, BudgetShare),
        kind: &str,
        work: impl FnOnce(Arc<Self>, OpenRequest) -> F,
    ) where
        F: Future<Output = Result<ResponseText, Problem>> + Send + 'static,
    {
        let work = work(Arc::clone(self), open.clone());
        let (bridge, kind) = (Arc::clone(self), kind.to_owned());
        self.runtime.spawn(async move {
            let result = tokio::select! {
                biased;
                () = open.stop.cancelled() => Err(open.give_up()),
                result = work => result,
            };
            drop(share);
            let greeted = kind == "hello" && result.is_ok();
            bridge.out.answer(open, &kind, result).await;
            if greeted {
                for status in bridge.statuses.greet() {
                    bridge.out.say(Outgoing::Status(status)).await;
                }
            }
        });
    }

    async fn work(
        &self,
        kind: &str,
        open: &OpenRequest,
        work: Operation,
    ) -> Result<ResponseText, Problem> {
        // The semaphores are never closed.
        let _turn = match &work {
            work if work.streams() => None,
            Operation::Ask(rest) if rest.patient => self.patient.acquire().await.ok(),
            _ => self.at_once.acquire().await.ok(),
        };
        let core = self.core().await?;
        let value = match work {
            Operation::Ask(rest) => return core.ask(&rest).await,
            Operation::Clear(session) => return core.clear_session(&session).await,
            Operation::Chat(question) => {
                return Ok(self.chat(&core, question, kind, &open.id).await?.into());
            }
            Operation::Follow(path) => {
                return Ok(self.follow(&core, &path, kind, &open.id).await?.into());
            }
            Operation::Connect(server) => core.connect_server(&server).await?,
            Operation::Connections => core.connections().await?,
            Operation::Tools(server) => core.tools(server.as_ref()).await?,
            Operation::List(server, what) => core.list_of_server(&server, what).await?,
            Operation::Resource(server, uri) => core.resource(&server, &uri).await?,
            Operation::Installed => core.installed().await?,
            Operation::Status(server) => core.server_status(&server).await?,
        };
        let json = value.to_string();
        let share = self.out.pending.wait(json.len()).await;
        Ok(ResponseText::new(json, share))
    }

    fn page_frame(&self, message: &Message<'_>) -> Result<(), Problem> {
        let text: PageFrame = message.fields()?;
        if let Some(line) = self.page_named(&text.page) {
            line.push(&self.room, text.frame);
        }
        Ok(())
    }

    fn page_close(&self, message: &Message<'_>) -> Result<(), Problem> {
        let text: PageClose = message.fields()?;
        if let Some(line) = self.page_named(&text.page) {
            line.close();
        }
        Ok(())
    }

    /// `None` if the page has just ended.
    fn page_named(&self, page: &str) -> Option<PageChannel> {
        self.requests.page(&page.parse().ok()?)
    }

    async fn cancel(&self, cancel: &Cancel) -> String {
        let target = cancel.target.parse().ok();
        let target = target.and_then(|id| self.requests.find(&id));
        let found = match target {
            Some(open) => {
                open.stop.cancel();
                open.ended.cancelled().await;
                open.was_cancelled()
            }
            None => false,
        };
        json!({ "found": found }).to_string()
    }

    async fn greet(&self, hello: &Hello) -> Result<String, Problem> {
        if hello.protocol != PROTOCOL {
            let old = match hello.protocol > PROTOCOL {
                true => "Gangway is too old for this extension; update Gangway",
                false => "the extension is too old for this Gangway; update the extension",
            };
            return Err(Problem::wrong_protocol(old));
        }
        let core = self.found().await?;
        let result = BridgeHello {
            protocol: PROTOCOL,
            gangway: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            attached: core.attached,
            base_url: core.url.clone(),
            capabilities: vec![
                "pages",
                "servers",
                "mcp",
                "catalog",
                "installer",
                "llm",
                "chat",
                "permissions",
                "asks",
                "parts",
            ],
            limits: BridgeLimits {
                frame_bytes: frame::FROM_BROWSER,
                reply_bytes: frame::TO_BROWSER,
                requests: REQUESTS,
                pages: PAGES,
            },
        };
        // Cannot fail: all keys are strings.
        Ok(serde_json::to_string(&result).unwrap_or_default())
    }

    /// Finds or starts the server, with a timeout.
    async fn found(&self) -> Result<Arc<Core>, Problem> {
        let mut place = self.place.subscribe();
        let settled = |place: &ServerLink| match place {
            ServerLink::Connecting | ServerLink::Gone(None) => false,
            ServerLink::Connected(_) | ServerLink::Gone(Some(_)) => true,
        };
        let look = async {
            let _ = place.wait_for(settled).await;
            let up = |place: &ServerLink| matches!(place, ServerLink::Connected(_));
            // The problem may go away in a moment.
            let _ = tokio::time::timeout(TROUBLE, place.wait_for(up)).await;
        };
        let _ = tokio::time::timeout(FOUND, look).await;
        up_or_gone(&self.place.borrow())
    }

    /// The server; waits only if it was never available.
    pub(crate) async fn core(&self) -> Result<Arc<Core>, Problem> {
        let mut place = self.place.subscribe();
        let looked = place.wait_for(|place| !matches!(place, ServerLink::Connecting));
        let _ = tokio::time::timeout(FOUND, looked).await;
        up_or_gone(&self.place.borrow())
    }
}

fn up_or_gone(place: &ServerLink) -> Result<Arc<Core>, Problem> {
    match place {
        ServerLink::Connected(core) => Ok(Arc::clone(core)),
        ServerLink::Connecting => Err(Problem::server_gone(None)),
        ServerLink::Gone(why) => Err(Problem::server_gone(why.as_deref())),
    }
}
