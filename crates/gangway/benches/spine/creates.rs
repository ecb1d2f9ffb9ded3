//! Sessions made a second over HTTP by 32 callers, each answered once it is on the disk.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use futures_util::future::try_join_all;

use crate::{
    Effort, limits, machine::Measured, median::median, server::Gangway, table::Row,
    wire::Connection,
};

const CALLERS: usize = 32;

/// Ours, and a server that appends a line and syncs it with all that wait.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let time = Duration::from_millis(effort.pick(300, 2000));
    let gangway = Gangway::scripted("turns: []\n")?;
    let limit = limits::start("creates", &[])?;
    let folder = tempfile::tempdir()?;
    let named = serde_json::json!({ "cwd": folder.path() }).to_string();
    let (mut ours, mut shared, mut bare) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..effort.pick(2, 7) {
        ours.round(&gangway.process, time, "{}").await?;
        bare.round(&limit, time, "{}").await?;
        shared.round(&gangway.process, time, &named).await?;
    }
    Ok(vec![
        Row::at_least_times(
            "durable creates, 32 callers",
            median(&ours.rates),
            median(&bare.rates),
            "/s",
            0.4,
        ),
        Row::compared(
            "durable creates, CPU each",
            median(&ours.cpu),
            median(&bare.cpu),
            "µs",
        ),
        // The difference is what the file system takes for a folder.
        Row::compared(
            "durable creates in a folder that is there",
            median(&shared.rates),
            median(&bare.rates),
            "/s",
        ),
        Row::compared(
            "the same, CPU each",
            median(&shared.cpu),
            median(&bare.cpu),
            "µs",
        ),
    ])
}

#[derive(Default)]
struct Samples {
    rates: Vec<f64>,
    cpu: Vec<f64>,
}

impl Samples {
    async fn round(
        &mut self,
        server: &Measured,
        time: Duration,
        request: &str,
    ) -> anyhow::Result<()> {
        let (begin, cpu) = (Instant::now(), server.cpu()?);
        let end = begin + time;
        let callers = (0..CALLERS).map(|_| call_until(server.address, end, request));
        let made: u32 = try_join_all(callers).await?.into_iter().sum();
        let spent = server.cpu()?.saturating_sub(cpu);
        self.rates
            .push(f64::from(made) / begin.elapsed().as_secs_f64());
        self.cpu.push(spent.as_secs_f64() * 1e6 / f64::from(made));
        Ok(())
    }
}

async fn call_until(address: SocketAddr, end: Instant, params: &str) -> anyhow::Result<u32> {
    let mut connection = Connection::open(address).await?;
    let mut made = 0;
    while Instant::now() < end {
        let (status, body) = connection.request("POST", "/api/sessions", params).await?;
        anyhow::ensure!(
            status == 201,
            "{status}: {}",
            String::from_utf8_lossy(&body)
        );
        made += 1;
    }
    Ok(made)
}
