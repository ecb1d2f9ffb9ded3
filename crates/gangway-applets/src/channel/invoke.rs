//! Messages from a page to the agent.

use std::sync::Arc;

use gangway_core::{Command, Event, Leave, Outcome, Receipt, Session, SessionId, TurnId, Turns};
use serde_json::Value;

use super::{
    CHUNK, Channel, Refusal,
    events::word,
    out::Out,
    send::{Wish, fresh_id},
};
use crate::{
    invocations::{Pending, Step},
    wire::channel::{AppletTold, InvokeOptions},
};

/// The session of a message.
enum Target {
    Here,
    Hidden,
    New,
    Other(SessionId),
}

impl Channel {
    pub(super) async fn invoke(
        self: &Arc<Self>,
        out: &Out,
        id: &Option<Value>,
        prompt: String,
        boxed: InvokeOptions,
        plain: InvokeOptions,
    ) -> Result<(), Refusal> {
        if prompt.trim().is_empty() {
            let words = "`prompt` must not be empty";
            return Err(Refusal::new("invalid_message", words));
        }
        // The same limit as over REST; several may wait for consent.
        let most = self.service.http.limits.body_bytes;
        if prompt.len() > most {
            let words = format!("`prompt` must be at most {most} bytes");
            return Err(Refusal::new("too_large", words));
        }
        let background = boxed.background.or(plain.background).unwrap_or(false);
        let target = match boxed.session.or(plain.session).as_deref() {
            None | Some("active") if background => Target::Hidden,
            None | Some("active") => Target::Here,
            Some("background") => Target::Hidden,
            Some("new") => Target::New,
            Some(other) => Target::Other(other.parse().map_err(|_| {
                let words = "`session` must be active, background, new or a session id";
                Refusal::new("invalid_message", words)
            })?),
        };
        let shown = boxed.show_in_chat.or(plain.show_in_chat);
        let shown = match target {
            Target::Here => shown.unwrap_or(true),
            Target::Hidden => false,
            Target::New | Target::Other(_) => shown.unwrap_or(false),
        };
        let waits = boxed.wait_for_result.or(plain.wait_for_result);
        let session = match target {
            Target::Other(other) => self.service.hub.open(other).await?,
            _ => Arc::clone(&self.session),
        };
        let wish = Wish {
            service: Arc::clone(&self.service),
            session,
            fresh: matches!(target, Target::New),
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
            self.service.http.sockets.spawn(wish.run(invocation));
        }
        let answers = id.clone().unwrap_or_default();
        let _open = self.note_invoke(&answers, &pending);
        let turn = self.said(out, &answers, &mut pending).await?;
        let told = AppletTold::InvokeStarted {
            id: answers.clone(),
            stream_id: turn.to_string(),
            session_id: turn.session.to_string(),
        };
        if out.tell(&told).await && waits.unwrap_or(true) {
            let session = self.service.hub.open(turn.session).await?;
            self.stream(out, answers, &session, turn.seq).await?;
        }
        Ok(())
    }

    /// Waits until it is sent, and tells the page when the user is asked for consent.
    async fn said(&self, out: &Out, id: &Value, pending: &mut Pending) -> Result<TurnId, Refusal> {
        let mut asked = false;
        loop {
            let step = pending.steps.borrow_and_update().clone();
            match step {
                Step::Sent(turn) => return Ok(turn),
                Step::Refused(code, words) => return Err(Refusal(code, words)),
                Step::Asked if !asked => {
                    asked = true;
                    let id = id.clone();
                    out.tell(&AppletTold::ConsentAsked { id }).await;
                }
                Step::Begun | Step::Asked => {}
            }
            if pending.steps.changed().await.is_err() {
                return Err(gangway_core::Error::Stopping.into());
            }
        }
    }

    /// Registers a message so that the page can stop it, until dropped.
    fn note_invoke(self: &Arc<Self>, id: &Value, pending: &Pending) -> Open {
        let id = id.to_string();
        let mut invokes = self.invokes.lock();
        invokes.insert(id.clone(), pending.clone());
        Open(Arc::clone(self), id)
    }

    /// Streams the answer.
    async fn stream(
        &self,
        out: &Out,
        id: Value,
        session: &Arc<Session>,
        turn: u64,
    ) -> Result<(), Refusal> {
        let mut events = session.subscribe(turn);
        let (mut result, mut error) = (String::new(), None);
        // Deltas are dropped from the log once the message is complete; a late reader gets it in one piece.
        let mut heard = String::new();
        loop {
            let Ok(next) = events.next(CHUNK).await? else {
                let words = "the answer can no longer be streamed; read it from the session";
                return Err(Refusal::new("slow", words));
            };
            for logged in next {
                match &logged.event {
                    Event::Delta { turn: of, text, .. } if *of == turn => {
                        heard.push_str(text);
                        let delta = text.clone();
                        let id = id.clone();
                        if !out.tell(&AppletTold::Stream { id, delta }).await {
                            return Ok(());
                        }
                    }
                    Event::Message { turn: of, text, .. } if *of == turn => {
                        if let Some(rest) =
                            text.strip_prefix(&heard).filter(|rest| !rest.is_empty())
                        {
                            let (id, delta) = (id.clone(), rest.to_owned());
                            out.tell(&AppletTold::Stream { id, delta }).await;
                        }
                        heard.clear();
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
                        out.tell(&AppletTold::InvokeComplete { id, result, error })
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
        out: &Out,
        id: &Option<Value>,
        invoke: Option<Value>,
    ) -> Result<(), Refusal> {
        let stopped = match invoke {
            Some(invoke) => self.stop_own(invoke).await?,
            None => self.stop_all().await?,
        };
        let id = id.clone().unwrap_or_default();
        out.tell(&AppletTold::Stopped { id, stopped }).await;
        Ok(())
    }

    /// An applet with consent may stop any turn; one without may still stop its own messages.
    async fn stop_all(&self) -> Result<bool, Refusal> {
        let session = self.session.id();
        let own = match &self.applet {
            Some(applet) if self.service.hub.leave(session, applet).await? != Leave::Allowed => {
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
            let words = "an applet without consent can stop only its own messages";
            return Err(Refusal::new("consent_denied", words));
        }
        Ok(running)
    }

    /// Stops the message with this id: it is withdrawn, or its turn is stopped.
    async fn stop_own(&self, invoke: Value) -> Result<bool, Refusal> {
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
                    Some(Step::Sent(turn)) => turn,
                    _ => return Ok(true),
                }
            }
            (None, Some(name)) => match self.said_before(name).await? {
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
    async fn said_before(&self, name: &str) -> Result<Option<TurnId>, Refusal> {
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
struct Open(Arc<Channel>, String);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.invokes.lock().remove(&self.1);
    }
}
