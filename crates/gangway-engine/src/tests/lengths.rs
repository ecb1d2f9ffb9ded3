//! Overlong texts: how much of them is processed.

use std::cell::Cell;

use gangway_models::Failure;

use super::*;
use crate::prepare::prepare;

#[test]
fn a_text_that_cannot_fit_is_not_read_to_its_end_and_one_without_a_reader_not_at_all() {
    let model = model();
    let looks = Cell::new(0);
    let refused = |request: &ChatRequest, gone: bool| {
        looks.set(0);
        let look = || {
            looks.set(looks.get() + 1);
            gone
        };
        prepare(&model, request, &look).map(|_| ()).unwrap_err()
    };
    // Between two parts the reader is checked, so the checks count how much was tokenized.
    for (text, most) in [
        ("a b c ".repeat(600_000), 1),
        (" ".repeat(3_900_000), 40),
        ("a".repeat(3_900_000), 4),
    ] {
        let error = refused(&question(&text), false);
        assert_eq!(error.failure, Failure::TooLong, "{error}");
        assert!(error.message.contains("does not fit"), "{error}");
        assert!((1..=most).contains(&looks.get()), "{} looks", looks.get());
    }
    refused(&question(&"a".repeat(3_900_000)), true);
    assert_eq!(looks.get(), 1);

    let long = "A ship is a large boat. ".repeat(20_000);
    let mut talk = question(&long);
    talk.messages.push(said("I see."));
    talk.messages.push(Message::User("Who are you?".to_owned()));
    let prepared = prepare(&model, &talk, &|| false).unwrap();
    let notice = prepared.notice.unwrap_or_default();
    assert!(notice.contains("oldest 2 messages"), "{notice}");
}
