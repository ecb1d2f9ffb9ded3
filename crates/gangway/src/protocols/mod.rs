//! The binary's own protocols: each decodes its wire into commands and encodes events onto it. They do not import each
//! other.

pub mod mcp;
pub mod pages;
pub mod sessions;
