//! The door of remote agents: make one over REST, talk to it, and show its chat in a frame of another site.

mod agent;
mod caller;
mod create;
mod events;
mod frame;
mod manage;
mod shelf;
mod talk;
mod upload;
pub mod wire;

use std::sync::Arc;

use axum::{Router, routing::get};
use utoipa_axum::{router::OpenApiRouter, routes};

pub use shelf::{list_personas, list_projects};

use crate::server::App;

/// Routes for other sites, for frames, and for whoever looks after agents.
pub fn documented() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create::create))
        .routes(routes!(manage::list))
        .routes(routes!(manage::show, manage::end))
        .routes(routes!(agent::alive))
        .routes(routes!(agent::shutdown))
        .routes(routes!(agent::rotate))
        .routes(routes!(agent::exchange))
        .routes(routes!(events::events))
        .routes(routes!(talk::history))
        .routes(routes!(talk::messages))
        .routes(routes!(talk::answer))
        .routes(routes!(talk::stop))
        .routes(routes!(upload::uploads))
        .routes(routes!(upload::transcribe))
        .routes(routes!(shelf::projects))
        .routes(routes!(shelf::put_project, shelf::remove_project))
        .routes(routes!(shelf::personas))
        .routes(routes!(shelf::put_persona, shelf::remove_persona))
}

/// The page of a frame, and the script for those who hold one.
pub fn pages() -> Router<Arc<App>> {
    Router::new()
        .route("/embed/{id}", get(frame::page))
        .route("/embed.js", get(frame::script))
}
