//! Data folders that cannot be used, and a disk that is full.

use std::{os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};

use crate::support::Gangway;

#[test]
fn a_folder_of_a_newer_version_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gangway.db");
    rusqlite::Connection::open(&file)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let output = Gangway::run(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success()
            && message.contains("newer Gangway")
            && message.contains("format 99"),
        "{message}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_reported_with_what_to_do() {
    let output = Gangway::run(
        Path::new("/proc/nothing/here"),
        &["serve", "--listen", "127.0.0.1:0"],
    );
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success()
            && message.contains("/proc/nothing/here")
            && message.contains("--data"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_no_database_is_refused_without_harm() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("gangway.db"),
        "this is not a database, but it is long enough to look at",
    )
    .unwrap();
    let output = Gangway::run(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(!output.status.success());
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("not a database")
    );
    assert!(
        std::fs::read_to_string(folder.path().join("gangway.db"))
            .unwrap()
            .starts_with("this is not")
    );
}

#[test]
fn the_data_folder_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let _server = Gangway::serve(&data, &[]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("server.lock")), 0o600);
}

/// A server whose data folder is a file system of its own, of this size.
fn serve_on_small_disk(data: &Path, size: &str) -> Gangway {
    let script = format!(
        "mount -t tmpfs -o size={size} tmpfs {0} && exec {1} serve --listen 127.0.0.1:0 --data {0}",
        data.display(),
        env!("CARGO_BIN_EXE_gangway"),
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script]);
    Gangway::spawn(command)
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_keeps_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_on_small_disk(folder.path(), "1500k");
    let http = server.http.clone();
    let url = |path: &str| format!("{}{path}", server.url);
    let ready = async || http.get(url("/readyz")).send().await.unwrap();
    assert_eq!(ready().await.status(), 200);
    let new = http
        .post(url("/api/sessions"))
        .json(&json!({ "agent": "builtin" }))
        .send()
        .await
        .unwrap();
    let session: Value = new.json().await.unwrap();
    let id = session["sessionId"].as_str().unwrap();
    let mut accepted = Vec::new();
    let refused = loop {
        let prompt = format!("{} {}", accepted.len(), "x".repeat(50_000));
        let request = http
            .post(url(&format!("/api/sessions/{id}/messages")))
            .json(&json!({ "prompt": prompt }));
        let answer = request.send().await.unwrap();
        if answer.status() != 202 {
            break answer;
        }
        accepted.push(prompt);
        assert!(accepted.len() < 100, "the disk never fills");
    };
    let status = refused.status().as_u16();
    let error: Value = refused.json().await.unwrap();
    assert_eq!(
        (status, &error["error_code"]),
        (507, &json!("storage_full")),
        "{error}"
    );
    let ready = ready().await;
    assert_eq!(ready.status(), 503);
    let error: Value = ready.json().await.unwrap();
    assert!(
        error["message"].to_string().contains("the disk is full"),
        "{error}"
    );
    let history: Value = http
        .get(url(&format!("/api/history?session={id}&limit=2000")))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let texts: Vec<_> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|e| e["role"] == "user")
        .map(|e| e["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts, accepted);
    assert_eq!(
        http.get(url("/healthz")).send().await.unwrap().status(),
        200
    );
}

#[test]
fn the_database_is_for_its_owner_alone_in_an_open_folder_too() {
    let folder = tempfile::tempdir().unwrap();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    // As an older version or another hand may have left it.
    std::fs::write(folder.path().join("gangway.db"), "").unwrap();
    let _server = Gangway::serve(folder.path(), &[]);
    for file in ["gangway.db", "gangway.db-wal", "gangway.db-shm"] {
        let found = std::fs::metadata(folder.path().join(file)).unwrap();
        assert_eq!(found.permissions().mode() & 0o077, 0, "{file}");
    }
}

#[tokio::test]
async fn what_was_deleted_cannot_be_found_on_the_disk() {
    let server = crate::support::TestServer::start().await;
    let session = server.session().await;
    let message = "a-very-private-sentence";
    server.ask(&session, message).await;
    let path = format!("/api/sessions/{session}");
    server.call(reqwest::Method::DELETE, &path, None).await;
    for entry in std::fs::read_dir(server.data()).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let found = bytes
            .windows(message.len())
            .any(|window| window == message.as_bytes());
        assert!(!found, "{:?}", entry.path());
    }
}

#[test]
fn a_lock_that_is_a_link_is_refused_and_its_target_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    std::fs::write(&target, "mine").unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::os::unix::fs::symlink(&target, data.join("server.lock")).unwrap();
    let output = Gangway::run(&data, &["serve", "--listen", "127.0.0.1:0"]);
    assert!(!output.status.success());
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("symbolic link")
    );
    assert_eq!(std::fs::read_to_string(target).unwrap(), "mine");
}

#[tokio::test]
async fn folders_of_sessions_that_do_not_exist_are_removed_once_they_are_old() {
    let server = crate::support::TestServer::start().await;
    let (_, session) = server.post("/api/sessions", json!({})).await;
    let own = server.data().join("workspaces");
    let stored = own.join(session["sessionId"].as_str().unwrap());
    let orphan = own.join(gangway_core::SessionId::new().to_string());
    let other = own.join("not a session");
    for folder in [&stored, &orphan, &other] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let (hour_ago, soon) = (
        jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1),
        jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1),
    );
    assert_eq!(server.app.sessions.sweep_folders(hour_ago).await, 0);
    assert_eq!(server.app.sessions.sweep_folders(soon).await, 1);
    assert!(stored.is_dir() && other.is_dir() && !orphan.exists());
}
