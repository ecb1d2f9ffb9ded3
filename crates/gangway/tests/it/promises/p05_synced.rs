//! P5: an acknowledgment comes after the sync that makes it true, or not at all.

use std::{
    fs::File,
    io,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use gangway::config::Config;
use gangway_core::{Store, store::Syncer};
use gangway_providers::ModelAccess;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::feed::{Feed, Way};
use crate::support::TestServer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    Works,
    Hangs,
    Fails,
}

/// A disk controlled by the test.
struct Told {
    does: Mutex<Disk>,
    changed: Condvar,
    syncs: AtomicUsize,
}

impl Told {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            does: Mutex::new(Disk::Works),
            changed: Condvar::new(),
            syncs: AtomicUsize::new(0),
        })
    }

    fn tell(&self, disk: Disk) {
        *self.does.lock().unwrap() = disk;
        self.changed.notify_all();
    }

    fn syncer(self: &Arc<Self>) -> Syncer {
        let message = Arc::clone(self);
        Arc::new(move |file: &File| {
            let mut does = message.does.lock().unwrap();
            while *does == Disk::Hangs {
                does = message.changed.wait(does).unwrap();
            }
            if *does == Disk::Fails {
                return Err(io::Error::other("told to fail"));
            }
            drop(does);
            file.sync_data()?;
            message.syncs.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    }
}

async fn server(disk: &Arc<Told>) -> Arc<TestServer> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_with(folder.path(), disk.syncer()).unwrap();
    let config = Config {
        default_agent: "demo".into(),
        ..Config::default()
    };
    Arc::new(TestServer::on(folder, config, ModelAccess::default(), store).await)
}

/// Everything that is acknowledged, on these two sessions and this key.
fn changes(session: &str, other: &str, key: &str) -> Vec<(Method, String, Option<Value>)> {
    let path = format!("/api/sessions/{session}");
    vec![
        (Method::POST, "/api/sessions".into(), Some(json!({}))),
        (Method::PATCH, path.clone(), Some(json!({ "title": "new" }))),
        (
            Method::POST,
            format!("{path}/messages"),
            Some(json!({ "prompt": "hello" })),
        ),
        (
            Method::POST,
            "/api/keys".into(),
            Some(json!({ "name": "new", "scopes": ["chat"] })),
        ),
        (Method::DELETE, format!("/api/sessions/{other}"), None),
        (Method::DELETE, format!("/api/keys/{key}"), None),
    ]
}

async fn key(server: &TestServer) -> String {
    let (_, key) = server
        .post("/api/keys", json!({ "name": "old", "scopes": ["chat"] }))
        .await;
    key["id"].as_str().unwrap().to_owned()
}

/// P5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sync_returns_before_each_acknowledgment() {
    let disk = Told::new();
    let server = server(&disk).await;
    let (session, other, key) = (
        server.session().await,
        server.session().await,
        key(&server).await,
    );
    for (method, path, body) in changes(&session, &other, &key) {
        let before = disk.syncs.load(Ordering::SeqCst);
        let (status, answer) = server.call(method.clone(), &path, body).await;
        assert!(status.is_success(), "{answer}");
        let after = disk.syncs.load(Ordering::SeqCst);
        assert!(
            after > before,
            "{method} {path} was acknowledged without a sync"
        );
    }
}

/// P5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_acknowledged_while_the_disk_hangs() {
    let disk = Told::new();
    let server = server(&disk).await;
    let (session, other, key) = (
        server.session().await,
        server.session().await,
        key(&server).await,
    );
    let mut feed = Feed::open(Way::Sse, &server.http, &server.url(""), &session, Some("1"))
        .await
        .unwrap();
    disk.tell(Disk::Hangs);
    let waiting: Vec<_> = changes(&session, &other, &key)
        .into_iter()
        .map(|(method, path, body)| {
            let server = Arc::clone(&server);
            tokio::spawn(async move { server.call(method, &path, body).await.0 })
        })
        .collect();
    // Once both are seen they are written, and only the disk is missing.
    let (mut changed, mut message) = (false, false);
    while !changed || !message {
        let received = feed.next().await.unwrap();
        changed |= received.is("session.changed");
        message |= received.is("user.message");
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(waiting.iter().all(|request| !request.is_finished()));
    assert_eq!(server.get("/readyz").await.0, 200);

    disk.tell(Disk::Works);
    for request in waiting {
        let status = request.await.unwrap();
        assert!(status.is_success(), "{status}");
    }
}

/// P5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_acknowledged_once_a_sync_failed() {
    for first in 0..6 {
        let disk = Told::new();
        let server = server(&disk).await;
        let (session, other, key) = (
            server.session().await,
            server.session().await,
            key(&server).await,
        );
        disk.tell(Disk::Fails);
        let mut all = changes(&session, &other, &key);
        all.rotate_left(first);
        for (n, (method, path, body)) in all.into_iter().enumerate() {
            let (status, answer) = server.call(method.clone(), &path, body).await;
            assert_eq!(
                status,
                StatusCode::INTERNAL_SERVER_ERROR,
                "{method} {path}: {answer}"
            );
            assert_eq!(answer["error_code"], "storage_failed", "{method} {path}");
            let (status, ready) = server.get("/readyz").await;
            assert_eq!(
                (status.as_u16(), &ready["error_code"]),
                (503, &json!("not_ready"))
            );
            // A disk that says it is well again is not believed: what it holds is not known.
            disk.tell(if n % 2 == 0 { Disk::Works } else { Disk::Fails });
        }
        assert_eq!(server.get("/healthz").await.0, 200);
    }
}
