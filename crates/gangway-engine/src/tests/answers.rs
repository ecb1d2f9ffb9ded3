//! Answers and their metrics.

use gangway_models::Message;

use super::*;

#[tokio::test]
async fn a_simple_question_is_answered_the_same_each_time_and_ends_where_it_should() {
    let bench = Bench::new(Settings::default());
    assert_eq!(bench.model.status(), gangway_embedded::Status::default());

    let first = bench.ask(question("What is the capital of France?")).await;
    assert!(first.text.contains("Paris"), "{first:?}");
    assert!(!first.truncated && first.usage.0 > 5 && first.usage.1 > 1);
    let status = bench.model.status();
    assert_eq!(status.loaded.as_deref(), Some(SMALL));
    assert!(status.memory_bytes > 80_000_000 && status.memory_bytes < 500_000_000);
    assert_eq!(status.prompt_tokens, first.usage.0);
    assert_eq!(status.generated_tokens, first.usage.1);

    let warm = |seed| ChatRequest {
        temperature: Some(1.0),
        top_p: Some(0.9),
        seed: Some(seed),
        ..long_question(20)
    };
    // From now on the prompt is cached: logits differ slightly with the batch size.
    bench.ask(warm(7)).await;
    let seven = bench.ask(warm(7)).await;
    assert_eq!(bench.ask(warm(7)).await.text, seven.text);
    assert_ne!(bench.ask(warm(8)).await.text, seven.text);
    assert!(seven.truncated && seven.usage.1 == 20, "{seven:?}");

    let request = ChatRequest {
        stop: vec!["Paris".to_owned()],
        ..question("What is the capital of France?")
    };
    let stopped = bench.ask(request).await;
    assert!(first.text.starts_with(&stopped.text));
    assert!(!stopped.text.contains("Paris") && !stopped.truncated);
}

#[tokio::test]
async fn what_was_read_is_not_read_again_in_the_next_turn() {
    let bench = Bench::new(Settings::default());
    let system = Message::System("You are the mate of a ship. ".repeat(12));
    let asking = |messages: Vec<Message>| ChatRequest {
        messages,
        max_tokens: Some(12),
        ..question("")
    };
    let mut messages = vec![system.clone(), Message::User("Name a ship.".to_owned())];
    let first = bench.ask(asking(messages.clone())).await;
    assert_eq!(bench.model.status().reused_tokens, 0);

    messages.push(said(&first.text));
    messages.push(Message::User("Name another.".to_owned()));
    let second = bench.ask(asking(messages.clone())).await;
    let reused = bench.model.status().reused_tokens;
    assert!(
        reused >= first.usage.0 && reused < second.usage.0,
        "{reused}"
    );

    // Another conversation with the same instructions shares them.
    let other = vec![system, Message::User("What is a knot?".to_owned())];
    bench.ask(asking(other)).await;
    let shared = bench.model.status().reused_tokens - reused;
    assert!(shared > 60, "{shared}");

    // The first one is still cached.
    messages.push(said(&second.text));
    messages.push(Message::User("Thanks.".to_owned()));
    let known = bench.model.status().reused_tokens;
    let third = bench.ask(asking(messages)).await;
    let again = bench.model.status().reused_tokens - known;
    assert!(again >= second.usage.0 && again < third.usage.0, "{again}");
}

#[tokio::test]
async fn what_is_too_long_to_read_is_left_out_with_a_notice() {
    let settings = Settings {
        context_tokens: Some(128),
        ..Settings::default()
    };
    let bench = Bench::new(settings);
    let mut messages = vec![Message::System("Be brief.".to_owned())];
    for number in 0..20 {
        messages.push(Message::User(format!("What is {number} plus {number}?")));
        messages.push(said(&format!("It is {}.", number * 2)));
    }
    messages.push(Message::User("What is the capital of France?".to_owned()));
    let request = ChatRequest {
        messages,
        max_tokens: Some(40),
        ..question("")
    };
    let answer = bench.ask(request).await;
    assert_eq!(answer.notices.len(), 1, "{answer:?}");
    let notice = &answer.notices[0];
    assert!(notice.contains("longer than the 128 tokens"), "{notice}");
    assert!(notice.contains("messages were left out"), "{notice}");
    assert!(answer.usage.0 + answer.usage.1 <= 128);
    assert!(answer.text.contains("Paris"), "{answer:?}");

    let error = bench.refusal(question(&"ship ".repeat(400))).await;
    assert!(
        error.message.contains("The last message does not fit"),
        "{error}"
    );
    assert!(error.message.contains("tokens longer"), "{error}");

    let full = bench.ask(long_question(4000)).await;
    assert!(
        full.truncated && full.usage.0 + full.usage.1 <= 128,
        "{full:?}"
    );
}
