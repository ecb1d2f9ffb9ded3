//! The messages between the server and the engine: one JSON document per line, requests on the engine's standard input,
//! answers on its standard output.

use gangway_models::{ChatRequest, ModelError, Piece};
use serde::{Deserialize, Serialize};

use crate::{Settings, Source, Status};

/// Changes whenever these messages do: a server must not talk to an engine of another build.
pub const VERSION: u32 = 1;

/// Pieces of one answer that may be under way without having been read. More are granted by [`ToEngine::Read`], so that a
/// slow reader pauses its own answer and nothing else.
pub const WINDOW: u32 = 64;

/// What the server sends.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum ToEngine {
    /// The first message.
    Start {
        /// How to run models.
        settings: Settings,
    },
    /// Answer this.
    Chat {
        /// Identifies the answer.
        id: u64,
        /// The weights to answer with.
        source: Source,
        /// The request.
        request: Box<ChatRequest>,
    },
    /// So many more pieces of this answer were read.
    Read {
        /// Which answer.
        id: u64,
        /// How many pieces.
        pieces: u32,
    },
    /// Nobody waits for this answer any more.
    Cancel {
        /// Which answer.
        id: u64,
    },
}

/// What the engine sends.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum FromEngine {
    /// The first message.
    Ready {
        /// The engine's [`VERSION`].
        version: u32,
    },
    /// What the engine is doing; sent when it changes.
    Status {
        /// All of it.
        status: Status,
    },
    /// Weights are being loaded. If the engine dies before [`FromEngine::Loaded`], they are to blame.
    Loading {
        /// The file.
        source: Source,
    },
    /// The loading is over, whether it worked or not.
    Loaded,
    /// The turn of this request has come.
    Begun {
        /// Which answer.
        id: u64,
    },
    /// A piece of an answer.
    Piece {
        /// Which answer.
        id: u64,
        /// The piece.
        piece: Piece,
    },
    /// The answer is complete.
    Done {
        /// Which answer.
        id: u64,
    },
    /// There is no answer, or no more of it.
    Failed {
        /// Which answer.
        id: u64,
        /// Why.
        error: ModelError,
    },
}

impl ToEngine {
    /// The id of a message that cannot be read as a whole, for example because it is nested too deeply.
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
