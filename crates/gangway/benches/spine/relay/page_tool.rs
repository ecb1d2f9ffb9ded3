//! A call of a page's tool by an MCP client at `/mcp`, beside the same call by an agent on the page's own protocol.

use std::time::Instant;

use serde_json::json;

use super::pairs::{Door, Pairs};
use crate::{Effort, gateways::Way, median::median, server::Gangway, table::Row};

/// How much longer it may take than by the page's own protocol.
const BAR: f64 = 2.0;

/// Both in turn, to the same page.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let gangway = Gangway::with_settings("")?;
    let mut pair = Pairs::open(&gangway.process, Door::Gangway, 1).await?;
    let arguments =
        json!({ "itemId": "showing-2041", "reason": "It is the earliest one after six." });
    let address = gangway.process.address;
    let way = Way::of_tool(address, "page-pair-0__select", &arguments, "showing-2041");
    let mut client = way.caller(0).await?;
    let (mut by_mcp, mut by_relay) = (Vec::new(), Vec::new());
    let (warm_up, rounds) = (20, effort.pick(200, 2000));
    for round in 0..warm_up + rounds {
        let begin = Instant::now();
        client.call().await?;
        let took = begin.elapsed().as_secs_f64() * 1e6;
        let own = pair.one_by_one(1).await?;
        if round >= warm_up {
            by_mcp.push(took);
            by_relay.extend(own);
        }
    }
    Ok(vec![Row::at_most_times(
        "a page's tool by an MCP client at /mcp, against the relay, p50",
        median(&by_mcp),
        median(&by_relay),
        "µs",
        BAR,
    )])
}
