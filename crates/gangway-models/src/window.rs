//! Context windows of models, from the provider or from the model's name.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{ollama::Ollama, openai::OpenAi};

/// Windows of well-known families, by name prefix; the first match counts.
const FAMILIES: [(&str, u64); 16] = [
    ("claude", 200_000),
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4.5", 128_000),
    ("gpt-4o", 128_000),
    ("chatgpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-1106", 128_000),
    ("gpt-4-0125", 128_000),
    ("gpt-4-32k", 32_768),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
    ("o1-mini", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
];

/// The window of a well-known model, from any provider.
pub(crate) fn of_family(model: &str) -> Option<u64> {
    // Gateways put the vendor before the model's name.
    let name = model.rsplit('/').next().unwrap_or(model);
    let found = FAMILIES.iter().find(|(start, _)| name.starts_with(start));
    found.map(|(_, tokens)| *tokens)
}

/// From Ollama: the window it was loaded with, the one in its model file, or the one it was trained for.
pub(crate) async fn of_ollama(ollama: &Ollama, model: &str) -> Option<u64> {
    let loaded = ollama
        .peek(ollama.request(Method::GET, "/api/ps"))
        .await
        .and_then(|answer| loaded_window(&answer, model));
    if loaded.is_some() {
        return loaded;
    }
    let show = ollama.request(Method::POST, "/api/show");
    let shown = ollama.peek(show.json(&json!({ "model": model }))).await?;
    shown_window(&shown)
}

fn loaded_window(answer: &Value, model: &str) -> Option<u64> {
    let same = |name: &str| name == model || name.strip_suffix(":latest") == Some(model);
    let models = answer["models"].as_array()?;
    let found = models
        .iter()
        .find(|one| one["name"].as_str().is_some_and(same))?;
    tokens(&found["context_length"])
}

fn shown_window(shown: &Value) -> Option<u64> {
    let lines = shown["parameters"].as_str().unwrap_or_default().lines();
    let asked = lines.filter_map(|line| line.trim().strip_prefix("num_ctx"));
    let asked = asked.filter_map(|rest| rest.trim().parse().ok()).next();
    let trained = || {
        let facts = shown["model_info"].as_object()?;
        let mut found = facts
            .iter()
            .filter(|(name, _)| name.ends_with(".context_length"));
        tokens(found.next()?.1)
    };
    asked.filter(|&tokens| tokens > 0).or_else(trained)
}

/// From the list of models of an OpenAI-compatible server, or from llama.cpp's properties.
pub(crate) async fn of_openai(server: &OpenAi, model: &str) -> Option<u64> {
    if let Some(tokens) = of_family(model) {
        return Some(tokens);
    }
    let list = server.peek(server.request(Method::GET, "/models")).await;
    let listed = list.as_ref().and_then(|list| listed(list, model));
    if let Some(tokens) = listed.and_then(listed_window) {
        return Some(tokens);
    }
    let props = server.peek(server.request_at_root("/props")).await;
    let props = props.and_then(|props| tokens(&props["default_generation_settings"]["n_ctx"]));
    props.or_else(|| tokens(&listed?["meta"]["n_ctx_train"]))
}

fn listed<'a>(list: &'a Value, model: &str) -> Option<&'a Value> {
    let mut models = list["data"].as_array()?.iter();
    models.find(|one| one["id"] == model)
}

/// Servers use many names for it.
fn listed_window(entry: &Value) -> Option<u64> {
    let names = [
        "max_model_len",
        "context_length",
        "context_window",
        "max_context_length",
    ];
    let own = names.iter().find_map(|name| tokens(&entry[*name]));
    own.or_else(|| tokens(&entry["meta"]["n_ctx"]))
}

/// A plausible window.
fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_their_names() {
        for (model, window) in [
            ("claude-sonnet-4-5", Some(200_000)),
            ("anthropic/claude-3-haiku", Some(200_000)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-4.1-nano", Some(1_047_576)),
            ("gpt-4-0613", Some(8_192)),
            ("o1-mini", Some(128_000)),
            ("o3", Some(200_000)),
            ("llama3.2:1b", None),
            ("", None),
        ] {
            assert_eq!(of_family(model), window, "{model}");
        }
    }

    #[test]
    fn ollama_reports_the_loaded_context_size_before_the_maximum() {
        let ps = json!({ "models": [
            { "name": "other:latest", "context_length": 1 },
            { "name": "llama:latest", "context_length": 4096 },
        ]});
        assert_eq!(loaded_window(&ps, "llama"), Some(4096));
        assert_eq!(loaded_window(&ps, "llama:latest"), Some(4096));
        assert_eq!(loaded_window(&ps, "absent"), None);
        assert_eq!(loaded_window(&json!("junk"), "llama"), None);
        let trained =
            json!({ "model_info": { "llama.context_length": 131072, "llama.vocab_size": 5 } });
        assert_eq!(shown_window(&trained), Some(131_072));
        let mut asked = trained.clone();
        asked["parameters"] = json!("stop \"<|eot|>\"\nnum_ctx    8192");
        assert_eq!(shown_window(&asked), Some(8192));
        assert_eq!(
            shown_window(&json!({ "model_info": { "x.context_length": "many" } })),
            None
        );
    }

    #[test]
    fn servers_report_the_context_size_under_many_names() {
        for (entry, window) in [
            (json!({ "max_model_len": 32768 }), Some(32_768)),
            (json!({ "context_length": 8192 }), Some(8192)),
            (json!({ "meta": { "n_ctx": 2048 } }), Some(2048)),
            (json!({ "context_length": 0 }), None),
            (json!({ "context_length": -5 }), None),
            (json!({}), None),
        ] {
            assert_eq!(listed_window(&entry), window, "{entry}");
        }
    }
}
