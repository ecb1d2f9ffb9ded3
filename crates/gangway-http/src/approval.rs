//! Which answers to the question whether a tool may be called need the owner.

use axum::http::StatusCode;
use gangway_core::approval::Choice;

use crate::error::{ApiError, ApiResult};

/// Refuses an answer that would hold in every chat: only the owner decides that.
pub fn refuse_lasting(answer: &str) -> ApiResult<()> {
    if !Choice::of(answer).is_some_and(Choice::is_lasting) {
        return Ok(());
    }
    let message = format!(
        "{answer:?} holds in every chat and needs a login or a key with the scope admin; answer {:?}, {:?} or {:?}",
        Choice::Once.label(),
        Choice::Session.label(),
        Choice::Deny.label(),
    );
    let status = StatusCode::FORBIDDEN;
    Err(ApiError::new(status, "scope_required", message))
}
