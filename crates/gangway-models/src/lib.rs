//! Speaks to model providers: one interface, one file for each wire.
#![warn(missing_docs)]

pub mod anthropic;
mod chat;
pub mod choice;
mod error;
mod guess;
mod http;
pub mod incoming;
mod lenient;
pub mod ollama;
pub mod openai;
mod redact;
pub mod registry;
pub mod remote;
pub mod speech;
mod told_tools;
pub mod weights;
mod window;

pub use chat::{
    ChatRequest, Image, Message, Passed, Piece, Pieces, Provider, ToolCall, ToolChoice, ToolSpec,
};
pub use choice::Choice;
pub use error::{Failure, ModelError};
pub use http::{SILENCE, http_client};
pub use redact::shown_url;
pub use speech::Speech;

/// What stands before pictures that tools answered with, for models that know them only from people.
const IMAGES: &str = "The pictures in the results above:";
