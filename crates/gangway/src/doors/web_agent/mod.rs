//! `window.ai` and `window.agent`: the script that pages include, the frame that brokers for them, and its channel.

mod calls;
mod pages;
mod socket;
pub mod wire;

use std::sync::Arc;

use axum::{Router, routing::get};
pub use pages::{PanelTicket, documented};

use crate::{server::App, sites::SOCKET};

/// The script, the frames and the channel.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/gangway.js", get(pages::script))
        .route("/broker", get(pages::broker))
        .route("/broker.js", get(pages::broker_script))
        .route("/panel", get(pages::panel))
        .route(SOCKET, get(socket::open))
}
