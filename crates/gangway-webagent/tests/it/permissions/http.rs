//! Origins without HTTPS, for which anyone on the network can speak.

use gangway_core::{Grant, Scope, Store};
use gangway_webagent::permissions::Permissions;
use serde_json::json;

use super::{Asking, answer, details, origin, patch, query, tab};
use crate::server::TestServer;

#[tokio::test]
async fn an_origin_that_anyone_on_the_network_can_speak_for_is_allowed_once_and_never_longer() {
    const LAN: &str = "http://printer.example";
    let server = TestServer::start().await;
    let permissions = &server.service.permissions;
    for change in [
        json!({ "scopes": { "model:prompt": "granted-always" } }),
        json!({ "scopes": { "model:prompt": "granted-always" }, "duration": "1h" }),
        json!({ "servers": ["https://shop.example/mcp"] }),
    ] {
        let mut change = change;
        change["origin"] = json!(LAN);
        let (status, answer) = patch(&server, change).await;
        assert_eq!(
            (status.as_u16(), &answer["error_code"]),
            (400, &json!("origin_not_authenticated"))
        );
        assert!(answer["message"].as_str().unwrap().contains("HTTPS"));
    }
    let _here = permissions.visit(&origin(LAN), &tab(1));
    let mut asking = Asking::begin(permissions, query(LAN, &[Scope::ModelPrompt]));
    let id = asking.id().await;
    assert!(details(&server, &id).once_only);
    let message = json!({ "decision": "always", "duration": "1h" });
    let (status, body) = answer(&server, &id, message).await;
    assert_eq!(
        (status.as_u16(), &body["error_code"]),
        (400, &json!("origin_not_authenticated"))
    );
    let (status, _) = answer(&server, &id, json!({ "decision": "once" })).await;
    assert_eq!(status, 204, "it can still be answered");
    asking.outcome().await;
    assert_eq!(
        permissions.standing(&origin(LAN)).of(Scope::ModelPrompt),
        Grant::Once
    );
    let (_, list) = server.get("/api/permissions").await;
    assert_eq!(list["origins"][0]["onceOnly"], true);
    // A denial allows nothing, so it is kept.
    let denied = json!({ "origin": LAN, "scopes": { "chat:open": "denied" } });
    assert_eq!(patch(&server, denied).await.0, 200);
    let server = server.restart().await;
    let standing = server.service.permissions.standing(&origin(LAN));
    assert_eq!(standing.of(Scope::ModelPrompt), Grant::NotGranted);
    assert_eq!(standing.of(Scope::ChatOpen), Grant::Denied);
    // A page of this machine needs no HTTPS.
    let here = json!({ "origin": "http://localhost:8080", "scopes": { "model:prompt": "granted-always" } });
    assert_eq!(patch(&server, here).await.0, 200);
}

#[tokio::test]
async fn what_an_older_version_kept_for_an_origin_without_https_counts_no_more() {
    use gangway_core::store::{Expect, Put};
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let stored = json!({ "scopes": { "model:prompt": "granted-always" } });
    let put = Put::new("grant/http://printer.example", &stored, Expect::Any).unwrap();
    store.put(vec![put]).await.unwrap();
    let permissions = Permissions::load(store, std::sync::Arc::default())
        .await
        .unwrap();
    let check = permissions.check(&origin("http://printer.example"), Scope::ModelPrompt);
    assert_eq!(check.unwrap_err().code(), "ERR_SCOPE_REQUIRED");
    assert!(permissions.list().origins.is_empty());
}
