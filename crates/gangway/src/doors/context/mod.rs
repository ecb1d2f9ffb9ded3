//! Apps and their agents: the list of apps, launching one, and the channel on which the two talk.

mod agent;
mod connection;
mod host;
mod launch;
mod list;
mod notice;
mod open;
mod own_api;
mod page;
mod quote;
mod reach;
pub mod rest;
pub mod wire;

use std::sync::Arc;

use axum::{Router, routing::get};
pub use host::on_app_host;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::server::App;

/// Routes of the API.
pub fn documented() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list::list))
        .routes(routes!(list::show))
        .routes(routes!(list::revoke))
        .routes(routes!(launch::launch))
        .routes(routes!(launch::show))
        .routes(routes!(launch::open))
        .routes(routes!(launch::tell))
}

/// The WebSockets.
pub fn sockets() -> Router<Arc<App>> {
    Router::new()
        .route("/ws/launches/{id}", get(open::for_agent))
        .route("/ws/launch-pages/{id}", get(open::for_page))
}
