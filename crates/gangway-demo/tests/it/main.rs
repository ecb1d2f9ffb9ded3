//! `/api/demo` on a server without `/mcp`, so that no demo gets past the connection of its MCP client.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod server;
mod start;
