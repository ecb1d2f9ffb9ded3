//! Model providers: one interface, one file per API.

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
mod prompt_tools;
mod redact;
pub mod registry;
pub mod remote;
pub mod speech;
pub mod weights;
mod window;

pub use chat::{
    ChatChunk, ChatRequest, ChatStream, Image, Message, Passthrough, Provider, ToolCall,
    ToolChoice, ToolSpec,
};
pub use choice::Choice;
pub use error::{Failure, ModelError};
pub use http::{SILENCE, http_client};
pub use redact::shown_url;
pub use speech::Speech;

/// Precedes the images of tool results, for models that accept images only from the user.
const IMAGES: &str = "The images in the results above:";
