//! Pages on the relay as agents of a chat and MCP clients see them; the relay itself is tested in its crate.

mod offered;
mod stages;
mod tools;
