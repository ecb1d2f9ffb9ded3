//! P6: a reader that saw events lost in a power cut gets a resync, whatever it resumes with, and however far the log has come
//! since.

use std::{path::Path, sync::Arc};

use gangway::config::Config;
use gangway_core::{Store, store::Syncer};
use gangway_providers::ModelAccess;
use reqwest::StatusCode;
use tempfile::TempDir;

use super::feed::{Feed, Way};
use crate::support::TestServer;

const SCRIPT: &str = "turns:
  - when: wait
    steps: [{delta: 'some '}, {ask: {question: 'on?'}}, {say: 'right'}]
  - steps: [{say: 'one two three four five six'}]";

/// A server in a run of the operating system with this name.
async fn serve(folder: TempDir, boot: &str) -> TestServer {
    let script = folder.path().join("script.yaml");
    std::fs::write(&script, SCRIPT).unwrap();
    let syncer: Syncer = Arc::new(std::fs::File::sync_data);
    let store = Store::open_in(folder.path(), syncer, boot).unwrap();
    let mut config = Config {
        default_agent: "scripted".into(),
        ..Config::default()
    };
    let agent = gangway::config::AgentConfig { script };
    config.agents.insert("scripted".into(), agent);
    TestServer::on(folder, config, ModelAccess::default(), store).await
}

/// What the disk has at this moment.
fn disk(data: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["gangway.db", "gangway.db-wal", "gangway.db-synced"] {
        std::fs::copy(data.join(file), folder.path().join(file)).unwrap();
    }
    folder
}

async fn first(server: &TestServer, way: Way, session: &str, since: u64) -> serde_json::Value {
    let since = since.to_string();
    let feed = Feed::open(way, &server.http, &server.url(""), session, Some(&since)).await;
    feed.unwrap().next().await.unwrap().value()
}

/// P6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_events_that_a_power_cut_lost_gets_a_resync() {
    let server = serve(tempfile::tempdir().unwrap(), "before").await;
    let session = server.session().await;
    server.ask(&session, "one").await;
    let survives = disk(&server.data());
    let stored = server
        .app
        .hub
        .store()
        .last(session.parse().unwrap())
        .await
        .unwrap();
    // All of this is read, and then lost.
    let stream = server.send_message(&session, "wait").await;
    let mut feed = Feed::open(Way::Sse, &server.http, &server.url(""), &session, Some("0"))
        .await
        .unwrap();
    let seen = loop {
        let received = feed.next().await.unwrap();
        if received.is("session.question") {
            break received.seq().unwrap();
        }
    };
    assert!(seen > stored);
    drop((feed, server));

    let server = serve(survives, "after").await;
    for _ in 0..5 {
        // With the new events, the log would have more numbers than the reader saw.
        for way in [Way::Sse, Way::WebSocket] {
            let frame = first(&server, way, &session, seen).await;
            assert_eq!(frame["type"], "resync", "{frame}");
            let text = frame["snapshot"]["entries"].to_string();
            assert!(text.contains("one") && !text.contains("wait"), "{text}");
        }
        server.ask(&session, "again").await;
    }
    let frame = first(&server, Way::Sse, &session, seen).await;
    assert_eq!(
        (&frame["type"], &frame["reason"]),
        (&"resync".into(), &"lost".into())
    );
    // A lost stream does not exist, and does not continue as another one.
    let path = format!("/api/stream/{stream}");
    let gone = server
        .http
        .get(server.url(&path))
        .header("last-event-id", seen);
    assert_eq!(gone.send().await.unwrap().status(), StatusCode::NOT_FOUND);
    // A reader that saw only stored events resumes without a gap.
    for way in [Way::Sse, Way::WebSocket] {
        let frame = first(&server, way, &session, stored).await;
        assert_eq!(frame["type"], "user.message", "{frame}");
        assert!(frame["seq"].as_u64().unwrap() > seen);
    }
}
