//! Responses and security schemes shared by all operations, added to the document in one place.

use axum::http::Method;
use utoipa::openapi::{
    Components, Content, OpenApi, Ref, RefOr, Response, ResponseBuilder, SecurityRequirement,
    path::{Operation, PathItem},
    schema::{Object, Type},
    security::{Http, HttpAuthScheme, SecurityScheme},
};

use gangway_http::{
    access::{Access, TokenKind},
    routes::Rules,
};

/// Name of the security scheme.
const KEY: &str = "api_key";

/// Name of the security scheme for the token of one remote agent.
const TOKEN: &str = "agent_token";

/// Status, component name and description of a shared response.
type Shared = (&'static str, &'static str, &'static str);

/// The error envelope of the routes under a path.
struct Form {
    below: &'static str,
    suffix: &'static str,
    body: &'static str,
}

const FORMS: [Form; 3] = [
    Form {
        below: "/api/",
        suffix: "",
        body: "ApiError",
    },
    Form {
        below: "/metrics",
        suffix: "",
        body: "ApiError",
    },
    Form {
        below: "/v1/",
        suffix: "OpenAi",
        body: "OpenAiError",
    },
];

/// For operations that need a key.
const NO_KEY: Shared = ("401", "NoKey", "The API key is missing or unknown");

/// For all operations.
const ALWAYS: [Shared; 6] = [
    (
        "403",
        "NotAllowed",
        "The page's origin is not allowed, or the request came through a proxy that is not configured",
    ),
    (
        "421",
        "WrongHost",
        "The `Host` header is not one of this server's names",
    ),
    (
        "429",
        "TooMany",
        "Too many requests; `retry_after_seconds` says when to try again",
    ),
    ("431", "LargeHead", "The headers are too large or too many"),
    ("500", "Failed", "Internal error; see the server's log"),
    (
        "503",
        "Unavailable",
        "The server is stopping, or its connection limit is reached",
    ),
];

/// For operations with a body.
const WITH_BODY: [Shared; 3] = [
    ("408", "SlowBody", "The body took too long to arrive"),
    ("413", "LargeBody", "The body is larger than the limit"),
    ("415", "NotJson", "The `Content-Type` is not JSON"),
];

pub(super) fn add(document: &mut OpenApi, rules: &Rules) {
    let components = document.components.get_or_insert_with(Components::new);
    for (_, name, when) in ALWAYS.iter().chain(&WITH_BODY).chain([&NO_KEY]) {
        for form in FORMS {
            let answer = RefOr::T(error(when, form.body));
            let name = format!("{name}{}", form.suffix);
            components.responses.insert(name, answer);
        }
    }
    let mut scheme = Http::new(HttpAuthScheme::Bearer);
    scheme.description = Some("An API key with the given scope, or with `admin`".into());
    let scheme = SecurityScheme::Http(scheme);
    components.add_security_scheme(KEY, scheme);
    let mut token = Http::new(HttpAuthScheme::Bearer);
    token.description = Some("The agent's token, from the response that created it".into());
    components.add_security_scheme(TOKEN, SecurityScheme::Http(token));
    for (path, item) in &mut document.paths.paths {
        let form = FORMS.iter().find(|form| path.starts_with(form.below));
        if let Some(form) = form {
            for (method, operation) in operations(item) {
                let access = rules.find(path, &method).map(|rule| rule.access);
                share(operation, form, access);
            }
        }
    }
    describe(document);
}

/// Responses that a handler's annotation cannot express.
fn describe(document: &mut OpenApi) {
    let paths = &mut document.paths.paths;
    let history = paths.get_mut("/api/history").and_then(|p| p.get.as_mut());
    if let Some(RefOr::T(page)) = history.and_then(|h| h.responses.responses.get_mut("200")) {
        let text = Object::with_type(Type::String);
        let html = RefOr::T(Content::new(Some(text)));
        page.content.insert("text/html".into(), html);
    }
    let feed = paths.get_mut("/api/sessions/{id}/events");
    if let Some(feed) = feed.and_then(|p| p.get.as_mut()) {
        let answer = error(
            "An upgrade to something other than a WebSocket of version 13",
            "ApiError",
        );
        let answers = &mut feed.responses.responses;
        answers.insert("426".into(), RefOr::T(answer));
    }
}

fn share(operation: &mut Operation, form: &Form, access: Option<Access>) {
    let body = operation.request_body.is_some();
    let mut shared: Vec<_> = ALWAYS.to_vec();
    if body {
        shared.extend(WITH_BODY);
    }
    match access {
        Some(Access::Token(TokenKind::Agent)) => {
            let token = SecurityRequirement::new(TOKEN, Vec::<String>::new());
            operation.security = Some(vec![token]);
        }
        Some(Access::Scope(scope)) => {
            shared.push(NO_KEY);
            let key = SecurityRequirement::new(KEY, [scope.name()]);
            operation.security = Some(vec![key]);
        }
        _ => {}
    }
    for (status, name, _) in shared {
        // An operation's own responses take precedence.
        let answers = &mut operation.responses.responses;
        let answer = Ref::from_response_name(format!("{name}{}", form.suffix));
        answers
            .entry(status.to_owned())
            .or_insert(RefOr::Ref(answer));
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let all = [
        (Method::GET, &mut item.get),
        (Method::POST, &mut item.post),
        (Method::PUT, &mut item.put),
        (Method::PATCH, &mut item.patch),
        (Method::DELETE, &mut item.delete),
    ];
    all.into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

fn error(when: &str, body: &str) -> Response {
    let body = Content::new(Some(Ref::from_schema_name(body)));
    ResponseBuilder::new()
        .description(when)
        .content("application/json", body)
        .build()
}
