//! Our engine without a server around it.

use std::{
    io::{BufRead, Write},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Context;
use futures_util::StreamExt;
use gangway_embedded::{Embedded, Program, Settings};
use gangway_models::{ChatChunk, ChatRequest, Message, Provider, weights::WeightsStore};

use crate::embedded::{Asked, Run, WINDOW};

/// Answers each line of the standard input, a question, with a line of figures.
pub fn run(arguments: &[String]) -> anyhow::Result<()> {
    let [store, threads] = arguments else {
        anyhow::bail!("wants a folder of weights and threads");
    };
    let settings = Settings {
        threads: Some(threads.parse()?),
        context_tokens: Some(WINDOW),
        ..Settings::default()
    };
    let program = Program::beside(Path::new(&crate::server::binary()));
    let engine = Embedded::new(WeightsStore::new(Path::new(store)), settings, program);
    let runtime = super::runtime()?;
    for line in std::io::stdin().lock().lines() {
        let asked = serde_json::from_str(&line?)?;
        let run = runtime.block_on(ask(&engine, asked))?;
        println!("{}", serde_json::to_string(&run)?);
        std::io::stdout().flush()?;
    }
    Ok(())
}

async fn ask(engine: &Embedded, asked: Asked) -> anyhow::Result<Run> {
    let request = ChatRequest {
        messages: vec![Message::System(asked.system), Message::User(asked.user)],
        temperature: Some(0.0),
        max_tokens: Some(u32::try_from(asked.tokens)?),
        ..ChatRequest::default()
    };
    let begin = Instant::now();
    let text = |error: gangway_models::ModelError| anyhow::anyhow!(error.message);
    let mut chunks = engine.chat(request).await.map_err(text)?;
    let (mut first, mut used) = (None::<Duration>, None);
    while let Some(chunk) = chunks.next().await {
        match chunk.map_err(text)? {
            ChatChunk::Text(_) => first = first.or(Some(begin.elapsed())),
            ChatChunk::Usage { input, output } => used = Some((input, output)),
            _ => {}
        }
    }
    let (input, output) = used.context("no usage")?;
    Ok(Run::new(
        usize::try_from(input)?,
        usize::try_from(output)?,
        first.context("no token")?,
        begin.elapsed(),
    ))
}
