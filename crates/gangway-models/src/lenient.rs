//! Tolerates harmless mistakes of providers: invalid token counts, calls without an id.

use std::hash::{BuildHasher as _, RandomState};

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// More tokens than any response has; anything above is a provider's mistake, and must not spoil sums.
const MOST_TOKENS: u64 = 1 << 40;

/// A token count; 0 for anything invalid.
pub(crate) fn tokens<'de, D: Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(reader)?;
    Ok(value.as_u64().filter(|n| *n <= MOST_TOKENS).unwrap_or(0))
}

/// An id for a call without one, different in every response: histories of two providers may be combined.
pub(crate) fn call_id(number: usize) -> String {
    format!("call_{:016x}_{number}", RandomState::new().hash_one(number))
}
