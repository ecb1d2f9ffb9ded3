//! Asking the person, and what comes of their answers.

use gangway_core::{Grant, GrantDuration, Scope};
use gangway_testing::eventually;
use gangway_webagent::permissions::{
    Actor, AnswerError, Decision, PermissionAnswer, ProvidedServer,
};
use serde_json::json;

use super::{Asking, SHOP, answer, details, grant, origin, patch, query, requests, tab};
use crate::server::TestServer;

#[tokio::test]
async fn what_is_always_allowed_is_on_the_disk_before_the_page_is_notified() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let scopes = [Scope::ModelPrompt, Scope::ChatOpen];
    let mut asking = Asking::begin(permissions, query(SHOP, &scopes));
    let id = asking.id().await;
    let (status, ask) = server.get(&format!("/api/asks/{id}")).await;
    assert_eq!(status, 200);
    assert_eq!(ask["asker"], json!({ "kind": "site", "origin": SHOP }));
    let request = &ask["request"];
    assert_eq!(request["scopes"], json!(["model:prompt", "chat:open"]));
    assert_eq!(request["waiting"], 0);
    assert_eq!(
        (
            request.get("reason"),
            request.get("tools"),
            request.get("server")
        ),
        (None, None, None)
    );
    assert_eq!(server.get("/api/asks").await.1, json!({ "asks": [ask] }));
    let (status, _) = answer(&server, &id, json!({ "decision": "always" })).await;
    assert_eq!(status, 204);
    let outcome = asking.outcome().await;
    assert_eq!(outcome.decision, Decision::Always);
    assert!(
        scopes
            .iter()
            .all(|scope| outcome.standing.of(*scope) == Grant::Always)
    );
    let server = server.restart().await;
    assert_eq!(
        grant(&server.service.permissions, Scope::ChatOpen),
        Grant::Always
    );
    // Nothing is missing now, so the user is not asked.
    let again = Asking::begin(&server.service.permissions, query(SHOP, &scopes));
    assert_eq!(again.outcome().await.decision, Decision::NothingToAsk);
}

#[tokio::test]
async fn a_denial_is_remembered_and_only_the_rest_is_asked() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let mut asking = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
    let id = asking.id().await;
    answer(&server, &id, json!({ "decision": "deny" })).await;
    assert_eq!(asking.outcome().await.decision, Decision::Denied);
    let server = server.restart().await;
    let permissions = &server.service.permissions;
    let again = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]))
        .outcome()
        .await;
    assert_eq!(again.decision, Decision::NothingToAsk);
    assert_eq!(again.standing.of(Scope::ModelPrompt), Grant::Denied);
    let mut more = Asking::begin(
        permissions,
        query(SHOP, &[Scope::ModelPrompt, Scope::ModelList]),
    );
    let id = more.id().await;
    let (_, ask) = server.get(&format!("/api/asks/{id}")).await;
    assert_eq!(ask["request"]["scopes"], json!(["model:list"]));
    answer(&server, &id, json!({ "decision": "always" })).await;
    let outcome = more.outcome().await;
    assert_eq!(outcome.standing.of(Scope::ModelPrompt), Grant::Denied);
    assert_eq!(outcome.standing.of(Scope::ModelList), Grant::Always);
    // Once it is cleared, the page may ask again.
    patch(
        &server,
        json!({ "origin": SHOP, "scopes": { "model:prompt": "not-granted" } }),
    )
    .await;
    Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]))
        .id()
        .await;
}

#[tokio::test]
async fn a_question_is_answered_once_and_by_one() {
    let server = TestServer::start().await;
    let mut asking = Asking::begin(
        &server.service.permissions,
        query(SHOP, &[Scope::ModelPrompt]),
    );
    let id = asking.id().await;
    let message = |decision| answer(&server, &id, json!({ "decision": decision }));
    let (one, other) = tokio::join!(message("always"), message("deny"));
    let mut statuses = [one.0.as_u16(), other.0.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 404]);
    let outcome = asking.outcome().await;
    let expected = match one.0.as_u16() {
        204 => (Decision::Always, Grant::Always),
        _ => (Decision::Denied, Grant::Denied),
    };
    assert_eq!(
        (outcome.decision, outcome.standing.of(Scope::ModelPrompt)),
        expected
    );
    let (status, late) = message("once").await;
    assert_eq!(
        (status.as_u16(), &late["error_code"]),
        (404, &json!("ask_not_found"))
    );
    for path in ["x", "%2e%2e%2fkeys", &"f".repeat(32)] {
        let path = format!("/api/asks/{path}");
        assert_eq!(server.get(&path).await.0, 404, "{path}");
    }
    let (status, _) = answer(&server, &id, json!({ "decision": "granted-once" })).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn a_page_that_goes_takes_its_question_along() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let mut asking = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
    let id = asking.id().await;
    let mut behind = Asking::begin(permissions, query(SHOP, &[Scope::ChatOpen]));
    eventually(|| async { (requests(&server)[0].1.waiting == 1).then_some(()) }).await;
    asking.task.abort();
    // The next one takes its place.
    let next = behind.id().await;
    assert_ne!(next, id);
    let late = PermissionAnswer {
        decision: Decision::Always,
        tools: None,
        duration: GrantDuration::Never,
    };
    let refused = permissions.answer(&id, late, Actor::Page).await;
    assert_eq!(refused, Err(AnswerError::Gone));
    assert_eq!(grant(permissions, Scope::ModelPrompt), Grant::NotGranted);
}

#[tokio::test]
async fn one_question_of_a_site_is_shown_at_a_time_and_the_same_is_asked_once() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let mut first = Asking::begin(
        permissions,
        query(SHOP, &[Scope::ModelPrompt, Scope::ChatOpen]),
    );
    let id = first.id().await;
    let mut from_another_tab = query(SHOP, &[Scope::ChatOpen, Scope::ModelPrompt]);
    from_another_tab.tab = tab(2);
    let mut same = Asking::begin(permissions, from_another_tab);
    assert_eq!(same.id().await, id);
    let mut second = Asking::begin(
        permissions,
        query(SHOP, &[Scope::ModelPrompt, Scope::ModelList]),
    );
    let covered = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
    let mut other = Asking::begin(
        permissions,
        query("https://other.example", &[Scope::ModelPrompt]),
    );
    other.id().await;
    eventually(|| async { (requests(&server)[0].1.waiting == 2).then_some(()) }).await;
    let shown = requests(&server);
    let origins: Vec<_> = shown.iter().map(|(origin, _)| origin.as_str()).collect();
    assert_eq!(origins, [SHOP, "https://other.example"]);
    assert!(second.shown.try_recv().is_err());
    answer(&server, &id, json!({ "decision": "always" })).await;
    assert_eq!(first.outcome().await.decision, Decision::Always);
    assert_eq!(same.outcome().await.decision, Decision::Always);
    // What was answered meanwhile is not asked again.
    let id = second.id().await;
    let ask = details(&server, &id);
    assert_eq!(ask.scopes, [Scope::ModelList]);
    answer(&server, &id, json!({ "decision": "deny" })).await;
    assert_eq!(second.outcome().await.decision, Decision::Denied);
    assert_eq!(covered.outcome().await.decision, Decision::NothingToAsk);
}

#[tokio::test]
async fn allowing_it_elsewhere_answers_the_question_too() {
    let server = TestServer::start().await;
    let mut asking = Asking::begin(
        &server.service.permissions,
        query(SHOP, &[Scope::ModelPrompt]),
    );
    asking.id().await;
    patch(
        &server,
        json!({ "origin": SHOP, "scopes": { "model:prompt": "granted-always" } }),
    )
    .await;
    let outcome = asking.outcome().await;
    assert_eq!(outcome.decision, Decision::NothingToAsk);
    assert_eq!(outcome.standing.of(Scope::ModelPrompt), Grant::Always);
}

#[tokio::test]
async fn a_hidden_question_is_seen_by_its_id_alone_and_joined_by_no_other_tab() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let hidden = |tab: &str| {
        let mut hidden = query(SHOP, &[Scope::ModelPrompt]);
        hidden.hidden = true;
        hidden.tab = tab.repeat(32).parse().unwrap();
        Asking::begin(permissions, hidden)
    };
    let (mut one, mut other) = (hidden("a"), hidden("b"));
    let (id, other_id) = (one.id().await, other.id().await);
    assert_ne!(id, other_id);
    let mut open = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
    let open_id = open.id().await;
    let (_, asks) = server.get("/api/asks").await;
    assert_eq!(asks["asks"].as_array().unwrap().len(), 1);
    assert_eq!(asks["asks"][0]["id"], open_id.to_string());
    let (status, ask) = server.get(&format!("/api/asks/{id}")).await;
    assert_eq!(
        (status.as_u16(), &ask["asker"]["origin"]),
        (200, &json!(SHOP))
    );
    answer(&server, &id, json!({ "decision": "deny" })).await;
    assert_eq!(one.outcome().await.decision, Decision::Denied);
    assert!(
        !other.task.is_finished(),
        "the other one is another person's question"
    );
}

#[tokio::test]
async fn a_server_is_asked_for_each_time_until_it_is_always_allowed() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    let scopes = json!({ "mcp:servers.register": "granted-always" });
    patch(&server, json!({ "origin": SHOP, "scopes": scopes })).await;
    let bring = |url: &str| {
        let mut bring = query(SHOP, &[Scope::ServersRegister]);
        bring.server = Some(ProvidedServer {
            url: url.into(),
            name: "Shop\nfrom Gangway".into(),
            description: Some("Finds \u{202e}things".into()),
            tools: vec!["search".into()],
        });
        Asking::begin(permissions, bring)
    };
    let url = "https://shop.example/mcp";
    for decision in ["once", "deny", "always"] {
        let mut asking = bring(url);
        let id = asking.id().await;
        let ask = details(&server, &id);
        assert!(ask.scopes.is_empty());
        let shown = ask.server.unwrap();
        assert_eq!(
            (
                shown.url.as_str(),
                shown.name.as_str(),
                shown.description.as_deref()
            ),
            (url, "Shop from Gangway", Some("Finds things"))
        );
        assert_eq!(shown.tools, ["search"]);
        answer(&server, &id, json!({ "decision": decision })).await;
        let outcome = asking.outcome().await;
        assert_ne!(outcome.decision, Decision::NothingToAsk);
        // A no to one server is not a no to all.
        assert_eq!(outcome.standing.of(Scope::ServersRegister), Grant::Always);
    }
    assert_eq!(bring(url).outcome().await.decision, Decision::NothingToAsk);
    bring("https://shop.example/other").id().await;
    let (_, list) = server.get("/api/permissions").await;
    assert_eq!(list["origins"][0]["servers"], json!([url]));
    // Revoked with the scope, and not asked about where the scope is refused.
    let scopes = json!({ "mcp:servers.register": "denied" });
    let (_, entry) = patch(&server, json!({ "origin": SHOP, "scopes": scopes })).await;
    assert_eq!(entry["servers"], json!([]));
    let refused = bring(url).outcome().await;
    assert_eq!(refused.decision, Decision::NothingToAsk);
    assert!(
        permissions
            .check(&origin(SHOP), Scope::ServersRegister)
            .is_err()
    );
}

#[tokio::test]
async fn where_too_many_sites_are_kept_once_is_still_possible() {
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    for number in 0..1000 {
        let scopes = [(Scope::ChatOpen, Grant::Denied)].into();
        let settings = gangway_webagent::permissions::Settings {
            scopes,
            ..Default::default()
        };
        let site = origin(&format!("https://s{number}.example"));
        permissions.set(&site, settings, Actor::Page).await.unwrap();
    }
    let _here = permissions.visit(&origin(SHOP), &tab(1));
    let mut asking = Asking::begin(permissions, query(SHOP, &[Scope::ModelPrompt]));
    let id = asking.id().await;
    let (status, refused) = answer(&server, &id, json!({ "decision": "always" })).await;
    assert_eq!(
        (status.as_u16(), &refused["error_code"]),
        (409, &json!("too_many_origins"))
    );
    assert_eq!(
        answer(&server, &id, json!({ "decision": "once" })).await.0,
        204
    );
    assert_eq!(
        asking.outcome().await.standing.of(Scope::ModelPrompt),
        Grant::Once
    );
}
