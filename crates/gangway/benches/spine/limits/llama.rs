//! llama.cpp by its own plain API: the prompt in one batch, then the likeliest token, one after another.

use std::{
    io::{BufRead, Write},
    num::NonZeroU32,
    time::Instant,
};

use anyhow::Context;
use gangway_embedded::llama_cpp::{
    LogOptions,
    context::params::LlamaContextParams,
    llama_backend::LlamaBackend,
    llama_batch::LlamaBatch,
    model::{LlamaChatMessage, LlamaModel, params::LlamaModelParams},
    sampling::LlamaSampler,
    send_logs_to_tracing,
};

use crate::embedded::{Asked, Run, WINDOW};

/// Answers each line of the standard input, a question, with a line of figures.
pub fn run(arguments: &[String]) -> anyhow::Result<()> {
    let [weights, threads] = arguments else {
        anyhow::bail!("wants weights and threads");
    };
    let threads = threads.parse()?;
    // Nobody listens, so nothing is said.
    send_logs_to_tracing(LogOptions::default());
    let backend = LlamaBackend::init()?;
    let model = LlamaModel::load_from_file(&backend, weights, &LlamaModelParams::default())?;
    // What llama.cpp does when nobody says otherwise, save for the room that ours has too.
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(WINDOW))
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
        let run = Run::new(tokens.len(), written, first, begin.elapsed());
        println!("{}", serde_json::to_string(&run)?);
        std::io::stdout().flush()?;
    }
    Ok(())
}
