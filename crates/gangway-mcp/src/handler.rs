//! Handles notifications and requests from a server.
#![allow(
    deprecated,
    reason = "log messages are on their way out of the protocol, and servers still send them"
)]

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorData, Implementation, LoggingMessageNotificationParam,
        ProgressNotificationParam, ProgressToken,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    ask::{Asker, ElicitationAnswer, ElicitationRequest},
    host::{Progress, ProgressSink},
    journal::{Journal, Source},
    spec::{ServerId, Settings},
};

/// Buffered progress reports that arrived before their call was registered, microseconds later.
const EARLY: usize = 16;

/// Open questions of one server.
const MAX_QUESTIONS: usize = 4;

pub(crate) struct Handler {
    pub(crate) server: ServerId,
    pub(crate) journal: Arc<Journal>,
    pub(crate) asker: Option<Arc<dyn Asker>>,
    pub(crate) ask_timeout: Duration,
    /// What it calls itself.
    client_name: String,
    /// Notified when the list of tools changed; several changes may be one notification.
    pub(crate) changed: mpsc::Sender<()>,
    /// Cancelled when the connection is closed.
    over: CancellationToken,
    progress: Mutex<Listeners>,
    /// Open questions to the user.
    questions: watch::Sender<usize>,
    /// The callers of our requests in flight.
    underway: Mutex<Vec<Option<Arc<str>>>>,
}

/// A question that is open until dropped.
struct OpenQuestion<'a>(&'a watch::Sender<usize>);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

#[derive(Default)]
struct Listeners {
    sinks: HashMap<ProgressToken, ProgressSink>,
    early: VecDeque<ProgressNotificationParam>,
}

/// Receives the progress of a call until dropped.
pub(crate) struct Listening<'a>(&'a Handler, ProgressToken);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0
            .listeners(|listeners| listeners.sinks.remove(&self.1));
    }
}

/// A request in flight, counted until dropped.
pub(crate) struct InFlight<'a>(&'a Handler, Option<Arc<str>>);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut underway = self.0.underway.lock();
        if let Some(place) = underway.iter().position(|caller| *caller == self.1) {
            underway.swap_remove(place);
        }
    }
}

impl Handler {
    pub(crate) fn new(
        server: ServerId,
        journal: Arc<Journal>,
        asker: Option<Arc<dyn Asker>>,
        settings: &Settings,
        changed: mpsc::Sender<()>,
        over: CancellationToken,
    ) -> Self {
        Self {
            server,
            journal,
            asker,
            ask_timeout: settings.ask_timeout,
            client_name: settings.client_name.clone(),
            changed,
            over,
            progress: Mutex::default(),
            questions: watch::Sender::default(),
            underway: Mutex::default(),
        }
    }

    fn listeners<T>(&self, act: impl FnOnce(&mut Listeners) -> T) -> T {
        act(&mut self.progress.lock())
    }

    /// While this is held the server works on a request, and may ask questions.
    pub(crate) fn working(&self, caller: Option<&Arc<str>>) -> InFlight<'_> {
        let caller = caller.cloned();
        self.underway.lock().push(caller.clone());
        InFlight(self, caller)
    }

    /// The caller of all requests in flight.
    fn only_caller(&self) -> Option<Arc<str>> {
        let underway = self.underway.lock();
        let first = underway.first()?;
        let is_only = underway.iter().all(|caller| caller == first);
        first.clone().filter(|_| is_only)
    }

    /// Whether the user is being asked.
    pub(crate) fn is_asking(&self) -> bool {
        *self.questions.borrow() > 0
    }

    pub(crate) async fn asks(&self) {
        // We own the sender, so it is not closed.
        let _ = self.questions.subscribe().wait_for(|open| *open > 0).await;
    }

    pub(crate) fn listen(&self, token: ProgressToken, sink: ProgressSink) -> Listening<'_> {
        self.listeners(|listeners| {
            let (early, other): (VecDeque<_>, _) = std::mem::take(&mut listeners.early)
                .into_iter()
                .partition(|one| one.progress_token == token);
            listeners.early = other;
            early.into_iter().for_each(|one| sink(progress(one)));
            listeners.sinks.insert(token.clone(), sink);
        });
        Listening(self, token)
    }

    /// Passes a report to its sink, under the lock, so that reports stay in order.
    pub(crate) fn on_progress(&self, report: ProgressNotificationParam) {
        self.listeners(|listeners| {
            if let Some(sink) = listeners.sinks.get(&report.progress_token) {
                sink(progress(report));
                return;
            }
            listeners.early.push_back(report);
            if listeners.early.len() > EARLY {
                listeners.early.pop_front();
            }
        });
    }

    /// Asks the user for a call of this caller; without one, for the requests in flight.
    pub(crate) async fn ask(
        &self,
        request: ElicitRequestParams,
        caller: Option<&Arc<str>>,
    ) -> ElicitResult {
        let Some(asker) = &self.asker else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let mut before = 0;
        self.questions.send_modify(|open| {
            before = *open;
            *open += 1;
        });
        let _open = OpenQuestion(&self.questions);
        // The user could not make sense of a question without a call.
        let unasked = self.underway.lock().is_empty();
        if unasked || before >= MAX_QUESTIONS {
            let why = match unasked {
                true => "no request is in flight",
                false => "too many questions are open",
            };
            self.journal.host(format!("a question was declined: {why}"));
            return ElicitResult::new(ElicitationAction::Decline);
        }
        let (message, schema, url) = match request {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => (message, serde_json::to_value(requested_schema).ok(), None),
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                (message, None, Some(url))
            }
            _ => return ElicitResult::new(ElicitationAction::Decline),
        };
        let question = ElicitationRequest {
            server: self.server.clone(),
            message,
            schema,
            caller: caller.cloned().or_else(|| self.only_caller()),
            url,
        };
        let answer = tokio::select! {
            answer = asker.ask(question) => answer,
            () = tokio::time::sleep(self.ask_timeout) => ElicitationAnswer::Cancel,
            () = self.over.cancelled() => ElicitationAnswer::Cancel,
        };
        match answer {
            ElicitationAnswer::Accept(content) => {
                let result = ElicitResult::new(ElicitationAction::Accept);
                if content.is_null() {
                    result
                } else {
                    result.with_content(content)
                }
            }
            ElicitationAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
            ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

fn progress(param: ProgressNotificationParam) -> Progress {
    Progress {
        progress: param.progress,
        total: param.total,
        message: param.message,
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.asker.is_some() {
            let both = ElicitationCapability::new()
                .with_form(Default::default())
                .with_url(Default::default());
            capabilities.elicitation = Some(both);
        }
        let own = Implementation::new(self.client_name.clone(), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, own)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        tokio::select! {
            answer = self.ask(request, None) => Ok(answer),
            // The server cancelled its question.
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let level = serde_json::to_value(params.level).unwrap_or_default();
        let message = match &params.data {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let line = format!("{}: {message}", level.as_str().unwrap_or("log"));
        self.journal.log(Source::Message, &line);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        let _ = self.changed.try_send(());
    }
}
