//! The applet channel: changes for many tabs, a change from one tab to another, and large files.

mod change;
mod file;
pub mod tabs;

use crate::{Effort, table::Row};

/// An applet that every server has.
const APPLET: &str = "task-board";

/// All of it.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = tabs::measure(effort).await?;
    rows.extend(change::measure(effort).await?);
    rows.extend(file::measure(effort).await?);
    Ok(rows)
}

/// Where the channel of a session is.
fn channel(session: &str) -> String {
    format!("/ws/applet?session={session}&applet={APPLET}")
}
