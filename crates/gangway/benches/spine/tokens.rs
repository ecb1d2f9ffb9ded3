//! What the server adds to a model's first token and to each token, beside a proxy that only copies bytes.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use crate::{
    Effort,
    latency::Marks,
    limits,
    median::{median, quantile},
    model::{Model, Plan},
    server::{Gangway, feed, new_session},
    table::Row,
    wire::{Connection, websocket},
};

/// The model itself, a bare proxy, and ours: a message is posted, and the answer is read on the chat's WebSocket.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let plan = Plan {
        tokens: effort.pick(20, 60),
        every: Duration::from_millis(5),
        bytes: 24,
        epoch: Instant::now(),
    };
    let model = Model::start(plan).await?;
    let proxy = limits::start("proxy", &[model.address.to_string()])?;
    let gangway = Gangway::with_model(model.address)?;
    let (mut direct, mut copied, mut ours) =
        (Samples::default(), Samples::default(), Samples::default());
    // One round of ours passes unmeasured: it connects to the model, which later ones need not.
    through(&gangway, plan, &mut Samples::default()).await?;
    let (mut ours_cpu, mut copied_cpu) = (Vec::new(), Vec::new());
    for _ in 0..effort.pick(5, 25) {
        straight(model.address, plan, &mut direct).await?;
        let before = proxy.cpu()?;
        straight(proxy.address, plan, &mut copied).await?;
        copied_cpu.push(each(proxy.cpu()?.saturating_sub(before), plan));
        let before = gangway.process.cpu()?;
        through(&gangway, plan, &mut ours).await?;
        ours_cpu.push(each(gangway.process.cpu()?.saturating_sub(before), plan));
    }
    let added = |samples: &[f64], base: &[f64]| median(samples) - median(base);
    Ok(vec![
        Row::at_most(
            "added to the model's first token, p50",
            added(&ours.first, &direct.first) / 1000.0,
            Some(added(&copied.first, &direct.first) / 1000.0),
            "ms",
            0.8,
        ),
        Row::at_most_times(
            "added to each token, p50",
            added(&ours.each, &direct.each),
            added(&copied.each, &direct.each),
            "µs",
            1.5,
        ),
        // With all that a turn costs, which the tokens of an answer share.
        Row::compared(
            "a token through a session, CPU each",
            median(&ours_cpu),
            median(&copied_cpu),
            "µs",
        ),
        Row::compared(
            "a token's whole way, p99",
            quantile(&ours.each, 0.99),
            quantile(&copied.each, 0.99),
            "µs",
        ),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "a few tokens")]
fn each(spent: Duration, plan: Plan) -> f64 {
    spent.as_secs_f64() * 1e6 / plan.tokens as f64
}

/// What was seen of answers on one way, in microseconds.
#[derive(Default)]
pub struct Samples {
    /// From the question to the first token.
    pub first: Vec<f64>,
    /// The way of each further token.
    pub each: Vec<f64>,
}

impl Samples {
    fn add(&mut self, begin: Instant, lags: &[f64], first: Instant) {
        self.first.push((first - begin).as_secs_f64() * 1e6);
        // The first token has a figure of its own.
        self.each.extend(&lags[1..]);
    }
}

/// Asks in OpenAI's form and reads the answer to its end.
pub async fn straight(
    address: SocketAddr,
    plan: Plan,
    samples: &mut Samples,
) -> anyhow::Result<()> {
    straight_with(address, "", plan, samples).await
}

/// The same with further headers, each with the end of its line.
pub async fn straight_with(
    address: SocketAddr,
    headers: &str,
    plan: Plan,
    samples: &mut Samples,
) -> anyhow::Result<()> {
    let mut connection = Connection::open(address).await?;
    // Lets a proxy connect to the other side first.
    tokio::time::sleep(Duration::from_millis(5)).await;
    let begin = Instant::now();
    let body = r#"{"model":"fake","messages":[{"role":"user","content":"hello"}],"stream":true}"#;
    connection
        .send_with("POST", "/v1/chat/completions", headers, body)
        .await?;
    let mut marks = Marks::new(connection.into_stream().await?, plan.epoch);
    let (lags, first) = marks.read(plan.tokens).await?;
    samples.add(begin, &lags, first);
    marks.drain(b"[DONE]").await
}

async fn through(gangway: &Gangway, plan: Plan, samples: &mut Samples) -> anyhow::Result<()> {
    let mut caller = gangway.connect().await?;
    let session = new_session(&mut caller).await?;
    let open = websocket(gangway.process.address, &feed(&session)).await?;
    let mut marks = Marks::new(open, plan.epoch);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let begin = Instant::now();
    let path = format!("/api/sessions/{session}/messages");
    caller.send("POST", &path, r#"{"prompt":"hello"}"#).await?;
    let (lags, first) = marks.read(plan.tokens).await?;
    samples.add(begin, &lags, first);
    caller.answer().await?;
    Ok(())
}
