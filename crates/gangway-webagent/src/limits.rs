//! How much one site may have going on at the same time, over all of its pages.

use std::{num::NonZeroU32, sync::Arc};

use gangway_core::Origin;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::{Sites, Visit, error::SiteError, text::Text};

/// Conversations that are open.
const TEXTS: usize = 50;

/// Sessions that are made for a site in a minute, and at once.
const SESSIONS: NonZeroU32 = NonZeroU32::new(120).unwrap();
const SESSIONS_AT_ONCE: NonZeroU32 = NonZeroU32::new(60).unwrap();

/// Counts the sessions that are made.
pub(crate) fn sessions() -> DefaultKeyedRateLimiter<Origin> {
    let quota = Quota::per_minute(SESSIONS).allow_burst(SESSIONS_AT_ONCE);
    RateLimiter::keyed(quota)
}

impl Sites {
    /// Refuses one session more than may be made in a while: each has a log and a folder of its own.
    pub(crate) fn room_for_session(&self, origin: &Origin) -> Result<(), SiteError> {
        self.made.retain_recent();
        self.made.check_key(origin).map_err(|_| {
            SiteError::too_many("this site creates sessions too fast; wait a moment and try again")
        })
    }

    /// Opens one conversation, unless there are as many as there may be: looked at and done in one go, since a site may
    /// open many at the same moment.
    pub(crate) fn add_text(
        &self,
        visit: &Visit,
        id: String,
        text: Arc<Text>,
    ) -> Result<(), SiteError> {
        let visits = self.lock_visits();
        let same = visits.values().filter(|one| one.origin == visit.origin);
        if same.map(|one| one.texts()).sum::<usize>() >= TEXTS {
            let words = format!("this site has {TEXTS} sessions open; destroy some");
            return Err(SiteError::too_many(words));
        }
        visit.add_text(id, text);
        Ok(())
    }
}
