//! What the OpenAI door adds to a model's tokens, beside a proxy that only copies bytes and beside LiteLLM's.

use std::time::{Duration, Instant};

use crate::{
    Effort, limits,
    litellm::LiteLlm,
    median::{median, quantile},
    model::{Model, Plan},
    server::Gangway,
    table::Row,
    tokens::{Samples, straight},
};

/// How far below LiteLLM the door is to be.
const BELOW: f64 = 1.0 / 5.0;

/// One client asks the model itself, the bare proxy, ours and LiteLLM in turn.
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
    let litellm = LiteLlm::start(model.address).await;
    let mut ways = vec![
        (model.address, Samples::default()),
        (proxy.address, Samples::default()),
        (gangway.process.address, Samples::default()),
    ];
    ways.extend(
        litellm
            .iter()
            .map(|l| (l.process.address, Samples::default())),
    );
    // One round passes unmeasured: it connects to the model, which later ones need not.
    for (address, _) in &ways {
        straight(*address, plan, &mut Samples::default()).await?;
    }
    for _ in 0..effort.pick(3, 40) {
        for (address, samples) in &mut ways {
            straight(*address, plan, samples).await?;
        }
    }
    let way = |number: usize| ways.get(number).map(|(_, samples)| samples);
    let added = |number: usize, of: fn(&Samples) -> &[f64]| {
        let base = median(of(&ways[0].1));
        way(number).map_or(f64::NAN, |samples| median(of(samples)) - base)
    };
    let [first, each]: [fn(&Samples) -> &[f64]; 2] = [|s| &s.first, |s| &s.each];
    let mut rows = vec![
        Row::at_most(
            "/v1, added to the model's first token, p50",
            added(2, first) / 1000.0,
            Some(added(1, first) / 1000.0),
            "ms",
            1.0,
        ),
        Row::at_most_times(
            "/v1, added to each token, p50",
            added(2, each),
            added(1, each),
            "µs",
            1.5,
        ),
        Row::compared(
            "/v1, a token's whole way, p99",
            quantile(&ways[2].1.each, 0.99),
            quantile(&ways[1].1.each, 0.99),
            "µs",
        ),
    ];
    match litellm {
        Ok(_) => rows.extend([
            Row::at_most_times(
                "the same to the first token, against LiteLLM",
                added(2, first) / 1000.0,
                added(3, first) / 1000.0,
                "ms",
                BELOW,
            ),
            Row::at_most_times(
                "the same to each token, against LiteLLM",
                added(2, each),
                added(3, each),
                "µs",
                BELOW,
            ),
        ]),
        Err(error) => rows.push(Row::shown(
            "the same, against LiteLLM",
            &format!("not measured: {error:#}"),
            "–",
        )),
    }
    Ok(rows)
}
