//! One session's events to many tabs on the channel: CPU a delivery, deliveries a second, and memory of an idle tab.

use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::channel;
use crate::{
    Effort,
    frames::masked,
    idle,
    median::median,
    readers::{Bare, Before, Readers, Samples, Wire},
    server::{Gangway, new_session},
    table::Row,
};

/// Fewer than a session keeps in memory, so that nobody is cut off for being slow when all are.
const FAST_CHANGES: u64 = 2000;

/// 500 tabs as fast as it goes, 200 at the pace of a model, and 5,000 that only wait.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let gangway = Gangway::scripted("turns: []\n")?;
    let fast = Case {
        tabs: 500,
        changes: FAST_CHANGES,
        pace: Duration::ZERO,
        rounds: effort.pick(2, 7),
    };
    let paced = Case {
        tabs: 200,
        changes: effort.pick(50, 150),
        pace: Duration::from_millis(20),
        rounds: effort.pick(1, 5),
    };
    let (fast_ours, fast_limit) = fast.compare(&gangway).await?;
    let (paced_ours, paced_limit) = paced.compare(&gangway).await?;
    let each = effort.pick(500, 5000);
    let held = {
        let gangway = Gangway::scripted("turns: []\n")?;
        let session = new_session(&mut gangway.connect().await?).await?;
        idle::hold(&gangway.process, &channel(&session), Wire::WebSocket, each).await?
    };
    Ok(vec![
        fast_ours.cpu_row("changes to 500 tabs", &fast_limit, 2.0),
        Row::at_least_times(
            "changes to 500 tabs, deliveries",
            median(&fast_ours.rates),
            median(&fast_limit.rates),
            "/s",
            0.5,
        ),
        paced_ours.cpu_row("50 changes/s to 200 tabs", &paced_limit, 1.3),
        Row::at_most(
            &format!("memory of an idle tab, {each} held"),
            held,
            Some(idle::bare(each).await?),
            "KB",
            12.0,
        ),
    ])
}

struct Case {
    tabs: usize,
    changes: u64,
    pace: Duration,
    rounds: usize,
}

impl Case {
    async fn compare(&self, gangway: &Gangway) -> anyhow::Result<(Samples, Samples)> {
        let session = new_session(&mut gangway.connect().await?).await?;
        let (address, path) = (gangway.process.address, channel(&session));
        let mut tabs = Readers::open(address, &path, Wire::WebSocket, self.tabs).await?;
        let mut bare = Bare::start(self.tabs).await?;
        let mut ours = Samples::default();
        // That the channel is open, and first changes, which wake up all that sleeps until there is one.
        tabs.wait_for(1).await?;
        self.say(&mut tabs, 2).await?;
        tabs.wait_for(3).await?;
        for _ in 0..self.rounds {
            let before = Before::new(&gangway.process)?;
            let seen = tabs.each();
            self.say(&mut tabs, self.changes).await?;
            tabs.wait_for(seen + self.changes).await?;
            before.end(&mut ours, &gangway.process, self.changes * tabs.count)?;
            bare.round(self.changes, self.pace).await?;
        }
        Ok((ours, bare.samples))
    }

    /// Every tab in turn changes the state; at a pace, one of them alone.
    async fn say(&self, tabs: &mut Readers, changes: u64) -> anyhow::Result<()> {
        // As long on the wire as what the limit says.
        let message = "word ".repeat(25);
        // Another value each time, since a change to the same value is none. With an id, so that the tab is told of its own
        // change too.
        let first = tabs.total();
        let change = |nth: u64| {
            let number = (first + nth) % 10_000;
            let text = format!(
                r#"{{"type":"setState","id":1,"data":{{"words":"{message}{number:04} "}}}}"#
            );
            masked(&text)
        };
        let mut clock = tokio::time::interval(self.pace.max(Duration::from_micros(1)));
        for nth in 0..changes {
            let speakers = if self.pace.is_zero() {
                tabs.writers.len()
            } else {
                1
            };
            if !self.pace.is_zero() {
                clock.tick().await;
            }
            let writer = usize::try_from(nth)? % speakers;
            tabs.writers[writer].write_all(&change(nth)).await?;
        }
        Ok(())
    }
}
