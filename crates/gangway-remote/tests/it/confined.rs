//! What a visitor or a project might do beside talking to an agent: nothing.

use gangway_core::{AskEntry, AskOutcome, Command};
use reqwest::Method;
use serde_json::json;

use super::Yard;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_cannot_give_an_answer_that_holds_in_every_chat() {
    let remote = Yard::open().await;
    let made = remote.agent("Good day").await;
    for answer in ["Always allow", "Never allow"] {
        let body = json!({ "question_id": "q", "answer": answer });
        let (status, refused) = remote.post(&made, "answer", body).await;
        assert_eq!(
            (status, &refused["error_code"]),
            (403, &json!("scope_required"))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_does_not_see_what_the_owner_decides() {
    let remote = Yard::open().await;
    let made = remote.agent("Good day").await;
    remote.until_state(&made, "complete").await;
    let hub = remote.server.service.sessions.hub();
    let session = hub.open(made.session.parse().unwrap()).await.unwrap();
    let entry = AskEntry::Closed {
        outcome: AskOutcome::Denied,
        by: None,
    };
    let decision = Command::Ask {
        ask: "a1".to_owned(),
        entry: Box::new(entry),
    };
    session.submit(decision).await.unwrap();
    let body = json!({ "text": "And now?" });
    assert_eq!(remote.post(&made, "messages", body).await.0, 202);
    let mut stream = remote.stream(&made, Some("0")).await;
    let mut names = Vec::new();
    while names.iter().filter(|name| *name == "session.idle").count() < 2 {
        names.push(stream.next().await.unwrap().event);
    }
    assert!(
        !names.iter().any(|name| name.starts_with("ask.")),
        "{names:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_agent_works_in_the_data_folder_whatever_its_project_is_called() {
    let remote = Yard::open().await;
    let link = remote.shop().join("link");
    std::os::unix::fs::symlink(remote.data(), &link).unwrap();
    for folder in [remote.data(), &link, remote.data().parent().unwrap()] {
        let project = Some(json!({ "folder": folder }));
        let stored = remote
            .server
            .call(Method::PUT, "/api/projects/evil", project);
        let (status, answer) = stored.await;
        assert_eq!(status, 400, "{} {answer}", folder.display());
    }
    // A folder that becomes a link later.
    let two = remote.shop().join("two");
    std::fs::create_dir(&two).unwrap();
    let project = Some(json!({ "folder": two }));
    let stored = remote
        .server
        .call(Method::PUT, "/api/projects/two", project);
    assert_eq!(stored.await.0, 200);
    std::fs::remove_dir(&two).unwrap();
    std::os::unix::fs::symlink(remote.data(), &two).unwrap();
    let mut request = super::create_request("Good day");
    request["project_name"] = json!("two");
    let (status, answer) = remote.create(request).await;
    assert_eq!(status, 503, "{answer}");
}
