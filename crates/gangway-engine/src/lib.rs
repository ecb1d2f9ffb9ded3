//! Runs weights with llama.cpp in a process that the server supervises: a crash affects nothing else.
//!
//! - `serve`: the process's main loop, messages to requests and answers to messages
//! - `llama`: models in this process
//! - `engine`: the thread that owns llama.cpp's context
//! - `prepare`, `conversation`, `frame`, `window`: from a request to tokens that fit
//! - `grammar`, `sampling`, `parser`: from logits to chunks of an answer
//! - `model`, `slots`, `quiet`, `gauges`, `limits`: weights in memory, cached tokens, logs, metrics and limits

mod answer;
mod conversation;
mod engine;
mod frame;
mod gauges;
mod grammar;
mod limits;
mod llama;
mod model;
mod parser;
mod prepare;
mod quiet;
mod sampling;
pub mod serve;
mod slots;
mod window;

#[cfg(test)]
mod tests;

pub use llama::{Llama, OnLoad};
/// llama.cpp itself, to measure the overhead of this crate.
pub use llama_cpp_2 as llama_cpp;
