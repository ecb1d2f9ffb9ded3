//! Servers that send, ask or hold back too much.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::{BoxFuture, join_all};
use gangway_core::ToolError;
use gangway_mcp::{Asker, ElicitationAnswer, ElicitationRequest, Host, Settings};
use serde_json::{Value, json};

use crate::support::*;

/// Closes every question at once.
#[derive(Default)]
struct Annoyed(AtomicUsize);

impl Asker for Annoyed {
    fn ask(&self, _question: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(ElicitationAnswer::Cancel))
    }
}

#[tokio::test]
async fn lists_without_end_and_long_names_are_cut() {
    let host = host(brisk(), vec![fault("wordy")]).await;
    assert_eq!(host.tools().len(), 2);
    until_said(&host, "only 2 of its tools are listed").await;
    assert!(status(&host).server.unwrap().name.len() < 300);
    let refused = host.resources(&id("faults")).await.unwrap_err();
    assert!(
        matches!(&refused, ToolError::Failed(why) if why.contains("bytes of resources")),
        "{refused}"
    );
}

#[tokio::test]
async fn a_question_out_of_nowhere_is_ignored() {
    let person = Arc::<Annoyed>::default();
    let host = Host::new(brisk(), Some(person.clone()));
    set_up(&host, vec![fault("intrusive")]).await;
    until_said(&host, "unasked: decline").await;
    assert_eq!(person.0.load(Ordering::Relaxed), 0);
    call(&host, "faults/ask", Value::Null).await.unwrap();
    assert_eq!(person.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_server_that_reads_nothing_costs_its_callers_no_more_than_their_time() {
    let settings = Settings {
        call_timeout: Duration::from_secs(2),
        per_caller: 500,
        ..brisk()
    };
    let host = host(settings, vec![fault("")]).await;
    let deaf = call(&host, "faults/deaf", Value::Null);
    // Far more than the pipe and all queues hold.
    let text = "x".repeat(256 << 10);
    let many = (0..300).map(|_| call(&host, "faults/echo", json!({ "text": text })));
    let (deaf, many) = tokio::time::timeout(SOON, async { tokio::join!(deaf, join_all(many)) })
        .await
        .unwrap();
    for result in many.into_iter().chain([deaf]) {
        assert!(
            matches!(result, Err(ToolError::Timeout { .. })),
            "{result:?}"
        );
    }
}

/// Answers every question after a moment.
struct Slow;

impl Asker for Slow {
    fn ask(&self, _question: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            ElicitationAnswer::Cancel
        })
    }
}

#[tokio::test]
async fn a_call_that_asks_and_asks_ends() {
    let settings = Settings {
        call_timeout: Duration::from_millis(100),
        ask_timeout: Duration::from_millis(100),
        ..brisk()
    };
    let host = Host::new(settings, Some(Arc::new(Slow)));
    set_up(&host, vec![fault("")]).await;
    let nagged = tokio::time::timeout(SOON, call(&host, "faults/nag", Value::Null)).await;
    assert!(matches!(nagged, Ok(Err(ToolError::Timeout { .. }))));
}
