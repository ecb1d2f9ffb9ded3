//! Limits of one site, over all of its pages.

use std::{num::NonZeroU32, sync::Arc};

use gangway_core::Origin;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::{Sites, Visit, error::SiteError, text::Text};

/// Maximum number of open text sessions.
const TEXTS: usize = 50;

/// Maximum number of sessions created per minute, and at once.
const SESSIONS: NonZeroU32 = NonZeroU32::new(120).unwrap();
const SESSIONS_AT_ONCE: NonZeroU32 = NonZeroU32::new(60).unwrap();

/// Rate limit of new sessions.
pub(crate) fn sessions() -> DefaultKeyedRateLimiter<Origin> {
    let quota = Quota::per_minute(SESSIONS).allow_burst(SESSIONS_AT_ONCE);
    RateLimiter::keyed(quota)
}

impl Sites {
    /// Rejects a session above the rate limit: each has its own log and folder.
    pub(crate) fn room_for_session(&self, origin: &Origin) -> Result<(), SiteError> {
        self.made.retain_recent();
        self.made.check_key(origin).map_err(|_| {
            SiteError::too_many("this site creates sessions too fast; wait a moment and try again")
        })
    }

    /// Opens a text session unless the limit is reached: check and insert are atomic, since a site may open many
    /// concurrently.
    pub(crate) fn add_text(
        &self,
        visit: &Visit,
        id: String,
        text: Arc<Text>,
    ) -> Result<(), SiteError> {
        let visits = self.lock_visits();
        let same = visits.values().filter(|one| one.origin == visit.origin);
        if same.map(|one| one.texts()).sum::<usize>() >= TEXTS {
            let message = format!("this site has {TEXTS} sessions open; destroy some");
            return Err(SiteError::too_many(message));
        }
        visit.add_text(id, text);
        Ok(())
    }
}
