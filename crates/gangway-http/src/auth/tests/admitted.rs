//! What those who were admitted may do, and how rules are shown.

use std::sync::Arc;

use axum::http::StatusCode;
use futures_util::{FutureExt, future::BoxFuture};
use gangway_core::{
    Agent, AgentError, Agents, Hub, Limits, NewSession, Readiness, SessionId, ToolName, Turn,
    event::Usage,
};

use super::{Setup, server};
use crate::{
    access::{Access, Body, Rate, Scope, TokenKind, asset, public},
    auth::{Admitted, KeyId, Reach, RelayRole},
};

#[tokio::test]
async fn a_login_with_a_key_may_do_what_the_key_may_and_other_owners_everything() {
    let server = server(Setup::default()).await;
    let http = &server.http;
    let key = server
        .new_key(&["tools:files/read", "agents:blog", "relay.agent"])
        .await
        .id;
    let limited = [
        Admitted::Key(key.clone()),
        Admitted::Login(KeyId::new(), Some(key.clone())),
    ];
    let full = [Admitted::Owner, Admitted::Login(KeyId::new(), None)];
    let none = [Admitted::Anyone, Admitted::Panel(SessionId::new())];
    let (read, write): (ToolName, ToolName) = (
        "files/read".parse().unwrap(),
        "files/write".parse().unwrap(),
    );
    for who in &limited {
        assert_eq!(who.key(), Some(&key));
        assert_eq!(who.caller(), format!("key:{key}"));
        assert!(who.may(http, Scope::Agents) && !who.may(http, Scope::Chat));
        assert!(who.allows(http, &read) && !who.allows(http, &write));
        assert_eq!(who.reach(http, "files"), Reach::Some);
        assert!(who.may_use_project(http, "blog") && !who.may_use_project(http, "shop"));
        assert!(who.may_join(http, RelayRole::Agent, "demo"));
        assert!(!who.may_join(http, RelayRole::Host, "demo"));
    }
    for (all, may) in [(&full, true), (&none, false)] {
        for who in all {
            assert_eq!((who.key(), who.caller().as_str()), (None, "local"));
            assert_eq!(who.may(http, Scope::Admin), may);
            assert_eq!(who.allows(http, &write), may);
            assert_eq!(who.reach(http, "files") == Reach::All, may);
            assert_eq!(who.reach(http, "files") == Reach::Nothing, !may);
            assert_eq!(who.may_use_project(http, "shop"), may);
            assert_eq!(who.may_join(http, RelayRole::Host, "demo"), may);
        }
    }
}

#[tokio::test]
async fn gangways_own_tools_need_the_scope_chat_or_to_be_named() {
    let server = server(Setup::default()).await;
    let own: ToolName = "gangway/launch_app".parse().unwrap();
    for (scopes, allowed) in [
        (&["tools"][..], false),
        (&["chat"], false),
        (&["chat", "tools"], true),
        (&["tools:gangway/*"], true),
        (&["tools:gangway/other", "chat"], false),
        (&["admin"], true),
    ] {
        let who = Admitted::Key(server.new_key(scopes).await.id);
        assert_eq!(who.allows(&server.http, &own), allowed, "{scopes:?}");
    }
}

#[tokio::test]
async fn what_was_admitted_ends_with_its_key_or_its_login() {
    let server = server(Setup::default()).await;
    let http = &server.http;
    let key = server.new_key(&["chat"]).await.id;
    let by_key = Admitted::Key(key.clone());
    let owner = Admitted::Owner;
    let gone = Admitted::Login(KeyId::new(), None);
    gone.ended(http).await;
    let (mut key_ended, mut never) = (Box::pin(by_key.ended(http)), Box::pin(owner.ended(http)));
    assert!(key_ended.as_mut().now_or_never().is_none());
    http.keys.revoke(&key).await.unwrap();
    key_ended.await;
    assert!(never.as_mut().now_or_never().is_none());
}

struct Silent {
    chosen: bool,
}

impl Agent for Silent {
    fn description(&self) -> String {
        String::new()
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn is_for_choosing(&self) -> bool {
        self.chosen
    }

    fn run(&self, _: Turn) -> BoxFuture<'_, Result<Option<Usage>, AgentError>> {
        Box::pin(async { Ok(None) })
    }
}

#[tokio::test]
async fn a_session_of_a_remote_agent_or_a_page_needs_admin_or_its_own_panel() {
    let server = server(Setup::default()).await;
    let http = &server.http;
    let agent = |chosen| -> Arc<dyn Agent> { Arc::new(Silent { chosen }) };
    let agents = [
        ("chat".to_owned(), agent(true)),
        ("remote".to_owned(), agent(false)),
    ];
    let agents = Agents::new(agents.into(), "chat").unwrap();
    let hub = Hub::new(server.store.clone(), agents, Limits::default());
    let create = async |name: &str| {
        let id = SessionId::new();
        let new = NewSession {
            agent: Some(name.to_owned()),
            ..NewSession::default()
        };
        hub.create(id, new).await.unwrap();
        id
    };
    let (chat, remote) = (create("chat").await, create("remote").await);
    let key = Admitted::Key(server.new_key(&["chat"]).await.id);
    for who in [&key, &Admitted::Owner] {
        who.check_session(http, &hub, chat).await.unwrap();
        // That there is no such session is for the caller to say.
        who.check_session(http, &hub, SessionId::new())
            .await
            .unwrap();
    }
    Admitted::Owner
        .check_session(http, &hub, remote)
        .await
        .unwrap();
    Admitted::Panel(remote)
        .check_session(http, &hub, remote)
        .await
        .unwrap();
    for who in [key, Admitted::Panel(chat)] {
        let refused = who.check_session(http, &hub, remote).await.unwrap_err();
        assert_eq!(refused.status, StatusCode::FORBIDDEN.as_u16());
        assert_eq!(refused.error_code, "scope_required");
    }
}

#[test]
fn rules_are_shown_as_in_the_security_document() {
    for (access, text) in [
        (Access::Public, "public"),
        (Access::Scope(Scope::Chat), "chat"),
        (Access::Token(TokenKind::Agent), "agent token"),
        (Access::Token(TokenKind::Panel), "panel token"),
        (
            Access::Token(TokenKind::Relay),
            "relay token or scope relay",
        ),
        (
            Access::Token(TokenKind::Site),
            "grants of the page's origin",
        ),
        (Access::Token(TokenKind::Oauth), "state of the login"),
        (Access::Token(TokenKind::Frame), "secret in the address"),
    ] {
        assert_eq!(access.to_string(), text);
    }
    let bodies = [Body::Empty, Body::Small, Body::Json, Body::File];
    let texts = ["none", "4096 bytes", "`limits.body_bytes`", "a file"];
    assert_eq!(bodies.map(|body| body.to_string()), texts);
    let rates = [Rate::Shared, Rate::Logins, Rate::Starts];
    let texts = ["shared", "10 failures/min", "300/min"];
    assert_eq!(rates.map(|rate| rate.to_string()), texts);
    assert!(Rate::Messages.to_string().ends_with("at once"));
    assert_eq!(public().loaded(), asset());
}
