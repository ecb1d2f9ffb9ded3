//! A session as readers follow it: its frames, and the way to begin and to go on.

pub mod app_news;
mod begin;
mod convert;
pub mod encode;
mod ending;
pub mod frame;
mod framing;
pub mod sse;
pub mod wire;

pub use begin::{Start, begin, last_seen, page, resume};
pub use ending::closing;
