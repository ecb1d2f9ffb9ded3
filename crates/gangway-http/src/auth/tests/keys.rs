//! What keys are for, how keys and logins end, and signatures.

use futures_util::FutureExt;
use gangway_core::{
    ToolName,
    store::{Expect, Put},
};
use jiff::{SignedDuration, Timestamp};

use super::{OWN, Server, Setup, server};
use crate::{
    access::Scope,
    auth::{KeyId, Keys, Logins, NewLogin, Reach, RelayRole, Signer, ToolPattern},
};

fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

#[tokio::test]
async fn a_key_has_the_scopes_it_was_created_with_and_admin_has_all() {
    let server = server(Setup::default()).await;
    let keys = &server.http.keys;
    let names = [
        "chat", "models", "tools", "agents", "relay", "apps", "metrics", "admin",
    ];
    assert_eq!(Scope::ALL.map(Scope::name), names);
    for (own, name) in Scope::ALL.into_iter().zip(names) {
        let key = server.new_key(&[name]).await.id;
        for scope in Scope::ALL {
            let expected = scope == own || own == Scope::Admin;
            assert_eq!(keys.may(&key, scope), expected, "{name} {scope:?}");
        }
    }
    // A key for one relay session or role is for joining alone.
    for name in ["relay:demo", "relay.agent", "relay.host:demo"] {
        let key = server.new_key(&[name]).await.id;
        assert!(!keys.may(&key, Scope::Relay), "{name}");
    }
    assert!(!keys.may(&KeyId::new(), Scope::Chat));
}

#[tokio::test]
async fn a_key_reaches_the_tools_that_its_scopes_name() {
    let server = server(Setup::default()).await;
    let keys = &server.http.keys;
    let (read, write) = (tool("files/read"), tool("files/write"));
    for (scopes, allows, names, reach) in [
        (&["admin"][..], [true, true], [true, true], Reach::All),
        (&["tools"], [true, true], [false, false], Reach::All),
        (&["tools:files/*"], [true, true], [true, true], Reach::All),
        (
            &["tools:files/read"],
            [true, false],
            [true, false],
            Reach::Some,
        ),
        (
            &["tools:web/*", "tools:files/read"],
            [true, false],
            [true, false],
            Reach::Some,
        ),
        (
            &["tools:web/*"],
            [false, false],
            [false, false],
            Reach::Nothing,
        ),
        (&["chat"], [false, false], [false, false], Reach::Nothing),
    ] {
        let key = server.new_key(scopes).await.id;
        let of = |fits: &dyn Fn(&ToolName) -> bool| [&read, &write].map(fits);
        assert_eq!(of(&|tool| keys.allows(&key, tool)), allows, "{scopes:?}");
        assert_eq!(of(&|tool| keys.names(&key, tool)), names, "{scopes:?}");
        assert_eq!(keys.reach(&key, "files"), reach, "{scopes:?}");
    }
    assert_eq!(keys.reach(&KeyId::new(), "files"), Reach::Nothing);
    let pattern: ToolPattern = serde_json::from_str("\"files/*\"").unwrap();
    assert_eq!(serde_json::to_string(&pattern).unwrap(), "\"files/*\"");
    assert!(serde_json::from_str::<ToolPattern>("\"files\"").is_err());
}

#[tokio::test]
async fn a_key_may_be_limited_to_a_project_or_to_a_relay_session_and_role() {
    let server = server(Setup::default()).await;
    let keys = &server.http.keys;
    for (scope, blog, shop) in [
        ("agents", true, true),
        ("agents:blog", true, false),
        ("admin", true, true),
        ("chat", false, false),
    ] {
        let key = server.new_key(&[scope]).await.id;
        let may = ["blog", "shop"].map(|project| keys.may_use_project(&key, project));
        assert_eq!(may, [blog, shop], "{scope}");
    }
    for (scope, agent_demo, host_demo, agent_other) in [
        ("relay", true, true, true),
        ("relay:demo", true, true, false),
        ("relay.agent", true, false, true),
        ("relay.host:demo", false, true, false),
        ("chat", false, false, false),
    ] {
        let key = server.new_key(&[scope]).await.id;
        let may = [
            (RelayRole::Agent, "demo"),
            (RelayRole::Host, "demo"),
            (RelayRole::Agent, "other"),
        ]
        .map(|(role, session)| keys.may_join(&key, role, session));
        assert_eq!(may, [agent_demo, host_demo, agent_other], "{scope}");
    }
}

#[tokio::test]
async fn keys_survive_a_restart_and_those_from_before_scopes_keep_what_they_could_do() {
    let server = server(Setup::default()).await;
    let new = server.new_key(&["chat"]).await;
    let record = |tools| {
        serde_json::json!({ "name": "old", "hash": "", "created_at": "2020-01-01T00:00:00Z",
            "tools": tools })
    };
    let all = record(serde_json::Value::Null);
    let limited = record(serde_json::json!(["files/*"]));
    let puts = [("0123456789aa", all), ("0123456789ab", limited)]
        .map(|(id, record)| Put::new(format!("key/{id}"), &record, Expect::Any).unwrap());
    server.store.put(puts.into()).await.unwrap();
    let keys = Keys::load(server.store.clone()).await.unwrap();
    assert_eq!(keys.find(&new.key), Some(new.id.clone()));
    assert_eq!(keys.find("gw_other"), None);
    let listed = keys.list();
    let scopes: Vec<_> = listed
        .iter()
        .map(|key| {
            key.scopes
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(listed[2].id, new.id);
    assert_eq!((scopes[2].as_str(), listed.len()), ("chat", 3));
    assert!(scopes[..2].contains(&"admin".to_owned()));
    assert!(scopes[..2].contains(&"tools:files/*".to_owned()));
    assert!(keys.revoke(&new.id).await.unwrap());
    assert!(!keys.revoke(&new.id).await.unwrap());
    assert_eq!(keys.find(&new.key), None);
    let keys = Keys::load(server.store.clone()).await.unwrap();
    assert_eq!(keys.list().len(), 2);
}

#[tokio::test]
async fn a_key_that_has_expired_is_no_key() {
    let server = server(Setup::default()).await;
    let keys = &server.http.keys;
    let name = "short".parse().unwrap();
    let scopes = vec!["admin".parse().unwrap()];
    let ended = Timestamp::now() - SignedDuration::from_secs(1);
    let expired = keys
        .create(&name, scopes.clone(), Some(ended))
        .await
        .unwrap();
    assert_eq!(
        (keys.find(&expired.key), keys.has(&expired.id)),
        (None, false)
    );
    assert!(!keys.may(&expired.id, Scope::Chat));
    assert_eq!(keys.reach(&expired.id, "files"), Reach::Nothing);
    assert!(keys.ended(&expired.id).now_or_never().is_some());
    let later = Timestamp::now() + SignedDuration::from_hours(1);
    let lasting = keys.create(&name, scopes, Some(later)).await.unwrap();
    assert!(keys.has(&lasting.id) && keys.find(&lasting.key).is_some());
    assert_eq!(keys.list()[1].expires_at, Some(later));
}

#[tokio::test]
async fn waiting_for_the_end_of_a_key_ends_when_it_is_revoked_and_not_for_another() {
    let server = server(Setup::default()).await;
    let keys = &server.http.keys;
    let (key, other) = (
        server.new_key(&["chat"]).await,
        server.new_key(&["chat"]).await,
    );
    let mut ended = Box::pin(keys.ended(&key.id));
    assert!(ended.as_mut().now_or_never().is_none());
    keys.revoke(&other.id).await.unwrap();
    assert!(ended.as_mut().now_or_never().is_none());
    keys.revoke(&key.id).await.unwrap();
    ended.await;
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_end_of_a_key_ends_when_it_expires() {
    let server = server(Setup::default()).await;
    let keys = &server.http.keys;
    let soon = Timestamp::now() + SignedDuration::from_millis(5);
    let scopes = vec!["chat".parse().unwrap()];
    let name = "short".parse().unwrap();
    let key = keys.create(&name, scopes, Some(soon)).await.unwrap();
    keys.ended(&key.id).await;
    assert!(!keys.has(&key.id));
}

async fn login(server: &Server, at: Timestamp) -> String {
    let new = NewLogin {
        origin: OWN,
        user_agent: "curl/8",
        address: "127.0.0.1".into(),
        key: None,
    };
    server.http.logins.start(new, at).await.unwrap()
}

#[tokio::test]
async fn logins_are_listed_by_their_last_use_without_those_that_have_ended() {
    let server = server(Setup::default()).await;
    let logins = &server.http.logins;
    let now = Timestamp::now();
    let hours = |hours| now - SignedDuration::from_hours(hours);
    let (first, second) = (
        login(&server, hours(2)).await,
        login(&server, hours(1)).await,
    );
    login(&server, hours(31 * 24)).await;
    let find = |token: &str, at| logins.find(token, &[], at).unwrap().0;
    let (older, newer) = (find(&first, hours(2)), find(&second, hours(1)));
    let listed = |current| -> Vec<_> {
        let infos = logins.list(current).into_iter();
        infos.map(|info| (info.id, info.current)).collect()
    };
    assert_eq!(
        listed(Some(&older)),
        [(newer.clone(), false), (older.clone(), true)]
    );
    find(&first, now);
    assert_eq!(
        listed(None),
        [(older.clone(), false), (newer.clone(), false)]
    );
    assert_eq!(logins.get(&older), Some(None));
    assert_eq!(logins.end(|_| false).await.unwrap(), 0);
    let mut ended = Box::pin(logins.ended(&older));
    assert!(ended.as_mut().now_or_never().is_none());
    assert_eq!(logins.end(|id| *id == newer).await.unwrap(), 1);
    assert!(ended.as_mut().now_or_never().is_none());
    assert_eq!(logins.end(|id| *id == older).await.unwrap(), 1);
    ended.await;
    assert_eq!(logins.get(&older), None);
}

#[tokio::test]
async fn the_last_use_of_a_login_is_stored_to_the_hour() {
    let server = server(Setup::default()).await;
    let logins = &server.http.logins;
    let now = Timestamp::now();
    let start = now - SignedDuration::from_hours(24);
    let token = login(&server, start).await;
    let stored = async || {
        let logins = Logins::load(server.store.clone()).await.unwrap();
        logins.list(None)[0].last_used_at
    };
    let hour = start + SignedDuration::from_hours(1);
    for (used, expected) in [(hour, start), (now, now)] {
        logins.find(&token, &[], used).unwrap();
        logins.keep().await.unwrap();
        assert_eq!(stored().await, expected);
    }
}

#[tokio::test]
async fn a_signature_is_for_one_purpose_and_survives_a_restart() {
    let server = server(Setup::default()).await;
    let signature = server.http.signer.sign("files", "cinema");
    assert_eq!(signature.len(), 32);
    let again = Signer::load(&server.store).await.unwrap();
    assert!(again.fits("files", "cinema", &signature));
    for (purpose, what) in [("launch", "cinema"), ("files", "other")] {
        assert!(!again.fits(purpose, what, &signature));
    }
    assert!(!again.fits("files", "cinema", ""));
}
