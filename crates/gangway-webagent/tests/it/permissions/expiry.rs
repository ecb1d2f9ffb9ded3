//! Grants that end at a time that the person chose.

use gangway_core::{
    Grant, GrantDuration, Scope, Store,
    store::{Expect, Put},
};
use gangway_webagent::permissions::{
    Actor, Decision, PermissionAnswer, ProvidedServer, Settings, wire::AuditKind,
};
use serde_json::{Value, json};

use super::{
    Asking, SHOP, answer, grant,
    once::{Still, pass},
    origin, patch, query, tool,
};
use crate::server::TestServer;

const HOUR: u64 = 60 * 60;

/// The wall clock advances while tokio's clock is paused, so ends are known to the minute.
const MINUTE: u64 = 60;

async fn always(
    still: &Still,
    query: gangway_webagent::permissions::PermissionQuery,
    duration: GrantDuration,
) {
    let mut asking = Asking::begin(&still.permissions, query);
    let id = asking.id().await;
    let answer = PermissionAnswer {
        decision: Decision::Always,
        tools: None,
        duration,
    };
    let answered = still.permissions.answer(&id, answer, Actor::Page).await;
    answered.unwrap();
    assert_eq!(asking.outcome().await.decision, Decision::Always);
}

async fn set(still: &Still, scope: Scope, duration: GrantDuration) {
    let settings = Settings {
        scopes: [(scope, Grant::Always)].into(),
        duration,
        ..Settings::default()
    };
    let site = origin(SHOP);
    let set = still.permissions.set(&site, settings, Actor::Page);
    set.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_grant_for_an_hour_ends_after_an_hour_with_its_tools_and_servers_and_can_be_asked_for_again()
 {
    let still = Still::new().await;
    let mut asked = query(SHOP, &[Scope::ToolsCall, Scope::ServersRegister]);
    asked.offered = vec![tool("files/read")];
    asked.server = Some(ProvidedServer {
        url: "https://shop.example/mcp".into(),
        name: "Shop".into(),
        description: None,
        tools: Vec::new(),
    });
    always(&still, asked.clone(), GrantDuration::Hour).await;
    set(&still, Scope::ModelPrompt, GrantDuration::Day).await;
    set(&still, Scope::ChatOpen, GrantDuration::Never).await;
    let permissions = &still.permissions;
    let read = "files/read".parse().unwrap();
    let mut changes = permissions.changes();

    pass(HOUR - MINUTE).await;
    changes.borrow_and_update();
    assert_eq!(grant(permissions, Scope::ToolsCall), Grant::Always);
    permissions.check_tool(&origin(SHOP), &read).unwrap();
    assert!(permissions.keeps_server(&origin(SHOP), "https://shop.example/mcp"));
    pass(2 * MINUTE).await;
    assert_eq!(grant(permissions, Scope::ToolsCall), Grant::NotGranted);
    assert_eq!(
        grant(permissions, Scope::ServersRegister),
        Grant::NotGranted
    );
    permissions.check_tool(&origin(SHOP), &read).unwrap_err();
    assert!(!permissions.keeps_server(&origin(SHOP), "https://shop.example/mcp"));
    // Running calls end as after a revocation.
    assert!(changes.has_changed().unwrap());
    assert_eq!(grant(permissions, Scope::ModelPrompt), Grant::Always);
    let log = permissions.log(None, None, 10).await.unwrap().entries;
    let ended: Vec<_> = log.iter().filter(|entry| entry.what == "expired").collect();
    assert_eq!(ended.len(), 2);
    assert!(
        ended
            .iter()
            .all(|entry| entry.kind == AuditKind::Decision && entry.by.is_none())
    );

    pass(23 * HOUR + MINUTE).await;
    assert_eq!(grant(permissions, Scope::ModelPrompt), Grant::NotGranted);
    pass(400 * 24 * HOUR).await;
    assert_eq!(grant(permissions, Scope::ChatOpen), Grant::Always);
    // The page may ask again, and is asked about again.
    always(&still, asked, GrantDuration::Month).await;
    pass(30 * 24 * HOUR - MINUTE).await;
    assert_eq!(grant(permissions, Scope::ToolsCall), Grant::Always);
    pass(2 * MINUTE).await;
    assert_eq!(grant(permissions, Scope::ToolsCall), Grant::NotGranted);
}

#[tokio::test(start_paused = true)]
async fn tools_and_servers_that_were_allowed_for_an_hour_end_before_the_scope_that_has_no_end() {
    let still = Still::new().await;
    set(&still, Scope::ToolsCall, GrantDuration::Never).await;
    let mut asked = query(SHOP, &[Scope::ToolsCall]);
    asked.offered = vec![tool("files/read")];
    asked.tools = Some(vec!["files/read".parse().unwrap()]);
    always(&still, asked, GrantDuration::Hour).await;
    let read = "files/read".parse().unwrap();
    still.permissions.check_tool(&origin(SHOP), &read).unwrap();
    pass(HOUR + MINUTE).await;
    still
        .permissions
        .check_tool(&origin(SHOP), &read)
        .unwrap_err();
    assert_eq!(grant(&still.permissions, Scope::ToolsCall), Grant::Always);
    assert_eq!(still.permissions.list().origins[0].ends, Default::default());
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_is_renewed_lasts_as_long_as_the_last_answer_says() {
    let still = Still::new().await;
    set(&still, Scope::ModelPrompt, GrantDuration::Hour).await;
    pass(HOUR - MINUTE).await;
    set(&still, Scope::ModelPrompt, GrantDuration::Day).await;
    pass(2 * MINUTE).await;
    assert_eq!(grant(&still.permissions, Scope::ModelPrompt), Grant::Always);
    set(&still, Scope::ModelPrompt, GrantDuration::Hour).await;
    pass(HOUR + MINUTE).await;
    assert_eq!(
        grant(&still.permissions, Scope::ModelPrompt),
        Grant::NotGranted
    );
    // Nothing of it is left: an origin about which nothing stands is not listed.
    assert!(still.permissions.list().origins.is_empty());
}

#[tokio::test(start_paused = true)]
async fn tools_follow_the_scope_whose_end_the_user_moves() {
    let still = Still::new().await;
    let mut asked = query(SHOP, &[Scope::ToolsCall]);
    asked.offered = vec![tool("files/read")];
    always(&still, asked, GrantDuration::Hour).await;
    set(&still, Scope::ToolsCall, GrantDuration::Day).await;
    pass(2 * HOUR).await;
    let read = "files/read".parse().unwrap();
    still.permissions.check_tool(&origin(SHOP), &read).unwrap();
    pass(22 * HOUR + MINUTE).await;
    still
        .permissions
        .check_tool(&origin(SHOP), &read)
        .unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_ended_while_gangway_was_off_is_gone_and_one_of_an_older_version_has_no_end() {
    const OLD: &str = "https://old.example";
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let ended = json!({ "scopes": { "model:prompt": "granted-always", "chat:open": "denied" },
        "ends": { "scopes": { "model:prompt": "2020-01-01T00:00:00Z" } } });
    let old = json!({ "scopes": { "model:prompt": "granted-always" } });
    let puts = [(SHOP, &ended), (OLD, &old)]
        .map(|(origin, stored)| Put::new(format!("grant/{origin}"), stored, Expect::Any).unwrap());
    let commit = store.put(puts.into()).await.unwrap();
    store.keep(commit).await.unwrap();
    drop(store);
    let still = Still::on(folder).await;
    assert_eq!(
        grant(&still.permissions, Scope::ModelPrompt),
        Grant::NotGranted
    );
    assert_eq!(grant(&still.permissions, Scope::ChatOpen), Grant::Denied);
    let check = still.permissions.check(&origin(OLD), Scope::ModelPrompt);
    check.unwrap();
    pass(0).await;
    // The sweeper has written it by the time that its entry is in the log.
    let log = still
        .permissions
        .log(Some(&origin(SHOP)), None, 10)
        .await
        .unwrap();
    assert_eq!(log.entries[0].what, "expired");
    assert!(still.folder.path().exists());
}

#[tokio::test]
async fn over_rest_an_answer_lasts_thirty_days_unless_it_says_otherwise_and_the_list_says_until_when()
 {
    let server = TestServer::start().await;
    let days = |list: &Value, scope: &str| {
        let end = list["origins"][0]["ends"]["scopes"][scope].as_str()?;
        let end: jiff::Timestamp = end.parse().unwrap();
        let left = end.duration_since(jiff::Timestamp::now());
        Some((left.as_secs_f64() / 86_400.0).round())
    };
    for (scope, message, lasts) in [
        (
            Scope::ModelPrompt,
            json!({ "decision": "always" }),
            Some(30.0),
        ),
        (
            Scope::ModelList,
            json!({ "decision": "always", "duration": "1d" }),
            Some(1.0),
        ),
        (
            Scope::ChatOpen,
            json!({ "decision": "always", "duration": "never" }),
            None,
        ),
        (
            Scope::ToolsList,
            json!({ "decision": "deny", "duration": "1d" }),
            None,
        ),
    ] {
        let mut asking = Asking::begin(&server.service.permissions, query(SHOP, &[scope]));
        let id = asking.id().await;
        let (status, body) = answer(&server, &id, message).await;
        assert_eq!(status, 204, "{body}");
        asking.outcome().await;
        let (_, list) = server.get("/api/permissions").await;
        assert_eq!(days(&list, scope.as_str()), lasts, "{scope} {list}");
    }
    let server = server.restart().await;
    let (_, list) = server.get("/api/permissions").await;
    assert_eq!(days(&list, "model:prompt"), Some(30.0));

    let body = json!({ "origin": SHOP, "scopes": { "model:prompt": "granted-always" } });
    let (_, entry) = patch(&server, body).await;
    assert_eq!(entry["ends"]["scopes"].get("model:prompt"), None);
    let body =
        json!({ "origin": SHOP, "scopes": { "model:prompt": "granted-always" }, "duration": "2w" });
    let (status, error) = patch(&server, body).await;
    assert_eq!(status, 400);
    assert!(
        error["message"].as_str().unwrap().contains("30d"),
        "{error}"
    );
}
