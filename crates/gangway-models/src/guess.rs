//! Guesses the default model and vision support from model names.

/// Parts of the names of models that do not chat.
const NOT_FOR_CHAT: [&str; 12] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "image",
    "audio",
    "realtime",
    "moderation",
    "transcribe",
    "rerank",
    "clip",
    "sora",
];

/// The default without a choice: the newest of OpenAI's small general models, or the first that chats.
pub(crate) fn best_guess(models: &[String]) -> Option<&str> {
    let small = |name: &&String| name.starts_with("gpt-") && name.ends_with("-mini");
    let chats = |name: &&String| !NOT_FOR_CHAT.iter().any(|word| name.contains(word));
    let newest = models.iter().filter(small).filter(chats).max();
    newest
        .or_else(|| models.iter().find(chats))
        .map(String::as_str)
}

/// Parts of the names of models with vision.
const SEES: [&str; 26] = [
    "gpt-4o",
    "gpt-4.1",
    "gpt-4-turbo",
    "gpt-5",
    "gpt-6",
    "chatgpt",
    "o1",
    "o3",
    "o4",
    "claude",
    "gemini",
    "vision",
    "-vl",
    "vl:",
    "vl-",
    "llava",
    "pixtral",
    "gemma3",
    "gemma-3",
    "gemma4",
    "llama4",
    "llama-4",
    "minicpm-v",
    "moondream",
    "mistral-small3",
    "grok-4",
];

/// Whether a model accepts images, judging by its name. One that does not would refuse the request.
pub(crate) fn sees(model: &str) -> bool {
    let name = model.to_lowercase();
    SEES.iter().any(|part| match part.len() {
        // Whole words only: `o1` is a model, `claudio1` is not.
        2 => name.split(['/', '-', ':']).any(|word| word == *part),
        _ => name.contains(part),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_see_are_known_by_their_names() {
        for name in [
            "gpt-4o-mini",
            "o3",
            "openai/o4-mini",
            "claude-sonnet-4",
            "qwen2.5-vl:7b",
            "llava:13b",
            "Gemma3:4b",
        ] {
            assert!(sees(name), "{name}");
        }
        for name in [
            "gpt-3.5-turbo",
            "llama3.2:1b",
            "qwen3:8b",
            "foo1",
            "mistral:7b",
            "",
        ] {
            assert!(!sees(name), "{name}");
        }
    }

    #[test]
    fn a_model_that_chats_is_guessed_from_whatever_the_server_lists() {
        let guess = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            best_guess(&names).map(str::to_owned)
        };
        assert_eq!(
            guess(&["whisper-1", "gpt-4o-mini", "gpt-5-mini", "gpt-5"]).as_deref(),
            Some("gpt-5-mini")
        );
        assert_eq!(
            guess(&["nomic-embed-text", "llama3.2:1b"]).as_deref(),
            Some("llama3.2:1b")
        );
        assert_eq!(guess(&["text-embedding-3-small"]), None);
    }
}
