//! Runs weights inside the process, by llama.cpp: a provider like any other, with nobody to call.

mod answer;
mod conversation;
mod cpu;
mod embedded;
mod engine;
mod frame;
mod gauges;
mod grammar;
mod model;
mod prepare;
mod quiet;
mod sampling;
mod settings;
mod slots;
mod source;
mod speech;
pub mod trial;
mod trials;
mod window;

#[cfg(test)]
mod tests;

pub use cpu::{Unsupported, supported};
pub use embedded::Embedded;
/// llama.cpp itself, for whoever measures what this crate adds to it.
pub use llama_cpp_2 as llama_cpp;
pub use settings::{Settings, Status};
