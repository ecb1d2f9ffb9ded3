//! Servers that ask the user during a call.

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use gangway_mcp::{Asker, ElicitationAnswer, ElicitationRequest, Host, Settings};
use serde_json::{Value, json};

use crate::support::*;

struct Patient(ElicitationAnswer);

impl Asker for Patient {
    fn ask(&self, question: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        assert_eq!(question.message, "Which city?");
        assert_eq!(question.caller.as_deref(), Some("tester"));
        let answer = self.0.clone();
        let slow = tokio::time::sleep(Duration::from_millis(600));
        Box::pin(slow.map(move |()| answer))
    }
}

#[tokio::test]
async fn a_server_may_ask_a_user_and_the_call_waits_meanwhile() {
    let rome = ElicitationAnswer::Accept(json!({"city": "Rome"}));
    let cases: [(Option<ElicitationAnswer>, &str); 3] = [
        (
            Some(rome),
            r#"{"action": "accept", "content": {"city": "Rome"}}"#,
        ),
        (Some(ElicitationAnswer::Cancel), r#"{"action": "cancel"}"#),
        (None, r#"{"action": "decline"}"#),
    ];
    for (answer, expected) in cases {
        let asker = answer.map(|answer| Arc::new(Patient(answer)) as Arc<dyn Asker>);
        let settings = Settings {
            call_timeout: Duration::from_millis(500),
            ..brisk()
        };
        let host = Host::new(settings, asker);
        set_up(&host, vec![fault("")]).await;
        let texts = call(&host, "faults/ask", Value::Null).await.unwrap();
        assert_eq!(texts[0]["text"], expected);
    }
}

#[tokio::test]
async fn a_server_of_the_current_revision_asks_by_ending_the_call_and_sends_notifications_when_subscribed()
 {
    let rome = ElicitationAnswer::Accept(json!({"city": "Rome"}));
    let host = Host::new(brisk(), Some(Arc::new(Patient(rome))));
    set_up(&host, vec![fault("modern")]).await;
    assert_eq!(status(&host).protocol.as_deref(), Some("2026-07-28"));
    let texts = call(&host, "faults/ask", Value::Null).await.unwrap();
    let answer = r#"kept {"action": "accept", "content": {"city": "Rome"}}"#;
    assert_eq!(texts[0]["text"], answer);
    until_said(&host, "listening").await;
    let mut changes = host.changes();
    call(&host, "faults/grow", Value::Null).await.unwrap();
    let grown = changes.wait_for(|_| host.tools().iter().any(|t| t.name.tool() == "grown"));
    tokio::time::timeout(SOON, grown).await.unwrap().unwrap();
}

/// Never answers.
#[derive(Default)]
struct Absent(tokio::sync::Notify);

impl Asker for Absent {
    fn ask(&self, _question: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_question_without_an_answer_delays_no_other_call() {
    for how in ["", "modern"] {
        let absent = Arc::new(Absent::default());
        let settings = Settings {
            per_caller: 2,
            ..brisk()
        };
        let host = Host::new(settings, Some(absent.clone()));
        let asking = ["one", "two"].map(|name| {
            let mut spec = fault(how);
            spec.id = id(name);
            spec
        });
        let mut other = fault("");
        other.id = id("other");
        let [one, two] = asking;
        set_up(&host, vec![one, two, other]).await;
        let first = call(&host, "one/ask", Value::Null);
        let second = call(&host, "two/ask", Value::Null);
        let third = async {
            absent.0.notified().await;
            call(&host, "other/echo", json!({"text": "hi"})).await
        };
        let answered = tokio::select! {
            done = first => panic!("{done:?}"),
            done = second => panic!("{done:?}"),
            answered = tokio::time::timeout(SOON, third) => answered.unwrap(),
        };
        assert!(answered.is_ok(), "{how}: {answered:?}");
    }
}
