//! The OpenAPI document and the JSON Schema, generated from the wire types of all crates.

mod answers;

use serde_json::Value;
use utoipa::{OpenApi, openapi::OpenApi as Document};

use crate::{health, keys, protocols, server};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Gangway",
        description = "The two-way bridge between AI agents and web pages."
    ),
    components(schemas(gangway_http::error::ApiError, gangway_http::feed::frame::FeedFrame,))
)]
struct Base;

#[must_use]
pub fn openapi() -> Document {
    let mut document = Base::openapi();
    for part in [
        protocols::sessions::Documented::openapi(),
        gangway_http::asks::Documented::openapi(),
        gangway_openai::Documented::openapi(),
        gangway_providers::Documented::openapi(),
        gangway_tools::routes::Documented::openapi(),
        gangway_tools::approvals::Documented::openapi(),
        gangway_tools::login::Documented::openapi(),
        gangway_tools::catalog::Documented::openapi(),
        gangway_tools::install::Documented::openapi(),
        gangway_applets::routes::Documented::openapi(),
        gangway_weblets::routes::Documented::openapi(),
        gangway_webagent::routes::Documented::openapi(),
        gangway_remote::routes::Documented::openapi(),
        gangway_cinema::routes::Documented::openapi(),
        gangway_relay::routes::Documented::openapi(),
        protocols::pages::Documented::openapi(),
        gangway_demo::routes::Documented::openapi(),
        keys::Documented::openapi(),
        health::Documented::openapi(),
    ] {
        document.merge(part);
    }
    let rules = server::rules();
    answers::add(&mut document, &rules);
    document
}

#[must_use]
pub fn json_schema() -> Value {
    let document = serde_json::to_value(openapi()).unwrap_or_default();
    let definitions = document["components"]["schemas"].clone();
    // References point into the OpenAPI document; here they point to `$defs`.
    let text = definitions
        .to_string()
        .replace("#/components/schemas/", "#/$defs/");
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gangway's wire types",
        "$defs": serde_json::from_str::<Value>(&text).unwrap_or_default(),
    })
}
