//! What is known of weights on the shelf: where they came from, in `NAME.json` beside `NAME.gguf`.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::WeightsError;

/// A note is short; what is larger is something else.
const MOST: u64 = 64 << 10;

/// Where weights came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// A URL without secrets, or a file.
    pub source: String,
    /// The hash of the weights; none for a link, whose file may change at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// When they came.
    pub added_at: Timestamp,
}

impl Note {
    pub(super) fn new(source: impl Into<String>, sha256: Option<String>) -> Self {
        Self {
            source: source.into(),
            sha256,
            added_at: Timestamp::now(),
        }
    }

    /// The note at this path; one that is missing or cannot be read says nothing.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&gangway_core::whole::read(path, MOST).ok()?).ok()
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), WeightsError> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        gangway_core::whole::write(path, &text).map_err(WeightsError::io(path))
    }
}
