//! Small weights, and a package index that serves them.

pub mod made;
pub mod mirror;

pub use made::small_gguf;
