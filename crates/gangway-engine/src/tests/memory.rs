//! What is in memory, and for how long.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use futures_util::StreamExt as _;

use super::*;

fn hello() -> ChatRequest {
    ChatRequest {
        max_tokens: Some(4),
        ..question("Hello!")
    }
}

#[tokio::test]
async fn a_model_that_is_unused_is_unloaded_and_loaded_again_on_demand() {
    let bench = Bench::new(Settings::default());
    bench.ask(hello()).await;
    let pass = async |seconds| {
        bench.model.gauges().pass(Duration::from_secs(seconds));
        bench.model.idle().await;
    };
    pass(200).await;
    assert_eq!(bench.model.status().loaded.as_deref(), Some(SMALL));
    bench.ask(hello()).await;
    pass(200).await;
    assert_eq!(
        bench.model.status().loaded.as_deref(),
        Some(SMALL),
        "it was asked meanwhile"
    );
    pass(101).await;
    let status = bench.model.status();
    assert_eq!((status.loaded, status.memory_bytes), (None, 0));
    bench.ask(hello()).await;
    assert_eq!(bench.model.status().loaded.as_deref(), Some(SMALL));
}

#[tokio::test]
async fn another_model_gets_its_turn_and_a_changed_file_is_loaded_again() {
    let bench = Bench::new(Settings::default());
    bench.put("other");
    let ask = |name: &str| ChatRequest {
        model: Some(name.to_owned()),
        ..hello()
    };
    let mut running = bench
        .start(ChatRequest {
            model: Some(SMALL.to_owned()),
            ..long_question(30)
        })
        .await;
    running.next().await.unwrap().unwrap();
    // The other one waits for the running answer, and later requests wait for the other one.
    let chat = |name: &'static str| {
        let (model, request) = (bench.model.clone(), ask(name));
        async move {
            let answer = Answer::of(model.chat(request).await?).await?;
            Ok::<_, ModelError>((answer, model.status().loaded))
        }
    };
    let (ran, other, later) = tokio::join!(Answer::of(running), chat("other"), chat(SMALL));
    assert_eq!(ran.unwrap().usage.1, 30, "it was not cut off");
    assert_eq!(other.unwrap().1.as_deref(), Some("other"));
    assert_eq!(later.unwrap().1.as_deref(), Some(SMALL));

    // Replaced by an invalid file of the same name, then removed.
    std::fs::remove_file(bench.path(SMALL)).unwrap();
    std::fs::write(bench.path(SMALL), "GGUF and nothing after it").unwrap();
    let error = bench.refusal(ask(SMALL)).await;
    assert!(
        error.message.contains("Cannot load the weights small"),
        "{error}"
    );
    std::fs::remove_file(bench.path(SMALL)).unwrap();
    let error = bench.refusal(ask(SMALL)).await;
    assert!(error.message.contains("Installed: other."), "{error}");
    assert!(error.message.contains("gangway models pull"), "{error}");
    std::fs::remove_file(bench.path("other")).unwrap();
    let error = bench.refusal(hello()).await;
    assert!(error.message.contains("No weights"), "{error}");
}

#[tokio::test]
async fn when_the_memory_is_full_the_last_one_gives_way_and_continues_later() {
    let settings = Settings {
        context_tokens: Some(256),
        ..Settings::default()
    };
    let bench = Bench::new(settings);
    // Three of these do not fit side by side.
    let about = |what: &str, tokens| ChatRequest {
        max_tokens: Some(tokens),
        ..question(&format!(
            "{} Tell me a very long story about it.",
            what.repeat(25)
        ))
    };
    let alone = bench.ask(about("An old island. ", 8)).await;
    let all = tokio::join!(
        bench.ask(about("A fine ship. ", 24)),
        bench.ask(about("The lighthouse. ", 24)),
        bench.ask(about("An old island. ", 24)),
    );
    for answer in [&all.0, &all.1, &all.2] {
        assert_eq!(answer.usage.1, 24, "{answer:?}");
        assert!(answer.usage.0 > 90, "{answer:?}");
    }
    let gave_way = &bench.model.gauges().pushed_out;
    assert!(gave_way.load(SeqCst) > 0, "there was room for everyone");
    let start: String = alone.text.chars().take(15).collect();
    assert!(all.2.text.starts_with(&start), "{alone:?} {:?}", all.2);
    bench.model.idle().await;
    assert_eq!(bench.model.status().active, 0);
}
