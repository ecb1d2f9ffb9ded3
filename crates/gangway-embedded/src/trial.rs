//! Tries weights in a process of its own, which may die of them: llama.cpp ends the process over some files that are wrong.

use std::{path::Path, process::ExitCode};

use futures_util::StreamExt as _;
use gangway_models::{ChatRequest, Message, ModelError, ToolChoice, ToolSpec, weights::Shelf};
use serde_json::json;
use tokio::runtime::Handle;

use crate::{Embedded, Settings, source::Source};

/// What this process ends with when the weights were refused in an orderly way. The last line on its standard error is why.
pub(crate) const REFUSED: u8 = 3;

/// A conversation that is this long shows whether the model works.
const WINDOW: u32 = 256;

/// Memory for everything but the weights, of which little is used: much is only set aside.
#[cfg(unix)]
const ROOM: u64 = 4 << 30;

/// Loads these weights and has them write a little, the same way the server does. The process may not survive it.
#[allow(
    clippy::print_stderr,
    reason = "this is how the process tells whoever started it"
)]
pub fn run(path: &Path) -> ExitCode {
    confine(path);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build();
    let tried = match runtime {
        Ok(runtime) => runtime.block_on(all(path)),
        Err(error) => Err(ModelError::failed(error.to_string())),
    };
    match tried {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let reason = error.details.unwrap_or(error.message);
            eprintln!("{}", reason.replace('\n', " "));
            ExitCode::from(REFUSED)
        }
    }
}

/// Keeps this process from harming others when the weights run wild in it. What cannot be set is done without.
fn confine(path: &Path) {
    // When memory gets short, this process is the one that nobody misses.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = |most| Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // Some vocabularies make llama.cpp tokenise without end. Tensors may be there twice, mapped and laid out anew.
        let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
        let _ = setrlimit(
            Resource::As,
            limit(bytes.saturating_mul(2).saturating_add(ROOM)),
        );
        // Its death is expected, and of no interest to anyone.
        let _ = setrlimit(Resource::Core, limit(0));
    }
}

async fn all(path: &Path) -> Result<(), ModelError> {
    let settings = Settings {
        context_tokens: Some(WINDOW),
        parallel: 1,
        ..Settings::default()
    };
    // The folder is not looked at.
    let model = Embedded::new(Shelf::new(path), settings)
        .map_err(|error| ModelError::failed(error.to_string()))?;
    let source = Source::on_trial(path)
        .map_err(|error| ModelError::failed(format!("the file cannot be read: {error}")))?;
    chat(&model, &source, talk()).await?;
    // A model that cannot be held to a form can still talk; that it lives through the attempt is what counts.
    let _ = chat(&model, &source, call()).await;
    Ok(())
}

async fn chat(model: &Embedded, source: &Source, request: ChatRequest) -> Result<(), ModelError> {
    let place = model.place()?;
    let asked = model.put(request, source.clone(), place, Handle::current());
    let mut pieces = asked.await?;
    while let Some(piece) = pieces.next().await {
        piece?;
    }
    Ok(())
}

fn talk() -> ChatRequest {
    let told = Message::Assistant {
        text: "I see.".to_owned(),
        calls: Vec::new(),
    };
    ChatRequest {
        messages: vec![
            Message::System("Be brief.".to_owned()),
            // Too long to be read, but tokenised like everything else.
            Message::User(every_byte()),
            told,
            Message::User("Hello! Who are you?".to_owned()),
        ],
        max_tokens: Some(4),
        seed: Some(1),
        ..ChatRequest::default()
    }
}

fn call() -> ChatRequest {
    let tool = ToolSpec {
        name: "look".to_owned(),
        description: String::new(),
        parameters: json!({
            "type": "object",
            "properties": {"at": {"type": "string"}, "times": {"type": "integer"}},
            "required": ["at"],
        }),
    };
    ChatRequest {
        tools: vec![tool],
        tool_choice: ToolChoice::Required,
        max_tokens: Some(8),
        temperature: Some(0.0),
        messages: vec![Message::User("Look.".to_owned())],
        ..ChatRequest::default()
    }
}

/// A text with every byte that UTF-8 has: a vocabulary that lacks one makes llama.cpp throw.
fn every_byte() -> String {
    let short = '\0'..='\u{8ff}';
    let longer = (0x1..0x110).map(|high| high << 12 | 0x6c1);
    short.chain(longer.filter_map(char::from_u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_utf_8_is_tried() {
        let text = every_byte();
        let missing: Vec<u8> = (0..=255)
            .filter(|byte| !text.as_bytes().contains(byte))
            .collect();
        // No text has these.
        assert_eq!(
            missing,
            [
                0xc0, 0xc1, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff
            ]
        );
    }
}
