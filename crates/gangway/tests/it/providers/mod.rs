//! Model providers, each on its real wire.

mod anthropic;
mod fake;
mod ollama;
mod openai;
