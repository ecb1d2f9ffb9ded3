//! All routes: the script and frames for pages, chat panels, permissions, results of the extension, WebSockets.

mod browser;
mod pages;
mod permissions;

use std::sync::Arc;

use gangway_http::{
    access::{Rate, Scope, TokenKind, asset, scope, token},
    routes::Routes,
};
pub use pages::PanelTicket;

use crate::{SOCKET, WebAgent, socket};

#[must_use]
pub fn routes() -> Routes<Arc<WebAgent>> {
    let admin = || scope(Scope::Admin);
    Routes::new()
        .get("/gangway.js", asset(), pages::script)
        .get("/broker", asset(), pages::broker)
        .get("/broker.js", asset(), pages::broker_script)
        .get("/panel", asset(), pages::panel)
        .post(
            "/api/panel",
            token(TokenKind::Panel).json(),
            pages::enter_panel,
        )
        .delete(
            "/api/panel/{id}",
            token(TokenKind::Panel),
            pages::close_panel,
        )
        .get("/api/permissions", admin(), permissions::list)
        .patch("/api/permissions", admin().json(), permissions::set)
        .delete("/api/permissions", admin(), permissions::forget)
        .get("/api/permissions/audit", admin(), permissions::audit)
        .post("/api/browser/acts/{id}", admin().json(), browser::answer)
        .get(
            SOCKET,
            token(TokenKind::Site).rate(Rate::Messages),
            socket::page::open,
        )
        .get(
            "/ws/browser",
            admin().rate(Rate::Messages),
            socket::browser::open,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(
    browser::answer,
    pages::enter_panel,
    pages::close_panel,
    permissions::list,
    permissions::set,
    permissions::forget,
    permissions::audit,
))]
pub struct Documented;
