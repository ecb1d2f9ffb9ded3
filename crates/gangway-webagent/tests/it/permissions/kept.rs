//! What is kept until the person says otherwise, over REST.

use std::{
    fs::File,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use gangway_core::{Asks, Grant, GrantDuration, Scope, Store};
use gangway_testing::server::bare_client;
use gangway_webagent::permissions::{Actor, Decision, PermissionAnswer, Permissions, Settings};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Asking, SHOP, change, grant, origin, patch, query};
use crate::server::TestServer;

#[tokio::test]
async fn what_the_user_sets_is_listed_and_outlives_a_restart() {
    let server = TestServer::start().await;
    let body = json!({ "origin": SHOP, "scopes": {
        "model:prompt": "granted-always", "mcp:tools.call": "granted-always", "chat:open": "denied" },
        "allowedTools": ["files/read"], "servers": ["https://shop.example/mcp"] });
    let (status, entry) = patch(&server, body).await;
    assert_eq!(status, 200, "{entry}");
    let resets_at = &entry["budget"]["resetsAt"];
    let expected = json!({
        "origin": SHOP,
        "scopes": {
            "model:prompt": "granted-always", "model:tools": "not-granted", "model:list": "not-granted",
            "mcp:tools.list": "not-granted", "mcp:tools.call": "granted-always",
            "mcp:servers.register": "not-granted", "browser:activeTab.read": "not-granted",
            "browser:activeTab.click": "not-granted", "browser:activeTab.fill": "not-granted",
            "browser:activeTab.screenshot": "not-granted", "chat:open": "denied",
        },
        "allowedTools": ["files/read"],
        "servers": ["https://shop.example/mcp"],
        "onceOnly": false,
        "budget": { "tokensPerDay": 200_000, "maxConcurrent": 4, "usedToday": 0, "resetsAt": resets_at },
    });
    assert_eq!(entry, expected);
    let server = server.restart().await;
    let (_, list) = server.get("/api/permissions").await;
    assert_eq!(list, json!({ "origins": [expected] }));
    let permissions = &server.service.permissions;
    permissions
        .check(&origin(SHOP), Scope::ModelPrompt)
        .unwrap();
    let denied = permissions
        .check(&origin(SHOP), Scope::ChatOpen)
        .unwrap_err();
    assert_eq!(denied.code(), "ERR_PERMISSION_DENIED");
    let missing = permissions
        .check(&origin(SHOP), Scope::ModelList)
        .unwrap_err();
    assert_eq!(missing.code(), "ERR_SCOPE_REQUIRED");
    // The same name with another scheme or port is another origin.
    for other in [
        "http://shop.example",
        "https://shop.example:8443",
        "https://shop.example.",
    ] {
        assert!(
            permissions
                .check(&origin(other), Scope::ModelPrompt)
                .is_err()
        );
    }
}

#[tokio::test]
async fn a_revoke_takes_effect_at_once_and_is_reported() {
    let server = TestServer::start().await;
    let scopes = json!({ "model:prompt": "granted-always", "mcp:tools.call": "granted-always" });
    patch(
        &server,
        json!({ "origin": SHOP, "scopes": scopes, "allowedTools": ["a/b"] }),
    )
    .await;
    let permissions = &server.service.permissions;
    let mut changes = permissions.changes();
    changes.borrow_and_update();
    let scopes = json!({ "mcp:tools.call": "not-granted" });
    let (_, entry) = patch(&server, json!({ "origin": SHOP, "scopes": scopes })).await;
    assert!(changes.has_changed().unwrap());
    assert_eq!(grant(permissions, Scope::ToolsCall), Grant::NotGranted);
    assert_eq!(grant(permissions, Scope::ModelPrompt), Grant::Always);
    // Else they would come back unseen with the next yes.
    assert_eq!(entry.get("allowedTools"), None);
    let path = format!("/api/permissions?origin={SHOP}");
    let (status, _) = change(&server, Method::DELETE, &path, None).await;
    assert_eq!(status, 204);
    assert_eq!(grant(permissions, Scope::ModelPrompt), Grant::NotGranted);
    let server = server.restart().await;
    assert_eq!(
        server.get("/api/permissions").await.1,
        json!({ "origins": [] })
    );
}

#[tokio::test]
async fn all_sites_are_forgotten_together_but_never_by_a_slip() {
    let server = TestServer::start().await;
    for host in ["a", "b", "c"] {
        let origin = format!("https://{host}.example");
        patch(
            &server,
            json!({ "origin": origin, "scopes": { "chat:open": "denied" } }),
        )
        .await;
    }
    for slip in [
        "?orign=https://a.example",
        "?origin=",
        "?origin=null",
        "?origin=a.example",
    ] {
        let path = format!("/api/permissions{slip}");
        let (status, answer) = change(&server, Method::DELETE, &path, None).await;
        assert_eq!(
            (status.as_u16(), &answer["error_code"]),
            (400, &json!("invalid_request"))
        );
    }
    let (_, list) = server.get("/api/permissions").await;
    assert_eq!(list["origins"].as_array().unwrap().len(), 3);
    let (status, _) = change(&server, Method::DELETE, "/api/permissions", None).await;
    assert_eq!(status, 204);
    let server = server.restart().await;
    assert_eq!(
        server.get("/api/permissions").await.1,
        json!({ "origins": [] })
    );
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_says_why() {
    let server = TestServer::start().await;
    let many: Vec<_> = (0..1001).map(|n| format!("server/tool{n}")).collect();
    for (body, word) in [
        (
            json!({ "origin": SHOP, "scopes": { "model:all": "granted-always" } }),
            "model:prompt",
        ),
        (
            json!({ "origin": SHOP, "scopes": { "model:prompt": "yes" } }),
            "granted-always",
        ),
        (
            json!({ "origin": SHOP, "scopes": { "model:prompt": "granted-once" } }),
            "granted-once",
        ),
        (json!({ "origin": "null", "scopes": {} }), "origin"),
        (json!({ "origin": "file:///", "scopes": {} }), "origin"),
        (
            json!({ "origin": "blob:https://shop.example/1", "scopes": {} }),
            "origin",
        ),
        (
            json!({ "origin": "https://shop.example/path", "scopes": {} }),
            "without a path",
        ),
        (json!({ "scopes": {} }), "origin"),
        (json!({ "origin": SHOP, "scope": {} }), "scope"),
        (
            json!({ "origin": SHOP, "allowedTools": ["a/b"] }),
            "mcp:tools.call",
        ),
        (
            json!({ "origin": SHOP, "allowedTools": ["nothing"] }),
            "server/tool",
        ),
        (
            json!({ "origin": SHOP, "scopes": { "mcp:tools.call": "granted-always" }, "allowedTools": many }),
            "1000",
        ),
        (
            json!({ "origin": SHOP, "servers": ["file:///etc"] }),
            "https://",
        ),
        (
            json!({ "origin": SHOP, "servers": ["https://a\u{202e}b"] }),
            "https://",
        ),
    ] {
        let (status, answer) = patch(&server, body.clone()).await;
        assert_eq!(status, 400, "{body} {answer}");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(word), "{body} {message}");
    }
    assert_eq!(
        server.get("/api/permissions").await.1,
        json!({ "origins": [] })
    );
}

#[tokio::test]
async fn all_spellings_of_an_origin_are_equal() {
    let server = TestServer::start().await;
    let scopes = json!({ "chat:open": "denied" });
    let written = "HTTP://Shop.Example:80/";
    let (_, entry) = patch(&server, json!({ "origin": written, "scopes": scopes })).await;
    assert_eq!(entry["origin"], "http://shop.example");
    let names = |list: Value| list["origins"].as_array().unwrap().len();
    assert_eq!(names(server.get("/api/permissions").await.1), 1);
    let path = "/api/permissions?origin=http%3A%2F%2FSHOP.example";
    assert_eq!(change(&server, Method::DELETE, path, None).await.0, 204);
    assert_eq!(names(server.get("/api/permissions").await.1), 0);
}

#[tokio::test]
async fn a_thousand_sites_are_kept_and_the_next_one_gets_an_error_with_what_to_do() {
    let server = TestServer::start().await;
    let scopes = std::collections::BTreeMap::from([(Scope::ChatOpen, Grant::Denied)]);
    let setting = |number: usize| {
        let permissions = std::sync::Arc::clone(&server.service.permissions);
        let settings = gangway_webagent::permissions::Settings {
            scopes: scopes.clone(),
            ..Default::default()
        };
        async move {
            let origin = origin(&format!("https://s{number}.example"));
            permissions
                .set(
                    &origin,
                    settings,
                    gangway_webagent::permissions::Actor::Page,
                )
                .await
        }
    };
    for number in 0..1000 {
        setting(number).await.unwrap();
    }
    let scopes = json!({ "chat:open": "denied" });
    let body = json!({ "origin": SHOP, "scopes": scopes });
    let (status, answer) = patch(&server, body.clone()).await;
    assert_eq!(
        (status.as_u16(), &answer["error_code"]),
        (409, &json!("too_many_origins"))
    );
    // Those that are there can still be changed, and one that goes makes room.
    let known = json!({ "origin": "https://s5.example", "scopes": { "model:list": "denied" } });
    assert_eq!(patch(&server, known).await.0, 200);
    change(
        &server,
        Method::DELETE,
        "/api/permissions?origin=https://s6.example",
        None,
    )
    .await;
    assert_eq!(patch(&server, body).await.0, 200);
}

#[tokio::test]
async fn a_change_that_names_no_origin_needs_a_key_even_here() {
    let server = TestServer::with(|config| {
        config.settings.allowed_origins = vec!["https://friend.example".into()];
    })
    .await;
    let body = json!({ "origin": SHOP, "scopes": { "model:prompt": "granted-always" } });
    let bare = bare_client();
    let send = |name: &'static str, value: String| {
        let request = bare.patch(server.url("/api/permissions")).json(&body);
        let request = if name.is_empty() {
            request
        } else {
            request.header(name, value)
        };
        async move { request.send().await.unwrap().status().as_u16() }
    };
    // As a tool that fetches would do it for a page.
    assert_eq!(send("", String::new()).await, 401);
    assert_eq!(send("origin", SHOP.into()).await, 403);
    assert_eq!(send("origin", "null".into()).await, 403);
    // Other API scopes do not allow decisions for the user either.
    assert_eq!(send("origin", "https://friend.example".into()).await, 401);
    assert_eq!(
        grant(&server.service.permissions, Scope::ModelPrompt),
        Grant::NotGranted
    );
    assert_eq!(
        send("authorization", "Bearer local-token".into()).await,
        200
    );
    // Anyone can say to be a page of ours.
    assert_eq!(send("origin", server.url("")).await, 401);
    for (method, path) in [
        (Method::DELETE, "/api/permissions".to_owned()),
        (Method::POST, format!("/api/asks/{}", "0".repeat(32))),
    ] {
        let request = bare
            .request(method, server.url(&path))
            .json(&json!({ "decision": "always" }));
        assert_eq!(request.send().await.unwrap().status(), 401, "{path}");
    }
    // Looking is free.
    assert_eq!(server.get("/api/permissions").await.0, 200);
}

#[tokio::test]
async fn where_the_disk_fails_nothing_is_given_and_what_is_taken_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Arc::new(AtomicBool::new(false));
    let fails = Arc::clone(&broken);
    let sync = move |file: &File| match fails.load(Ordering::SeqCst) {
        true => Err(io::Error::other("the disk is gone")),
        false => file.sync_data(),
    };
    let store = Store::open_with(folder.path(), Arc::new(sync)).unwrap();
    let asks = Arc::<Asks>::default();
    let permissions = Permissions::load(store, Arc::clone(&asks)).await.unwrap();
    let set = |scope, grant| {
        let permissions = Arc::clone(&permissions);
        let scopes = [(scope, grant)].into();
        let settings = Settings {
            scopes,
            ..Settings::default()
        };
        async move { permissions.set(&origin(SHOP), settings, Actor::Page).await }
    };
    set(Scope::ModelPrompt, Grant::Always).await.unwrap();
    let mut asking = Asking::begin(&permissions, query(SHOP, &[Scope::ModelList]));
    let id = asking.id().await;
    broken.store(true, Ordering::SeqCst);
    let answer = PermissionAnswer {
        decision: Decision::Always,
        tools: None,
        duration: GrantDuration::Never,
    };
    permissions
        .answer(&id, answer, Actor::Page)
        .await
        .unwrap_err();
    assert_eq!(grant(&permissions, Scope::ModelList), Grant::NotGranted);
    assert_eq!(asks.list().len(), 1, "it can still be answered");
    set(Scope::ChatOpen, Grant::Always).await.unwrap_err();
    assert_eq!(grant(&permissions, Scope::ChatOpen), Grant::NotGranted);
    set(Scope::ModelPrompt, Grant::NotGranted)
        .await
        .unwrap_err();
    assert_eq!(grant(&permissions, Scope::ModelPrompt), Grant::NotGranted);
}
