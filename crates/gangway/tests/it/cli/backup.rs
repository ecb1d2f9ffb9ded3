//! `gangway doctor`, `gangway backup` and `gangway restore`, as a person uses them.

use std::{fs::File, io::Write, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{fails, ok};
use crate::support::Gangway;

async fn say(server: &Gangway, message: &str) -> String {
    let post = async |path: String, body: Value| -> Value {
        let url = format!("{}{path}", server.url);
        let answer = server.http.post(url).json(&body).send().await.unwrap();
        answer.json().await.unwrap()
    };
    let session = post("/api/sessions".into(), json!({ "agent": "demo" })).await;
    let id = session["sessionId"].as_str().unwrap().to_owned();
    post(
        format!("/api/sessions/{id}/messages"),
        json!({ "prompt": message }),
    )
    .await;
    id
}

async fn history(server: &Gangway, session: &str) -> (u16, String) {
    let url = format!("{}/api/history?session={session}", server.url);
    let answer = server.http.get(url).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

fn doctor(data: &Path) -> (bool, Value) {
    let output = Gangway::run(data, &["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ok"], json!(output.status.success()), "{report}");
    (output.status.success(), report)
}

#[tokio::test]
async fn the_doctor_finds_nothing_wrong_beside_a_running_server_and_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Gangway::serve(&data, &[]);
    say(&server, "hello").await;
    let (fine, report) = doctor(&data);
    assert!(fine, "{report}");
    server.kill();
    let (fine, report) = doctor(&data);
    assert!(fine, "{report}");
    assert!(
        report["checks"][0]["about"]
            .as_str()
            .unwrap()
            .contains("1 sessions")
    );
    assert!(ok(&data, &["doctor"]).contains("has no problems"));
}

#[tokio::test]
async fn damage_is_named_by_the_doctor_and_the_api_and_other_sessions_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Gangway::serve(&data, &[]);
    let (hit, spared) = (say(&server, "hit").await, say(&server, "spared").await);
    server.kill();
    let connection = rusqlite::Connection::open(data.join("gangway.db")).unwrap();
    let sql = "UPDATE events SET body = replace(body, 'hit', 'hid') WHERE seq = 2 AND body LIKE '%\"hit\"%'";
    assert!(connection.execute(sql, []).unwrap() > 0);
    drop(connection);
    let (fine, report) = doctor(&data);
    assert!(
        !fine
            && report
                .to_string()
                .contains(&format!("event 2 of session {hit}")),
        "{report}"
    );
    let backup = folder.path().join("backup.zip");
    let refused = fails(&data, &["backup", backup.to_str().unwrap()]);
    assert!(
        refused.contains("is damaged") && !backup.exists(),
        "{refused}"
    );

    let server = Gangway::serve(&data, &[]);
    let (status, text) = history(&server, &hit).await;
    let error: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (status, &error["error_code"]),
        (500, &json!("data_corrupted")),
        "{text}"
    );
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains(&hit) && message.contains("event 2") && message.contains("doctor"),
        "{message}"
    );
    assert_eq!(history(&server, &spared).await.0, 200);
    say(&server, "new").await;
    let metrics = server
        .http
        .get(format!("{}/metrics", server.url))
        .send()
        .await
        .unwrap();
    let metrics = metrics.text().await.unwrap();
    assert!(metrics.contains("gangway_damaged_places 1"), "{metrics}");
}

#[tokio::test]
async fn a_backup_of_a_running_server_brings_everything_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Gangway::serve(&data, &[]);
    let session = say(&server, "remember me").await;
    std::fs::write(data.join("config.yaml"), "log: {level: warn}\n").unwrap();
    std::fs::create_dir_all(data.join("models/weights")).unwrap();
    std::fs::write(
        data.join("models/weights/large.gguf"),
        "can be fetched again",
    )
    .unwrap();
    std::fs::create_dir_all(data.join("applets/mine")).unwrap();
    std::fs::write(data.join("applets/mine/script.js"), "mine()").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", data.join("applets/mine/link")).unwrap();
    let file = folder.path().join("backup.zip");
    let name = file.to_str().unwrap();
    let message = ok(&data, &["backup", name]);
    assert!(
        message.contains("1 sessions") && message.contains("link is not a regular file"),
        "{message}"
    );
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fails(&data, &["backup", name]).contains("--force"));
    ok(&data, &["backup", name, "--force"]);
    let inside = data.join("backup.zip");
    assert!(fails(&data, &["backup", inside.to_str().unwrap()]).contains("inside the data folder"));

    let gone = say(&server, "after the backup").await;
    assert!(fails(&data, &["restore", name]).contains("in use"));
    server.kill();
    let done = ok(&data, &["restore", name, "--json"]);
    let done: Value = serde_json::from_str(&done).unwrap();
    let aside = Path::new(done["aside"].as_str().unwrap());
    assert!(aside.join("gangway.db").exists());
    assert_eq!(data.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let read = |name: &str| std::fs::read_to_string(data.join(name)).unwrap();
    assert_eq!(read("config.yaml"), "log: {level: warn}\n");
    assert_eq!(read("applets/mine/script.js"), "mine()");
    assert_eq!(read("models/weights/large.gguf"), "can be fetched again");
    assert!(doctor(&data).0);
    let server = Gangway::serve(&data, &[]);
    let (status, text) = history(&server, &session).await;
    assert!(status == 200 && text.contains("remember me"), "{text}");
    assert_eq!(history(&server, &gone).await.0, 404);
    // Nothing of the work is left beside the folder.
    let names = std::fs::read_dir(folder.path()).unwrap();
    let hidden = names
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert!(!hidden);
}

/// A copy of an archive with one more entry.
fn with_entry(from: &Path, to: &Path, name: &str, link: bool) {
    let mut old = zip::ZipArchive::new(File::open(from).unwrap()).unwrap();
    let mut new = ZipWriter::new(File::create(to).unwrap());
    for index in 0..old.len() {
        new.raw_copy_file(old.by_index_raw(index).unwrap()).unwrap();
    }
    if link {
        new.add_symlink(name, "/etc/passwd", SimpleFileOptions::default())
            .unwrap();
    } else {
        new.start_file(name, SimpleFileOptions::default()).unwrap();
        new.write_all(b"evil").unwrap();
    }
    new.finish().unwrap();
}

#[test]
fn an_archive_that_someone_changed_is_refused_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    Gangway::serve(&data, &[]).kill();
    let file = folder.path().join("backup.zip");
    ok(&data, &["backup", file.to_str().unwrap()]);
    std::fs::write(data.join("config.yaml"), "log: {level: error}\n").unwrap();
    let evil = folder.path().join("evil.zip");
    let entries = [
        ("../evil", false),
        ("/evil", false),
        ("applets/../../evil", false),
        ("applets/./evil", false),
        ("applets//evil", false),
        ("applets\\..\\evil", false),
        ("server.lock", false),
        ("gangway.db-wal", false),
        ("extra", false),
        ("applets/link", true),
    ];
    for (name, link) in entries {
        with_entry(&file, &evil, name, link);
        let message = fails(&data, &["restore", evil.to_str().unwrap()]);
        assert!(
            message.contains("not a backup that can be restored"),
            "{name}: {message}"
        );
    }
    let whole = std::fs::read(&file).unwrap();
    for n in 1..40 {
        let mut bytes = whole.clone();
        if n % 4 == 0 {
            bytes.truncate(whole.len() * n / 40);
        } else {
            // In the first tenth, which is the database.
            bytes[whole.len() * n / 400] ^= 1;
        }
        std::fs::write(&evil, bytes).unwrap();
        // A bit that means nothing, a time for example, may be another one.
        let output = Gangway::run(
            &folder.path().join("other"),
            &["restore", evil.to_str().unwrap()],
        );
        if n % 4 == 0 {
            assert!(!output.status.success());
        }
        if output.status.success() {
            assert!(doctor(&folder.path().join("other")).0);
        }
    }
    assert_eq!(
        std::fs::read_to_string(data.join("config.yaml")).unwrap(),
        "log: {level: error}\n"
    );
    assert!(!folder.path().join("evil").exists() && !Path::new("/evil").exists());
    assert!(doctor(&data).0);
}

#[test]
fn a_cut_write_ahead_log_is_refused_until_the_loss_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    Gangway::serve(&data, &[]).kill();
    ok(
        &data,
        &["key", "create", "--name", "one", "--scope", "chat"],
    );
    let server = Gangway::serve(&data, &[]);
    ok(
        &data,
        &["key", "create", "--name", "two", "--scope", "chat"],
    );
    server.kill();
    let log = data.join("gangway.db-wal");
    assert!(log.metadata().unwrap().len() > 0);
    File::options()
        .write(true)
        .open(&log)
        .unwrap()
        .set_len(40)
        .unwrap();
    let refused = fails(&data, &["serve", "--listen", "127.0.0.1:0"]);
    assert!(
        refused.contains("cut short") && refused.contains("--accept-loss"),
        "{refused}"
    );
    assert!(!doctor(&data).0);
    ok(&data, &["doctor", "--accept-loss"]);
    let _server = Gangway::serve(&data, &[]);
    assert!(ok(&data, &["key", "list"]).contains("one"));
}
