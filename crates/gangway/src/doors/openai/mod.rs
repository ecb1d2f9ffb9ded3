//! The OpenAI door: any client of OpenAI's chat completions can use the person's models.

mod chat;
mod decode;
mod encode;
mod error;
mod models;
mod wire;

pub use error::in_our_words;

use std::sync::Arc;

use gangway_http::{
    access::{Scope, scope},
    routes::Routes,
};

use crate::server::App;

/// Routes for clients made for OpenAI.
#[must_use]
pub fn routes() -> Routes<Arc<App>> {
    Routes::new()
        .post(
            "/v1/chat/completions",
            scope(Scope::Models).json(),
            chat::complete,
        )
        .get("/v1/models", scope(Scope::Models), models::list)
        .get("/v1/models/{*id}", scope(Scope::Models), models::show)
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(chat::complete, models::list, models::show,))]
pub(crate) struct Documented;
