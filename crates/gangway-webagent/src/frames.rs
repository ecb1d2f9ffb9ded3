//! Pages in frames of other sites: they use their origin's grants, and ask only if the parent page delegates that.

use std::{collections::HashMap, time::Duration};

use gangway_core::{
    Origin,
    secret::{hash, new_secret},
};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{SiteError, Sites, Visit};

/// How long a framed page may take to show the secret of its delegation.
const LASTS: Duration = Duration::from_secs(60);

/// Maximum number of pending delegations.
const MOST: usize = 200;

/// Where a page is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Embedding {
    /// In a tab of its own, or in frames of its own site or of Gangway.
    Top,
    /// In a frame of another site.
    Framed {
        /// The origin of the top page, if the browser reports it.
        top: Option<Origin>,
    },
}

impl Embedding {
    /// Derives it from the origins of the ancestors of a page of `origin`, nearest first, as reported by its browser.
    pub fn of(origin: &Origin, ancestors: &[String], own: impl Fn(&str) -> bool) -> Self {
        let harmless = |around: &String| around == origin.as_str() || own(around);
        if ancestors.iter().all(harmless) {
            return Self::Top;
        }
        Self::Framed {
            top: ancestors.last().and_then(|top| top.parse().ok()),
        }
    }
}

/// Pending delegations, by the hash of their secrets.
#[derive(Default)]
pub(crate) struct Delegations(Mutex<HashMap<String, Delegation>>);

struct Delegation {
    to: Origin,
    top: Origin,
    until: Instant,
}

impl Delegations {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Delegation>> {
        let mut waiting = self.0.lock();
        let now = Instant::now();
        waiting.retain(|_, one| one.until > now);
        waiting
    }
}

impl Visit {
    /// Whether the page may ask the user; if so, the embedder to display, if any.
    pub(crate) fn may_ask(&self) -> Result<Option<Origin>, SiteError> {
        match (&self.place, self.delegated_by()) {
            (Embedding::Top, _) => Ok(None),
            (Embedding::Framed { .. }, Some(top)) => Ok(Some(top)),
            (Embedding::Framed { top }, None) => {
                let top = top
                    .as_ref()
                    .map_or("another site".to_owned(), Origin::to_string);
                let message = format!(
                    "a page in a frame of {top} asks only if that page delegates it: it must include gangway.js and mark the \
                     frame with data-gangway-delegate; or open {} in a tab of its own and ask there",
                    self.origin
                );
                Err(SiteError::new("ERR_PERMISSION_DENIED", message))
            }
        }
    }
}

impl Sites {
    /// Allows a frame of this page that shows `to` to ask: returns a one-time secret for that frame.
    pub fn delegate(&self, visit: &Visit, to: &str) -> Result<Value, SiteError> {
        let to: Origin = to
            .parse()
            .map_err(|error| SiteError::wrong(format!("`origin`: {error}")))?;
        let top = visit.may_ask()?.unwrap_or_else(|| visit.origin.clone());
        let mut waiting = self.delegations.lock();
        if waiting.len() >= MOST {
            return Err(SiteError::too_many(
                "too many delegations are pending; wait a minute",
            ));
        }
        let token = new_secret();
        let until = Instant::now() + LASTS;
        waiting.insert(hash(&token), Delegation { to, top, until });
        Ok(json!({ "token": token }))
    }

    /// A framed page shows the secret from its embedder.
    pub fn accept_delegation(&self, visit: &Visit, token: &str) -> Result<(), SiteError> {
        let found = self.delegations.lock().remove(&hash(token));
        let fits = |one: &Delegation| {
            let seen = match &visit.place {
                Embedding::Top => None,
                Embedding::Framed { top } => top.as_ref(),
            };
            one.to == visit.origin && seen.is_none_or(|top| *top == one.top)
        };
        let delegation = found.filter(fits).ok_or_else(|| {
            let message =
                "this delegation was already used, has expired after a minute, or is for another page";
            SiteError::new("ERR_PERMISSION_DENIED", message)
        })?;
        visit.set_delegated_by(delegation.top);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_framed_by_another_site_unless_all_its_ancestors_are_its_own_or_gangways() {
        let origin: Origin = "https://pay.example".parse().unwrap();
        let place = |around: &[&str]| {
            let around: Vec<_> = around.iter().map(|one| (*one).to_owned()).collect();
            Embedding::of(&origin, &around, |one| one == "http://localhost:3000")
        };
        let framed = |top: Option<&str>| Embedding::Framed {
            top: top.map(|top| top.parse().unwrap()),
        };
        assert_eq!(place(&[]), Embedding::Top);
        assert_eq!(place(&["https://pay.example"]), Embedding::Top);
        assert_eq!(place(&["http://localhost:3000"]), Embedding::Top);
        assert_eq!(
            place(&["https://shop.example"]),
            framed(Some("https://shop.example"))
        );
        // A page of its own origin around a foreign one does not make the foreign one harmless.
        assert_eq!(
            place(&["https://evil.example", "https://pay.example"]),
            framed(Some("https://pay.example"))
        );
        // The browser does not report it.
        assert_eq!(place(&["null"]), framed(None));
    }
}
