//! Where weights came from: `NAME.json` beside `NAME.gguf`.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::WeightsError;

/// Anything larger is something else.
const MOST: u64 = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightsRecord {
    /// A URL without secrets, or a path.
    pub source: String,
    /// `None` for a link, whose file may change at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub added_at: Timestamp,
}

impl WeightsRecord {
    pub(super) fn new(source: impl Into<String>, sha256: Option<String>) -> Self {
        Self {
            source: source.into(),
            sha256,
            added_at: Timestamp::now(),
        }
    }

    /// `None` when it is missing or invalid.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&gangway_core::atomic_file::read(path, MOST).ok()?).ok()
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), WeightsError> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        gangway_core::atomic_file::write(path, &text).map_err(WeightsError::io(path))
    }
}
