//! Changes of grants: stored, counted and logged.

use std::sync::Arc;

use gangway_core::{
    Grant, GrantDuration, Origin, Scope, Store,
    store::{Expect, Put},
};
use tempfile::TempDir;

use super::{
    super::{
        super::{Actor, CurrentPermissions, Permissions, Presence, query::Decision},
        AnsweredRequest, GrantChangeError, GrantEdit, MOST, PREFIX, Settings, StoredGrants,
    },
    SERVER, allowed, answer, checked, settings, shop, tab,
};

/// Permissions in a temporary folder, with one page of the shop.
struct Stage {
    permissions: Arc<Permissions>,
    _here: Presence,
    _folder: TempDir,
}

async fn stage() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let permissions = Permissions::load(store, Arc::default()).await.unwrap();
    Stage {
        _here: permissions.visit(&shop(), &tab()),
        permissions,
        _folder: folder,
    }
}

impl Stage {
    async fn answer(&self, mut answer: AnsweredRequest) {
        answer.end = None;
        let edit = GrantEdit::Answered(answer);
        self.permissions.change(&shop(), edit).await.unwrap();
    }

    async fn set(&self, settings: Settings) {
        let set = self.permissions.set(&shop(), settings, Actor::Person).await;
        set.unwrap();
    }

    fn standing(&self) -> CurrentPermissions {
        self.permissions.standing(&shop())
    }

    fn grants<const N: usize>(&self, scopes: [Scope; N]) -> [Grant; N] {
        scopes.map(|scope| self.standing().of(scope))
    }

    fn tools(&self) -> Option<String> {
        let tools = self.standing().tools?;
        let names: Vec<_> = tools.iter().map(ToString::to_string).collect();
        Some(names.join(" "))
    }
}

#[tokio::test]
async fn what_is_allowed_once_is_for_the_open_tab_and_ends_when_it_is_revoked() {
    let stage = stage().await;
    let scopes = [Scope::ModelPrompt, Scope::ChatOpen];
    stage.answer(answer(Decision::Once, &scopes)).await;
    assert_eq!(stage.grants(scopes), [Grant::Once; 2]);
    assert_eq!(stage.tools(), None);
    let revoked = [(Scope::ModelPrompt, Grant::NotGranted)];
    stage.set(settings(&revoked, GrantDuration::Never)).await;
    assert_eq!(stage.grants(scopes), [Grant::NotGranted, Grant::Once]);
    stage
        .permissions
        .forget(&shop(), Actor::Person)
        .await
        .unwrap();
    assert_eq!(stage.grants(scopes), [Grant::NotGranted; 2]);
}

#[tokio::test]
async fn tools_that_are_allowed_once_add_to_the_list_until_they_are_unchecked() {
    let stage = stage().await;
    let scope = [Scope::ToolsCall];
    stage
        .answer(checked(Decision::Once, &scope, ["a/b", "a/c"]))
        .await;
    assert_eq!(stage.tools().as_deref(), Some("a/b a/c"));
    stage.answer(checked(Decision::Denied, &[], ["a/b"])).await;
    assert_eq!(stage.tools().as_deref(), Some("a/b"));
    // The end of its scope ends it; other settings do not.
    let other = [(Scope::ModelList, Grant::NotGranted)];
    stage.set(settings(&other, GrantDuration::Never)).await;
    assert_eq!(stage.tools().as_deref(), Some("a/b"));
    // The scope is allowed once, so an always-allowed tool ends with it.
    stage
        .answer(checked(Decision::Always, &[], ["a/b", "a/c"]))
        .await;
    assert_eq!(stage.tools().as_deref(), Some("a/b a/c"));
    let stored = stage.permissions.lock().stored.get(&shop()).cloned();
    assert_eq!(stored, None);
    let revoked = [(Scope::ToolsCall, Grant::NotGranted)];
    stage.set(settings(&revoked, GrantDuration::Never)).await;
    assert_eq!(stage.tools(), None);
}

#[tokio::test]
async fn a_list_that_is_set_is_the_only_one() {
    let stage = stage().await;
    let scope = [Scope::ToolsCall];
    stage
        .answer(checked(Decision::Always, &scope, ["a/b"]))
        .await;
    stage
        .answer(checked(Decision::Once, &[], ["a/b", "a/c"]))
        .await;
    assert_eq!(stage.tools().as_deref(), Some("a/b a/c"));
    // The stored scope suffices for the tools that were allowed once.
    stage.set(settings(&[], GrantDuration::Never)).await;
    assert_eq!(stage.tools().as_deref(), Some("a/b a/c"));
    let only = Settings {
        tools: Some(vec!["a/b".parse().unwrap()]),
        ..Settings::default()
    };
    stage.set(only).await;
    assert_eq!(stage.tools().as_deref(), Some("a/b"));
    // Only "always allow" is stored.
    let given = stage
        .permissions
        .lock()
        .once
        .living(&shop(), tokio::time::Instant::now())
        .count();
    assert_eq!(given, 1);
}

#[tokio::test]
async fn a_change_is_stored_and_counted_before_it_returns() {
    let stage = stage().await;
    let mut changes = stage.permissions.changes();
    stage
        .answer(answer(Decision::Always, &[Scope::ModelPrompt]))
        .await;
    assert!(changes.has_changed().unwrap());
    changes.borrow_and_update();
    let stored = async || {
        let store = stage.permissions.store.clone();
        let again = Permissions::load(store, Arc::default()).await.unwrap();
        again.standing(&shop()).of(Scope::ModelPrompt)
    };
    let grant = || stage.grants([Scope::ModelPrompt]);
    assert_eq!((grant(), stored().await), ([Grant::Always], Grant::Always));
    stage
        .answer(answer(Decision::Denied, &[Scope::ModelPrompt]))
        .await;
    assert!(changes.has_changed().unwrap());
    assert_eq!((grant(), stored().await), ([Grant::Denied], Grant::Denied));
    stage
        .permissions
        .forget(&shop(), Actor::Person)
        .await
        .unwrap();
    assert_eq!(stored().await, Grant::NotGranted);
    let key = format!("{PREFIX}{}", shop());
    assert!(
        stage
            .permissions
            .store
            .get::<StoredGrants>(&key)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn an_origin_without_https_may_be_refused_but_not_allowed() {
    let stage = stage().await;
    let plain: Origin = "http://shop.example".parse().unwrap();
    let set = async |grant| {
        let settings = settings(&[(Scope::ChatOpen, grant)], GrantDuration::Never);
        stage.permissions.set(&plain, settings, Actor::Person).await
    };
    let refused = set(Grant::Always).await.unwrap_err();
    assert_eq!(refused, GrantChangeError::NotAuthenticated(plain.clone()));
    set(Grant::Denied).await.unwrap();
    let denied = stage.permissions.standing(&plain).of(Scope::ChatOpen);
    assert_eq!(denied, Grant::Denied);
}

#[tokio::test]
async fn where_a_thousand_origins_are_kept_no_other_is_added() {
    let stage = stage().await;
    let denied = StoredGrants {
        scopes: [(Scope::ChatOpen, Grant::Denied)].into(),
        ..StoredGrants::default()
    };
    let others = (1..MOST).map(|n| format!("https://{n}.example").parse().unwrap());
    stage
        .permissions
        .lock()
        .stored
        .extend(others.map(|other| (other, denied.clone())));
    let set = async |origin: &Origin, scope, grant| {
        let settings = settings(&[(scope, grant)], GrantDuration::Never);
        stage.permissions.set(origin, settings, Actor::Person).await
    };
    set(&shop(), Scope::ChatOpen, Grant::Always).await.unwrap();
    let next: Origin = "https://next.example".parse().unwrap();
    let refused = set(&next, Scope::ChatOpen, Grant::Always)
        .await
        .unwrap_err();
    assert_eq!(refused, GrantChangeError::TooManyOrigins);
    // Existing origins can still be changed, and "allow once" needs no entry.
    set(&shop(), Scope::ModelList, Grant::Always).await.unwrap();
    set(&next, Scope::ChatOpen, Grant::NotGranted)
        .await
        .unwrap();
}

#[tokio::test]
async fn forgetting_everything_takes_it_from_every_origin() {
    let stage = stage().await;
    stage
        .answer(answer(Decision::Once, &[Scope::ChatOpen]))
        .await;
    let other: Origin = "https://other.example".parse().unwrap();
    let lasting = settings(&[(Scope::ModelPrompt, Grant::Always)], GrantDuration::Hour);
    stage
        .permissions
        .set(&other, lasting, Actor::Person)
        .await
        .unwrap();
    let mut changes = stage.permissions.changes();
    changes.borrow_and_update();
    stage.permissions.forget_all(Actor::Terminal).await.unwrap();
    assert!(changes.has_changed().unwrap());
    assert_eq!(stage.grants([Scope::ChatOpen]), [Grant::NotGranted]);
    let again = Permissions::load(stage.permissions.store.clone(), Arc::default())
        .await
        .unwrap();
    assert!(again.list().origins.is_empty() && stage.permissions.list().origins.is_empty());
    let log = stage.permissions.log(None, None, 2).await.unwrap().entries;
    let texts: Vec<_> = log
        .iter()
        .map(|entry| {
            (
                entry.origin.as_str(),
                entry.what.as_str(),
                entry.by.as_deref(),
            )
        })
        .collect();
    let forgotten = |origin| (origin, "forget", Some("terminal"));
    assert_eq!(
        texts,
        ["https://shop.example", "https://other.example"].map(forgotten)
    );
}

#[tokio::test]
async fn what_is_set_and_forgotten_is_in_the_log() {
    let stage = stage().await;
    let all = Settings {
        scopes: [(Scope::ToolsCall, Grant::Always)].into(),
        tools: Some(vec!["a/b".parse().unwrap()]),
        servers: Some(vec![SERVER.to_owned()]),
        duration: GrantDuration::Never,
    };
    stage
        .permissions
        .set(&shop(), all, Actor::Extension)
        .await
        .unwrap();
    stage
        .permissions
        .forget(&shop(), Actor::Page)
        .await
        .unwrap();
    let log = stage.permissions.log(None, None, 10).await.unwrap().entries;
    let texts: Vec<_> = log
        .into_iter()
        .rev()
        .map(|entry| {
            (
                entry.scope,
                entry.what,
                entry.outcome,
                entry.by.unwrap_or_default(),
            )
        })
        .collect();
    let line = |scope, what: &str, outcome: &str, by: &str| {
        (scope, what.to_owned(), outcome.to_owned(), by.to_owned())
    };
    let expected = [
        line(Some(Scope::ToolsCall), "set", "granted-always", "extension"),
        line(None, "tools", "1 allowed", "extension"),
        line(None, "servers", "1 allowed", "extension"),
        line(None, "forget", "not-granted", "page"),
    ];
    assert_eq!(texts, expected);
}

#[tokio::test]
async fn a_grant_that_ended_while_gangway_was_off_is_removed_and_logged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let key = format!("{PREFIX}{}", shop());
    let mut ended = allowed();
    ended.scopes.insert(Scope::ChatOpen, Grant::Denied);
    let put = Put::new(&key, &ended, Expect::Any).unwrap();
    store.put(vec![put]).await.unwrap();
    let permissions = Permissions::load(store.clone(), Arc::default())
        .await
        .unwrap();
    let changes = permissions.changes();
    let standing = permissions.standing(&shop());
    assert_eq!(standing.of(Scope::ToolsCall), Grant::NotGranted);
    assert!(!permissions.keeps_server(&shop(), SERVER));
    permissions.write_expired().await.unwrap();
    assert!(changes.has_changed().unwrap());
    let stored = store
        .get::<StoredGrants>(&key)
        .await
        .unwrap()
        .unwrap()
        .value;
    assert_eq!(stored.scopes, [(Scope::ChatOpen, Grant::Denied)].into());
    let log = permissions.log(None, None, 10).await.unwrap().entries;
    let mut scopes: Vec<_> = log
        .iter()
        .map(|entry| (entry.scope, &*entry.what))
        .collect();
    scopes.sort();
    let expired = [Scope::ToolsCall, Scope::ServersRegister].map(|scope| (Some(scope), "expired"));
    assert_eq!(scopes, expired);
    assert!(
        log.iter()
            .all(|entry| entry.outcome == "not-granted" && entry.by.is_none())
    );
}
