//! What providers get wrong without harm: figures that are none, calls without a name of their own.

use std::hash::{BuildHasher as _, RandomState};

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// More tokens than any answer has; what is above is a fault of the provider's, and must not spoil sums.
const MOST_TOKENS: u64 = 1 << 40;

/// A number of tokens; whatever is no such number counts as none.
pub(crate) fn tokens<'de, D: Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(reader)?;
    Ok(value.as_u64().filter(|n| *n <= MOST_TOKENS).unwrap_or(0))
}

/// A name for a call that has none, different in every answer: histories of two providers may meet.
pub(crate) fn call_id(number: usize) -> String {
    format!("call_{:016x}_{number}", RandomState::new().hash_one(number))
}
