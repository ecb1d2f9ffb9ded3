//! Speaks to model providers: one interface, one file for each wire.

mod error;
pub mod openai;

use std::time::Duration;

use futures_util::{future::BoxFuture, stream::BoxStream};

pub use error::{Failure, ModelError};

/// Who said a message that a model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions that stand above the conversation.
    System,
    /// The person, or an applet in their name.
    User,
    /// The model.
    Assistant,
}

/// One message that a model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: String,
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// The model's name with its provider; absent means the provider's first.
    pub model: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
}

/// A piece of what a model answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// More text.
    Text(String),
    /// How many tokens were read and written; it comes last.
    Usage {
        /// Tokens read.
        input: u64,
        /// Tokens written.
        output: u64,
    },
}

/// A stream of an answer; dropping it ends the request at once.
pub type Pieces<'a> = BoxStream<'a, Result<Piece, ModelError>>;

/// Someone who has models.
pub trait Provider: Send + Sync {
    /// The models it has.
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>>;

    /// Streams an answer.
    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<Pieces<'static>, ModelError>>;
}

/// A client for outbound requests, with limits on every wait.
pub fn http_client() -> reqwest::Client {
    // A second install fails, and means that it is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        // The longest silence: a large model may think this long before its first token.
        .read_timeout(Duration::from_secs(120))
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap_or_default()
}
