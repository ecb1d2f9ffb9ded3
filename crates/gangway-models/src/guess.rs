//! Which model to use when nobody chose one.

/// Words in the names of models that do not chat.
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

/// What to use when nobody chose: the newest of OpenAI's small all-round models, or the first that chats.
pub(crate) fn best_guess(models: &[String]) -> Option<&str> {
    let small = |name: &&String| name.starts_with("gpt-") && name.ends_with("-mini");
    let chats = |name: &&String| !NOT_FOR_CHAT.iter().any(|word| name.contains(word));
    let newest = models.iter().filter(small).filter(chats).max();
    newest
        .or_else(|| models.iter().find(chats))
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

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
