//! Unsolicited status messages: only the newest of each kind is kept.

use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusKind {
    /// Availability of the server.
    Server,
    /// Permission requests.
    Asks,
    /// Permissions changed.
    Changed,
}

#[derive(Default)]
struct Slots {
    /// Whether the extension has said hello.
    greeted: bool,
    server: Option<String>,
    asks: Option<String>,
    changed: Option<String>,
    /// The last of each, for the next hello.
    last_server: Option<String>,
    last_asks: Option<String>,
}

impl Slots {
    fn of(&mut self, kind: StatusKind) -> &mut Option<String> {
        match kind {
            StatusKind::Server => &mut self.server,
            StatusKind::Asks => &mut self.asks,
            StatusKind::Changed => &mut self.changed,
        }
    }
}

#[derive(Default)]
pub(crate) struct Statuses {
    slots: Mutex<Slots>,
}

impl Statuses {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a status; returns whether the writer must be notified.
    pub(crate) fn set(&self, kind: StatusKind, json: String) -> bool {
        let mut slots = self.lock();
        match kind {
            StatusKind::Server => slots.last_server = Some(json.clone()),
            StatusKind::Asks => slots.last_asks = Some(json.clone()),
            StatusKind::Changed => {}
        }
        if !slots.greeted {
            return false;
        }
        slots.of(kind).replace(json).is_none()
    }

    /// Enables statuses; returns those that are pending.
    pub(crate) fn greet(&self) -> Vec<StatusKind> {
        let mut slots = self.lock();
        slots.greeted = true;
        let known = [
            (StatusKind::Server, slots.last_server.clone()),
            (StatusKind::Asks, slots.last_asks.clone()),
        ];
        let message = known.into_iter().filter_map(|(kind, last)| {
            let waits = slots.of(kind).replace(last?).is_some();
            (!waits).then_some(kind)
        });
        message.collect()
    }

    /// The server is gone, and its permission requests with it.
    pub(crate) fn forget_asks(&self) {
        let mut slots = self.lock();
        (slots.asks, slots.last_asks) = (None, None);
    }

    pub(crate) fn take(&self, kind: StatusKind) -> Option<String> {
        self.lock().of(kind).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_of_a_kind_waits_and_none_before_the_hello() {
        let statuses = Statuses::default();
        assert!(!statuses.set(StatusKind::Server, "up".into()));
        assert!(!statuses.set(StatusKind::Changed, "changed".into()));
        assert!(!statuses.set(StatusKind::Asks, "one".into()));
        assert_eq!(statuses.greet(), [StatusKind::Server, StatusKind::Asks]);
        assert!(
            !statuses.set(StatusKind::Asks, "two".into()),
            "one waits already"
        );
        assert_eq!(statuses.take(StatusKind::Asks).as_deref(), Some("two"));
        assert_eq!(statuses.take(StatusKind::Asks), None);
        assert!(statuses.set(StatusKind::Asks, "three".into()));
        assert_eq!(statuses.take(StatusKind::Changed), None);
    }
}
