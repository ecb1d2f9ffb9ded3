//! Routes of remote agents: creating them, messaging them, and embedding their chat in another site.

mod agent;
mod caller;
mod create;
mod events;
mod frame;
mod manage;
mod persona_text;
mod registry;
mod talk;
mod upload;

pub use registry::{list_personas, list_projects};

use std::sync::Arc;

use gangway_http::{
    Http,
    access::{Body, Rate, Scope, TokenKind, asset, scope, token},
    routes::Routes,
};

use crate::RemoteAgents;

pub struct RemoteState {
    pub http: Arc<Http>,
    pub remote: Arc<RemoteAgents>,
}

#[must_use]
pub fn routes() -> Routes<Arc<RemoteState>> {
    Routes::new()
        .post(
            "/api/remote_agents/create",
            scope(Scope::Agents).embeds().json().rate(Rate::Starts),
            create::create,
        )
        .post(
            "/api/remote_agents/adopt",
            scope(Scope::Admin).json().rate(Rate::Starts),
            create::adopt,
        )
        .get(
            "/api/remote_agents",
            scope(Scope::Agents).embeds(),
            manage::list,
        )
        .get(
            "/api/remote_agents/{id}",
            scope(Scope::Agents).embeds(),
            manage::show,
        )
        .delete(
            "/api/remote_agents/{id}",
            scope(Scope::Agents).embeds(),
            manage::end,
        )
        .post(
            "/api/remote_agents/hand_over/{id}",
            scope(Scope::Agents).embeds(),
            manage::hand_over,
        )
        .get(
            "/api/remote_agents/{id}/alive",
            token(TokenKind::Agent).embeds(),
            agent::alive,
        )
        .post(
            "/api/remote_agents/{id}/shutdown",
            token(TokenKind::Agent).embeds(),
            agent::shutdown,
        )
        .post(
            "/api/remote_agents/{id}/token",
            token(TokenKind::Agent).embeds(),
            agent::rotate,
        )
        .post(
            "/api/remote_agents/{id}/exchange",
            token(TokenKind::Agent).embeds().json(),
            agent::exchange,
        )
        .get(
            "/api/remote_agents/{id}/events",
            token(TokenKind::Agent).embeds(),
            events::events,
        )
        .get(
            "/api/remote_agents/{id}/history",
            token(TokenKind::Agent).embeds(),
            talk::history,
        )
        .post(
            "/api/remote_agents/{id}/messages",
            token(TokenKind::Agent).embeds().json(),
            talk::messages,
        )
        .post(
            "/api/remote_agents/{id}/answer",
            token(TokenKind::Agent).embeds().json(),
            talk::answer,
        )
        .post(
            "/api/remote_agents/{id}/stop",
            token(TokenKind::Agent).embeds(),
            talk::stop,
        )
        .post(
            "/api/remote_agents/{id}/uploads",
            token(TokenKind::Agent).embeds().body(Body::File),
            upload::uploads,
        )
        .post(
            "/api/remote_agents/{id}/transcribe",
            token(TokenKind::Agent).embeds().body(Body::File),
            upload::transcribe,
        )
        .get("/api/projects", scope(Scope::Admin), registry::projects)
        .put(
            "/api/projects/{name}",
            scope(Scope::Admin).json(),
            registry::put_project,
        )
        .delete(
            "/api/projects/{name}",
            scope(Scope::Admin),
            registry::remove_project,
        )
        .get("/api/personas", scope(Scope::Admin), registry::personas)
        .put(
            "/api/personas/{slug}",
            scope(Scope::Admin).json(),
            registry::put_persona,
        )
        .delete(
            "/api/personas/{slug}",
            scope(Scope::Admin),
            registry::remove_persona,
        )
        .get(
            "/api/personas/{slug}/text",
            scope(Scope::Admin),
            persona_text::read,
        )
        .put(
            "/api/personas/{slug}/text",
            scope(Scope::Admin).json(),
            persona_text::write,
        )
        .get("/embed/{id}", asset(), frame::page)
        .get("/embed.js", asset(), frame::script)
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(
    create::create,
    create::adopt,
    manage::list,
    manage::show,
    manage::end,
    manage::hand_over,
    agent::alive,
    agent::shutdown,
    agent::rotate,
    agent::exchange,
    events::events,
    talk::history,
    talk::messages,
    talk::answer,
    talk::stop,
    upload::uploads,
    upload::transcribe,
    registry::projects,
    registry::put_project,
    registry::remove_project,
    registry::personas,
    registry::put_persona,
    registry::remove_persona,
    persona_text::read,
    persona_text::write,
))]
pub struct Documented;
