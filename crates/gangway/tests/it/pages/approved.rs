//! The agent of a chat changes nothing in a page of any kind without the person's approval.

use gangway_testing::webagent_client::{calls, end, says};
use serde_json::{Value, json};

use super::{Pages, SERVERS, matrix::with_model, numbers};
use crate::{
    providers::fake::Fake,
    support::{TestServer, eventually},
};

/// A chat with an open page of each kind, whose agent makes these calls at once when it is told to.
struct Chat {
    model: Fake,
    server: TestServer,
    pages: Pages,
}

impl Chat {
    async fn that_calls(wanted: &[(&str, &str)]) -> Self {
        let model = Fake::streams(&[&says("Done."), &end()]).first_says(&[&calls(wanted)]);
        let server = with_model(&model, "writes").await;
        let pages = Pages::open(&server, "builtin").await;
        let path = format!("/api/sessions/{}/messages", pages.session);
        server.post(&path, json!({ "prompt": "Begin" })).await;
        Self {
            model,
            server,
            pages,
        }
    }

    async fn questions(&self) -> Vec<Value> {
        let path = format!("/api/history?session={}", self.pages.session);
        let (_, reported) = self.server.get(&path).await;
        let entries = reported["entries"].as_array().unwrap().iter();
        let questions = entries.filter(|entry| entry["role"] == "question");
        questions.cloned().collect()
    }

    /// Answers the question with this number; returns its text.
    async fn answer(&self, number: usize, answer: &str) -> String {
        let question = eventually(async || self.questions().await.get(number).cloned()).await;
        let options = question["options"].as_array().unwrap();
        assert!(options.contains(&json!(answer)), "{question}");
        let path = format!("/api/sessions/{}/answers", self.pages.session);
        let answer = json!({ "questionId": question["questionId"], "answer": answer });
        let (status, reported) = self.server.post(&path, answer).await;
        assert!(status.is_success(), "{status} {reported}");
        question["question"].as_str().unwrap().to_owned()
    }

    /// What the model reads of its calls.
    async fn results(&self) -> Vec<String> {
        let messages = eventually(async || {
            let asked = self.model.asked();
            asked.get(1)?["messages"].as_array().cloned()
        });
        let messages = messages.await.into_iter();
        let results = messages.filter(|message| message["role"] == "tool");
        results
            .map(|message| message["content"].to_string())
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_waits_for_the_person_whichever_kind_of_page_it_is_for() {
    for server in SERVERS {
        let (name, arguments) = (format!("{server}__add"), numbers(2, 3, server).to_string());
        let chat = Chat::that_calls(&[(&name, &arguments), (&name, &arguments)]).await;
        let text = chat.answer(0, "Deny").await;
        assert!(text.contains(&format!("{server}/add")), "{text}");
        chat.answer(1, "Allow once").await;
        let results = chat.results().await;
        let made: Vec<_> = results.iter().map(|one| one.contains("sum")).collect();
        assert_eq!(made, [false, true], "{results:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_allowed_in_a_chat_is_not_asked_about_again_and_other_pages_are() {
    let lamp = numbers(2, 3, "page-lamp").to_string();
    let notes = numbers(2, 3, "page-notes").to_string();
    let chat = Chat::that_calls(&[
        ("page-lamp__peek", &lamp),
        ("page-lamp__add", &lamp),
        ("page-lamp__add_again", &lamp),
        ("page-notes__add", &notes),
    ])
    .await;
    let text = chat.answer(0, "Allow this page in this chat").await;
    assert!(text.contains("page-lamp/add "), "{text}");
    let text = chat.answer(1, "Deny").await;
    assert!(text.contains("page-notes/add "), "{text}");
    let results = chat.results().await;
    let made: Vec<_> = results.iter().map(|one| one.contains("sum")).collect();
    assert_eq!(made, [true, true, true, false], "{results:?}");
    assert_eq!(chat.questions().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_a_page_does_not_list_is_neither_asked_about_nor_called() {
    let arguments = numbers(2, 3, "page-lamp").to_string();
    let chat = Chat::that_calls(&[("page-lamp__hidden", &arguments)]).await;
    let results = chat.results().await;
    assert!(!results[0].contains("sum"), "{results:?}");
    assert!(chat.questions().await.is_empty());
}
