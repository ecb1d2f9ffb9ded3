//! The applets and apps that are built into the binary.

use rust_embed::RustEmbed;

/// One folder each.
#[derive(RustEmbed)]
#[folder = "../../apps"]
#[allow_missing = true]
pub struct Shipped;
