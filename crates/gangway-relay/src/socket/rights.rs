//! Authorization of joins.

use crate::{Code, Refusal, RelayName, Role, TokenGrant};
use gangway_core::SessionId;
use gangway_http::{access::Scope, auth::RelayRole};

use super::Caller;
use crate::{RelayState, wire::JoinPayload};

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

/// Waits until the token of a member is replaced or removed.
pub(super) async fn renewed(state: &RelayState, pass: Option<&TokenGrant>) {
    match pass {
        Some(pass) => state.relay.tokens.ended(pass).await,
        None => std::future::pending().await,
    }
}
