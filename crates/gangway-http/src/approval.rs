//! Which answers to a tool approval only the owner may give.

use axum::http::StatusCode;
use gangway_core::approval::Choice;

use crate::error::{ApiError, ApiResult};

/// Refuses answers that apply to every chat: only the owner may give them.
pub fn refuse_lasting(answer: &str) -> ApiResult<()> {
    if !Choice::of(answer).is_some_and(Choice::is_lasting) {
        return Ok(());
    }
    let message = format!(
        "{answer:?} applies to every chat and needs a login or a key with the scope admin; answer with another option, such as {:?} or {:?}",
        Choice::Once.label(),
        Choice::Deny.label(),
    );
    let status = StatusCode::FORBIDDEN;
    Err(ApiError::new(status, "scope_required", message))
}
