//! Errors in OpenAI's form, including those of authentication and missing routes.

use axum::{
    Json,
    extract::Request,
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use gangway_http::error::ApiError;
use gangway_models::{Failure, ModelError};

use super::wire::{ErrorBody, ErrorFields};

/// Converts errors below `/v1` to OpenAI's form, instead of the envelope of the other routes.
pub async fn in_openai_form(request: Request, next: Next) -> Response {
    let ours = request.uri().path() == "/v1" || request.uri().path().starts_with("/v1/");
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<ApiError>() {
        Some(error) if ours => {
            let body = Json(ErrorBody::from(&error));
            let (mut parts, _) = response.into_parts();
            parts.headers.remove(header::CONTENT_LENGTH);
            parts.headers.remove(header::CONTENT_TYPE);
            (parts, body).into_response()
        }
        _ => response,
    }
}

impl From<&ApiError> for ErrorBody {
    fn from(error: &ApiError) -> Self {
        let kind = match error.status {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        Self {
            error: ErrorFields {
                message: error.message.clone(),
                kind: kind.to_owned(),
                param: None,
                code: Some(error.error_code.clone()),
                details: error.details.clone(),
            },
        }
    }
}

/// A model's error, with the provider's message.
pub(super) fn from_model(error: ModelError) -> ApiError {
    // Errors of the provider are passed on unchanged: clients act on the status and the code.
    let refused = error.status.filter(|status| (400..500).contains(status));
    let refused = refused.and_then(|status| StatusCode::from_u16(status).ok());
    let status = refused.unwrap_or(match error.failure {
        Failure::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Failure::RateLimited | Failure::OverBudget => StatusCode::TOO_MANY_REQUESTS,
        Failure::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Failure::NoModel => StatusCode::NOT_FOUND,
        Failure::TooLong | Failure::BadRequest => StatusCode::BAD_REQUEST,
        Failure::Unauthorized | Failure::Failed => StatusCode::BAD_GATEWAY,
    });
    let own = refused.and(error.code.as_deref());
    let code = own.unwrap_or(match error.failure {
        Failure::NoModel => "model_not_found",
        Failure::TooLong => "context_length_exceeded",
        Failure::BadRequest => "invalid_request_error",
        failure => failure.code(),
    });
    let wait = error.retry_after.map(|wait| wait.as_secs());
    let mut answer = ApiError::new(status, code, error.message);
    answer.details = error.details;
    match wait {
        Some(seconds) => answer.retry_after(u32::try_from(seconds).unwrap_or(u32::MAX)),
        None => answer,
    }
}
