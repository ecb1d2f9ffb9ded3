//! A session's event feed: snapshots, frames, resuming and history.

pub mod app_event;
pub mod ask_entry;
mod begin;
mod convert;
pub mod encode;
mod ending;
pub mod frame;
mod framing;
pub mod page_entry;
pub mod sse;
pub mod wire;

pub use begin::{Start, begin, last_seen, page, resume};
pub use ending::closing;
