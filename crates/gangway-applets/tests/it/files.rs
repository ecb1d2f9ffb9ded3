//! Files of the session's folder on the channel.

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::client::Page;
use crate::server::TestServer;

async fn read(page: &mut Page, path: &str) -> String {
    page.send_message(json!({ "type": "readFile", "id": 1, "path": path }))
        .await;
    let mut text = String::new();
    loop {
        let piece = page.until("fileContent").await;
        text += piece["chunk"].as_str().unwrap();
        if piece["done"] == true {
            return text;
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_later_leads_to_the_data_folder_is_not_opened() {
    let server = TestServer::start().await;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    let session = server.session_in(folder.to_str().unwrap()).await;
    std::fs::remove_dir(&folder).unwrap();
    std::os::unix::fs::symlink(server.data(), &folder).unwrap();
    let mut page = Page::open(&server, &session, "&applet=notes").await;
    for request in [
        json!({ "type": "readFile", "path": "gangway.db" }),
        json!({ "type": "listFiles", "path": "" }),
        json!({ "type": "writeFile", "path": "mcp.json", "content": "{}" }),
    ] {
        let answer = page.ask(request).await;
        assert_eq!(answer["type"], "error", "{answer}");
    }
}

#[tokio::test]
async fn files_are_written_read_listed_and_inspected() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let folder = server.cwd(&session).await;
    let mut page = Page::open(&server, &session, "&applet=notes").await;
    let large = "Ahoi, Käpt'n! ⚓\n".repeat(40_000);
    let write = json!({ "type": "writeFile", "path": "notes/log.txt", "content": large });
    let written = page.ask(write).await;
    assert_eq!(written["type"], "fileWritten", "{written}");
    assert_eq!(
        (&written["type"], &written["path"], &written["size"]),
        (
            &json!("fileWritten"),
            &json!("notes/log.txt"),
            &json!(large.len())
        )
    );
    assert_eq!(
        std::fs::read_to_string(folder.join("notes/log.txt")).unwrap(),
        large
    );
    assert_eq!(read(&mut page, "notes/log.txt").await, large);
    let bytes =
        json!({ "type": "writeFile", "path": "b.bin", "content": "AP8Q", "encoding": "base64" });
    page.ask(bytes).await;
    let list = page.ask(json!({ "type": "listFiles" })).await;
    let names: Vec<_> = list["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (&e["name"], &e["kind"]))
        .collect();
    assert_eq!(
        names,
        [
            (&json!("b.bin"), &json!("file")),
            (&json!("notes"), &json!("folder"))
        ]
    );
    let stat = page.ask(json!({ "type": "stat", "path": "b.bin" })).await;
    assert_eq!(
        (&stat["type"], &stat["size"]),
        (&json!("fileStat"), &json!(3))
    );

    page.send_message(json!({ "type": "readFile", "id": 2, "path": "b.bin", "binary": true }))
        .await;
    let text = page.until("fileContent").await;
    assert_eq!((&text["bytes"], &text["done"]), (&json!(3), &json!(false)));
    assert_eq!(page.message().await, Message::binary(vec![0, 255, 16]));
    assert_eq!(page.until("fileContent").await["done"], true);
    let refused = page
        .ask(json!({ "type": "readFile", "path": "b.bin" }))
        .await;
    assert_eq!(
        (&refused["type"], &refused["code"]),
        (&json!("error"), &json!("not_text"))
    );
}

#[tokio::test]
async fn a_file_that_changes_is_reported_until_the_last_watch_ends() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let folder = server.cwd(&session).await;
    let mut page = Page::open(&server, &session, "&applet=notes").await;
    let subscribed = page
        .ask(json!({ "type": "subscribe", "path": "a.txt" }))
        .await;
    assert_eq!(subscribed["type"], "subscribed");
    std::fs::write(folder.join("a.txt"), "1").unwrap();
    let changed = page.until("fileChanged").await;
    assert_eq!(
        (&changed["path"], &changed["event"]),
        (&json!("a.txt"), &json!("created"))
    );
    // As editors do it.
    std::fs::write(folder.join("a.tmp"), "2").unwrap();
    std::fs::rename(folder.join("a.tmp"), folder.join("a.txt")).unwrap();
    let changed = page.until("fileChanged").await;
    assert_eq!(
        (&changed["path"], &changed["event"]),
        (&json!("a.txt"), &json!("changed"))
    );
    page.ask(json!({ "type": "unsubscribe", "path": "a.txt" }))
        .await;
    std::fs::remove_file(folder.join("a.txt")).unwrap();
    let pong = page.ask(json!({ "type": "ping" })).await;
    assert_eq!(pong["type"], "pong");
}

#[tokio::test]
async fn nothing_outside_the_folder_is_read_or_written() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let folder = server.cwd(&session).await;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.join("out")).unwrap();
    let mut page = Page::open(&server, &session, "&applet=evil").await;
    for path in [
        "../secret",
        "/../secret",
        "out/secret",
        "a/../../b",
        "C:\\x",
        "a\u{0}b",
        "out",
    ] {
        let asks: [Value; 3] = [
            json!({ "type": "readFile", "path": path }),
            json!({ "type": "writeFile", "path": path, "content": "x" }),
            json!({ "type": "subscribe", "path": format!("{path}/x") }),
        ];
        for ask in asks {
            let kind = ask["type"].clone();
            let answer = page.ask(ask).await;
            assert_eq!(answer["type"], "error", "{kind} {path:?}: {answer}");
        }
    }
    let left: Vec<_> = std::fs::read_dir(outside.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[tokio::test]
async fn absolute_paths_are_refused_with_an_error_and_links_that_stay_inside_are_followed() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let folder = server.cwd(&session).await.canonicalize().unwrap();
    std::fs::create_dir(folder.join("real")).unwrap();
    std::fs::write(folder.join("real/a.txt"), "inside").unwrap();
    std::os::unix::fs::symlink(folder.join("real/a.txt"), folder.join("file")).unwrap();
    std::os::unix::fs::symlink(folder.join("real"), folder.join("way")).unwrap();
    let mut page = Page::open(&server, &session, "&applet=notes").await;
    for path in ["/etc/hostname", "/real/a.txt", "//host/x"] {
        for kind in ["readFile", "writeFile", "subscribe", "stat", "listFiles"] {
            let refused = page
                .ask(json!({ "type": kind, "path": path, "content": "x" }))
                .await;
            assert_eq!(refused["code"], "bad_path", "{kind} {path}: {refused}");
            let message = refused["error"].as_str().unwrap();
            assert!(message.contains("absolute"), "{message}");
        }
    }
    assert!(!folder.join("etc").exists());
    for path in ["file", "way/a.txt"] {
        page.send_message(json!({ "type": "readFile", "path": path, "id": path }))
            .await;
        assert_eq!(page.until("fileContent").await["chunk"], "inside");
        page.until("fileContent").await;
    }
    let written = page
        .ask(json!({ "type": "writeFile", "path": "way/new/b.txt", "content": "b" }))
        .await;
    assert_eq!(written["type"], "fileWritten", "{written}");
    assert_eq!(std::fs::read(folder.join("real/new/b.txt")).unwrap(), b"b");
    let listed = page.ask(json!({ "type": "listFiles" })).await;
    let kinds = listed["entries"].as_array().unwrap().iter();
    let kinds: Vec<_> = kinds
        .map(|entry| (&entry["name"], &entry["kind"]))
        .collect();
    assert!(
        kinds.contains(&(&json!("way"), &json!("folder"))),
        "{listed}"
    );
    let watched = page
        .ask(json!({ "type": "subscribe", "path": "way/c.txt" }))
        .await;
    assert_eq!(watched["type"], "subscribed", "{watched}");
    std::fs::write(folder.join("real/c.txt"), "1").unwrap();
    assert_eq!(page.until("fileChanged").await["path"], "way/c.txt");
}
