//! Limits the connections of one address, so that none takes all.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Clone)]
pub(super) struct Shares {
    most: usize,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// Released on drop.
pub(super) struct Share {
    of: Option<(Shares, IpAddr)>,
}

impl Shares {
    /// One address may have half of all connections.
    pub(super) fn of(connections: usize) -> Self {
        Self {
            most: (connections / 2).max(1),
            open: Arc::default(),
        }
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// `None` if this address has its half. Loopback is not limited: all programs on this machine, and everything
    /// behind a local proxy, share that address.
    pub(super) fn take(&self, address: IpAddr) -> Option<Share> {
        let address = network(address);
        if address.is_loopback() {
            return Some(Share { of: None });
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        drop(open);
        let of = Some((self.clone(), address));
        Some(Share { of })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let Some((shares, address)) = self.of.take() else {
            return;
        };
        let mut open = shares.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&address);
            }
        }
    }
}

/// An IPv6 host has a whole /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if !v6.is_loopback() => {
            IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_half_of_the_connections_and_loopback_all() {
        let shares = Shares::of(4);
        let take = |text: &str| shares.take(text.parse().unwrap());
        let (one, two) = (take("192.0.2.1"), take("::ffff:192.0.2.1"));
        assert!(one.is_some() && two.is_some() && take("192.0.2.1").is_none());
        assert!(take("192.0.2.2").is_some());
        drop(one);
        assert!(take("192.0.2.1").is_some());
        let (_a, _b) = (take("2001:db8::1"), take("2001:db8::2"));
        assert!(take("2001:db8::3").is_none() && take("2001:db8:1::3").is_some());
        let own: Vec<_> = (0..9).map(|_| take("127.0.0.1")).collect();
        assert!(own.iter().all(Option::is_some));
        drop((two, own));
    }
}
