//! Messages from a page to the agent.

use std::sync::Arc;

use gangway_core::{Command, Consent, Event, Outcome, Receipt, Session, SessionId, TurnId, Turns};
use serde_json::Value;

use super::{
    CHUNK, Channel, RequestError,
    events::word,
    send::{SendRequest, fresh_id},
};
use crate::{
    invocations::{InvocationState, PendingInvocation},
    wire::channel::{AppletServerMessage, InvokeOptions},
};

/// The session of a message.
enum SessionChoice {
    Here,
    Hidden,
    New,
    Other(SessionId),
}

impl Channel {
    pub(super) async fn invoke(
        self: &Arc<Self>,
        id: &Option<Value>,
        prompt: String,
        boxed: InvokeOptions,
        plain: InvokeOptions,
    ) -> Result<(), RequestError> {
        if prompt.trim().is_empty() {
            let message = "`prompt` must not be empty";
            return Err(RequestError::new("invalid_message", message));
        }
        // The same limit as over REST; several may wait for consent.
        let most = self.service.http.limits.body_bytes;
        if prompt.len() > most {
            let message = format!("`prompt` must be at most {most} bytes");
            return Err(RequestError::new("too_large", message));
        }
        let background = boxed.background.or(plain.background).unwrap_or(false);
        let target = match boxed.session.or(plain.session).as_deref() {
            None | Some("active") if background => SessionChoice::Hidden,
            None | Some("active") => SessionChoice::Here,
            Some("background") => SessionChoice::Hidden,
            Some("new") => SessionChoice::New,
            Some(other) => SessionChoice::Other(other.parse().map_err(|_| {
                let message = "`session` must be active, background, new or a session id";
                RequestError::new("invalid_message", message)
            })?),
        };
        let shown = boxed.show_in_chat.or(plain.show_in_chat);
        let shown = match target {
            SessionChoice::Here => shown.unwrap_or(true),
            SessionChoice::Hidden => false,
            SessionChoice::New | SessionChoice::Other(_) => shown.unwrap_or(false),
        };
        let waits = boxed.wait_for_result.or(plain.wait_for_result);
        let session = match target {
            SessionChoice::Other(other) => self.service.hub.open(other).await?,
            _ => Arc::clone(&self.session),
        };
        let request = SendRequest {
            service: Arc::clone(&self.service),
            session,
            fresh: matches!(target, SessionChoice::New),
            applet: self.applet.clone(),
            prompt,
            shown,
            name: self.idempotency_key(id),
        };
        let (mut pending, invocation) = self
            .service
            .invocations
            .begin(self.session.id(), self.idempotency_key(id));
        if let Some(invocation) = invocation {
            self.service.http.sockets.spawn(request.run(invocation));
        }
        let answers = id.clone().unwrap_or_default();
        let _open = self.note_invoke(&answers, &pending);
        let turn = self.delivered(&answers, &mut pending).await?;
        let outgoing = AppletServerMessage::InvokeStarted {
            id: answers.clone(),
            stream_id: turn.to_string(),
            session_id: turn.session.to_string(),
        };
        self.out.send(&outgoing).await;
        if waits.unwrap_or(true) {
            let session = self.service.hub.open(turn.session).await?;
            self.stream(answers, &session, turn.seq).await?;
        }
        Ok(())
    }

    /// Waits until it is sent, and tells the page when the user is asked for consent.
    async fn delivered(
        &self,
        id: &Value,
        pending: &mut PendingInvocation,
    ) -> Result<TurnId, RequestError> {
        let mut asked = false;
        loop {
            let step = pending.steps.borrow_and_update().clone();
            match step {
                InvocationState::Sent(turn) => return Ok(turn),
                InvocationState::Refused(code, message) => return Err(RequestError(code, message)),
                InvocationState::Asked if !asked => {
                    asked = true;
                    let id = id.clone();
                    self.out
                        .send(&AppletServerMessage::ConsentAsked { id })
                        .await;
                }
                InvocationState::Begun | InvocationState::Asked => {}
            }
            if pending.steps.changed().await.is_err() {
                return Err(gangway_core::Error::Stopping.into());
            }
        }
    }

    /// Registers a message so that the page can stop it, until dropped.
    fn note_invoke(self: &Arc<Self>, id: &Value, pending: &PendingInvocation) -> InvocationGuard {
        let id = id.to_string();
        let mut invokes = self.invokes.lock();
        invokes.insert(id.clone(), pending.clone());
        InvocationGuard(Arc::clone(self), id)
    }

    /// Streams the answer.
    async fn stream(
        &self,
        id: Value,
        session: &Arc<Session>,
        turn: u64,
    ) -> Result<(), RequestError> {
        let mut events = session.subscribe(turn);
        let (mut result, mut error) = (String::new(), None);
        // Deltas are dropped from the log once the message is complete; a late reader gets it in one piece.
        let mut received = String::new();
        loop {
            let Ok(next) = events.next(CHUNK).await? else {
                let reason = "the answer can no longer be streamed; read it from the session";
                return Err(RequestError::new("slow", reason));
            };
            for logged in next {
                match &logged.event {
                    Event::Delta { turn: of, text, .. } if *of == turn => {
                        received.push_str(text);
                        let delta = text.clone();
                        let id = id.clone();
                        let delta = AppletServerMessage::Stream { id, delta };
                        self.out.send(&delta).await;
                    }
                    Event::Message { turn: of, text, .. } if *of == turn => {
                        if let Some(rest) =
                            text.strip_prefix(&received).filter(|rest| !rest.is_empty())
                        {
                            let (id, delta) = (id.clone(), rest.to_owned());
                            self.out
                                .send(&AppletServerMessage::Stream { id, delta })
                                .await;
                        }
                        received.clear();
                        result.clone_from(text);
                    }
                    Event::Failed {
                        turn: of, message, ..
                    } if *of == turn => error = Some(message.clone()),
                    Event::TurnEnded {
                        turn: of, outcome, ..
                    } if *of == turn => {
                        let error = match outcome {
                            Outcome::Completed => error,
                            other => {
                                error.or_else(|| Some(format!("the turn was {}", word(*other))))
                            }
                        };
                        self.out
                            .send(&AppletServerMessage::InvokeComplete { id, result, error })
                            .await;
                        return Ok(());
                    }
                    _ => {}
                }
            }
        }
    }

    /// Stops a message of the page, or the running turn.
    pub(super) async fn stop(
        &self,
        id: &Option<Value>,
        invoke: Option<Value>,
    ) -> Result<(), RequestError> {
        let stopped = match invoke {
            Some(invoke) => self.stop_own(invoke).await?,
            None => self.stop_all().await?,
        };
        let id = id.clone().unwrap_or_default();
        self.out
            .send(&AppletServerMessage::Stopped { id, stopped })
            .await;
        Ok(())
    }

    /// An applet with consent may stop any turn; one without may still stop its own messages.
    async fn stop_all(&self) -> Result<bool, RequestError> {
        let session = self.session.id();
        let own = match &self.applet {
            Some(applet)
                if self.service.hub.consent(session, applet).await? != Consent::Allowed =>
            {
                Some(applet.clone())
            }
            _ => None,
        };
        let may = own.is_none();
        let command = own.map_or(Command::Stop, |own| Command::StopOnly(Turns::Of(own)));
        let receipt = self.session.submit(command).await?;
        let (running, dropped) = match receipt {
            Receipt::Stopped { running, dropped } => (running, dropped),
            _ => (false, 0),
        };
        if !may && !running && dropped == 0 {
            let message = "an applet without consent can stop only its own messages";
            return Err(RequestError::new("consent_denied", message));
        }
        Ok(running)
    }

    /// Stops the message with this id: it is withdrawn, or its turn is stopped.
    async fn stop_own(&self, invoke: Value) -> Result<bool, RequestError> {
        let here = self.invokes.lock().get(&invoke.to_string()).cloned();
        let name = self.idempotency_key(&Some(invoke));
        let session = self.session.id();
        let named = name.as_deref();
        // It may have been sent on another connection and still be waiting.
        let pending = here.or_else(|| self.service.invocations.find(session, named?));
        let turn = match (pending, &name) {
            (Some(mut pending), _) => {
                pending.withdrawn.cancel();
                match pending.end().await {
                    Some(InvocationState::Sent(turn)) => turn,
                    _ => return Ok(true),
                }
            }
            (None, Some(name)) => match self.earlier_turn(name).await? {
                Some(turn) => turn,
                None => return Ok(false),
            },
            (None, None) => return Ok(false),
        };
        let session = self.service.hub.open(turn.session).await?;
        let command = Command::StopOnly(Turns::Numbered(turn.seq));
        let receipt = session.submit(command).await?;
        Ok(matches!(
            receipt,
            Receipt::Stopped { running, dropped } if running || dropped > 0
        ))
    }

    /// The turn of the request with this idempotency key.
    async fn earlier_turn(&self, name: &str) -> Result<Option<TurnId>, RequestError> {
        let own = self.session.id();
        for session in [own, fresh_id(own, name)] {
            if let Some(seq) = self.service.hub.store().once(session, name).await? {
                return Ok(Some(TurnId { session, seq }));
            }
        }
        Ok(None)
    }
}

/// Unregisters a message on drop.
struct InvocationGuard(Arc<Channel>, String);

impl Drop for InvocationGuard {
    fn drop(&mut self) {
        self.0.invokes.lock().remove(&self.1);
    }
}
