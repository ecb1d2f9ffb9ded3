//! How much one site may have going on at the same time, over all of its pages.

use std::num::NonZeroU32;

use gangway_core::Origin;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::{Sites, error::SiteError, work::Kind};

/// Conversations that are open.
const TEXTS: usize = 50;

/// Answers that are being written.
const ANSWERS: usize = 4;

/// Sessions that are made for a site in a minute, and at once.
const SESSIONS: NonZeroU32 = NonZeroU32::new(120).unwrap();
const SESSIONS_AT_ONCE: NonZeroU32 = NonZeroU32::new(60).unwrap();

/// Counts the sessions that are made.
pub(super) fn sessions() -> DefaultKeyedRateLimiter<Origin> {
    let quota = Quota::per_minute(SESSIONS).allow_burst(SESSIONS_AT_ONCE);
    RateLimiter::keyed(quota)
}

impl Sites {
    /// Refuses one session more than may be made in a while: each has a log and a folder of its own.
    pub(super) fn room_for_session(&self, origin: &Origin) -> Result<(), SiteError> {
        self.made.retain_recent();
        self.made.check_key(origin).map_err(|_| {
            SiteError::too_many("this site begins too much in too short a time; wait a little")
        })
    }

    /// Refuses one conversation more than there may be.
    pub(super) fn room_for_text(&self, origin: &Origin) -> Result<(), SiteError> {
        let visits = self.lock_visits();
        let same = visits.values().filter(|visit| visit.origin == *origin);
        match same.map(|visit| visit.texts()).sum::<usize>() < TEXTS {
            true => Ok(()),
            false => Err(SiteError::too_many(format!(
                "this site has {TEXTS} sessions open; destroy some"
            ))),
        }
    }

    /// Refuses one answer more than there may be.
    pub(super) fn room_for_answer(&self, origin: &Origin) -> Result<(), SiteError> {
        let works = self.lock_works();
        let busy = |kind: &Kind| !matches!(kind, Kind::Chat { .. });
        let same = works
            .values()
            .filter(|work| work.origin == *origin && busy(&work.kind) && work.is_heard());
        match same.count() < ANSWERS {
            true => Ok(()),
            false => Err(SiteError::too_many(format!(
                "{ANSWERS} answers are being written for this site; wait for one"
            ))),
        }
    }
}
