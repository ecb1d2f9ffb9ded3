//! The OpenAI door: any client of OpenAI's chat completions can use the person's models.

mod chat;
mod decode;
mod encode;
mod error;
mod models;
mod wire;

use std::sync::Arc;

pub use error::in_our_words;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::server::App;

/// Routes for clients made for OpenAI.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(chat::complete))
        .routes(routes!(models::list))
        .routes(routes!(models::show))
}
