//! One stream of tokens to many readers: CPU a delivery of the server, at full speed and paced.

use std::time::Duration;

use crate::{
    Effort,
    median::median,
    readers::{Bare, Before, Readers, Samples, Wire},
    server::{Gangway, feed, new_session, say},
    table::Row,
};

/// Fewer tokens than a session keeps in memory, so that no reader is disconnected for being slow when all are.
const FAST_TOKENS: u64 = 2000;

/// Full speed to 500 readers on each wire, then 50 tokens a second to 200.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let gangway = Gangway::scripted(&script(effort))?;
    let fast = |wire| Case {
        wire,
        readers: 500,
        tokens: FAST_TOKENS,
        pace: Duration::ZERO,
        rounds: effort.pick(2, 7),
    };
    let (fast_ours, fast_limit) = fast(Wire::Sse).compare(&gangway).await?;
    let (socket_ours, socket_limit) = fast(Wire::WebSocket).compare(&gangway).await?;
    let deliveries = |figure: &str, ours: &Samples, limit: &Samples| {
        let figure = format!("{figure}, deliveries");
        Row::compared(&figure, median(&ours.rates), median(&limit.rates), "/s")
    };
    let (sse, socket) = (
        "one stream to 500 SSE readers",
        "one stream to 500 WebSockets",
    );
    let mut rows = vec![
        fast_ours.cpu_row(sse, &fast_limit, 1.5),
        deliveries(sse, &fast_ours, &fast_limit),
        socket_ours.cpu_row(socket, &socket_limit, 2.0),
        deliveries(socket, &socket_ours, &socket_limit),
    ];
    for library in ["ws", "socket.io"] {
        let figure = format!("{socket}, against {library} in Node");
        rows.extend(match in_node(library, effort).await {
            Ok(its) => vec![
                socket_ours.compared_row(&figure, &its),
                deliveries(&figure, &socket_ours, &its),
            ],
            Err(error) => vec![Row::shown(
                &figure,
                &format!("not measured: {error:#}"),
                "–",
            )],
        });
    }
    rows.extend(paced(effort).await?);
    Ok(rows)
}

/// As many WebSockets of a server in Node, with fewer tokens: it is slower.
async fn in_node(library: &str, effort: Effort) -> anyhow::Result<Samples> {
    let mut server = Bare::node(library, 500).await?;
    // The first round passes unmeasured: it compiles what is hot.
    for _ in 0..=effort.pick(2, 5) {
        server.round(200, Duration::ZERO).await?;
    }
    let mut samples = server.samples;
    samples.cpu.remove(0);
    samples.rates.remove(0);
    Ok(samples)
}

/// 50 tokens a second to 200 SSE readers.
pub async fn paced(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let gangway = Gangway::scripted(&script(effort))?;
    let case = Case {
        wire: Wire::Sse,
        readers: 200,
        tokens: paced_tokens(effort),
        pace: Duration::from_millis(20),
        rounds: effort.pick(2, 5),
    };
    let (ours, limit) = case.compare(&gangway).await?;
    Ok(vec![ours.cpu_row(
        "50 tokens/s to 200 SSE readers",
        &limit,
        1.3,
    )])
}

fn paced_tokens(effort: Effort) -> u64 {
    effort.pick(50, 150)
}

fn script(effort: Effort) -> String {
    let paced_tokens = paced_tokens(effort);
    format!(
        "turns:
- when: fast
  steps: [{{delta: 'word ', times: {FAST_TOKENS}}}]
- steps: [{{delta: 'word ', times: {paced_tokens}, every_ms: 20}}]
"
    )
}

struct Case {
    wire: Wire,
    readers: usize,
    tokens: u64,
    pace: Duration,
    rounds: usize,
}

impl Case {
    async fn compare(&self, gangway: &Gangway) -> anyhow::Result<(Samples, Samples)> {
        let mut caller = gangway.connect().await?;
        let session = new_session(&mut caller).await?;
        let prompt = if self.pace.is_zero() { "fast" } else { "paced" };
        let address = gangway.process.address;
        let readers = Readers::open(address, &feed(&session), self.wire, self.readers).await?;
        let mut bare = Bare::start(self.readers).await?;
        let mut ours = Samples::default();
        // The first message also names the session, which later ones do not: it passes unmeasured.
        let (opening, turn) = (self.wire.opening(), self.tokens + self.wire.around());
        readers.wait_for(opening).await?;
        say(&mut caller, &session, prompt).await?;
        readers.wait_for(opening + 1 + turn).await?;
        for _ in 0..self.rounds {
            let before = Before::new(&gangway.process)?;
            let seen = readers.each();
            say(&mut caller, &session, prompt).await?;
            readers.wait_for(seen + turn).await?;
            before.end(&mut ours, &gangway.process, turn * readers.count)?;
            bare.round(self.tokens, self.pace).await?;
        }
        Ok((ours, bare.samples))
    }
}
