//! The page of a launched app, a second: with its context in it, beside nginx that sends the same file as it is.

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use futures_util::future::try_join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{FOLDER, Launched, nginx::Nginx};
use crate::{
    Effort,
    machine::Measured,
    median::median,
    table::{Row, amount},
    wire::{content_length, find},
};

/// Browsers that load the page again and again, each a launch of its own on a kept connection.
const CALLERS: usize = 32;

/// Ours with a launch, ours without, and nginx, in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let time = Duration::from_millis(effort.pick(300, 2000));
    let gangway = super::server()?;
    let mut launched = Vec::new();
    for _ in 0..CALLERS {
        launched.push(Launched::new(&gangway, 1000).await?);
    }
    let asked: Vec<String> = launched.iter().map(Launched::request).collect();
    let host = launched.first().map(|one| one.host.clone());
    let host = host.unwrap_or_default();
    let plain =
        vec![format!("GET / HTTP/1.1\r\nHost: {host}\r\nAccept: text/html\r\n\r\n"); CALLERS];
    let nginx = Nginx::start(Path::new(FOLDER)).await;
    let [mut ours, mut bare, mut theirs] = [const { Samples::new() }; 3];
    for _ in 0..effort.pick(3, 9) {
        ours.round(&gangway.process, time, &asked, b"launchId")
            .await?;
        if let Ok(nginx) = &nginx {
            theirs
                .round(&nginx.process, time, &plain, b"</html>")
                .await?;
        }
        bare.round(&gangway.process, time, &plain, b"</html>")
            .await?;
    }
    if let Err(error) = nginx {
        let rate = amount(median(&ours.rates), "/s");
        let why = format!("nginx: {error}");
        return Ok(vec![Row::shown(
            "an app's page with a context",
            &rate,
            &why,
        )]);
    }
    let ratio = |ours: &Samples| {
        let pairs = ours.rates.iter().zip(&theirs.rates);
        median(
            &pairs
                .map(|(ours, theirs)| ours / theirs)
                .collect::<Vec<_>>(),
        )
    };
    let rates = |ours: &Samples| (median(&ours.rates), median(&theirs.rates));
    Ok(vec![
        Row::at_least_ratio(
            "an app's page with a context, against nginx with the file",
            rates(&ours),
            ratio(&ours),
            "/s",
            0.3,
        ),
        Row::compared(
            "the same, CPU each",
            median(&ours.cpu),
            median(&theirs.cpu),
            "µs",
        ),
        Row::compared(
            "an app's page without a launch, against nginx",
            median(&bare.rates),
            median(&theirs.rates),
            "/s",
        ),
        Row::compared(
            "the same, CPU each",
            median(&bare.cpu),
            median(&theirs.cpu),
            "µs",
        ),
    ])
}

struct Samples {
    rates: Vec<f64>,
    cpu: Vec<f64>,
}

impl Samples {
    const fn new() -> Self {
        Self {
            rates: Vec::new(),
            cpu: Vec::new(),
        }
    }

    async fn round(
        &mut self,
        server: &Measured,
        time: Duration,
        asked: &[String],
        words: &[u8],
    ) -> anyhow::Result<()> {
        let (begin, cpu) = (Instant::now(), server.cpu()?);
        let end = begin + time;
        let callers = asked
            .iter()
            .map(|asked| load_until(server.address, end, asked, words));
        let loaded: u32 = try_join_all(callers).await?.into_iter().sum();
        let spent = server.cpu()?.saturating_sub(cpu);
        self.rates
            .push(f64::from(loaded) / begin.elapsed().as_secs_f64());
        self.cpu.push(spent.as_secs_f64() * 1e6 / f64::from(loaded));
        Ok(())
    }
}

/// Loads a page again and again; the first time it is looked at, after that only its length is.
async fn load_until(
    address: SocketAddr,
    end: Instant,
    asked: &str,
    words: &[u8],
) -> anyhow::Result<u32> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 64 << 10];
    let mut loaded = 0;
    while Instant::now() < end {
        stream.write_all(asked.as_bytes()).await?;
        let (mut read, mut whole) = (0, usize::MAX);
        while read < whole {
            anyhow::ensure!(read < buffer.len(), "the page is too large");
            let more = stream.read(&mut buffer[read..]).await?;
            anyhow::ensure!(more > 0, "the server closed the connection");
            read += more;
            if whole == usize::MAX
                && let Some(end) = find(&buffer[..read], b"\r\n\r\n")
            {
                let head = std::str::from_utf8(&buffer[..end])?;
                let length = content_length(head).filter(|_| head.starts_with("HTTP/1.1 200"));
                let Some(length) = length else {
                    anyhow::bail!("no page: {head}");
                };
                whole = end + 4 + length;
            }
        }
        anyhow::ensure!(
            loaded > 0 || find(&buffer[..read], words).is_some(),
            "the page is another one"
        );
        loaded += 1;
    }
    Ok(loaded)
}
