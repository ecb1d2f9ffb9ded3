//! Web pages where they meet other parts of the server: its chat, its pages, MCP at `/mcp`, the command line.

mod chat;
mod command;
mod servers;
mod window;

use gangway_testing::fake::Fake;

use crate::{support::TestServer, tools::with_memory};

/// A server with a real MCP server and this model.
pub async fn server(model: &Fake) -> TestServer {
    let base = model.start().await;
    let yaml = format!("providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}");
    with_memory(|config| {
        config.providers = gangway::config::Config::parse(&yaml).unwrap().providers;
    })
    .await
}
