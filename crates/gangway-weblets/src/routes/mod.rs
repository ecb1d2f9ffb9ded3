//! Routes of weblets: apps, launches, and the channel between app and agent.

pub(crate) mod launch;
mod list;

use std::sync::Arc;

use gangway_http::{
    access::{Body, Rate, Scope, scope},
    routes::Routes,
};

use crate::{
    Weblets,
    host::{entry, replay},
    socket::{for_agent, for_page},
};

#[must_use]
pub fn routes() -> Routes<Arc<Weblets>> {
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
        .post(
            "/api/apps/{name}/replay",
            scope(Scope::Apps).json(),
            replay::address,
        )
        .get(
            "/ws/launches/{id}",
            scope(Scope::Apps).url_token().rate(Rate::Messages),
            for_agent,
        )
        .get(
            "/ws/launch-pages/{id}",
            scope(Scope::Apps).rate(Rate::Messages),
            for_page,
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
    crate::host::entry::entry,
    crate::host::replay::address,
))]
pub struct Documented;
