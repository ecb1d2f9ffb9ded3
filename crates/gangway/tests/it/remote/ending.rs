//! An agent ends when its session is removed.

use jiff::Timestamp;
use reqwest::Method;

use super::{Yard, model::Model, tmux_sessions};
use crate::support::eventually;

#[tokio::test]
async fn deleting_the_session_of_an_agent_ends_it() {
    for minutes in [0, 60] {
        let idle = |config: &mut gangway::config::Config| {
            config.remote_agents.idle_minutes = minutes;
        };
        let host = Yard::with(Model::held(2), idle).await;
        let made = host.agent("Hi.").await;
        let session = format!("/api/sessions/{}", made.session);
        let (status, _) = host.server.call(Method::DELETE, &session, None).await;
        assert_eq!(status, 204);
        assert_eq!(host.alive(&made).await["alive"], false);
        eventually(|| async { tmux_sessions(host.data()).is_empty().then_some(()) }).await;
        // Also where the door did not see it.
        let made = host.agent("Hi.").await;
        let app = &host.server.app;
        let session = app.hub.open(made.session.parse().unwrap()).await.unwrap();
        session.submit(gangway_core::Command::Delete).await.unwrap();
        app.remote.sweep(Timestamp::now()).await;
        assert_eq!(host.alive(&made).await["alive"], false);
        eventually(|| async { tmux_sessions(host.data()).is_empty().then_some(()) }).await;
    }
}
