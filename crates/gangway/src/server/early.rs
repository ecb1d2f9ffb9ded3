//! Connections without a complete request. They are cheap to open and hold a descriptor each: above the limits, a new
//! one closes the oldest, of the same address first, if it had enough time.

use std::{
    collections::VecDeque,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

/// Limits per address and in total.
const OF_ADDRESS: usize = 128;
const MOST: usize = 512;

/// A client sends its request within milliseconds; one that opens a thousand connections at once may take this long.
const TIME: Duration = Duration::from_secs(2);

/// Oldest first.
#[derive(Clone, Default)]
pub(super) struct Early(Arc<Mutex<VecDeque<WaitingEntry>>>);

struct WaitingEntry {
    address: IpAddr,
    since: Instant,
    over: CancellationToken,
}

/// Removed from the list on drop.
pub(super) struct WaitingConnection {
    early: Early,
    over: CancellationToken,
}

impl Early {
    /// Adds a connection; later ones may close it.
    pub(super) fn enter(&self, address: IpAddr, now: Instant) -> WaitingConnection {
        let over = CancellationToken::new();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.iter().filter(|other| other.address == address).count();
        let oldest = match own >= OF_ADDRESS {
            true => all.iter().position(|other| other.address == address),
            false => (all.len() >= MOST).then_some(0),
        };
        let late = |at: &usize| now.saturating_duration_since(all[*at].since) >= TIME;
        if let Some(oldest) = oldest.filter(late).and_then(|oldest| all.remove(oldest)) {
            oldest.over.cancel();
        }
        all.push_back(WaitingEntry {
            address,
            since: now,
            over: over.clone(),
        });
        WaitingConnection {
            early: self.clone(),
            over,
        }
    }
}

impl WaitingConnection {
    /// Cancelled when the connection must be closed.
    pub(super) fn over(&self) -> CancellationToken {
        self.over.clone()
    }
}

impl Drop for WaitingConnection {
    fn drop(&mut self) {
        let mut all = self.early.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Connections that end by themselves are nearly always among the newest.
        let own = all.iter().rposition(|other| other.over == self.over);
        own.and_then(|own| all.remove(own));
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn one_too_many_ends_the_oldest_of_its_own_address_that_had_its_time() {
        let (early, now) = (Early::default(), Instant::now());
        let address = |n: u8| IpAddr::from(Ipv4Addr::new(10, 0, 0, n));
        let other = early.enter(address(1), now);
        let burst: Vec<_> = (0..1000).map(|_| early.enter(address(2), now)).collect();
        assert!(burst.iter().all(|one| !one.over().is_cancelled()));
        let next = early.enter(address(2), now + TIME);
        assert!(burst[0].over().is_cancelled() && !burst[1].over().is_cancelled());
        assert!(!other.over().is_cancelled());
        // Above the total limit the oldest of all is closed.
        let third = early.enter(address(3), now + TIME);
        assert!(other.over().is_cancelled());
        drop((burst, next, other, third));
        assert!(early.0.lock().unwrap().is_empty());
    }
}
