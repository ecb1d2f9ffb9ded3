//! The chat that a page opens for the user: a panel from this server's own origin, which the page cannot read.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use gangway_core::{
    Command, Event, Logged, Origin, Scope, SessionId,
    secret::{hash, new_secret},
};
use gangway_http::auth::PanelToken;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;
use ts_rs::TS;
use utoipa::ToSchema;

use crate::{
    SiteError, SiteServerMessage, Sites, Visit, WebAgent,
    permissions::{PermissionDenied, PermissionUse},
    text::{SYSTEM, long},
    work::{Work, WorkKind},
};

/// Timeout for loading a panel.
const TICKET: Duration = Duration::from_secs(60);

/// More events than a chat has in which nothing was said.
const NOTED: usize = 1000;

/// Maximum number of panels that load at the same time.
const TICKETS: usize = 100;

/// Options of a chat.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChatOptions {
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// The only allowed tools, by full or short name.
    pub tools: Option<Vec<String>>,
    /// Its appearance.
    pub style: Option<PanelStyle>,
}

/// Appearance of a panel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct PanelStyle {
    /// `light` or `dark`; default is the user's setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub theme: Option<String>,
    /// A CSS color.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub accent_color: Option<String>,
}

/// An open chat.
pub(crate) struct Chat {
    pub(crate) id: String,
    session: SessionId,
    style: PanelStyle,
    token: PanelToken,
}

/// The one-time ticket with which a panel learns its chat.
pub(crate) struct Ticket {
    visit: Weak<Visit>,
    until: Instant,
}

/// The chat of a panel.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PanelInfo {
    /// The chat.
    pub chat_id: String,
    /// Its session.
    pub session_id: String,
    /// The origin that opened it.
    pub origin: String,
    /// Its appearance.
    pub style: PanelStyle,
    /// For `Authorization: Bearer TOKEN`; valid only for this chat.
    pub token: String,
}

/// The answer to a page that gets no chat.
fn failed(code: &str, message: &str) -> Value {
    json!({ "success": false, "error": { "code": code, "message": message } })
}

impl WebAgent {
    /// Opens a chat for the user.
    pub async fn open_chat(
        &self,
        visit: &Arc<Visit>,
        options: ChatOptions,
    ) -> Result<Value, SiteError> {
        match self.permissions.check(&visit.origin, Scope::ChatOpen) {
            Ok(()) => {}
            Err(PermissionDenied::Denied(_)) => {
                return Ok(failed(
                    "USER_DENIED",
                    "the user denied this site permission to open chats",
                ));
            }
            Err(_) => return Ok(Sites::no_chat()),
        }
        if visit.chat().is_some() {
            return Ok(failed(
                "ALREADY_OPEN",
                "a chat is open already; close it first",
            ));
        }
        long(options.system_prompt.as_deref(), "systemPrompt", SYSTEM)?;
        let mut work = Work::new(
            visit,
            WorkKind::Chat {
                tools: options.tools,
            },
        );
        work.system = options.system_prompt;
        let work = Arc::new(work);
        let title = format!("Chat on {}", visit.origin);
        let session = self.make_session(&work, title, None, false).await?;
        let chat = Arc::new(Chat {
            id: format!("chat-{}", &new_secret()[..16]),
            session,
            style: options.style.unwrap_or_default(),
            token: self.http.panels.issue(session),
        });
        if !visit.open_chat(&chat) {
            self.end_session(visit, &chat).await;
            return Ok(failed(
                "ALREADY_OPEN",
                "a chat is open already; close it first",
            ));
        }
        if visit.over.is_cancelled() {
            // The page left while its session was created, which would otherwise never end.
            self.end_chat(visit, &chat).await;
            return Err(SiteError::aborted("the page is gone"));
        }
        let page = &visit.session_page;
        if page.session().is_none() {
            // Its tools are for the agents of its chat, whichever they are.
            self.sites.pages.connect(page, Some(session));
        }
        self.sites.note_chat(visit, "chat.open");
        let ticket = self.sites.ticket(visit);
        let panel = format!("/panel?for={}#{ticket}", visit.origin);
        Ok(json!({ "success": true, "chatId": chat.id, "panel": panel }))
    }

    /// Ends a chat whose site no longer has permission.
    pub(crate) async fn close_chat_without_consent(&self, visit: &Arc<Visit>) {
        if let Some(chat) = visit.chat()
            && self
                .permissions
                .check(&visit.origin, Scope::ChatOpen)
                .is_err()
        {
            self.close_panel(visit, &chat.id).await;
        }
    }

    /// Closes a chat for the page that opened it.
    pub async fn close_chat(&self, visit: &Arc<Visit>, id: &str) -> Value {
        match visit.close_chat(id) {
            Some(chat) => {
                self.end_session(visit, &chat).await;
                json!({ "success": true })
            }
            None => json!({ "success": false }),
        }
    }

    /// Closes a chat for the user, or after a change of permissions; its page is notified. Returns whether there was
    /// one.
    pub async fn close_panel(&self, visit: &Arc<Visit>, id: &str) -> bool {
        let Some(chat) = visit.close_chat(id) else {
            return false;
        };
        self.end_session(visit, &chat).await;
        visit.send(SiteServerMessage::Chat {
            chat_id: chat.id.clone(),
            state: "closed",
        });
        true
    }

    pub(crate) async fn end_chat(&self, visit: &Arc<Visit>, chat: &Chat) {
        visit.close_chat(&chat.id);
        self.end_session(visit, chat).await;
    }

    /// Ends the session of a chat; one without messages is deleted.
    async fn end_session(&self, visit: &Visit, chat: &Chat) {
        let page = &visit.session_page;
        if page.session() == Some(chat.session) {
            self.sites.pages.connect(page, None);
        }
        self.drop_work(chat.session).await;
        let Ok(session) = self.sessions.hub().open(chat.session).await else {
            return;
        };
        let is_message =
            |logged: &Arc<Logged>| matches!(logged.event, Event::MessageStarted { .. });
        // Only the page itself was noted in it.
        let tail = session.tail(NOTED).await;
        let is_empty = tail.is_ok_and(|tail| !tail.older && !tail.events.iter().any(is_message));
        if is_empty && session.submit(Command::Delete).await.is_ok() {
            self.sessions.remove_folder(chat.session).await;
        }
    }
}

impl Sites {
    /// The error for a page without permission to open a chat.
    pub(crate) fn no_chat() -> Value {
        let message = "request chat:open with agent.requestPermissions() first";
        failed("PERMISSION_REQUIRED", message)
    }

    /// Whether a chat could be opened.
    pub fn can_open_chat(&self, visit: &Visit) -> &'static str {
        let denied = matches!(
            self.permissions.check(&visit.origin, Scope::ChatOpen),
            Err(PermissionDenied::Denied(_))
        );
        match denied {
            true => "no",
            false => "readily",
        }
    }

    fn ticket(&self, visit: &Arc<Visit>) -> String {
        let ticket = new_secret();
        let mut tickets = self.tickets.lock();
        let now = Instant::now();
        tickets.retain(|_, one| one.until > now);
        if tickets.len() >= TICKETS {
            let oldest = tickets.iter().min_by_key(|(_, one)| one.until);
            let oldest = oldest.map(|(hash, _)| hash.clone());
            oldest.and_then(|oldest| tickets.remove(&oldest));
        }
        let stored = Ticket {
            visit: Arc::downgrade(visit),
            until: now + TICKET,
        };
        tickets.insert(hash(&ticket), stored);
        ticket
    }

    /// The chat for a ticket; a ticket is valid once, in a frame of the page that opened the chat.
    pub fn panel(&self, ticket: &str, parent: &str) -> Option<PanelInfo> {
        let stored = {
            let mut tickets = self.tickets.lock();
            tickets.remove(&hash(ticket))?
        };
        let visit = stored
            .visit
            .upgrade()
            .filter(|_| stored.until > Instant::now())?;
        let chat = visit.chat().filter(|_| visit.origin.as_str() == parent)?;
        Some(PanelInfo {
            chat_id: chat.id.clone(),
            session_id: chat.session.to_string(),
            origin: visit.origin.to_string(),
            style: chat.style.clone(),
            token: chat.token.as_str().to_owned(),
        })
    }

    /// The page with this chat, if the session matches.
    pub fn visit_with_chat(&self, id: &str, session: Option<SessionId>) -> Option<Arc<Visit>> {
        let visits = self.lock_visits();
        let same = |chat: Arc<Chat>| {
            chat.id == id && session.is_none_or(|session| chat.session == session)
        };
        let has = |visit: &&Arc<Visit>| visit.chat().is_some_and(same);
        visits.values().find(has).cloned()
    }

    fn note_chat(&self, visit: &Visit, what: &str) {
        let used = PermissionUse {
            scope: Scope::ChatOpen,
            what: what.to_owned(),
            outcome: "ok",
            by: visit.by,
        };
        self.permissions.note(&visit.origin, used);
    }

    /// The origin of a panel's parent, for a CSP.
    #[must_use]
    pub fn parent(origin: &str) -> Option<Origin> {
        origin.parse().ok()
    }
}
