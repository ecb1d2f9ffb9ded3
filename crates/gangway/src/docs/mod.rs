//! The OpenAPI document, and the API as a page for people.

use std::{fmt::Write, sync::Arc};

use axum::{
    http::{HeaderMap, header},
    response::Html,
};
use gangway_http::{access::public, html::escape, routes::Routes};
use serde_json::Value;

use crate::app::App;

/// The document as it was generated: making it anew would take a good part of every start.
const DOCUMENT: &str = include_str!("../../../../schema/openapi.json");

/// The document and the page.
#[must_use]
pub fn routes() -> Routes<Arc<App>> {
    Routes::new()
        .get("/api/openapi.json", public(), async || {
            ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
        })
        .get("/api/docs", public(), async |headers: HeaderMap| {
            let document = serde_json::from_str(DOCUMENT).unwrap_or_default();
            Html(at_host(&page(&document), &headers))
        })
        .get("/api/docs.css", public(), async || {
            let css = include_str!("docs.css");
            ([(header::CONTENT_TYPE, "text/css")], css)
        })
}

/// A plain page: every route with what it takes and answers, every type with its fields.
fn page(document: &Value) -> String {
    let mut html = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Gangway API</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/api/docs.css\"></head><body><main><h1>Gangway API</h1>\
         <p>JSON in, JSON out. Every error below <code>/api</code> has the same shape: <a href=\"#ApiError\">ApiError</a>; \
         its <code>message</code> says what to do. \
         For machines: <a href=\"/api/openapi.json\">openapi.json</a>.</p>\
         <p>Every call needs a key: <code>gangway key create --name NAME --scope chat</code> creates one for chats.</p>\
         <h2>A conversation in three calls</h2><pre tabindex=\"0\">\
curl localhost:3000/api/sessions -H 'Authorization: Bearer KEY' -H 'Content-Type: application/json' -d '{\"agent\":\"demo\"}'\n\
curl localhost:3000/api/sessions/SESSION/messages -H 'Authorization: Bearer KEY' -H 'Content-Type: application/json' -d '{\"prompt\":\"Hello\"}'\n\
curl -N localhost:3000/api/stream/STREAM -H 'Authorization: Bearer KEY'</pre><h2>Calls</h2>",
    );
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            route(&mut html, path, method, operation);
        }
    }
    html.push_str("<h2>Types</h2>");
    for (name, schema) in document["components"]["schemas"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let about = schema["description"].as_str().unwrap_or_default();
        let body = serde_json::to_string_pretty(schema).unwrap_or_default();
        let _ = write!(
            html,
            "<section id=\"{0}\"><h3>{0}</h3><p>{1}</p><details><summary>schema</summary><pre tabindex=\"0\">{2}</pre></details></section>",
            escape(name),
            prose(about),
            escape(&body),
        );
    }
    html.push_str("</main></body></html>");
    html
}

/// The page with examples for the address that it was asked under, which the guard has let through.
fn at_host(page: &str, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|v| v.to_str().ok());
    page.replace("localhost:3000", &escape(host.unwrap_or("localhost:3000")))
}

/// Text for the page, with what stands between backticks as code.
fn prose(text: &str) -> String {
    let mut html = String::new();
    for (n, part) in escape(text).split('`').enumerate() {
        let code = n % 2 == 1;
        html.push_str(if code { "<code>" } else { "" });
        html.push_str(part);
        html.push_str(if code { "</code>" } else { "" });
    }
    html
}

fn route(html: &mut String, path: &str, method: &str, operation: &Value) {
    let summary = operation["summary"].as_str().unwrap_or_default();
    let about = operation["description"].as_str().unwrap_or_default();
    let _ = write!(
        html,
        "<section><h3><span class=\"method {method}\">{}</span> <code>{}</code></h3><p>{}</p><p>{}</p><ul>",
        method.to_uppercase(),
        escape(path),
        prose(summary),
        prose(about),
    );
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let text = |key: &str| prose(parameter[key].as_str().unwrap_or_default());
        let _ = write!(
            html,
            "<li>{} <code>{}</code> {}</li>",
            text("in"),
            text("name"),
            text("description")
        );
    }
    if let Some(body) = type_of(&operation["requestBody"]) {
        let _ = write!(html, "<li>body {body}</li>");
    }
    for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
        // What every call may answer would bury what this one does.
        if answer.get("$ref").is_some() {
            continue;
        }
        let about = prose(answer["description"].as_str().unwrap_or_default());
        let body = type_of(answer).unwrap_or_default();
        let _ = write!(html, "<li><b>{}</b> {body} {about}</li>", escape(status));
    }
    html.push_str("</ul></section>");
}

/// A link to the type of a body, if it has one with a name.
fn type_of(body: &Value) -> Option<String> {
    let content = body["content"].as_object()?.values().next()?;
    let name = content["schema"]["$ref"].as_str()?.rsplit('/').next()?;
    Some(format!("<a href=\"#{0}\">{0}</a>", escape(name)))
}
