//! Running and waiting model calls, counted against the budget of their origin.

use std::sync::Arc;

use gangway_core::Origin;
use jiff::Timestamp;

use super::budget::{Budgets, resets_at};

/// Maximum number of waiting calls of one origin.
pub const MAX_WAITING: usize = 64;

/// Why a call is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverBudget {
    /// Too many calls are waiting.
    #[error(
        "{origin} already has {MAX_WAITING} calls to your models waiting, its limit; wait for some to finish"
    )]
    Waiting {
        /// The caller.
        origin: Origin,
    },
    /// The daily budget is used up.
    #[error(
        "{origin} has used its budget of {tokens} tokens per day; it resets at {resets_at}, and can be raised on the Permissions page"
    )]
    Tokens {
        /// The caller.
        origin: Origin,
        /// The limit.
        tokens: u64,
        /// When the budget resets.
        resets_at: Timestamp,
    },
}

impl Budgets {
    /// Starts a call with its estimated input tokens reserved; waits while the origin has its maximum of running calls.
    /// Dropping the lease ends the call and books its usage.
    pub async fn begin(
        self: &Arc<Self>,
        origin: &Origin,
        expected: u64,
    ) -> Result<Lease, OverBudget> {
        let place = self.enter(origin)?;
        loop {
            // Created before the check, so that no notification is missed in between.
            let freed = self.freed.notified();
            if let Some(lease) = self.try_begin(&place, expected)? {
                return Ok(lease);
            }
            freed.await;
        }
    }

    fn enter(self: &Arc<Self>, origin: &Origin) -> Result<WaitingTicket, OverBudget> {
        let mut state = self.lock();
        state.last_ticket += 1;
        let ticket = state.last_ticket;
        let entry = state.today(origin, Timestamp::now());
        if entry.waiting.len() >= MAX_WAITING {
            return Err(OverBudget::Waiting {
                origin: origin.clone(),
            });
        }
        entry.waiting.push_back(ticket);
        drop(state);
        Ok(WaitingTicket {
            budgets: Arc::clone(self),
            origin: origin.clone(),
            ticket,
        })
    }

    fn try_begin(
        self: &Arc<Self>,
        place: &WaitingTicket,
        expected: u64,
    ) -> Result<Option<Lease>, OverBudget> {
        let (now, origin) = (Timestamp::now(), &place.origin);
        let mut state = self.lock();
        let entry = state.today(origin, now);
        let tokens = entry.stored.tokens_per_day();
        let committed = entry.stored.used.saturating_add(entry.reserved);
        if committed.saturating_add(expected.max(1)) > tokens {
            return Err(OverBudget::Tokens {
                origin: origin.clone(),
                tokens,
                resets_at: resets_at(now),
            });
        }
        let is_next = entry.waiting.front() == Some(&place.ticket);
        if !is_next || entry.open >= entry.stored.max_concurrent() {
            return Ok(None);
        }
        entry.open += 1;
        entry.reserved += expected;
        drop(state);
        Ok(Some(Lease {
            budgets: Arc::clone(self),
            origin: origin.clone(),
            expected,
            used: expected,
            left: tokens.saturating_sub(committed).saturating_sub(expected),
        }))
    }
}

/// A place in the queue of an origin's calls, until dropped.
struct WaitingTicket {
    budgets: Arc<Budgets>,
    origin: Origin,
    ticket: u64,
}

impl Drop for WaitingTicket {
    fn drop(&mut self) {
        if let Some(entry) = self.budgets.lock().origins.get_mut(&self.origin) {
            entry.waiting.retain(|ticket| *ticket != self.ticket);
        }
        self.budgets.freed.notify_waiters();
    }
}

/// A running call of an origin; ends when dropped.
pub struct Lease {
    budgets: Arc<Budgets>,
    origin: Origin,
    expected: u64,
    used: u64,
    left: u64,
}

impl Lease {
    /// Tokens that the budget has left for the answer.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Sets the call's usage so far.
    pub fn used(&mut self, tokens: u64) {
        self.used = tokens;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.budgets.lock();
        let entry = state.today(&self.origin, Timestamp::now());
        entry.open = entry.open.saturating_sub(1);
        entry.reserved = entry.reserved.saturating_sub(self.expected);
        entry.stored.used = entry.stored.used.saturating_add(self.used);
        state.changed.insert(self.origin.clone());
        drop(state);
        self.budgets.freed.notify_waiters();
        let budgets = Arc::clone(&self.budgets);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = budgets.keep().await {
                    tracing::warn!(%error, "cannot store the model usage of a site");
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use futures_util::FutureExt;

    use super::{
        super::budget::{
            MAX_CONCURRENT,
            tests::{budgets, origin},
        },
        *,
    };

    #[tokio::test]
    async fn calls_beyond_the_concurrent_limit_wait_in_order_and_others_are_not_held_up() {
        let (_folder, budgets) = budgets().await;
        let (shop, other) = (
            origin("https://shop.example"),
            origin("https://other.example"),
        );
        let mut open = Vec::new();
        for _ in 0..MAX_CONCURRENT {
            open.push(budgets.begin(&shop, 1).await.unwrap());
        }
        let mut waiting: VecDeque<_> = (0..MAX_WAITING)
            .map(|_| Box::pin(budgets.begin(&shop, 1)))
            .collect();
        for call in &mut waiting {
            assert!(call.as_mut().now_or_never().is_none());
        }
        assert!(matches!(
            budgets.begin(&shop, 1).await,
            Err(OverBudget::Waiting { .. })
        ));
        assert!(budgets.begin(&other, 1).await.is_ok());
        open.pop();
        assert!(waiting[1].as_mut().now_or_never().is_none());
        let first = waiting.pop_front().unwrap().await.unwrap();
        // A call that is aborted while waiting makes room for the next one.
        drop(waiting.pop_front());
        drop(first);
        assert!(waiting.pop_front().unwrap().await.is_ok());
    }
}
