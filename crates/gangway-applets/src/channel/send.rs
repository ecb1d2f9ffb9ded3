//! Sends a message for a page, with the user's consent. It continues when the page is gone: once the user allows a
//! message, it is sent.

use std::sync::Arc;

use gangway_core::{
    Asker, Command, ConsentOutcome, NewSession, Receipt, Session, SessionId, Slug, Source, TurnId,
    WhenBusy, sanitize::escape_line,
};

use super::RequestError;
use crate::{
    AppletService,
    invocations::{Invocation, InvocationState},
};

pub(super) struct SendRequest {
    pub(super) service: Arc<AppletService>,
    /// The session, or the one that a new session is modeled on.
    pub(super) session: Arc<Session>,
    /// Whether it is sent in a new session.
    pub(super) fresh: bool,
    /// The applet; `None` for the user.
    pub(super) applet: Option<Slug>,
    pub(super) prompt: String,
    pub(super) shown: bool,
    /// The idempotency key, if any.
    pub(super) name: Option<String>,
}

/// The session created for a request: the same for each repetition.
pub(super) fn fresh_id(parent: SessionId, name: &str) -> SessionId {
    let hash = blake3::hash(format!("gangway/task/{parent}/{name}").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    SessionId::made_of(bytes)
}

impl SendRequest {
    /// Sends it and reports progress.
    pub(super) async fn run(self, invocation: Invocation) {
        let message = self.deliver(&invocation).await;
        let step = match message {
            Ok(turn) => InvocationState::Sent(turn),
            Err(RequestError(code, text)) => InvocationState::Refused(code, text),
        };
        invocation.steps.send_replace(step);
    }

    async fn deliver(&self, invocation: &Invocation) -> Result<TurnId, RequestError> {
        let again = self.is_known().await?;
        if let Some(applet) = &self.applet
            && !again
        {
            self.request_consent(applet, invocation).await?;
        }
        let session = match self.fresh {
            true => self.make().await?,
            false => Arc::clone(&self.session),
        };
        let source = match &self.applet {
            Some(applet) => Source::Applet {
                slug: applet.to_string(),
            },
            None => Source::Person,
        };
        let command = Command::Prompt {
            prompt: self.prompt.clone(),
            source,
            shown: self.shown,
            when_busy: WhenBusy::Queue,
        };
        let receipt = match &self.name {
            Some(name) => session.submit_once(command, name.clone()).await?,
            None => session.submit(command).await?,
        };
        let Receipt::Accepted { turn } = receipt else {
            let message = "this client has used this id for another message; use a new id";
            return Err(RequestError::new("id_taken", message));
        };
        if let Some(applet) = &self.applet
            && !again
        {
            let applets = &self.service.registry;
            applets
                .note_message(session.id(), applet, &self.prompt)
                .await;
        }
        Ok(TurnId {
            session: session.id(),
            seq: turn,
        })
    }

    /// Whether this request was already carried out: then no consent is needed.
    async fn is_known(&self) -> Result<bool, RequestError> {
        let Some(name) = &self.name else {
            return Ok(false);
        };
        let id = match self.fresh {
            true => fresh_id(self.session.id(), name),
            false => self.session.id(),
        };
        if self.fresh {
            return Ok(self.service.hub.describe(id).await.is_ok());
        }
        Ok(self.service.hub.store().once(id, name).await?.is_some())
    }

    /// A session for this task, with the same agent and model; a repetition finds the existing one.
    async fn make(&self) -> Result<Arc<Session>, RequestError> {
        let hub = &self.service.hub;
        let id = match &self.name {
            Some(name) => fresh_id(self.session.id(), name),
            None => SessionId::new(),
        };
        if hub.describe(id).await.is_err() {
            let profile = self.session.profile()?;
            let request = NewSession {
                agent: Some(profile.agent),
                model: profile.model,
                ephemeral: true,
                ..NewSession::default()
            };
            self.service.sessions.create_as(id, request).await?;
        }
        Ok(hub.open(id).await?)
    }

    /// Waits for the user's consent, if needed.
    async fn request_consent(
        &self,
        applet: &Slug,
        invocation: &Invocation,
    ) -> Result<(), RequestError> {
        let asked = || {
            invocation.steps.send_replace(InvocationState::Asked);
        };
        let found = self.service.registry.find(applet).await;
        let name = found.map_or_else(|| applet.to_string(), |found| found.name);
        let outcome = self
            .service
            .consents
            .request(
                &self.session,
                Asker::Applet(applet.clone(), escape_line(&name)),
                &self.prompt,
                &invocation.withdrawn,
                asked,
            )
            .await?;
        let (code, message) = match outcome {
            ConsentOutcome::Allowed => return Ok(()),
            ConsentOutcome::Denied => ("consent_denied", "the user denied messages of this applet"),
            ConsentOutcome::TimedOut => ("consent_timeout", "the consent request timed out"),
            ConsentOutcome::Withdrawn => ("withdrawn", "the page stopped this before it was sent"),
            ConsentOutcome::QueueFull => (
                "too_many_questions",
                "too many messages of this applet are waiting for consent",
            ),
        };
        Err(RequestError::new(code, message))
    }
}
