//! Providers that repeat the key that they were sent.

use gangway_models::{ChatChunk, ChatRequest};
use serde_json::json;

use super::{
    fake::Fake,
    wires::{KEY, WIRES},
};

#[tokio::test]
async fn a_key_that_an_error_repeats_is_taken_out_wherever_the_words_are_cut() {
    for wire in WIRES {
        for before in [0, 495, 640] {
            let message = format!("{}{KEY} tail", "x".repeat(before));
            let body = json!({ "error": { "message": message } }).to_string();
            for fake in [
                Fake::answers(401, &[], &body),
                Fake::answers(500, &[], &message),
                Fake::streams(&[&wire.error(&message)]),
            ] {
                let (_, error) = wire.chat(&fake).await;
                let shown = format!("{:?}", error.unwrap());
                // The beginning of a key is not shown either.
                assert!(!shown.contains(&KEY[..8]), "{wire:?} {before}: {shown}");
                assert!(before > 0 || shown.contains("[key]"), "{wire:?}: {shown}");
            }
        }
    }
}

#[tokio::test]
async fn a_key_that_an_answer_repeats_is_taken_out_of_text_calls_and_lists() {
    for wire in WIRES {
        let (a, b) = KEY.split_at(9);
        let mut events = vec![wire.text(&format!("You are {a}")), wire.text(b)];
        events.extend(wire.call(&json!({ "path": format!("x{KEY}") })));
        events.extend([wire.text(" and so on"), wire.end()]);
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let (chunks, error) = wire.chat(&Fake::streams(&events)).await;
        assert!(error.is_none(), "{wire:?}: {error:?}");
        let shown = format!("{chunks:?}");
        assert!(!shown.contains(a) && !shown.contains(b), "{shown}");
        let text = chunks.iter().filter_map(|chunk| match chunk {
            ChatChunk::Text(text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(text.collect::<String>(), "You are [key] and so on");
        let list = Fake::answers(200, &[], &wire.list(&format!("gpt-{KEY}")));
        let names = wire.at(&list.start().await).models().await.unwrap();
        assert_eq!(names, ["gpt-[key]"], "{wire:?}");
    }
}

#[tokio::test]
async fn a_password_in_an_address_is_used_and_not_shown() {
    for wire in WIRES {
        let fake = Fake::answers(500, &[], "no");
        let base = fake.start().await.replace("//", "//me:hidden-pw@");
        let error = wire.at(&base).chat(ChatRequest::default()).await.err();
        let shown = format!("{:?}", error.unwrap());
        assert!(!shown.contains("hidden-pw"), "{shown}");
        assert_eq!(fake.asked().len(), 1);
    }
}
