//! OpenAI's API: clients of chat completions can use the user's models.
//!
//! - `chat`: requests and answers, complete or as server-sent events; `decode` and `encode` convert them
//! - `models`: the list of models
//! - `error`: errors in OpenAI's form
//! - `wire`: the messages
//!
//! Depends on gangway-http and gangway-models; its routes get the registry of models as state.

mod chat;
mod decode;
mod encode;
mod error;
mod models;
mod wire;

pub use error::in_openai_form;

use std::sync::Arc;

use gangway_http::{
    access::{Scope, scope},
    routes::Routes,
};
use gangway_models::registry::Registry;

/// Routes for OpenAI clients.
#[must_use]
pub fn routes() -> Routes<Arc<Registry>> {
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
pub struct Documented;
