//! Failures, and recovery from them.

use super::{
    changed::{Value, with},
    *,
};

#[tokio::test]
async fn a_damaged_file_is_refused_with_a_reason_and_a_good_one_works_after_it() {
    let bench = Bench::new(Settings::default());
    let whole = std::fs::read(weights()).unwrap();
    let damaged = [
        ("empty", Vec::new(), "empty"),
        (
            "wrong",
            b"<html>Not found</html>".to_vec(),
            "not a GGUF file",
        ),
        ("cut", whole[..whole.len() / 2].to_vec(), ""),
        ("start", whole[..100].to_vec(), ""),
    ];
    for (name, bytes, reason) in damaged {
        std::fs::write(bench.path(name), bytes).unwrap();
        let request = ChatRequest {
            model: Some(name.to_owned()),
            ..question("Hello!")
        };
        let error = bench.refusal(request).await;
        assert!(
            error
                .message
                .contains(&format!("Cannot load the weights {name}")),
            "{error}"
        );
        assert!(error.message.contains(reason), "{error}");
        assert!(error.details.is_some_and(|detail| detail.len() > 5));
        assert_eq!(bench.model.status().loaded, None);
    }
    let request = ChatRequest {
        model: Some(SMALL.to_owned()),
        ..question("What is the capital of France?")
    };
    assert!(bench.ask(request).await.text.contains("Paris"));
}

#[tokio::test]
async fn nothing_to_answer_is_an_error() {
    let bench = Bench::new(Settings::default());
    let error = bench.refusal(ChatRequest::default()).await;
    assert!(error.message.contains("no message"), "{error}");
}

#[tokio::test]
async fn figures_that_would_end_the_process_are_refused_by_name() {
    let bench = Bench::new(Settings::default());
    let epsilon = "llama.attention.layer_norm_rms_epsilon";
    for (key, value) in [
        ("llama.block_count", Value::Int(0)),
        ("llama.block_count", Value::Int(u32::MAX)),
        ("llama.context_length", Value::Int(u32::MAX)),
        (epsilon, Value::Float(f32::NAN)),
        (epsilon, Value::Float(-1.0)),
        ("llama.embedding_length", Value::Int(0)),
    ] {
        std::fs::write(bench.path("wrong"), with(key, &value)).unwrap();
        let request = ChatRequest {
            model: Some("wrong".to_owned()),
            ..question("Hello!")
        };
        let error = bench.refusal(request).await;
        let name = key.trim_start_matches("llama.");
        assert!(error.message.contains(&format!("its {name} is")), "{error}");
    }
}

#[tokio::test]
async fn a_vocabulary_that_makes_nothing_of_a_conversation_is_an_error_and_does_not_loop_forever() {
    let bench = Bench::new(Settings::default());
    let silent = with("tokenizer.ggml.tokens", &Value::Words(""));
    std::fs::write(bench.path("silent"), silent).unwrap();
    let request = ChatRequest {
        model: Some("silent".to_owned()),
        ..question("Hello!")
    };
    let error = bench.refusal(request).await;
    assert!(error.message.contains("no tokens"), "{error}");
    bench.model.idle().await;
    assert_eq!(bench.model.status().active, 0);
}
