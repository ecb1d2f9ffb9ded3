//! Access to the hub for objects that the hub owns.

use std::sync::{Arc, Weak};

use crate::{Error, Hub, Result};

/// A weak reference to the hub. Agents and their tools are created before the hub, which owns them.
#[derive(Clone)]
pub struct HubHandle(Weak<Hub>);

impl HubHandle {
    pub(crate) fn new(hub: &Weak<Hub>) -> Self {
        Self(Weak::clone(hub))
    }

    /// The hub; fails with [`Error::Stopping`] before it is created and after it is dropped.
    pub fn get(&self) -> Result<Arc<Hub>> {
        self.0.upgrade().ok_or(Error::Stopping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agents, Limits, Store};

    #[tokio::test]
    async fn a_handle_reaches_the_hub_from_when_it_is_made_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let made = Hub::new_cyclic(store.clone(), Limits::default(), |handle| {
            assert!(handle.get().is_err());
            Ok::<_, Error>((Agents::none(), handle))
        });
        let (hub, handle) = made.unwrap();
        assert!(Arc::ptr_eq(&handle.get().unwrap(), &hub));
        drop(hub);
        assert!(matches!(handle.get(), Err(Error::Stopping)));
        let failed = Hub::new_cyclic::<(), _>(store, Limits::default(), |_| Err("no script"));
        assert_eq!(failed.err(), Some("no script"));
    }
}
