//! The use of the user's models and sessions by pages, and its end when a page leaves or loses a permission.

use std::{sync::Arc, time::Duration};

use gangway_core::{Command, Origin, Scope, SessionId};
use gangway_http::Http;
use gangway_providers::Models;
use gangway_workspaces::Sessions;

use crate::{Sites, Visit, browser::Browser, permissions::Permissions};

/// How often expired servers and chats are checked.
const SWEEP: Duration = Duration::from_secs(10);

/// The service behind `window.ai` and `window.agent`, and the state of its routes.
pub struct WebAgent {
    /// The open pages.
    pub sites: Arc<Sites>,
    /// Their permissions.
    pub permissions: Arc<Permissions>,
    /// Where their sessions are stored.
    pub sessions: Sessions,
    pub models: Arc<Models>,
    /// The browsers whose active tab agents may use.
    pub browser: Arc<Browser>,
    pub http: Arc<Http>,
}

impl WebAgent {
    /// A page was closed: all of its activities end.
    pub async fn leave(&self, visit: &Arc<Visit>) {
        let sites = &self.sites;
        if sites.lock_visits().remove(&visit.id).is_none() {
            return;
        }
        visit.over.cancel();
        visit.leave();
        for text in visit.take_texts() {
            self.end_text(&text).await;
        }
        if let Some(chat) = visit.chat() {
            self.end_chat(visit, &chat).await;
        }
        let others = |other: &Arc<Visit>| other.origin == visit.origin;
        if !sites.lock_visits().values().any(others) {
            sites.servers.schedule_leave(&visit.origin);
        }
    }

    /// Ends what was revoked or has expired, until the server stops.
    pub async fn watch(self: Arc<Self>) {
        let sites = &self.sites;
        let permissions = &self.permissions;
        let mut changes = permissions.changes();
        loop {
            tokio::select! {
                // The sender lives as long as the server.
                _ = changes.changed() => {}
                () = tokio::time::sleep(SWEEP) => {}
                () = self.http.stop.cancelled() => return,
            }
            let visits: Vec<_> = sites.lock_visits().values().cloned().collect();
            let here: Vec<Origin> = visits.iter().map(|visit| visit.origin.clone()).collect();
            let may = |origin: &Origin, url: Option<&str>| {
                permissions.check(origin, Scope::ServersRegister).is_ok()
                    && url.is_none_or(|url| permissions.keeps_server(origin, url))
            };
            // Servers may take a moment to stop.
            for visit in &visits {
                self.close_chat_without_consent(visit).await;
            }
            sites.servers.sweep(&here, may).await;
        }
    }

    /// Stops the MCP servers of sites, and writes the rest of the audit log.
    pub async fn shutdown(&self) {
        self.sites.servers.shutdown().await;
        self.permissions.flush().await;
    }

    /// Stops the running turn in a page's session, and removes the session's settings.
    pub(crate) async fn drop_work(&self, session: SessionId) {
        self.sites.lock_works().remove(&session);
        if let Ok(session) = self.sessions.hub().open(session).await {
            let _ = session.submit(Command::Stop).await;
        }
    }
}
