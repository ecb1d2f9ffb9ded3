//! The consent for applets in a session.

use super::Worker;
use crate::{
    command::Receipt,
    consent::{always_key, consent_key},
    error::Result,
    event::{Consent, Event},
    id::Slug,
    store::{self, Commit, Expect, Put},
};

/// Displayed characters of an applet's message.
const SHOWN: usize = 2000;

impl Worker {
    pub(super) async fn request_consent(
        &mut self,
        applet: Slug,
        prompt: String,
    ) -> Result<(Receipt, Option<Commit>)> {
        let here = self
            .store
            .get::<Consent>(&consent_key(self.id, &applet))
            .await?;
        let consent = match here {
            Some(decided) => decided.value,
            None => match self.store.get::<Consent>(&always_key(&applet)).await? {
                Some(always) => always.value,
                None => Consent::Open,
            },
        };
        let seq = self.log.head();
        if consent != Consent::Open {
            return Ok((Receipt::Consent { consent, seq }, None));
        }
        let prompt = prompt.chars().take(SHOWN).collect();
        let asked = Event::ConsentRequested { applet, prompt };
        let written = self.append(vec![asked], Vec::new()).await?;
        let seq = written.last;
        Ok((Receipt::Consent { consent, seq }, Some(written.commit)))
    }

    /// A request without a decision is closed; its displays must be notified.
    pub(super) async fn withdraw_consent_request(
        &mut self,
        applet: Slug,
    ) -> Result<(Receipt, Option<Commit>)> {
        let key = consent_key(self.id, &applet);
        // A decision at the last moment takes precedence.
        if self.store.get::<Consent>(&key).await?.is_some() {
            return Ok((Receipt::Done, None));
        }
        let consent = Consent::Open;
        let over = Event::ConsentChanged { applet, consent };
        let written = self.append(vec![over], Vec::new()).await?;
        Ok((Receipt::Done, Some(written.commit)))
    }

    pub(super) async fn set_consent(
        &mut self,
        applet: Slug,
        consent: Consent,
    ) -> Result<(Receipt, Option<Commit>)> {
        let key = consent_key(self.id, &applet);
        let records = match consent {
            Consent::Allowed | Consent::Denied => vec![store::record(key, &consent)?],
            Consent::Open => vec![Put::remove(key, Expect::Any)],
            // "Allow once" is used up by the waiting message.
            Consent::Once => Vec::new(),
        };
        let decided = Event::ConsentChanged { applet, consent };
        let written = self.append(vec![decided], records).await?;
        let seq = written.last;
        Ok((Receipt::Consent { consent, seq }, Some(written.commit)))
    }
}
