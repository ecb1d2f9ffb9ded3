//! `window.ai` and `window.agent`: the script that pages include, the frame that brokers for them, and its channel.

mod calls;
mod pages;
mod socket;
pub mod wire;

pub(crate) use pages::Documented;
pub use pages::PanelTicket;

use std::sync::Arc;

use gangway_http::{
    access::{Rate, TokenKind, asset, token},
    routes::Routes,
};

use crate::sites::{SOCKET, WebAgent};
/// The script, the frames and the channel.
#[must_use]
pub fn routes() -> Routes<Arc<WebAgent>> {
    pages::routes()
        .get("/gangway.js", asset(), pages::script)
        .get("/broker", asset(), pages::broker)
        .get("/broker.js", asset(), pages::broker_script)
        .get("/panel", asset(), pages::panel)
        .get(
            SOCKET,
            token(TokenKind::Site).rate(Rate::Messages),
            socket::open,
        )
}
