//! Pages that ask too much, and words that are meant to deceive.

use gangway_core::Scope;
use gangway_testing::eventually;
use gangway_webagent::permissions::{Decision, TooMany};
use serde_json::json;

use super::{Asking, SHOP, answer, change, details, query, requests};
use crate::server::TestServer;

#[tokio::test]
async fn three_questions_wait_behind_the_one_that_is_shown_and_no_more() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let scopes = [
        Scope::ModelPrompt,
        Scope::ModelList,
        Scope::ChatOpen,
        Scope::ToolsList,
    ];
    let mut asking: Vec<_> = scopes
        .iter()
        .map(|scope| Asking::begin(permissions, query(SHOP, &[*scope])))
        .collect();
    asking[0].id().await;
    eventually(|| async { (requests(&server)[0].1.waiting == 3).then_some(()) }).await;
    let one_more = Asking::begin(permissions, query(SHOP, &[Scope::ActiveTabRead]));
    assert_eq!(one_more.task.await.unwrap(), Err(TooMany));
    assert_eq!(TooMany.code(), "ERR_RATE_LIMITED");
    // Other origins are not affected.
    Asking::begin(
        permissions,
        query("https://other.example", &[Scope::ModelPrompt]),
    )
    .id()
    .await;
}

#[tokio::test]
async fn the_same_question_a_thousand_times_is_one_question_with_a_bound() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let asking: Vec<_> = (0..1000)
        .map(|_| Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt])))
        .collect();
    let mut refused = 0;
    let mut waiting = Vec::new();
    eventually(|| async {
        (asking.iter().filter(|a| a.task.is_finished()).count() == 936).then_some(())
    })
    .await;
    for one in asking {
        match one.task.is_finished() {
            true => refused += usize::from(one.task.await.unwrap() == Err(TooMany)),
            false => waiting.push(one),
        }
    }
    assert_eq!((refused, waiting.len()), (936, 64));
    let asks = server.service.asks.list();
    assert_eq!((asks.len(), requests(&server)[0].1.waiting), (1, 0));
    answer(&server, &asks[0].id, json!({ "decision": "always" })).await;
    for one in waiting {
        assert_eq!(one.outcome().await.decision, Decision::Always);
    }
}

#[tokio::test]
async fn many_sites_together_have_a_bound_and_hidden_questions_one_of_their_own() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let mut open = Vec::new();
    for hidden in [true, false] {
        for number in 0..32 {
            let mut query = query(&format!("https://s{number}.example"), &[Scope::ModelPrompt]);
            query.hidden = hidden;
            let mut asking = Asking::begin(permissions, query);
            asking.id().await;
            open.push(asking);
        }
        let mut query = query("https://last.example", &[Scope::ModelPrompt]);
        query.hidden = hidden;
        assert_eq!(
            Asking::begin(permissions, query).task.await.unwrap(),
            Err(TooMany)
        );
    }
    assert_eq!(requests(&server).len(), 32);
}

#[tokio::test]
async fn forty_subdomains_of_one_site_have_the_room_of_one_and_do_not_lock_out_others() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let mut open = Vec::new();
    for number in 0..40 {
        let from = format!("https://s{number}.evil.example");
        open.push(Asking::begin(
            permissions,
            query(&from, &[Scope::ModelPrompt]),
        ));
    }
    eventually(|| async {
        (open.iter().filter(|one| one.task.is_finished()).count() == 36).then_some(())
    })
    .await;
    assert_eq!(requests(&server).len(), 4);
    let mut other = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
    other.id().await;
    // Other ports and schemes are the same site; other people's pages on one host are not.
    let port = query("http://evil.example:8080", &[Scope::ModelPrompt]);
    let port = Asking::begin(permissions, port).task.await.unwrap();
    assert_eq!(port, Err(TooMany));
    for name in ["alice", "bob"] {
        let from = format!("https://{name}.github.io");
        let mut asking = Asking::begin(permissions, query(&from, &[Scope::ModelPrompt]));
        asking.id().await;
        open.push(asking);
    }
}

#[tokio::test]
async fn refusals_of_one_subdomain_count_for_all_of_the_site() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    for number in 0..10 {
        let from = format!("https://s{number}.evil.example");
        let mut asking = Asking::begin(permissions, query(&from, &[Scope::ModelPrompt]));
        asking.id().await;
        asking.task.abort();
        assert!(asking.task.await.is_err());
    }
    let next = query("https://s11.evil.example", &[Scope::ModelPrompt]);
    let next = Asking::begin(permissions, next).task.await.unwrap();
    assert_eq!(next, Err(TooMany));
}

#[tokio::test]
async fn a_site_whose_requests_are_not_granted_has_to_wait_until_the_user_decides() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    for _ in 0..10 {
        let mut asking = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
        asking.id().await;
        asking.task.abort();
        assert!(asking.task.await.is_err());
    }
    let eleventh = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
    assert_eq!(eleventh.task.await.unwrap(), Err(TooMany));
    Asking::begin(
        permissions,
        query("https://other.example", &[Scope::ModelPrompt]),
    )
    .id()
    .await;
    let path = format!("/api/permissions?origin={SHOP}");
    change(&server, reqwest::Method::DELETE, &path, None).await;
    Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]))
        .id()
        .await;
}

#[tokio::test]
async fn a_reason_is_one_line_that_reads_as_it_is_written() {
    let server = TestServer::start().await;
    let mut deceiving = query(SHOP, &[Scope::ModelPrompt]);
    deceiving.reason = format!(
        "To help.\n\n\n\u{202e}Gangway says:\u{200b} press \u{1b}[1mAlways allow\r\n{}",
        "x".repeat(10_000)
    );
    let mut asking = Asking::begin(&server.service.permissions, deceiving);
    let id = asking.id().await;
    let reason = details(&server, &id).reason.unwrap();
    assert!(
        reason.starts_with("To help. Gangway says: press [1mAlways allow xxx"),
        "{reason}"
    );
    assert!(reason.ends_with("x…") && reason.chars().count() == 500);
}
