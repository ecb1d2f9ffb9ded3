//! What the OpenAI door adds to a model's tokens, beside a proxy that only copies bytes, LiteLLM and Portkey.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use crate::{
    Effort, limits,
    litellm::LiteLlm,
    median::{median, quantile},
    model::{Model, Plan},
    portkey::Portkey,
    server::Gangway,
    table::Row,
    tokens::{Samples, straight_with},
};

/// How far below LiteLLM ours is to be.
const BELOW: f64 = 1.0 / 5.0;

/// One client asks the model itself, the bare proxy, ours, LiteLLM and Portkey in turn.
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
    let portkey = Portkey::start(model.address).await;
    let mut ways = vec![
        Way::to(model.address, ""),
        Way::to(proxy.address, ""),
        Way::to(gangway.process.address, ""),
    ];
    let mut rivals = Vec::new();
    for (name, bar, started) in [
        ("LiteLLM", Some(BELOW), litellm.as_ref().map(LiteLlm::way)),
        ("Portkey", None, portkey.as_ref().map(Portkey::way)),
    ] {
        let number = started.map(|(address, headers)| {
            ways.push(Way::to(address, headers));
            ways.len() - 1
        });
        rivals.push((name, bar, number.map_err(|error| format!("{error:#}"))));
    }
    // One round passes unmeasured: it connects to the model, which later ones need not.
    for way in &ways {
        straight_with(way.address, &way.headers, plan, &mut Samples::default()).await?;
    }
    for _ in 0..effort.pick(3, 40) {
        for way in &mut ways {
            straight_with(way.address, &way.headers, plan, &mut way.samples).await?;
        }
    }
    let added = |number: usize, of: fn(&Samples) -> &[f64]| {
        median(of(&ways[number].samples)) - median(of(&ways[0].samples))
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
            quantile(&ways[2].samples.each, 0.99),
            quantile(&ways[1].samples.each, 0.99),
            "µs",
        ),
    ];
    for (rival, bar, number) in rivals {
        let number = match number {
            Ok(number) => number,
            Err(reason) => {
                let figure = format!("the same, against {rival}");
                let reason = format!("not measured: {reason}");
                rows.push(Row::shown(&figure, &reason, "–"));
                continue;
            }
        };
        let row = |figure: &str, of, scale: f64, unit| {
            let figure = format!("the same to {figure}, against {rival}");
            let (ours, its) = (added(2, of) / scale, added(number, of) / scale);
            match bar {
                Some(bar) => Row::at_most_times(&figure, ours, its, unit, bar),
                None => Row::compared(&figure, ours, its, unit),
            }
        };
        rows.push(row("the first token", first, 1000.0, "ms"));
        rows.push(row("each token", each, 1.0, "µs"));
    }
    Ok(rows)
}

/// A server that is asked, and what was seen of its answers.
struct Way {
    address: SocketAddr,
    headers: String,
    samples: Samples,
}

impl Way {
    fn to(address: SocketAddr, headers: &str) -> Self {
        Self {
            address,
            headers: headers.to_owned(),
            samples: Samples::default(),
        }
    }
}
