//! What pages do with the person's models and sessions, and what ends when a page leaves or loses a permission.

use std::{sync::Arc, time::Duration};

use gangway_core::{Command, Origin, Scope, SessionId};
use gangway_http::Http;
use gangway_providers::Models;
use gangway_workspaces::Sessions;

use crate::{Sites, Visit, browser::Browser, permissions::Permissions};

/// How often expired servers and chats are looked for.
const SWEEP: Duration = Duration::from_secs(10);

/// The service behind `window.ai` and `window.agent`, and the state of its routes.
pub struct WebAgent {
    /// The pages that are open.
    pub sites: Arc<Sites>,
    /// What they may do.
    pub permissions: Arc<Permissions>,
    /// Where their conversations are.
    pub sessions: Sessions,
    pub models: Arc<Models>,
    /// The browsers whose active tab agents may use.
    pub browser: Arc<Browser>,
    pub http: Arc<Http>,
}

impl WebAgent {
    /// A page is gone: everything it had going on ends.
    pub async fn leave(&self, visit: &Arc<Visit>) {
        let sites = &self.sites;
        if sites.lock_visits().remove(&visit.id).is_none() {
            return;
        }
        visit.over.cancel();
        visit.own_tools.leave();
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

    /// Ends what the person takes back, and what nobody needs any more, until the server stops.
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
            // Servers may take a moment to end.
            for visit in &visits {
                self.close_chat_without_consent(visit).await;
            }
            sites.servers.sweep(&here, may).await;
        }
    }

    /// Ends the MCP servers of sites, and writes the rest of the audit log.
    pub async fn shutdown(&self) {
        self.sites.servers.shutdown().await;
        self.permissions.flush().await;
    }

    /// Ends the turn that runs in a session of a page, and forgets what it was set up with.
    pub(crate) async fn drop_work(&self, session: SessionId) {
        self.sites.lock_works().remove(&session);
        if let Ok(session) = self.sessions.hub().open(session).await {
            let _ = session.submit(Command::Stop).await;
        }
    }
}
