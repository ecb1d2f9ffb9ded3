//! The consent for applets in a session.

use super::Worker;
use crate::{
    command::Receipt,
    consent::{always_key, leave_key},
    error::Result,
    event::{Event, Leave},
    id::Slug,
    store::{self, Commit, Expect, Put},
};

/// Displayed characters of an applet's message.
const SHOWN: usize = 2000;

impl Worker {
    pub(super) async fn ask_leave(
        &mut self,
        applet: Slug,
        prompt: String,
    ) -> Result<(Receipt, Option<Commit>)> {
        let here = self
            .store
            .get::<Leave>(&leave_key(self.id, &applet))
            .await?;
        let leave = match here {
            Some(decided) => decided.value,
            None => match self.store.get::<Leave>(&always_key(&applet)).await? {
                Some(always) => always.value,
                None => Leave::Open,
            },
        };
        let seq = self.log.head();
        if leave != Leave::Open {
            return Ok((Receipt::Leave { leave, seq }, None));
        }
        let prompt = prompt.chars().take(SHOWN).collect();
        let asked = Event::LeaveAsked { applet, prompt };
        let written = self.append(vec![asked], Vec::new()).await?;
        let seq = written.last;
        Ok((Receipt::Leave { leave, seq }, Some(written.commit)))
    }

    /// A request without a decision is closed; its displays must be notified.
    pub(super) async fn unask_leave(&mut self, applet: Slug) -> Result<(Receipt, Option<Commit>)> {
        let key = leave_key(self.id, &applet);
        // A decision at the last moment takes precedence.
        if self.store.get::<Leave>(&key).await?.is_some() {
            return Ok((Receipt::Done, None));
        }
        let leave = Leave::Open;
        let over = Event::LeaveChanged { applet, leave };
        let written = self.append(vec![over], Vec::new()).await?;
        Ok((Receipt::Done, Some(written.commit)))
    }

    pub(super) async fn set_leave(
        &mut self,
        applet: Slug,
        leave: Leave,
    ) -> Result<(Receipt, Option<Commit>)> {
        let key = leave_key(self.id, &applet);
        let records = match leave {
            Leave::Allowed | Leave::Denied => vec![store::record(key, &leave)?],
            Leave::Open => vec![Put::remove(key, Expect::Any)],
            // "Allow once" is used up by the waiting message.
            Leave::Once => Vec::new(),
        };
        let decided = Event::LeaveChanged { applet, leave };
        let written = self.append(vec![decided], records).await?;
        let seq = written.last;
        Ok((Receipt::Leave { leave, seq }, Some(written.commit)))
    }
}
