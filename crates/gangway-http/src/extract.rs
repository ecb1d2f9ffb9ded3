//! Extractors for bodies, queries and ids, with limits; their rejections are the error envelope.

use std::time::Duration;

use axum::{
    extract::{FromRequest, FromRequestParts, Query as AxumQuery, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use serde::de::DeserializeOwned;

use crate::access::BodyLimit;
use crate::error::{ApiError, ApiResult};

/// The time limit for receiving a body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// A JSON body, within the route's limit.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        parse(&json_body(request).await?).map(Self)
    }
}

/// The bytes of a JSON body, within the route's limit. What does not depend on the type of a body is compiled once.
async fn json_body(request: Request) -> ApiResult<bytes::Bytes> {
    if !is_json(request.headers()) {
        return Err(not_json());
    }
    let most = request.extensions().get::<BodyLimit>();
    let most = most.map_or(0, |limit| limit.0);
    let body = read_body(request, most).await?;
    // serde would also accept an array of the fields in order.
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(ApiError::invalid("the body must be a JSON object"));
    }
    Ok(body)
}

/// Whether the body is declared as JSON. A form or text/plain can be sent across sites without a preflight; JSON
/// cannot.
pub fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(header::CONTENT_TYPE).iter();
    let kind = kinds.next().and_then(|v| v.to_str().ok());
    let kind = kind.and_then(|v| v.split(';').next()).unwrap_or_default();
    kinds.next().is_none() && kind.trim().eq_ignore_ascii_case("application/json")
}

pub fn not_json() -> ApiError {
    ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        "send the body as JSON, with the header Content-Type: application/json",
    )
}

/// Reads a body of at most `most` bytes.
async fn read_body(request: Request, most: usize) -> ApiResult<bytes::Bytes> {
    let whole = read_slow_body(request, most);
    let read = tokio::time::timeout(BODY_TIME, whole).await;
    read.unwrap_or_else(|_| Err(too_slow()))
}

/// The same for files: it times out only when no data arrives any more.
pub async fn read_slow_body(request: Request, most: usize) -> ApiResult<bytes::Bytes> {
    let too_large = || {
        let message = format!("the body is larger than {most} bytes");
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
    };
    // Do not start reading a body that is declared too large.
    if request.body().size_hint().lower() > most as u64 {
        return Err(too_large());
    }
    let mut limited = Limited::new(request.into_body(), most);
    let mut whole = bytes::BytesMut::new();
    loop {
        match tokio::time::timeout(BODY_TIME, limited.frame()).await {
            Ok(None) => return Ok(whole.freeze()),
            Ok(Some(Ok(frame))) => whole.extend_from_slice(frame.data_ref().map_or(&[][..], |d| d)),
            Ok(Some(Err(error))) if error.is::<LengthLimitError>() => return Err(too_large()),
            Ok(Some(Err(_))) => {
                return Err(ApiError::invalid(
                    "the body is incomplete: the connection closed early",
                ));
            }
            Err(_) => return Err(too_slow()),
        }
    }
}

fn too_slow() -> ApiError {
    let message = "the body took too long to arrive";
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message).retry_after(1)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> ApiResult<T> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let at = error.path().to_string();
        (error.into_inner(), at)
    });
    let whole = read.and_then(|value| match reader.end() {
        Ok(()) => Ok(value),
        Err(error) => Err((error, ".".into())),
    });
    whole.map_err(|(error, at)| invalid_body(&error, &at))
}

fn invalid_body(error: &serde_json::Error, at: &str) -> ApiError {
    if error.is_data() {
        let place = if at == "." {
            String::new()
        } else {
            format!(" at `{at}`")
        };
        let message = without_texts(&error.to_string());
        ApiError::invalid(format!("invalid body{place}: {message}"))
    } else {
        ApiError::new(
            StatusCode::BAD_REQUEST,
            "malformed_json",
            format!("the body is not valid JSON: {error}"),
        )
    }
}

/// The parser's message without the values it quotes: one may be a key in the wrong place.
fn without_texts(message: &str) -> String {
    match (message.find("string \""), message.rfind('"')) {
        (Some(start), Some(end)) => {
            format!("{}string{}", &message[..start], &message[end + 1..])
        }
        _ => message.to_owned(),
    }
}

pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        match AxumQuery::try_from_uri(&parts.uri) {
            Ok(AxumQuery(query)) => Ok(Self(query)),
            Err(error) => Err(ApiError::invalid(format!(
                "invalid query: {}",
                error.body_text()
            ))),
        }
    }
}

/// The single path parameter, as text.
pub struct Id(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match axum::extract::Path::<String>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(text)) => Ok(Self(text)),
            Err(_) => {
                let message = "not found: the id in the path is not valid UTF-8";
                Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", message))
            }
        }
    }
}

/// Reads `Idempotency-Key`: a request repeated with the same key takes effect once.
pub fn idempotency_key(headers: &HeaderMap) -> ApiResult<Option<String>> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let name = value.to_str().unwrap_or_default().trim();
    if name.is_empty() || name.len() > 200 {
        let message = "`Idempotency-Key` must have 1 to 200 printable characters";
        return Err(ApiError::invalid(message));
    }
    Ok(Some(name.to_owned()))
}
