//! The user's consent to messages of applets and apps: stored decisions, and open requests.

mod request;

pub use request::{AwaitingConsent, ConsentOutcome, Consents};

use crate::{
    error::Result,
    event::Consent,
    hub::Hub,
    id::{SessionId, Slug},
    state::APPLETS,
    store::{self, Expect, Put},
};

pub(crate) fn consent_key(session: SessionId, applet: &Slug) -> String {
    format!("leave/{session}/{applet}")
}

pub(crate) fn consents_prefix(session: SessionId) -> String {
    format!("leave/{session}/")
}

/// The key of the decision for all sessions.
pub(crate) fn always_key(applet: &Slug) -> String {
    format!("leave-always/{applet}")
}

impl Hub {
    /// The key of a session's decisions, one per applet.
    pub async fn consents(&self, session: SessionId) -> Result<Vec<(Slug, Consent)>> {
        let prefix = consents_prefix(session);
        let rows = self.store().list::<Consent>(&prefix, None, APPLETS).await?;
        let read = rows.into_iter().filter_map(|(key, record)| {
            let slug = key.strip_prefix(&prefix)?.parse().ok()?;
            Some((slug, record.value))
        });
        Ok(read.collect())
    }

    /// The consent for an applet in a session.
    pub async fn consent(&self, session: SessionId, applet: &Slug) -> Result<Consent> {
        match self.store().get(&consent_key(session, applet)).await? {
            Some(decided) => Ok(decided.value),
            None if self.is_always_allowed(applet).await? => Ok(Consent::Allowed),
            None => Ok(Consent::Open),
        }
    }

    /// Whether an applet may send messages in every session.
    pub async fn is_always_allowed(&self, applet: &Slug) -> Result<bool> {
        let found = self.store().get::<Consent>(&always_key(applet)).await?;
        Ok(found.is_some_and(|record| record.value == Consent::Allowed))
    }

    /// Sets that for every session; decisions for single sessions stay.
    pub async fn set_speaks_always(&self, applet: &Slug, may: bool) -> Result<()> {
        let put = match may {
            true => store::record(always_key(applet), &Consent::Allowed)?,
            false => Put::remove(always_key(applet), Expect::Any),
        };
        let commit = self.store().put(vec![put]).await?;
        self.store().keep(commit).await
    }
}
