//! Apps and their agents: the list of apps, launching one, and the channel on which the two talk.

mod agent;
mod connection;
mod cookies;
mod entry;
mod host;
mod inject;
mod launch;
mod list;
mod notice;
mod open;
mod own_api;
mod page;
mod quote;
mod reach;
pub mod rest;
mod storage;
pub mod wire;

pub use entry::{AppAddress, EnterApp};
pub use host::on_app_host;

use std::sync::Arc;

use gangway_http::{
    access::{Body, Rate, Scope, scope},
    routes::Routes,
};

use crate::server::App;

/// Routes of the API.
#[must_use]
pub fn routes() -> Routes<Arc<App>> {
    Routes::new()
        .get("/api/apps", scope(Scope::Apps), list::list)
        .put("/api/app-folders", scope(Scope::Admin).json(), list::trust)
        .get("/api/apps/{name}", scope(Scope::Apps), list::show)
        .delete(
            "/api/apps/{name}/grants/{action}",
            scope(Scope::Admin),
            list::revoke,
        )
        .post(
            "/api/apps/{name}/launch",
            scope(Scope::Apps).json(),
            launch::launch,
        )
        .get("/api/launches/{id}", scope(Scope::Apps), launch::show)
        .post(
            "/api/launches/{id}/open",
            scope(Scope::Apps).json(),
            launch::open,
        )
        .post(
            "/api/launches/{id}/events",
            scope(Scope::Apps).json(),
            launch::tell,
        )
        .post(
            "/api/apps/{name}/entry",
            scope(Scope::Apps).body(Body::Json),
            entry::entry,
        )
        .get(
            "/ws/launches/{id}",
            scope(Scope::Apps).url_token().rate(Rate::Messages),
            open::for_agent,
        )
        .get(
            "/ws/launch-pages/{id}",
            scope(Scope::Apps).rate(Rate::Messages),
            open::for_page,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(
    list::list,
    list::trust,
    list::show,
    list::revoke,
    launch::launch,
    launch::show,
    launch::open,
    launch::tell,
    entry::entry,
))]
pub(crate) struct Documented;
