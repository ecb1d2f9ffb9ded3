//! Progress of the demo, waiting for pages and events, and what is removed at its end.

use std::{future::pending, sync::Arc, time::Duration};

use gangway_core::{Actor, Event, Origin, PageId, SessionId, Subscription};
use gangway_http::auth::{KeyId, KeyName, KeyScope};
use gangway_pages::Page;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::{sync::watch, time::timeout};

use crate::{
    Services,
    wire::{DemoInfo, DemoState, DemoStep, DemoTask},
};

/// Longer than the demo; they are revoked when it ends.
const KEYS_LAST: SignedDuration = SignedDuration::from_mins(20);

/// Bytes of events that are read at once.
const CHUNK: usize = 64 << 10;

/// Why the demo ended early.
#[derive(Debug)]
pub(super) enum Ended {
    Denied(String),
    Failed(String),
    Stopped,
}

pub(super) type Played<T> = Result<T, Ended>;

pub(super) fn failed(message: impl Into<String>) -> Ended {
    Ended::Failed(message.into())
}

pub(super) struct Stage {
    pub(super) services: Services,
    info: watch::Sender<DemoInfo>,
    keys: Mutex<Vec<KeyId>>,
    site: Mutex<Option<Origin>>,
}

impl Stage {
    pub(super) fn new(services: Services) -> (Self, watch::Receiver<DemoInfo>) {
        let (info, receiver) = watch::channel(DemoInfo {
            version: 0,
            state: DemoState::Running,
            session_id: None,
            app: super::script::APP.to_owned(),
            launch_id: None,
            steps: Vec::new(),
            task: None,
            error: None,
        });
        let (keys, site) = (Mutex::default(), Mutex::default());
        let stage = Self {
            services,
            info,
            keys,
            site,
        };
        (stage, receiver)
    }

    fn change(&self, change: impl FnOnce(&mut DemoInfo)) {
        self.info.send_modify(|info| {
            change(info);
            info.version += 1;
        });
    }

    pub(super) fn launched(&self, session: SessionId, launch: &str) {
        self.change(|info| {
            info.session_id = Some(session.to_string());
            info.launch_id = Some(launch.to_owned());
        });
    }

    /// Something happened; what the person was to do is done.
    pub(super) fn step(&self, actor: &str, text: &str) {
        self.change(|info| {
            let (actor, text) = (actor.to_owned(), text.to_owned());
            info.steps.push(DemoStep { actor, text });
            info.task = None;
        });
    }

    /// The person is to do something.
    pub(super) fn task(&self, text: &str, url: Option<&str>) {
        self.change(|info| {
            let (text, url) = (text.to_owned(), url.map(str::to_owned));
            info.task = Some(DemoTask { text, url });
        });
    }

    pub(super) fn end(&self, ended: Played<()>) {
        self.change(|info| {
            info.task = None;
            (info.state, info.error) = match ended {
                Ok(()) => (DemoState::Done, None),
                Err(Ended::Denied(why)) => (DemoState::Denied, Some(why)),
                Err(Ended::Failed(why)) => (DemoState::Failed, Some(why)),
                Err(Ended::Stopped) => (DemoState::Stopped, Some("You ended the demo.".into())),
            };
        });
    }

    /// Creates a key that is revoked when the demo ends.
    pub(super) async fn key(&self, name: &str, scopes: &[&str]) -> Played<String> {
        let name: KeyName = name.parse().map_err(|_| failed("invalid key name"))?;
        let scopes = scopes.iter().map(|scope| scope.parse());
        let scopes: Result<Vec<KeyScope>, _> = scopes.collect();
        let scopes = scopes.map_err(|error| failed(error.to_string()))?;
        let ends = Timestamp::now() + KEYS_LAST;
        let keys = &self.services.http.keys;
        let created = keys.create(&name, scopes, Some(ends)).await;
        let created = created.map_err(|error| failed(error.to_string()))?;
        self.keys.lock().push(created.id);
        Ok(created.key)
    }

    /// The origin whose grants are removed when the demo ends.
    pub(super) fn site(&self, origin: &Origin) {
        *self.site.lock() = Some(origin.clone());
    }

    pub(super) async fn clean_up(&self) {
        let keys = std::mem::take(&mut *self.keys.lock());
        for key in keys {
            if let Err(error) = self.services.http.keys.revoke(&key).await {
                tracing::warn!(%error, "cannot revoke a key of the demo; it expires within 20 minutes");
            }
        }
        let site = self.site.lock().take();
        if let Some(origin) = site {
            let permissions = &self.services.permissions;
            if let Err(error) = permissions.forget(&origin, Actor::Person).await {
                tracing::warn!(%error, "cannot remove the permissions of the demo's site");
            }
            for page in self.services.pages.all() {
                if page.origin == origin.as_str() {
                    self.services.pages.connect(&page, None);
                }
            }
        }
    }

    /// Waits until open pages match.
    pub(super) async fn pages<T>(
        &self,
        wait: Duration,
        missing: &str,
        found: impl Fn(&[Arc<Page>]) -> Option<T>,
    ) -> Played<T> {
        let mut changes = self.services.pages.changes();
        let looking = async {
            loop {
                changes.mark_unchanged();
                if let Some(found) = found(&self.services.pages.all()) {
                    return found;
                }
                if changes.changed().await.is_err() {
                    return pending().await;
                }
            }
        };
        let found = timeout(wait, looking).await;
        found.map_err(|_| failed(missing))
    }

    /// Waits until a page is closed.
    async fn closed(&self, page: PageId) {
        let mut changes = self.services.pages.changes();
        while self.services.pages.find(page).is_some() {
            if changes.changed().await.is_err() {
                return pending().await;
            }
        }
    }

    /// Waits for an event of the session, while this page is open.
    pub(super) async fn event<T>(
        &self,
        log: &mut Subscription,
        (page, name): (PageId, &str),
        mut found: impl FnMut(&Event) -> Option<T>,
    ) -> Played<T> {
        let reading = async {
            loop {
                let next = log.next(CHUNK).await;
                let next = next.map_err(|error| failed(error.to_string()))?;
                let next = next.map_err(|_| failed("The chat of the demo was deleted."))?;
                if let Some(found) = next.iter().find_map(|logged| found(&logged.event)) {
                    return Ok(found);
                }
            }
        };
        tokio::select! {
            found = reading => found,
            () = self.closed(page) => {
                Err(failed(format!("{name} was closed. Start the demo again, and leave it open.")))
            }
        }
    }
}
