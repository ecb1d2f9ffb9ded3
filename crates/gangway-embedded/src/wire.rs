//! The messages between the server and the engine: one JSON document per line, requests on the engine's standard input,
//! answers on its standard output.

use gangway_models::{ChatChunk, ChatRequest, ModelError};
use serde::{Deserialize, Serialize};

use crate::{Settings, Source, Status};

/// Incremented with every change of these messages: the server rejects an engine of another build.
pub const VERSION: u32 = 1;

/// Flow control window: unread chunks of one answer in flight. [`ToEngine::Read`] grants more, so that a slow reader
/// pauses only its own answer.
pub const WINDOW: u32 = 64;

/// Messages of the server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum ToEngine {
    /// The first message.
    Start {
        /// How to run models.
        settings: Settings,
    },
    /// A request.
    Chat {
        /// Its id.
        id: u64,
        /// The weights.
        source: Source,
        /// The request.
        request: Box<ChatRequest>,
    },
    /// This many more chunks of this answer were read.
    Read {
        /// The answer's id.
        id: u64,
        /// The number of chunks.
        chunks: u32,
    },
    /// Cancels this answer.
    Cancel {
        /// The answer's id.
        id: u64,
    },
}

/// Messages of the engine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum FromEngine {
    /// The first message.
    Ready {
        /// The engine's [`VERSION`].
        version: u32,
    },
    /// The status; sent when it changes.
    Status {
        /// The full status.
        status: Status,
    },
    /// Weights are being loaded. If the engine dies before [`FromEngine::Loaded`], they are to blame.
    Loading {
        /// The file.
        source: Source,
    },
    /// Loading has ended, successfully or not.
    Loaded,
    /// The request is being served.
    Begun {
        /// The answer's id.
        id: u64,
    },
    /// A chunk of an answer.
    Chunk {
        /// The answer's id.
        id: u64,
        /// The chunk.
        chunk: ChatChunk,
    },
    /// The answer is complete.
    Done {
        /// The answer's id.
        id: u64,
    },
    /// The answer failed.
    Failed {
        /// The answer's id.
        id: u64,
        /// The error.
        error: ModelError,
    },
}

impl ToEngine {
    /// The id of a message that cannot be parsed, for example because it is nested too deeply.
    #[must_use]
    pub fn id_of(line: &[u8]) -> Option<u64> {
        #[derive(Deserialize)]
        struct Id {
            id: u64,
        }
        serde_json::from_slice::<Id>(line)
            .ok()
            .map(|found| found.id)
    }
}
