//! Text sessions of pages with a model: `ai.createTextSession` and its prompts.

use std::sync::Arc;

use gangway_core::{NewSession, Scope, SessionId, secret::new_secret};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{
    AGENT, SiteError, Stream, Visit, WebAgent, reader,
    work::{Work, WorkKind},
};

/// Maximum length of a system prompt, and of a prompt.
pub(crate) const SYSTEM: usize = 100_000;
pub(crate) const PROMPT: usize = 500_000;

/// Options of a text session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextOptions {
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// 0.0 to 2.0.
    pub temperature: Option<f64>,
    /// The provider.
    pub provider: Option<String>,
    /// Its model.
    pub model: Option<String>,
}

/// A text session.
pub(crate) struct Text {
    work: Arc<Work>,
    model: Option<String>,
    /// The session, created with the first prompt; locked during a turn, so that the next prompt waits.
    session: tokio::sync::Mutex<Option<SessionId>>,
    /// Cancelled when it is destroyed.
    over: CancellationToken,
}

impl WebAgent {
    /// Opens a text session; returns its id.
    pub fn open_text(&self, visit: &Arc<Visit>, options: TextOptions) -> Result<String, SiteError> {
        self.permissions.check(&visit.origin, Scope::ModelPrompt)?;
        if options
            .temperature
            .is_some_and(|t| !(0.0..=2.0).contains(&t))
        {
            return Err(SiteError::wrong("`temperature` must be from 0 to 2"));
        }
        long(options.system_prompt.as_deref(), "systemPrompt", SYSTEM)?;
        let model = self.model(options.provider.as_deref(), options.model.as_deref())?;
        if model.is_none() && self.models.registry.default().is_none() {
            let message = "no model is connected to this Gangway yet";
            return Err(SiteError::new("ERR_MODEL_FAILED", message));
        }
        let mut work = Work::new(visit, WorkKind::Text);
        work.system = options.system_prompt;
        work.temperature = options.temperature;
        let id = format!("text-{}", &new_secret()[..16]);
        let text = Text {
            work: Arc::new(work),
            model,
            session: tokio::sync::Mutex::default(),
            over: CancellationToken::new(),
        };
        self.sites.add_text(visit, id.clone(), Arc::new(text))?;
        Ok(id)
    }

    /// Sends a prompt; streams the answer.
    pub async fn prompt(&self, stream: &Stream, id: &str, input: String) -> Result<(), SiteError> {
        let visit = &stream.visit;
        self.permissions.check(&visit.origin, Scope::ModelPrompt)?;
        let gone = || {
            let message = "this session was destroyed or does not exist; create another";
            SiteError::new("ERR_SESSION_NOT_FOUND", message)
        };
        let text = visit.text(id).ok_or_else(gone)?;
        long(Some(&input), "input", PROMPT)?;
        let mut held = tokio::select! {
            held = text.session.lock() => held,
            () = stream.stop.cancelled() => {
                return Err(SiteError::aborted("the call was aborted before it began"));
            }
        };
        // It may have been destroyed while waiting.
        visit.text(id).ok_or_else(gone)?;
        let session = match *held {
            Some(session) => session,
            None => {
                let title = format!("{}: {}", visit.origin, excerpt(&input));
                let made = self.make_session(&text.work, title, text.model.clone(), true);
                *held.insert(made.await?)
            }
        };
        let answer = self.answer(stream, session, input, reader::CallKind::Text);
        let result = tokio::select! {
            result = answer => result,
            () = text.over.cancelled() => Err(gone()),
        };
        if text.over.is_cancelled() {
            held.take();
            self.drop_work(session).await;
        }
        result
    }

    /// Ends a text session; returns whether it existed.
    pub async fn close_text(&self, visit: &Visit, id: &str) -> Result<(), SiteError> {
        let text = visit.remove_text(id);
        let gone = || {
            SiteError::new(
                "ERR_SESSION_NOT_FOUND",
                "this session was destroyed already",
            )
        };
        self.end_text(&*text.ok_or_else(gone)?).await;
        Ok(())
    }

    pub(crate) async fn end_text(&self, text: &Text) {
        text.over.cancel();
        // A running prompt holds the session, and ends it.
        let session = text
            .session
            .try_lock()
            .ok()
            .and_then(|mut held| held.take());
        if let Some(session) = session {
            self.drop_work(session).await;
        }
    }

    /// A session for a page's work.
    pub(crate) async fn make_session(
        &self,
        work: &Arc<Work>,
        title: String,
        model: Option<String>,
        ephemeral: bool,
    ) -> Result<SessionId, SiteError> {
        let options = NewSession {
            title: Some(title),
            cwd: String::new(),
            model,
            agent: Some(AGENT.to_owned()),
            ephemeral,
        };
        self.sites.room_for_session(&work.origin)?;
        let (id, _) = self.sessions.create(options).await?;
        self.sites.lock_works().insert(id, Arc::clone(work));
        Ok(id)
    }

    /// The requested model, after checking its provider.
    pub(crate) fn model(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
    ) -> Result<Option<String>, SiteError> {
        if let Some(provider) = provider {
            let known = self.models.registry.instances();
            let is_meant = |id: &str, kind: &str| id == provider || kind == provider;
            if !known
                .iter()
                .any(|one| is_meant(&one.spec.id, one.spec.kind.name()))
            {
                let shown: String = provider.chars().take(80).collect();
                let message =
                    format!("unknown provider {shown:?}; ai.providers.list() lists the known ones");
                return Err(SiteError::new("ERR_MODEL_FAILED", message));
            }
        }
        Ok(match (provider, model) {
            (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
            (one, other) => one.or(other).map(str::to_owned),
        })
    }
}

/// The beginning of a text, as a title.
pub(crate) fn excerpt(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(60).collect()
}

/// Rejects a text that is too long.
pub(crate) fn long(text: Option<&str>, name: &str, most: usize) -> Result<(), SiteError> {
    match text.is_some_and(|text| text.chars().count() > most) {
        true => Err(SiteError::wrong(format!(
            "`{name}` must be at most {most} characters"
        ))),
        false => Ok(()),
    }
}
