//! Joining a relay session.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gangway_core::SessionId;

use super::{
    Caller, Connection, Done, Welcome,
    rights::{Pass, authorize, authorize_in_chat, offered_to},
};
use crate::{
    Code, Inbox, InvitationGrant, Join, Joined, PageSource, Refusal, RelayName, RelaySession,
    RelayState, Role, Seat, chat, message_text,
    wire::{JoinPayload, RelayMessage},
};

/// Authorizes and joins.
pub(super) fn join(
    connection: &Connection,
    message: &RelayMessage<'_>,
) -> Result<BoxFuture<'static, Done>, Refusal> {
    let (state, caller) = (&connection.state, &connection.caller);
    let wrong = |reason: String| Refusal::new(Code::InvalidMessage, reason);
    if connection.seat.is_some() {
        return Err(wrong(
            "this connection has already joined; open another one".into(),
        ));
    }
    let request: JoinPayload = serde_json::from_str(message.body().get()).map_err(|_| {
        let reason = "relay.join needs role (host or agent); sessionId, clientId and token must be strings, since must be a number";
        wrong(reason.to_owned())
    })?;
    let name: RelayName = request
        .session_id
        .parse()
        .map_err(|error| wrong(format!("{error}")))?;
    if request
        .client_id
        .as_ref()
        .is_some_and(|id| id.is_empty() || id.len() > 64)
    {
        return Err(wrong("clientId must be 1 to 64 bytes".into()));
    }
    if let Some(chat) = name.chat() {
        return match request.role {
            Role::Agent => Ok(join_chat(connection, message, request, chat)),
            Role::Host => Err(wrong(
                "this sessionId is a chat; a page joins under a name of its own, with the chat as gangwaySession".into(),
            )),
        };
    }
    let shown = authorize(state, caller, &request, &name)?;
    let chat = offered_to(state, caller, request.gangway_session.as_deref())?;
    let whose = match &caller.page {
        Some(page) => PageSource::App(page.app.clone()),
        None => PageSource::Api,
    };
    let mut join = Join {
        role: request.role,
        since: request.since,
        client: request.client_id,
        presence: request.presence.unwrap_or(request.role == Role::Agent),
        whose,
        chat: chat.filter(|_| request.role == Role::Host),
        log: None,
        invitation: None,
    };
    let (state, kind) = (Arc::clone(state), message.kind().to_owned());
    let id = message.id.as_deref().map(str::to_owned);
    Ok(Box::pin(async move {
        if join.role == Role::Host && join.chat.is_none() {
            // A page can be used without a log.
            let log = state.relay.own_log(&name).await;
            join.log = log
                .inspect_err(|error| tracing::warn!(%error, "a relay session is not logged"))
                .ok();
        }
        let joined = open(&state, &name).await.and_then(|session| {
            let joined = session.join(join)?;
            Ok(Some(welcome(
                joined,
                id.as_deref(),
                shown.map(Pass::Session),
            )))
        });
        Done {
            kind,
            id,
            result: joined,
        }
    }))
}

/// Joins a chat as an agent.
fn join_chat(
    connection: &Connection,
    message: &RelayMessage<'_>,
    request: JoinPayload,
    chat: SessionId,
) -> BoxFuture<'static, Done> {
    let (state, caller) = (
        Arc::clone(&connection.state),
        Arc::clone(&connection.caller),
    );
    let kind = message.kind().to_owned();
    let id = message.id.as_deref().map(str::to_owned);
    Box::pin(async move {
        let result = enter_chat(&state, &caller, request, chat).await;
        let result = result
            .map(|(joined, invited)| Some(welcome(joined, id.as_deref(), invited.map(Pass::Chat))));
        Done { kind, id, result }
    })
}

async fn enter_chat(
    state: &RelayState,
    caller: &Caller,
    request: JoinPayload,
    chat: SessionId,
) -> Result<((Seat, Inbox, Joined), Option<InvitationGrant>), Refusal> {
    let invited = authorize_in_chat(state, caller, request.token.as_deref(), chat).await?;
    let session = open(state, &RelayName::from(chat)).await?;
    let live = state.relay.hub().open(chat).await;
    let live = live.map_err(|error| Refusal::new(Code::SessionNotActive, error.to_string()))?;
    let after = live.head();
    // Others who were invited cannot resume under this one's `clientId`.
    let client = match &invited {
        Some(invitation) => request
            .client_id
            .map(|client| format!("{}/{client}", invitation.id)),
        None => request.client_id,
    };
    let joined = session.join(Join {
        role: Role::Agent,
        since: request.since,
        client,
        presence: request.presence.unwrap_or(true),
        whose: PageSource::Api,
        chat: None,
        log: None,
        invitation: invited.clone(),
    })?;
    if session.begins_following() {
        let following = chat::follow(session, live, after);
        state.http.sockets.spawn(following);
    }
    Ok((joined, invited))
}

fn welcome(
    (seat, inbox, joined): (Seat, Inbox, Joined),
    id: Option<&str>,
    pass: Option<Pass>,
) -> Box<(Seat, Welcome)> {
    let text = message_text("relay.joined", id, &joined);
    Box::new((seat, (text, inbox, pass)))
}

async fn open(state: &RelayState, name: &RelayName) -> Result<Arc<RelaySession>, Refusal> {
    let opened = state.relay.open(name).await.map_err(|error| {
        tracing::error!(%error, "cannot open a relay session");
        let message = "cannot open this session; see the server's log";
        Refusal::new(Code::SessionNotActive, message)
    })?;
    opened.ok_or_else(|| {
        let message = "there are too many relay sessions; try again later";
        Refusal::new(Code::SessionNotActive, message)
    })
}
