//! Greedy decoding with llama.cpp's plain API: the prompt in one batch, then token by token. The baseline of the engine
//! in `make bench ROWS=embedded`.

use std::{
    io::{BufRead, Write},
    num::NonZeroU32,
    time::Instant,
};

use anyhow::Context;
use gangway_engine::llama_cpp::{
    LogOptions,
    context::params::LlamaContextParams,
    llama_backend::LlamaBackend,
    llama_batch::LlamaBatch,
    model::{LlamaChatMessage, LlamaModel, params::LlamaModelParams},
    sampling::LlamaSampler,
    send_logs_to_tracing,
};

use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Asked {
    system: String,
    user: String,
    tokens: usize,
}

/// Tokens and durations of one answer.
#[derive(Serialize)]
struct Run {
    read: usize,
    written: usize,
    first: f64,
    rest: f64,
}

/// Answers each line of the standard input, and prints a line of figures.
#[expect(clippy::print_stdout, reason = "its output is what it is run for")]
fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [weights, threads, window] = arguments.as_slice() else {
        anyhow::bail!("usage: bare_llama WEIGHTS THREADS CONTEXT_TOKENS");
    };
    let (threads, window) = (threads.parse()?, window.parse()?);
    // Discards the log.
    send_logs_to_tracing(LogOptions::default());
    let backend = LlamaBackend::init()?;
    let model = LlamaModel::load_from_file(&backend, weights, &LlamaModelParams::default())?;
    // llama.cpp's defaults, except for the context size, which is the engine's.
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(window))
        .with_n_threads(threads)
        .with_n_threads_batch(threads);
    let mut context = model.new_context(&backend, params)?;
    let vocab = model.vocab();
    let template = model.chat_template(None)?;
    let mut batch = LlamaBatch::new(context.n_batch() as usize, 1);
    for line in std::io::stdin().lock().lines() {
        let asked: Asked = serde_json::from_str(&line?)?;
        let begin = Instant::now();
        let messages = [("system", asked.system), ("user", asked.user)]
            .map(|(role, text)| LlamaChatMessage::new(role.to_owned(), text));
        let messages = messages.into_iter().collect::<Result<Vec<_>, _>>()?;
        let text = model.apply_chat_template(&template, &messages, true)?;
        let tokens = vocab.tokenize(text.as_bytes(), false, true);
        let mut sampler = LlamaSampler::greedy();
        context.clear_kv_cache();
        batch.clear();
        batch.add_sequence(&tokens, 0, false)?;
        context.decode(&mut batch)?;
        let (mut first, mut written) = (None, 0);
        while written < asked.tokens {
            let token = sampler.sample(&context, batch.n_tokens() - 1);
            if vocab.is_eog(token) {
                break;
            }
            let _ = vocab.token_to_piece(token, false, None);
            first.get_or_insert_with(|| begin.elapsed());
            written += 1;
            if written < asked.tokens {
                let place = i32::try_from(tokens.len() + written - 1)?;
                batch.clear();
                batch.add(token, place, &[0], true)?;
                context.decode(&mut batch)?;
            }
        }
        let first = first.context("no token")?;
        let run = Run {
            read: tokens.len(),
            written,
            first: first.as_secs_f64(),
            rest: (begin.elapsed() - first).as_secs_f64(),
        };
        println!("{}", serde_json::to_string(&run)?);
        std::io::stdout().flush()?;
    }
    Ok(())
}
