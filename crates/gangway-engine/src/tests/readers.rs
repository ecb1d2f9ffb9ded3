//! Several concurrent readers: each makes progress, whatever the others do.

use futures_util::StreamExt as _;
use gangway_models::Failure;

use super::*;

/// Reads until there are this many texts, and keeps the rest for later.
async fn some(chunks: &mut ChatStream<'static>, count: usize) {
    for _ in 0..count {
        let chunk = chunks.next().await.unwrap().unwrap();
        assert!(matches!(chunk, ChatChunk::Text(_)), "{chunk:?}");
    }
}

#[tokio::test]
async fn answers_are_written_side_by_side_and_a_long_prompt_does_not_stop_them() {
    let bench = Bench::new(Settings::default());
    let mut first = bench.start(long_question(400)).await;
    some(&mut first, 2).await;
    let mut second = bench.start(long_question(400)).await;
    some(&mut second, 2).await;
    // If they had been processed sequentially, the first would be complete by now.
    some(&mut first, 2).await;
    assert_eq!(bench.model.status().active, 2);
    drop(second);

    let before = bench.model.status();
    let long = ChatRequest {
        max_tokens: Some(1),
        ..question(&"A ship is a large boat. ".repeat(40))
    };
    let (answer, written) = tokio::join!(bench.ask(long), async {
        let mut written = 0;
        while bench.model.status().prompt_tokens == before.prompt_tokens
            || bench.model.status().active == 2
        {
            some(&mut first, 1).await;
            written += 1;
        }
        written
    });
    assert!(answer.usage.0 > 200);
    assert!(
        written >= 2,
        "{written} tokens were written while a long prompt was read"
    );
}

#[tokio::test]
async fn a_connection_that_ends_makes_room_and_one_without_room_is_reported_when_to_retry() {
    let settings = Settings {
        parallel: 1,
        queue: 1,
        ..Settings::default()
    };
    let bench = Bench::new(settings);
    let mut first = bench.start(long_question(2000)).await;
    some(&mut first, 1).await;
    let waiting = tokio::spawn({
        let model = bench.model.clone();
        async move {
            Answer::of(
                model
                    .chat(question("What is the capital of France?"))
                    .await?,
            )
            .await
        }
    });
    while bench.model.status().waiting == 0 {
        tokio::task::yield_now().await;
    }
    let error = bench.refusal(question("Hello?")).await;
    assert_eq!(error.failure, Failure::RateLimited);
    assert!(error.retry_after.is_some());
    assert_eq!(bench.model.status().active, 1);

    drop(first);
    let answer = waiting.await.unwrap().unwrap();
    assert!(answer.text.contains("Paris"));
    bench.model.idle().await;
    let status = bench.model.status();
    assert_eq!((status.active, status.waiting), (0, 0));
    assert!(
        status.generated_tokens < 1000,
        "the one that left was not written to its end"
    );

    // A request that leaves the queue has no effects either.
    let mut first = bench.start(long_question(2000)).await;
    some(&mut first, 1).await;
    {
        let second = bench.model.chat(question("Hello?"));
        let waited = tokio::time::timeout(std::time::Duration::from_millis(1), second).await;
        assert!(waited.is_err());
    }
    assert_eq!(bench.model.status().waiting, 0);
}

#[tokio::test]
async fn a_reader_who_does_not_read_delays_no_other_reader_and_can_resume() {
    let settings = Settings {
        parallel: 1,
        ..Settings::default()
    };
    let bench = Bench::new(settings);
    let lazy = bench.start(long_question(120)).await;
    // There is one slot, and it is free as soon as the slow reader's channel is full.
    let answer = bench.ask(question("What is the capital of France?")).await;
    assert!(answer.text.contains("Paris"));
    bench.model.idle().await;
    assert_eq!(bench.model.status().active, 0);
    let lazy = Answer::of(lazy).await.unwrap();
    assert_eq!(lazy.usage.1, 120, "nothing of it got lost");
    // Logits differ slightly with the batch, so the ends of long texts may differ.
    let alone = bench.ask(long_question(20)).await;
    assert!(lazy.text.starts_with(&alone.text[..40]), "{lazy:?}");
}
