//! P7: damaged data is noticed. It is never served as if it were whole.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use gangway::config::Config;
use gangway_core::{Error, Store};
use gangway_providers::ModelAccess;
use rand::{RngExt, rngs::StdRng};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    chance,
    feed::{Feed, Way},
    scale,
};
use crate::support::TestServer;

const SCRIPT: &str = "turns:
  - when: long
    steps: [{delta: 'a long piece of an answer that goes on for a while, ', times: 400}]
  - steps: [{delta: 'word '}, {delta: 'for '}, {delta: 'word'}, {say: 'and done'}]";

const FILES: [&str; 3] = ["gangway.db", "gangway.db-wal", "gangway.db-synced"];

/// A folder as a killed server leaves it, with much in the database and much in its write-ahead log.
async fn original() -> (TempDir, Vec<String>) {
    let server = TestServer::scripted(SCRIPT).await;
    let mut sessions = Vec::new();
    let talk = async |server: &TestServer, session: &str| {
        for prompt in ["first", "long", "second"] {
            server.ask(session, prompt).await;
        }
    };
    for _ in 0..5 {
        let session = server.session().await;
        talk(&server, &session).await;
        sessions.push(session);
    }
    let body = json!({ "name": "kept", "scopes": ["chat"] });
    server.post("/api/keys", body).await;
    // A clean stop moves all of it into the database.
    let server = server.restart().await;
    for _ in 0..2 {
        let session = server.session().await;
        talk(&server, &session).await;
        sessions.push(session);
    }
    server.ask(&sessions[0], "third").await;
    let store = server.app.hub.store();
    let last = store.put(vec![gangway_core::store::record("p7", &1).unwrap()]);
    store.keep(last.await.unwrap()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        std::fs::copy(server.data().join(file), folder.path().join(file)).unwrap();
    }
    (folder, sessions)
}

fn copy_of(original: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        std::fs::copy(original.join(file), folder.path().join(file)).unwrap();
    }
    folder
}

/// Flips a bit anywhere in the files, or cuts one short; what was done.
fn damage(folder: &Path, chance: &mut StdRng) -> String {
    let sizes = FILES.map(|file| std::fs::metadata(folder.join(file)).unwrap().len());
    let cut = chance.random_range(0..5) == 0;
    let mut at = chance.random_range(0..sizes.iter().sum());
    let mut file = 0;
    while at >= sizes[file] {
        at -= sizes[file];
        file += 1;
    }
    let path = folder.join(FILES[file]);
    let mut bytes = std::fs::read(&path).unwrap();
    let done = if cut {
        bytes.truncate(usize::try_from(at).unwrap());
        format!("{} cut at {at}", FILES[file])
    } else {
        let bit = chance.random_range(0..8);
        bytes[usize::try_from(at).unwrap()] ^= 1 << bit;
        format!("{} bit {bit} of byte {at}", FILES[file])
    };
    std::fs::write(path, bytes).unwrap();
    done
}

/// What a reader gets: the whole answer, or an error code.
type Answer = Result<String, String>;

async fn ask(server: &TestServer, path: &str) -> Answer {
    let request = server.http.request(Method::GET, server.url(path));
    let answer = request.send().await.map_err(|_| "cut off".to_owned())?;
    let status = answer.status();
    let text = answer.text().await.map_err(|_| "cut off".to_owned())?;
    if status.is_success() {
        return Ok(text);
    }
    let error: Value = serde_json::from_str(&text).unwrap_or_default();
    Err(error["error_code"].as_str().unwrap_or(&text).to_owned())
}

/// Everything that can be read, or why the folder is refused.
async fn read_all(folder: TempDir, sessions: &[String]) -> Result<BTreeMap<String, Answer>, Error> {
    let store = Store::open(folder.path())?;
    let config = Config {
        default_agent: "demo".into(),
        ..Config::default()
    };
    let server = TestServer::try_on(folder, config, ModelAccess::default(), store).await;
    let server = server.map_err(|error| Error::Storage(error.to_string()))?;
    let mut paths = vec!["/api/sessions".to_owned(), "/api/keys".to_owned()];
    for session in sessions {
        paths.push(format!("/api/sessions/{session}"));
        paths.push(format!("/api/sessions/{session}/export"));
        paths.push(format!("/api/history?session={session}&limit=2000"));
    }
    let mut answers = BTreeMap::new();
    for path in paths {
        let answer = ask(&server, &path).await;
        answers.insert(path, answer);
    }
    Ok(answers)
}

/// P7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_from_a_damaged_database_is_right_or_an_error() {
    let panics = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&panics);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        counted.fetch_add(1, Ordering::SeqCst);
        usual(panic);
    }));
    let (original, sessions) = original().await;
    let whole = read_all(copy_of(original.path()), &sessions).await.unwrap();
    assert!(whole.values().all(Result::is_ok), "{whole:?}");
    assert!(whole.values().flatten().map(String::len).sum::<usize>() > 100_000);

    let mut chance = chance(7);
    let (mut refused, mut noticed, mut harmless) = (0, 0, 0);
    let copies = scale(60, 1000);
    for _ in 0..copies {
        let folder = copy_of(original.path());
        let done = damage(folder.path(), &mut chance);
        let answers = match read_all(folder, &sessions).await {
            Ok(answers) => answers,
            Err(error) => {
                assert!(error.to_string().len() > 20, "{done}: {error}");
                refused += 1;
                continue;
            }
        };
        for (path, answer) in &answers {
            match answer {
                Ok(_) => assert_eq!(answer, &whole[path], "{done}: {path}"),
                Err(code) => {
                    let known = ["data_corrupted", "storage_failed", "cut off"];
                    assert!(known.contains(&code.as_str()), "{done}: {path}: {code}");
                }
            }
        }
        if answers.values().all(Result::is_ok) {
            harmless += 1;
        } else {
            noticed += 1;
        }
    }
    println!(
        "{copies} damaged copies: {refused} refused, {noticed} with errors, {harmless} where nothing that is read was hit"
    );
    assert_eq!(panics.load(Ordering::SeqCst), 0);
    assert!(refused > 0 && noticed > 0, "this showed nothing");
}

/// P7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_that_meets_damage_is_reported_and_ends() {
    let server = TestServer::scripted(SCRIPT).await;
    let session = server.session().await;
    server.ask(&session, "first").await;
    // What is read after a restart is not in memory.
    let server = server.restart().await;
    let connection = rusqlite::Connection::open(server.data().join("gangway.db")).unwrap();
    let sql = "UPDATE events SET at = at + 1 WHERE seq = 4";
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
    for way in [Way::Sse, Way::WebSocket] {
        let mut feed = Feed::open(way, &server.http, &server.url(""), &session, Some("0"))
            .await
            .unwrap();
        let closing = feed.next().await.unwrap().value();
        assert_eq!(closing["type"], "closing", "{closing}");
        assert_eq!(closing["reason"], "corrupted", "{closing}");
        assert!(feed.next().await.is_none());
    }
    // What comes after it is whole.
    let rest = Feed::open(Way::Sse, &server.http, &server.url(""), &session, Some("4")).await;
    assert_eq!(rest.unwrap().next().await.unwrap().seq(), Some(5));
}
