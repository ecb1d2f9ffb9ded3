//! Conversations of pages with a model: `ai.createTextSession` and what is said in them.

use std::sync::Arc;

use gangway_core::{NewSession, Scope, SessionId, secret::new_secret};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{
    AGENT, SiteError, Stream, Visit, WebAgent, reader,
    work::{Kind, Work},
};

/// Characters of a system prompt, and of a prompt.
pub(crate) const SYSTEM: usize = 100_000;
pub(crate) const PROMPT: usize = 500_000;

/// What a conversation is to be.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextWish {
    /// Stands above it.
    pub system_prompt: Option<String>,
    /// 0.0 to 2.0.
    pub temperature: Option<f64>,
    /// Who answers.
    pub provider: Option<String>,
    /// Which model of theirs.
    pub model: Option<String>,
}

/// A conversation.
pub(crate) struct Text {
    work: Arc<Work>,
    model: Option<String>,
    /// The session, made when something is first said; held while it answers, so that the next waits.
    session: tokio::sync::Mutex<Option<SessionId>>,
    /// Cancelled when it is destroyed.
    over: CancellationToken,
}

impl WebAgent {
    /// Opens a conversation; its name.
    pub fn open_text(&self, visit: &Arc<Visit>, wish: TextWish) -> Result<String, SiteError> {
        self.permissions.check(&visit.origin, Scope::ModelPrompt)?;
        if wish.temperature.is_some_and(|t| !(0.0..=2.0).contains(&t)) {
            return Err(SiteError::wrong("`temperature` must be from 0 to 2"));
        }
        long(wish.system_prompt.as_deref(), "systemPrompt", SYSTEM)?;
        let model = self.model(wish.provider.as_deref(), wish.model.as_deref())?;
        if model.is_none() && self.models.registry.default().is_none() {
            let words = "no model is connected to this Gangway yet";
            return Err(SiteError::new("ERR_MODEL_FAILED", words));
        }
        let mut work = Work::new(visit, Kind::Text);
        work.system = wish.system_prompt;
        work.temperature = wish.temperature;
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

    /// Has a conversation go on; the answer comes in pieces.
    pub async fn prompt(&self, stream: &Stream, id: &str, input: String) -> Result<(), SiteError> {
        let visit = &stream.visit;
        self.permissions.check(&visit.origin, Scope::ModelPrompt)?;
        let gone = || {
            let words = "this session was destroyed or does not exist; create another";
            SiteError::new("ERR_SESSION_NOT_FOUND", words)
        };
        let text = visit.text(id).ok_or_else(gone)?;
        long(Some(&input), "input", PROMPT)?;
        let mut held = tokio::select! {
            held = text.session.lock() => held,
            () = stream.stop.cancelled() => {
                return Err(SiteError::aborted("this was aborted before it began"));
            }
        };
        // While it waited it may have been destroyed.
        visit.text(id).ok_or_else(gone)?;
        let session = match *held {
            Some(session) => session,
            None => {
                let title = format!("{}: {}", visit.origin, first_words(&input));
                let made = self.make_session(&text.work, title, text.model.clone(), true);
                *held.insert(made.await?)
            }
        };
        let answer = self.answer(stream, session, input, reader::Kind::Text);
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

    /// Ends a conversation; whether there was one.
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
        // Whoever waits for an answer in it holds the session, and ends it.
        let session = text
            .session
            .try_lock()
            .ok()
            .and_then(|mut held| held.take());
        if let Some(session) = session {
            self.drop_work(session).await;
        }
    }

    /// A session that a page's work is done in.
    pub(crate) async fn make_session(
        &self,
        work: &Arc<Work>,
        title: String,
        model: Option<String>,
        ephemeral: bool,
    ) -> Result<SessionId, SiteError> {
        let wish = NewSession {
            title: Some(title),
            cwd: String::new(),
            model,
            agent: Some(AGENT.to_owned()),
            ephemeral,
        };
        self.sites.room_for_session(&work.origin)?;
        let (id, _) = self.sessions.create(wish).await?;
        self.sites.lock_works().insert(id, Arc::clone(work));
        Ok(id)
    }

    /// A model as it is asked for, once its provider is known to be there.
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
                let words =
                    format!("unknown provider {shown:?}; ai.providers.list() lists the known ones");
                return Err(SiteError::new("ERR_MODEL_FAILED", words));
            }
        }
        Ok(match (provider, model) {
            (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
            (one, other) => one.or(other).map(str::to_owned),
        })
    }
}

/// The beginning of a text, for a title.
pub(crate) fn first_words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(60).collect()
}

/// Refuses a text that is too long to be meant.
pub(crate) fn long(text: Option<&str>, name: &str, most: usize) -> Result<(), SiteError> {
    match text.is_some_and(|text| text.chars().count() > most) {
        true => Err(SiteError::wrong(format!(
            "`{name}` has more than {most} characters"
        ))),
        false => Ok(()),
    }
}
