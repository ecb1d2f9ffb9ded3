//! Files that people send: into the folder of the project, and nowhere else.

use std::path::PathBuf;

use gangway_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::{TestAgent, Yard, answered, create_request, in_address, model::Model};

async fn open() -> (Yard, TestAgent) {
    let remote = Yard::with(Model::says(&["Hi."]), |config| {
        config.remote_agents.upload_bytes = 1000;
        config.remote_agents.embed_defaults.file_upload = true;
    })
    .await;
    let made = remote.agent("Hi.").await;
    (remote, made)
}

async fn send(
    remote: &Yard,
    made: &TestAgent,
    name: &str,
    kind: &str,
    body: &[u8],
) -> (u16, Value) {
    let path = format!("uploads?name={}", in_address(name));
    let request = remote.of(made, Method::POST, &path);
    answered(request.header("content-type", kind).body(body.to_vec())).await
}

/// All files below a folder.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| match entry.path().is_dir() {
        true => files(entry.path()),
        false => vec![entry.path()],
    });
    found.collect()
}

#[tokio::test]
async fn a_file_reaches_the_folder_of_the_project_and_goes_with_a_message() {
    let (remote, made) = open().await;
    let (status, first) = send(&remote, &made, "photo 1.png", "image/png", b"abc").await;
    let path = format!("uploads/{}/photo 1.png", &made.id[..8]);
    let wanted = json!({ "path": path, "name": "photo 1.png", "size": 3, "type": "image/png" });
    assert_eq!((status, first), (201, wanted));
    let shop = remote.shop();
    assert_eq!(std::fs::read(shop.join(&path)).unwrap(), b"abc");
    // Several of the same name at once: each has a place of its own.
    let more = (0..5_u8).map(|n| {
        let (remote, made) = (&remote, &made);
        async move { send(remote, made, "photo 1.png", "image/png; x=y", &[n]).await }
    });
    for (status, more) in futures_util::future::join_all(more).await {
        assert_eq!(status, 201, "{more}");
    }
    let mut contents: Vec<_> = files(shop.clone())
        .into_iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect();
    contents.sort();
    let wanted: Vec<Vec<u8>> = vec![vec![0], vec![1], vec![2], vec![3], vec![4], b"abc".into()];
    assert_eq!(contents, wanted);
    let message = json!({ "text": "Look.", "attachments": [path] });
    let (status, accepted) = remote.post(&made, "messages", message).await;
    assert_eq!(status, 202, "{accepted}");
    eventually(|| async { (remote.model.asked().len() == 2).then_some(()) }).await;
    let asked = remote.model.asked()[1]["messages"].to_string();
    assert!(
        asked.contains(&format!("Look.\\n\\n[Attached file: {path}]")),
        "{asked}"
    );
}

#[tokio::test]
async fn names_that_lead_elsewhere_types_and_sizes_that_are_not_taken_leave_nothing() {
    let (remote, made) = open().await;
    let long = "x".repeat(201);
    for name in [
        "",
        ".",
        "..",
        "../a.txt",
        "a/b.txt",
        "/etc/passwd",
        "a\\b.txt",
        ".bashrc",
        "a\0b",
        "a\nb",
        "C:a.txt",
        "a.txt.",
        "a ",
        "..%2fa.txt",
        "a*b",
        "\u{202e}gpj.exe",
        &long,
    ] {
        let (status, error) = send(&remote, &made, name, "text/plain", b"x").await;
        // What only looks like an escape is a name like any other.
        let plain = name == "..%2fa.txt";
        assert!(!plain || status == 400, "{name:?}");
        assert_eq!(
            (status, &error["error_code"]),
            (400, &json!("invalid_name")),
            "{name:?}"
        );
    }
    let (status, error) = answered(remote.of(&made, Method::POST, "uploads").body("x")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (400, &json!("invalid_name"))
    );
    for kind in [
        "",
        "application/x-sh",
        "image/",
        "imagex/png",
        "text",
        "multipart/form-data",
        "*/*",
    ] {
        let (status, error) = send(&remote, &made, "a.txt", kind, b"x").await;
        assert_eq!(
            (status, &error["error_code"]),
            (415, &json!("upload_type_refused")),
            "{kind:?}"
        );
    }
    assert_eq!(
        send(&remote, &made, "full.txt", "text/plain", &[7; 1000])
            .await
            .0,
        201
    );
    let (status, error) = send(&remote, &made, "a.txt", "text/plain", &[7; 1001]).await;
    assert_eq!(
        (status, &error["error_code"]),
        (413, &json!("upload_too_large"))
    );
    let chunks = futures_util::stream::iter((0..20).map(|_| Ok::<_, std::io::Error>(vec![7; 100])));
    let request = remote.of(&made, Method::POST, "uploads?name=a.txt");
    let request = request.header("content-type", "text/plain");
    let (status, _) = answered(request.body(reqwest::Body::wrap_stream(chunks))).await;
    assert_eq!(status, 413);
    let found = files(remote.shop());
    assert!(
        matches!(&found[..], [one] if one.ends_with("full.txt")),
        "{found:?}"
    );
}

#[tokio::test]
async fn an_upload_that_is_cut_off_leaves_nothing_and_delays_no_other() {
    let (remote, made) = open().await;
    let mut held = Vec::new();
    for cut in [true, true, true, false, false, false, false, false] {
        let mut socket = tokio::net::TcpStream::connect(remote.server.address)
            .await
            .unwrap();
        let head = format!(
            "POST /api/remote_agents/{}/uploads?name=a.txt HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: text/plain\r\nContent-Length: 900\r\n\r\nabc",
            made.id, made.token
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        if !cut {
            held.push(socket);
        }
    }
    // Those that are held open are of one agent; another's are taken.
    let other = remote.agent("Hi.").await;
    let (status, _) = send(&remote, &other, "b.txt", "text/plain", b"x").await;
    assert_eq!(status, 201);
    drop(held);
    let (status, _) = send(&remote, &made, "c.txt", "text/plain", b"x").await;
    assert_eq!(status, 201);
    let found = files(remote.shop());
    assert!(
        found.len() == 2 && !found.iter().any(|f| f.ends_with("a.txt")),
        "{found:?}"
    );
}

#[tokio::test]
async fn what_is_switched_off_takes_nothing() {
    let remote = Yard::open().await;
    let made = remote.agent("Hi.").await;
    let (status, error) = send(&remote, &made, "a.txt", "text/plain", b"x").await;
    assert_eq!(
        (status, &error["error_code"]),
        (403, &json!("feature_disabled"))
    );
    let record = remote
        .of(&made, Method::POST, "transcribe")
        .header("content-type", "audio/webm");
    let (status, error) = answered(record.body("x")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (403, &json!("feature_disabled"))
    );
    // A microphone alone takes recordings, and no other files.
    let mut speaks = create_request("Hi.");
    speaks["feature_flags"] = json!({ "voice_mic": true });
    let speaks = remote.made(speaks).await;
    assert_eq!(
        send(&remote, &speaks, "a.webm", "audio/webm", b"x").await.0,
        201
    );
    assert_eq!(
        send(&remote, &speaks, "a.txt", "text/plain", b"x").await.0,
        403
    );
    let record = remote
        .of(&speaks, Method::POST, "transcribe")
        .header("content-type", "audio/webm");
    let (status, error) = answered(record.body("x")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (404, &json!("speech_not_configured"))
    );
}

#[tokio::test]
async fn a_flag_that_the_create_request_switches_off_stays_off_whatever_config_and_address_say() {
    let remote = Yard::with(Model::says(&["Hi."]), |config| {
        config.remote_agents.embed_defaults.file_upload = true;
        config.remote_agents.embed_defaults.voice_mic = true;
    })
    .await;
    let mut off = create_request("Hi.");
    off["feature_flags"] = json!({ "file_upload": false, "voice_mic": false });
    let (status, answer) = remote.create(off).await;
    assert_eq!(status, 201, "{answer}");
    let none = json!({ "file_upload": false, "context_usage": false, "voice_mic": false });
    assert_eq!(answer["feature_flags"], none);
    let made = TestAgent::of(&answer);
    let on = json!({ "file_upload": true, "context_usage": true, "voice_mic": true });
    let (_, frame) = remote
        .post(&made, "exchange", json!({ "feature_flags": on }))
        .await;
    assert_eq!(frame["feature_flags"], none);
    for (name, kind) in [("a.txt", "text/plain"), ("a.webm", "audio/webm")] {
        let (status, error) = send(&remote, &made, name, kind, b"x").await;
        assert_eq!(
            (status, &error["error_code"]),
            (403, &json!("feature_disabled"))
        );
    }
}

#[tokio::test]
async fn limits_say_whose_they_are_how_large_and_what_to_do() {
    let remote = Yard::with(Model::held(1), |config| {
        config.remote_agents.upload_bytes = 1000;
        config.remote_agents.uploads_bytes = 1500;
        config.remote_agents.embed_defaults.file_upload = true;
        config.queued_prompts = Some(1);
    })
    .await;
    let made = remote.agent("Hi.").await;
    let text = |error: &Value, words: &[&str]| {
        let message = error["message"].as_str().unwrap();
        for words in words {
            assert!(message.contains(words), "{words:?} in {message}");
        }
        assert_eq!(error["error"], error["message"]);
    };
    let (_, error) = send(&remote, &made, "a.txt", "text/plain", &[7; 1001]).await;
    text(
        &error,
        &["at most 1000 bytes", "remote_agents.upload_bytes"],
    );
    assert_eq!(
        send(&remote, &made, "a.txt", "text/plain", &[7; 900])
            .await
            .0,
        201
    );
    let (_, error) = send(&remote, &made, "b.txt", "text/plain", &[7; 900]).await;
    text(
        &error,
        &["this agent", "at most 1500 bytes", "900 of which", "delete"],
    );
    let message = json!({ "text": "Wait." });
    assert_eq!(remote.post(&made, "messages", message.clone()).await.0, 202);
    let (status, error) = remote.post(&made, "messages", message).await;
    assert_eq!((status, &error["error_code"]), (429, &json!("queue_full")));
    text(&error, &["this agent", "at most 1 messages", "again"]);
    remote.model.release(100);
}

#[tokio::test]
async fn only_uploads_of_this_agent_go_with_its_messages() {
    let (remote, made) = open().await;
    let other = remote.agent("Hi.").await;
    let (_, theirs) = send(&remote, &other, "b.txt", "text/plain", b"x").await;
    let (_, mine) = send(&remote, &made, "a.txt", "text/plain", b"x").await;
    std::fs::write(remote.shop().join("secret.txt"), "secret").unwrap();
    let own = format!("uploads/{}", &made.id[..8]);
    std::os::unix::fs::symlink("../../secret.txt", remote.shop().join(&own).join("link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", remote.shop().join(&own).join("out")).unwrap();
    for bad in [
        theirs["path"].as_str().unwrap().to_owned(),
        "secret.txt".into(),
        "/etc/passwd".into(),
        own.clone(),
        format!("{own}/"),
        format!("{own}x/a.txt"),
        format!("{own}/../../secret.txt"),
        format!("{own}/none.txt"),
        format!("{own}/out"),
        String::new(),
    ] {
        let message = json!({ "text": "Look.", "attachments": [bad] });
        let (status, error) = remote.post(&made, "messages", message).await;
        assert_eq!(
            (status, &error["error_code"]),
            (400, &json!("invalid_request")),
            "{bad:?}"
        );
    }
    let many = vec![mine["path"].clone(); 21];
    let message = json!({ "text": "Look.", "attachments": many });
    assert_eq!(remote.post(&made, "messages", message).await.0, 400);
    let message = json!({ "text": "", "attachments": [mine["path"]] });
    assert_eq!(remote.post(&made, "messages", message).await.0, 202);
}

#[tokio::test]
async fn a_folder_of_uploads_that_leads_out_is_not_followed() {
    let (remote, made) = open().await;
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), remote.shop().join("uploads")).unwrap();
    let (status, error) = send(&remote, &made, "a.txt", "text/plain", b"x").await;
    assert_ne!(status, 201, "{error}");
    assert!(files(outside.path().to_owned()).is_empty());
    assert!(!error.to_string().contains(outside.path().to_str().unwrap()));
}
