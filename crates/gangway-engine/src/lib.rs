//! Runs weights by llama.cpp, in a process that the server supervises: whatever kills it, kills nothing else.
//!
//! - `serve`: the process's main loop, messages to requests and answers to messages
//! - `llama`: models in this process
//! - `engine`: the thread that owns llama.cpp's context
//! - `prepare`, `conversation`, `frame`, `window`: from a request to tokens that fit
//! - `grammar`, `sampling`, `speech`: from logits to pieces of an answer
//! - `model`, `slots`, `quiet`, `gauges`, `limits`: weights in memory, what they remember, logs, counters and limits

mod answer;
mod conversation;
mod engine;
mod frame;
mod gauges;
mod grammar;
mod limits;
mod llama;
mod model;
mod prepare;
mod quiet;
mod sampling;
pub mod serve;
mod slots;
mod speech;
mod window;

#[cfg(test)]
mod tests;

pub use llama::{Llama, OnLoad};
/// llama.cpp itself, to measure what this crate adds to it.
pub use llama_cpp_2 as llama_cpp;
