//! Authorization of joins.

use crate::{Code, InvitationGrant, Refusal, RelayName, Role, TokenGrant};
use gangway_core::SessionId;
use gangway_http::{access::Scope, auth::RelayRole};

use super::Caller;
use crate::{RelayState, wire::JoinPayload};

/// The token that a member joined with.
pub(super) enum Pass {
    /// That of a relay session.
    Session(TokenGrant),
    /// An invitation to a chat.
    Chat(InvitationGrant),
}

/// Authorizes an agent that joins a chat: by an invitation, or by a key or login for the chat that may join as an agent.
pub(super) async fn authorize_in_chat(
    state: &RelayState,
    caller: &Caller,
    token: Option<&str>,
    chat: SessionId,
) -> Result<Option<InvitationGrant>, Refusal> {
    let refused = |message: &str| Err(Refusal::new(Code::SessionNotActive, message));
    if caller.page.is_some() {
        return refused("the page of an app cannot join a chat as an agent");
    }
    let shown = token.or(caller.token.as_deref());
    let invited = shown.and_then(|token| state.relay.invitations.admit(chat, token));
    if invited.is_none() {
        let (http, admitted) = (&state.http, &caller.admitted);
        let name = RelayName::from(chat);
        let may = admitted.may(http, Scope::Chat)
            && admitted.may_join(http, RelayRole::Agent, name.as_str());
        if !may {
            return refused(match shown {
                Some(_) => {
                    "this token is no invitation to this chat, or it has expired or was revoked"
                }
                None => {
                    "joining a chat requires an invitation as `token`; create one in the chat's menu"
                }
            });
        }
        let checked = admitted.check_session(http, state.relay.hub(), chat).await;
        if checked.is_err() {
            return refused(
                "joining this chat requires a key with the scope admin, or an invitation",
            );
        }
    }
    // After that, so that nobody learns which chats there are.
    match state.relay.hub().describe(chat).await {
        Ok(_) => Ok(invited),
        Err(_) => refused("there is no such chat; it may have been deleted"),
    }
}

/// Authorizes a join: by the session's token for the role, by a key or login with the scope, or as the page of an app.
/// Returns the token grant, if there is one.
pub(super) fn authorize(
    state: &RelayState,
    caller: &Caller,
    request: &JoinPayload,
    name: &RelayName,
) -> Result<Option<TokenGrant>, Refusal> {
    let shown = request.token.as_ref().or(caller.token.as_ref());
    let pass = shown.and_then(|token| state.relay.tokens.admit(name, request.role, token));
    if pass.is_some() {
        return Ok(pass);
    }
    // The page of an app may connect, but a session with tokens is not meant for it.
    let opened =
        caller.page.is_some() && request.role == Role::Host && !state.relay.tokens.has(name);
    let role = match request.role {
        Role::Agent => RelayRole::Agent,
        Role::Host => RelayRole::Host,
    };
    if opened || caller.admitted.may_join(&state.http, role, name.as_str()) {
        return Ok(None);
    }
    let message = match shown {
        Some(_) => "invalid token for this session and role".to_owned(),
        None => format!(
            "joining requires the session's `token` for this role; create one with `gangway relay token {name}`"
        ),
    };
    Err(Refusal::new(Code::SessionNotActive, message))
}

/// The chat whose agents may use a page: the one it was launched from, or one named by a caller with the scope `chat`.
pub(super) fn offered_to(
    state: &RelayState,
    caller: &Caller,
    named: Option<&str>,
) -> Result<Option<SessionId>, Refusal> {
    if let Some(page) = &caller.page {
        return Ok(page.chat);
    }
    if named.is_some() && !caller.admitted.may(&state.http, Scope::Chat) {
        let message = "gangwaySession requires a key with the scope chat";
        return Err(Refusal::new(Code::SessionNotActive, message));
    }
    let named = named.map(str::parse).transpose();
    named.map_err(|_| {
        let message = "gangwaySession must be the id of a chat session";
        Refusal::new(Code::InvalidMessage, message)
    })
}

/// Waits until the token of a member is replaced, revoked or expires.
pub(super) async fn renewed(state: &RelayState, pass: Option<&Pass>) {
    match pass {
        Some(Pass::Session(pass)) => state.relay.tokens.ended(pass).await,
        Some(Pass::Chat(pass)) => state.relay.invitations.ended(pass).await,
        None => std::future::pending().await,
    }
}
