//! The protocols: each decodes its own wire into commands and encodes events onto it. A door never imports another.

pub mod mcp;
pub mod sessions;
