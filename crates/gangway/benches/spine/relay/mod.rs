//! The relay between agents and pages: round trips, calls of MCP clients, and the growth of updates.

mod nats;
mod page_tool;
mod pairs;
pub mod trips;
mod updates;

use crate::{Effort, table::Row};

/// All of it.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = trips::measure(effort).await?;
    rows.extend(page_tool::measure(effort).await?);
    match updates::measure(effort).await {
        Ok(measured) => rows.extend(measured),
        Err(error) => rows.push(Row::broken("state.updated", &error)),
    }
    Ok(rows)
}
