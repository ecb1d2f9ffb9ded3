//! Applets with a connected page, by session.

use std::{collections::HashMap, sync::Arc};

use gangway_core::{Hub, Result, SessionId, Slug};
use parking_lot::Mutex;

use crate::AppletRegistry;

/// The state of pages without an applet, if the session has no single applet.
const SHARED: &str = "shared";

#[derive(Default)]
pub struct OpenApplets(Mutex<HashMap<SessionId, Vec<OpenApplet>>>);

#[derive(Clone, PartialEq, Eq)]
struct OpenApplet {
    applet: Slug,
    /// Whether the page named the applet, or was assigned one.
    named: bool,
}

/// Until dropped, the applet counts as open.
pub struct OpenGuard {
    registry: Arc<AppletRegistry>,
    session: SessionId,
    open: OpenApplet,
}

impl OpenApplets {
    fn of(&self, session: SessionId, named: bool) -> Vec<Slug> {
        let all = self.0.lock();
        let open = all.get(&session).into_iter().flatten();
        let open = open.filter(|one| one.named == named);
        let mut slugs: Vec<Slug> = open.map(|one| one.applet.clone()).collect();
        slugs.sort_unstable();
        slugs.dedup();
        slugs
    }
}

impl AppletRegistry {
    pub fn enter(self: &Arc<Self>, session: SessionId, applet: Slug, named: bool) -> OpenGuard {
        let open = OpenApplet { applet, named };
        let mut all = self.opened.0.lock();
        all.entry(session).or_default().push(open.clone());
        drop(all);
        let registry = Arc::clone(self);
        OpenGuard {
            registry,
            session,
            open,
        }
    }

    /// The applets that an agent may refer to without a name: open ones, else those with a state, else the one that
    /// unnamed pages use.
    pub async fn meant(&self, hub: &Hub, session: SessionId) -> Result<Vec<Slug>> {
        let known = self.named_or_known(hub, session).await?;
        Ok(match known.is_empty() {
            true => self.opened.of(session, false),
            false => known,
        })
    }

    /// The applet whose state an unnamed page uses: the session's only one, or a shared one.
    pub async fn unnamed(&self, hub: &Hub, session: SessionId) -> Result<Slug> {
        let mut known = self.named_or_known(hub, session).await?;
        Ok(match (known.pop(), known.is_empty()) {
            (Some(only), true) => only,
            _ => SHARED
                .parse()
                .unwrap_or_else(|_| unreachable!("{SHARED} is a slug")),
        })
    }

    async fn named_or_known(&self, hub: &Hub, session: SessionId) -> Result<Vec<Slug>> {
        match self.opened.of(session, true) {
            open if !open.is_empty() => Ok(open),
            _ => hub.applets(session).await,
        }
    }
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        let mut all = self.registry.opened.0.lock();
        let Some(open) = all.get_mut(&self.session) else {
            return;
        };
        if let Some(at) = open.iter().position(|one| *one == self.open) {
            open.swap_remove(at);
        }
        if open.is_empty() {
            all.remove(&self.session);
        }
    }
}
