//! When a request to a provider is retried, and when not.

use std::time::Duration;

use futures_util::StreamExt;
use gangway_models::{
    ChatChunk, ChatRequest, Failure, ModelError, Provider, openai::OpenAi, remote::Retry,
};

use super::fake::Fake;

const ANSWER: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";

async fn chat_at(base: &str) -> Result<Vec<ChatChunk>, ModelError> {
    let retry = Retry {
        times: 2,
        pause: Duration::from_millis(1),
    };
    let provider = OpenAi::new(base, None, Some("m".into())).retrying(retry);
    let chunks: Vec<_> = provider.chat(ChatRequest::default()).await?.collect().await;
    chunks.into_iter().collect()
}

async fn chat(fake: &Fake) -> Result<Vec<ChatChunk>, ModelError> {
    chat_at(&fake.start().await).await
}

#[tokio::test]
async fn a_provider_that_refuses_for_a_moment_is_retried() {
    for status in [429, 500, 502, 503, 529] {
        let fake =
            Fake::streams(&[ANSWER]).after(&[(status, &[]), (status, &[("retry-after", "0")])]);
        assert_eq!(
            chat(&fake).await.unwrap(),
            [ChatChunk::Text("hi".into())],
            "{status}"
        );
        assert_eq!(fake.asked().len(), 3, "{status}");
    }
}

#[tokio::test]
async fn a_provider_that_keeps_refusing_fails_with_its_last_error() {
    let fake =
        Fake::streams(&[ANSWER]).after(&[(429, &[]), (503, &[]), (429, &[("retry-after", "7")])]);
    let error = chat(&fake).await.unwrap_err();
    assert_eq!(error.failure, Failure::RateLimited);
    assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(error.details.as_deref(), Some("busy"));
    assert_eq!(fake.asked().len(), 3);
}

#[tokio::test]
async fn a_provider_that_wants_a_long_pause_times_out() {
    let fake = Fake::streams(&[ANSWER]).after(&[(429, &[("retry-after", "60")])]);
    let error = chat(&fake).await.unwrap_err();
    assert_eq!(error.retry_after, Some(Duration::from_secs(60)));
    assert_eq!(fake.asked().len(), 1);
}

#[tokio::test]
async fn what_would_fail_again_or_has_begun_is_not_asked_again() {
    for status in [400, 401, 404, 408, 504] {
        let fake = Fake::streams(&[ANSWER]).after(&[(status, &[])]);
        chat(&fake).await.unwrap_err();
        assert_eq!(fake.asked().len(), 1, "{status}");
    }
    // A response that breaks off may have cost money and been read: it is never retried.
    let fake = Fake::streams(&["data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"]);
    let error = chat(&fake).await.unwrap_err();
    assert_eq!((error.failure, fake.asked().len()), (Failure::Failed, 1));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_again_and_then_reported() {
    // A port that was just released is free.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = chat_at(&base).await.unwrap_err();
    assert_eq!(error.failure, Failure::Unavailable);
    assert_eq!(error.failure.code(), "ERR_SERVER_UNAVAILABLE");
}
