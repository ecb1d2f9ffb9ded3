//! What is allowed once, and when it ends.

use std::{sync::Arc, time::Duration};

use gangway_core::{Asks, Grant, GrantDuration, Scope, Store};
use gangway_webagent::permissions::{Actor, Decision, PermissionAnswer, Permissions, Settings};
use tempfile::TempDir;

use super::{Asking, SHOP, grant, origin, query, tab};

/// Permissions on a clock that stands still until it is moved.
pub(super) struct Still {
    pub(super) permissions: Arc<Permissions>,
    asks: Arc<Asks>,
    pub(super) folder: TempDir,
    _standing: std::sync::mpsc::Sender<()>,
}

impl Still {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::on(folder).await
    }

    /// On a folder that has something in it.
    pub(super) async fn on(folder: TempDir) -> Self {
        let store = Store::open(folder.path()).unwrap();
        let (standing, ended) = std::sync::mpsc::channel();
        // While something blocks, a paused clock does not advance: the disk takes real time.
        tokio::task::spawn_blocking(move || ended.recv());
        let asks = Arc::<Asks>::default();
        Self {
            permissions: Permissions::load(store, Arc::clone(&asks)).await.unwrap(),
            asks,
            folder,
            _standing: standing,
        }
    }

    /// Asks for a scope and is answered with once.
    async fn give(&self, scope: Scope) {
        let mut asking = Asking::begin(&self.permissions, query(SHOP, &[scope]));
        let id = asking.id().await;
        let answer = PermissionAnswer {
            decision: Decision::Once,
            tools: None,
            duration: GrantDuration::Never,
        };
        self.permissions
            .answer(&id, answer, Actor::Page)
            .await
            .unwrap();
        assert_eq!(asking.outcome().await.decision, Decision::Once);
        assert_eq!(grant(&self.permissions, scope), Grant::Once);
    }
}

pub(super) async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn once_lasts_ten_minutes_and_its_end_is_reported() {
    let still = Still::new().await;
    let _here = still.permissions.visit(&origin(SHOP), &tab(1));
    still.give(Scope::ModelPrompt).await;
    pass(0).await;
    let mut changes = still.permissions.changes();
    changes.borrow_and_update();
    pass(599).await;
    assert_eq!(grant(&still.permissions, Scope::ModelPrompt), Grant::Once);
    assert!(!changes.has_changed().unwrap());
    pass(1).await;
    assert_eq!(
        grant(&still.permissions, Scope::ModelPrompt),
        Grant::NotGranted
    );
    assert!(changes.has_changed().unwrap());
    assert!(still.permissions.list().origins.is_empty());
}

#[tokio::test(start_paused = true)]
async fn once_ends_half_a_minute_after_the_last_page_of_its_tab() {
    let still = Still::new().await;
    let first = still.permissions.visit(&origin(SHOP), &tab(1));
    let _other_tab = still.permissions.visit(&origin(SHOP), &tab(2));
    let _other_site = still
        .permissions
        .visit(&origin("https://other.example"), &tab(1));
    still.give(Scope::ModelPrompt).await;
    // The page is reloaded.
    drop(first);
    pass(29).await;
    let second = still.permissions.visit(&origin(SHOP), &tab(1));
    pass(60).await;
    assert_eq!(grant(&still.permissions, Scope::ModelPrompt), Grant::Once);
    let mut changes = still.permissions.changes();
    changes.borrow_and_update();
    drop(second);
    pass(29).await;
    assert_eq!(grant(&still.permissions, Scope::ModelPrompt), Grant::Once);
    pass(1).await;
    assert_eq!(
        grant(&still.permissions, Scope::ModelPrompt),
        Grant::NotGranted
    );
    assert!(changes.has_changed().unwrap());
    // The tab that comes back later is a new one.
    let _back = still.permissions.visit(&origin(SHOP), &tab(1));
    assert_eq!(
        grant(&still.permissions, Scope::ModelPrompt),
        Grant::NotGranted
    );
}

#[tokio::test(start_paused = true)]
async fn once_is_for_the_origin_and_goes_when_it_is_revoked() {
    let still = Still::new().await;
    let _here = still.permissions.visit(&origin(SHOP), &tab(1));
    still.give(Scope::ModelPrompt).await;
    still.give(Scope::ChatOpen).await;
    let scopes = [(Scope::ModelPrompt, Grant::NotGranted)].into();
    let settings = Settings {
        scopes,
        ..Settings::default()
    };
    still
        .permissions
        .set(&origin(SHOP), settings, Actor::Page)
        .await
        .unwrap();
    assert_eq!(
        grant(&still.permissions, Scope::ModelPrompt),
        Grant::NotGranted
    );
    assert_eq!(grant(&still.permissions, Scope::ChatOpen), Grant::Once);
    still
        .permissions
        .forget(&origin(SHOP), Actor::Page)
        .await
        .unwrap();
    assert_eq!(
        grant(&still.permissions, Scope::ChatOpen),
        Grant::NotGranted
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_times_out_after_two_minutes_and_is_not_granted() {
    let still = Still::new().await;
    let mut asking = Asking::begin(&still.permissions, query(SHOP, &[Scope::ModelPrompt]));
    let id = asking.id().await;
    pass(117).await;
    assert_eq!(still.asks.list().len(), 1);
    pass(1).await;
    let outcome = asking.outcome().await;
    assert_eq!(outcome.decision, Decision::Unanswered);
    assert_eq!(outcome.standing.of(Scope::ModelPrompt), Grant::NotGranted);
    assert!(still.asks.list().is_empty());
    // An answer that comes too late changes nothing.
    let late = PermissionAnswer {
        decision: Decision::Always,
        tools: None,
        duration: GrantDuration::Never,
    };
    still
        .permissions
        .answer(&id, late, Actor::Page)
        .await
        .unwrap_err();
    assert_eq!(
        grant(&still.permissions, Scope::ModelPrompt),
        Grant::NotGranted
    );
}

#[tokio::test(start_paused = true)]
async fn a_window_that_is_closed_and_does_not_come_back_leaves_the_question_unanswered() {
    let still = Still::new().await;
    let mut asking = Asking::begin(&still.permissions, query(SHOP, &[Scope::ModelPrompt]));
    let id = asking.id().await;
    let window = still.asks.window(&id).unwrap();
    drop(window);
    pass(1).await;
    // It was reloaded.
    let window = still.asks.window(&id).unwrap();
    drop(window);
    pass(1).await;
    // And once more: each time it has the whole two seconds.
    let window = still.asks.window(&id).unwrap();
    pass(5).await;
    assert_eq!(still.asks.list().len(), 1);
    drop(window);
    pass(0).await;
    pass(2).await;
    assert_eq!(asking.outcome().await.decision, Decision::Unanswered);
    assert!(still.asks.window(&id).is_none());
}

#[tokio::test(start_paused = true)]
async fn one_of_two_windows_that_is_closed_closes_no_question() {
    let still = Still::new().await;
    let mut asking = Asking::begin(&still.permissions, query(SHOP, &[Scope::ModelPrompt]));
    let id = asking.id().await;
    let one = still.asks.window(&id).unwrap();
    drop(still.asks.window(&id).unwrap());
    pass(0).await;
    pass(3).await;
    assert_eq!(still.asks.list().len(), 1);
    drop(one);
    pass(0).await;
    pass(3).await;
    assert_eq!(asking.outcome().await.decision, Decision::Unanswered);
}
