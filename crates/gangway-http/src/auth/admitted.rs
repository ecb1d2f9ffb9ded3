//! The authenticated caller of a request.

use axum::http::StatusCode;
use gangway_core::{Hub, OWN, Profile, SessionId, ToolName};

use super::{login::LoginId, name::KeyId, rights::Reach, scope::RelayRole};
use crate::{
    Http,
    access::Scope,
    error::{ApiError, ApiResult},
};

/// The caller, as far as the guard knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admitted {
    /// Unauthenticated: the route is public, or its handler checks a token.
    Anyone,
    /// The owner of the data folder: a command with the folder's token, or anyone where authentication is off.
    Owner,
    /// A logged-in browser, and the key that it logged in with, if any.
    Login(LoginId, Option<KeyId>),
    Key(KeyId),
    /// The panel of one chat.
    Panel(SessionId),
}

impl Admitted {
    #[must_use]
    pub fn key(&self) -> Option<&KeyId> {
        match self {
            Self::Login(_, key) => key.as_ref(),
            Self::Key(key) => Some(key),
            Self::Anyone | Self::Owner | Self::Panel(_) => None,
        }
    }

    #[must_use]
    pub fn may(&self, http: &Http, scope: Scope) -> bool {
        match self {
            Self::Anyone | Self::Panel(_) => false,
            Self::Owner | Self::Login(_, None) => true,
            Self::Login(_, Some(key)) | Self::Key(key) => http.keys.may(key, scope),
        }
    }

    /// Whether it may read and use a session: the scope `chat` does not include those of remote agents and pages, whose
    /// agents may run commands.
    #[must_use]
    pub fn may_use_session_of(&self, http: &Http, hub: &Hub, profile: &Profile) -> bool {
        let agent = hub.agents().get(&profile.agent);
        agent.is_ok_and(|agent| agent.is_for_choosing()) || self.may(http, Scope::Admin)
    }

    /// The same by id; a session that does not exist passes.
    pub async fn check_session(&self, http: &Http, hub: &Hub, session: SessionId) -> ApiResult<()> {
        if *self == Self::Panel(session) {
            return Ok(());
        }
        match hub.describe(session).await {
            Ok((profile, _)) if !self.may_use_session_of(http, hub, &profile) => {
                let message = "sessions of remote agents and pages need a login or a key with the scope admin";
                let status = StatusCode::FORBIDDEN;
                Err(ApiError::new(status, "scope_required", message))
            }
            _ => Ok(()),
        }
    }

    /// Whether it may see and call this tool. Gangway's own tools reach chats, applets and apps: a key needs the scope
    /// `chat` for them, or must name them.
    #[must_use]
    pub fn allows(&self, http: &Http, tool: &ToolName) -> bool {
        match self.key() {
            Some(key) if tool.server() == OWN => {
                http.keys.names(key, tool)
                    || http.keys.may(key, Scope::Chat) && http.keys.allows(key, tool)
            }
            Some(key) => http.keys.allows(key, tool),
            None => self.may(http, Scope::Tools),
        }
    }

    /// Which tools of a server it may use.
    #[must_use]
    pub fn reach(&self, http: &Http, server: &str) -> Reach {
        match self.key() {
            Some(key) => http.keys.reach(key, server),
            None if self.may(http, Scope::Tools) => Reach::All,
            None => Reach::Nothing,
        }
    }

    /// Whether it may use agents of a project.
    #[must_use]
    pub fn may_use_project(&self, http: &Http, project: &str) -> bool {
        match self.key() {
            Some(key) => http.keys.may_use_project(key, project),
            None => self.may(http, Scope::Agents),
        }
    }

    #[must_use]
    pub fn may_join(&self, http: &Http, role: RelayRole, session: &str) -> bool {
        match self.key() {
            Some(key) => http.keys.may_join(key, role, session),
            None => self.may(http, Scope::Relay),
        }
    }

    /// The name under which calls are counted.
    #[must_use]
    pub fn caller(&self) -> String {
        match self.key() {
            Some(key) => format!("key:{key}"),
            None => "local".to_owned(),
        }
    }

    /// Waits until the key or login ends; forever where there is neither.
    pub async fn ended(&self, http: &Http) {
        let key = async {
            match self.key() {
                Some(key) => http.keys.ended(key).await,
                None => std::future::pending().await,
            }
        };
        let login = async {
            match self {
                Self::Login(login, _) => http.logins.ended(login).await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            () = key => {}
            () = login => {}
        }
    }
}
