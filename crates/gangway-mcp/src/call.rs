//! A tool call, from its arguments to its result.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use gangway_core::{ToolError, ToolName};
use gangway_schema::Unchecked;
use rmcp::{
    Peer, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
        ClientRequest, InputRequest, InputRequiredResult, RequestId, ServerResult,
    },
    service::{PeerRequestOptions, RequestHandle, ServiceError},
};
use serde_json::{Map, Value};
use tokio::{sync::watch, time::Instant};

use crate::{
    connect::{Challenge, cause, challenge, http_error},
    content,
    host::{Host, ProgressSink},
    http::HttpError,
    journal::cut,
    lanes::LanePermit,
    live::LiveServer,
    server::Server,
};

/// Rounds of questions in one call.
const MAX_ROUNDS: usize = 10;

/// Questions to the user in one call.
const MAX_QUESTIONS: usize = 10;

/// The longest call, however much progress it reports; its timeout is the time between two reports.
const MAX_WITH_PROGRESS: Duration = Duration::from_secs(3600);

/// How often a call checks whether the user still considers a question.
const LOOK: Duration = Duration::from_millis(250);

impl Host {
    /// Calls a tool for a caller: a session or an origin, whose concurrent calls are limited. Dropping the future
    /// cancels the call at its server.
    pub async fn call(
        &self,
        caller: &str,
        tool: &ToolName,
        arguments: Value,
        progress: Option<ProgressSink>,
    ) -> Result<Value, ToolError> {
        let result = self.forward(caller, tool, arguments, progress).await?;
        let value = content::value(result).map_err(ToolError::Failed)?;
        Ok(self.keep.bound(caller.into(), value))
    }

    /// The same with the server's result unchanged, for MCP clients.
    pub async fn forward(
        &self,
        caller: &str,
        tool: &ToolName,
        arguments: Value,
        progress: Option<ProgressSink>,
    ) -> Result<ServerResult, ToolError> {
        let not_found = || ToolError::NotFound(tool.clone());
        let server = self.server(tool.server()).ok_or_else(not_found)?;
        let sent = (arguments.clone(), progress.clone());
        let mut reached = true;
        let answer = self
            .attempt(caller, tool, &server, (arguments, progress), &mut reached)
            .await;
        match answer {
            // The server did not receive it, so it is safe to retry on a new connection.
            Err(_) if !reached => {
                self.attempt(caller, tool, &server, sent, &mut reached)
                    .await
            }
            answer => answer,
        }
    }

    /// Calls it on the current connection. Reports whether the call may have reached the server. Boxed, so that it is
    /// compiled here and not in every crate that calls tools.
    fn attempt<'a>(
        &'a self,
        caller: &'a str,
        tool: &'a ToolName,
        server: &'a Server,
        (arguments, progress): (Value, Option<ProgressSink>),
        reached: &'a mut bool,
    ) -> BoxFuture<'a, Result<ServerResult, ToolError>> {
        Box::pin(async move {
            let not_found = || ToolError::NotFound(tool.clone());
            let live = self.wait_for(server).await?;
            let listed = live
                .listing()
                .get(tool.tool())
                .cloned()
                .ok_or_else(not_found)?;
            let arguments = match arguments {
                Value::Null => Value::Object(Map::new()),
                other => other,
            };
            let wrong = |reason| ToolError::BadArguments {
                tool: tool.clone(),
                reason,
            };
            let unusable =
                |reason: &str| ToolError::Failed(format!("{tool} cannot be called: {reason}"));
            let schema = listed.checker.as_ref();
            let schema = schema
                .ok_or_else(|| unusable(listed.entry.unusable.as_deref().unwrap_or_default()))?;
            let checked = live.clock.check(schema, arguments).await;
            let arguments = checked.map_err(|error| match error {
                Unchecked::Wrong(reason) => wrong(reason),
                Unchecked::Unknown(reason) => unusable(&reason),
            })?;
            let Value::Object(mut arguments) = arguments else {
                return Err(wrong("/: must be an object".to_owned()));
            };
            for (name, default) in &listed.defaults {
                arguments
                    .entry(name.clone())
                    .or_insert_with(|| default.clone());
            }
            let caller: Arc<str> = caller.into();
            let busy =
                || ToolError::Busy("too many tool calls at once; try again later".to_owned());
            let turn = self
                .lanes
                .turn(Arc::clone(&caller))
                .await
                .ok_or_else(busy)?;
            let timeout = self.timeout(server, tool);
            let mut call = Call {
                caller,
                tool,
                live: &live,
                timeout,
                progress,
                turn,
                reached,
            };
            call.run(arguments).await
        })
    }

    fn timeout(&self, server: &Server, tool: &ToolName) -> Duration {
        let spec = &server.spec;
        let own = spec.tool_timeouts.get(tool.tool()).copied();
        own.or(spec.timeout).unwrap_or(self.settings.call_timeout)
    }

    /// The connection of a server; waits while it starts.
    pub(crate) async fn wait_for(&self, server: &Server) -> Result<Arc<LiveServer>, ToolError> {
        let waited = tokio::time::timeout(self.settings.call_timeout, server.ready()).await;
        match waited {
            Ok(ready) => ready.map_err(ToolError::Unavailable),
            Err(_) => {
                let text = format!("{} is still starting", server.spec.id);
                Err(ToolError::Unavailable(text))
            }
        }
    }
}

struct Call<'a> {
    caller: Arc<str>,
    tool: &'a ToolName,
    live: &'a LiveServer,
    timeout: Duration,
    progress: Option<ProgressSink>,
    /// The slot among the calls of its caller, released while the user is asked.
    turn: LanePermit<Arc<str>>,
    /// Whether the server may have received it.
    reached: &'a mut bool,
}

impl Call<'_> {
    async fn run(&mut self, arguments: Map<String, Value>) -> Result<ServerResult, ToolError> {
        let _working = self.live.handler.working(Some(&self.caller));
        let endless = || ToolError::Failed("the server asked too many questions".to_owned());
        let mut questions = 0;
        let name = self.tool.tool().to_owned();
        let mut params = CallToolRequestParams::new(name).with_arguments(arguments);
        for _ in 0..MAX_ROUNDS {
            let request = CallToolRequest::new(params.clone());
            let result = self.round(ClientRequest::CallToolRequest(request)).await?;
            let ServerResult::InputRequiredResult(wanted) = result else {
                return Ok(result);
            };
            questions += wanted.input_requests.as_ref().map_or(0, |all| all.len());
            if questions > MAX_QUESTIONS {
                return Err(endless());
            }
            // Servers of the current revision end a call with a question, and are called again with the answer.
            params.request_state = wanted.request_state.clone();
            self.turn.pause();
            params.input_responses = Some(self.answers(wanted).await?);
            self.turn.resume().await;
        }
        Err(endless())
    }

    async fn answers(
        &self,
        wanted: InputRequiredResult,
    ) -> Result<std::collections::BTreeMap<String, Value>, ToolError> {
        let mut answers = std::collections::BTreeMap::new();
        for (key, request) in wanted.input_requests.unwrap_or_default() {
            let InputRequest::Elicitation(request) = request else {
                let text =
                    "the server requested input that is not a question to the user".to_owned();
                return Err(ToolError::Failed(text));
            };
            let asking = self.live.handler.ask(request.params, Some(&self.caller));
            let answer = tokio::select! {
                answer = asking => answer,
                () = self.live.gone.cancelled() => return Err(self.went_away()),
            };
            answers.insert(key, serde_json::to_value(answer).unwrap_or_default());
        }
        Ok(answers)
    }

    async fn round(&mut self, request: ClientRequest) -> Result<ServerResult, ToolError> {
        let live = self.live;
        let peer = &live.peer;
        let options = PeerRequestOptions::no_options();
        let begun = Instant::now();
        let mut deadline = begun + self.timeout;
        let asking = live.handler.ask_timeout * MAX_QUESTIONS as u32;
        let mut last = deadline + asking;
        // Progress does not extend a call forever.
        let end = begun + self.timeout.max(MAX_WITH_PROGRESS);
        // The timeout also applies to a server that does not read.
        let sending = peer.send_request_with_option(request, options);
        let sent = tokio::time::timeout_at(deadline, sending).await;
        let sent = sent.map_err(|_| self.too_late())?;
        let mut handle = sent.map_err(|error| self.failed(error))?;
        let mut cancel = Cancel::new(&handle);
        let (alive, mut progressed) = watch::channel(());
        let sink = self.progress.clone();
        let sink: ProgressSink = Arc::new(move |progress| {
            let _ = alive.send(());
            sink.iter().for_each(|sink| sink(progress.clone()));
        });
        let _listening = live.handler.listen(handle.progress_token.clone(), sink);
        let mut paused = false;
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    cancel.disarm();
                    let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                    return answer.map_err(|error| self.failed(error));
                }
                () = live.gone.cancelled() => {
                    cancel.disarm();
                    return Err(self.went_away());
                }
                // A server does not say which call a question belongs to, so all of its calls release their slots.
                () = live.handler.asks(), if !paused => {
                    paused = true;
                    self.turn.pause();
                }
                Ok(()) = progressed.changed() => {
                    deadline = end.min(Instant::now() + self.timeout);
                    last = deadline + asking;
                }
                () = tokio::time::sleep_until(deadline) => {
                    // The timeout is paused while the user is asked; that has a timeout of its own.
                    if live.handler.is_asking() && deadline < last {
                        deadline = Instant::now() + LOOK;
                        continue;
                    }
                    return Err(self.too_late());
                }
            }
        }
    }

    fn too_late(&self) -> ToolError {
        ToolError::Timeout {
            tool: self.tool.clone(),
            seconds: self.timeout.as_secs(),
        }
    }

    fn went_away(&self) -> ToolError {
        ToolError::Unavailable(format!(
            "{} disconnected during the call",
            self.tool.server()
        ))
    }

    fn refused(&self, challenge: Option<Challenge>) -> ToolError {
        let server = self.tool.server();
        let text = match &challenge {
            Some(challenge) if challenge.more => {
                format!("{server} needs a new login with more permissions")
            }
            _ => format!("{server} needs a login"),
        };
        challenge.into_iter().for_each(|c| self.live.refuse(c));
        ToolError::Unavailable(text)
    }

    fn failed(&mut self, error: ServiceError) -> ToolError {
        match error {
            ServiceError::McpError(data) => {
                ToolError::Failed(cut(&format!("{} ({})", data.message, data.code.0), 4096))
            }
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => self.went_away(),
            error if challenge(&error).is_some() => self.refused(challenge(&error)),
            ServiceError::TransportSend(error) => {
                let server = self.tool.server();
                let text = format!("{server}: {}", cause(error.error.as_ref()));
                match http_error(error.error.as_ref()) {
                    Some(HttpError::TooLarge(_) | HttpError::NotMcp(_)) => ToolError::Failed(text),
                    Some(HttpError::Unreachable(_)) => {
                        // The supervisor reconnects.
                        self.live.gone.cancel();
                        *self.reached = false;
                        ToolError::Unavailable(text)
                    }
                    _ => ToolError::Unavailable(text),
                }
            }
            _ => ToolError::Failed("the server sent an invalid response".to_owned()),
        }
    }
}

/// Cancels the request at the server when dropped, unless it was answered.
struct Cancel {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Cancel {
    fn new(handle: &RequestHandle<RoleClient>) -> Self {
        Self {
            peer: handle.peer.clone(),
            id: Some(handle.id.clone()),
        }
    }

    fn disarm(&mut self) {
        self.id = None;
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("cancelled by the caller".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let _ = peer
                .send_notification(CancelledNotification::new(params).into())
                .await;
        });
    }
}
