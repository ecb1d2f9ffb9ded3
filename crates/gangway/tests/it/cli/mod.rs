//! The command line, as a person uses it.

mod backup;
mod models;
mod secrets;
mod settings;
mod tools;

use std::{net::TcpListener, path::Path, time::Duration};

use serde_json::Value;

use crate::support::Gangway;

fn ok(data: &Path, arguments: &[&str]) -> String {
    let output = Gangway::run(data, arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn fails(data: &Path, arguments: &[&str]) -> String {
    let output = Gangway::run(data, arguments);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_key_is_printed_once_last_on_its_line_and_listed_without_its_secret() {
    let folder = tempfile::tempdir().unwrap();
    let printed = ok(
        folder.path(),
        &["key", "create", "--name", "laptop", "--scope", "chat"],
    );
    let key = printed.split_whitespace().last().unwrap();
    assert!(key.starts_with("gw_") && key.len() == 67, "{printed}");
    let listed = ok(folder.path(), &["key", "list"]);
    assert!(
        listed.contains("laptop") && !listed.contains(key),
        "{listed}"
    );
    let json: Value = serde_json::from_str(&ok(folder.path(), &["key", "list", "--json"])).unwrap();
    let id = json["keys"][0]["id"].as_str().unwrap();
    ok(folder.path(), &["key", "revoke", id]);
    assert!(ok(folder.path(), &["key", "list"]).contains("no keys"));
    assert!(fails(folder.path(), &["key", "revoke", id]).contains("gangway key list"));
}

#[tokio::test]
async fn a_command_goes_through_the_server_that_has_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let server = Gangway::serve(folder.path(), &[]);
    let made: Value = serde_json::from_str(&ok(
        folder.path(),
        &["key", "create", "--name", "x", "--scope", "chat", "--json"],
    ))
    .unwrap();
    // The running server knows the key at once.
    let http = server.http.clone();
    let key = made["key"].as_str().unwrap();
    let answer = http
        .get(format!("{}/api/sessions", server.url))
        .bearer_auth(key)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    ok(
        folder.path(),
        &["key", "revoke", made["id"].as_str().unwrap()],
    );
    let answer = http
        .get(format!("{}/api/sessions", server.url))
        .bearer_auth(key)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 401);
}

#[test]
fn a_command_never_sends_a_proxy_the_token_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let _server = Gangway::serve(folder.path(), &[]);
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let output = Gangway::command(folder.path())
        .args(["key", "list"])
        .envs(["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].map(|name| (name, &address)))
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(proxy.accept().is_err(), "the proxy was asked");
}

#[tokio::test]
async fn only_an_id_of_a_key_can_be_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let server = Gangway::serve(folder.path(), &[]);
    let sessions = format!("{}/api/sessions", server.url);
    let http = server.http.clone();
    let request = serde_json::json!({ "agent": "demo" });
    let made = http.post(&sessions).json(&request).send().await.unwrap();
    let session: Value = made.json().await.unwrap();
    let id = session["sessionId"].as_str().unwrap();
    let message = fails(
        folder.path(),
        &["key", "revoke", &format!("../sessions/{id}")],
    );
    assert!(message.contains("12 hexadecimal digits"), "{message}");
    let there = http.get(format!("{sessions}/{id}")).send().await.unwrap();
    assert_eq!(there.status(), 200);
}

#[test]
fn a_name_that_cannot_be_read_is_refused_with_and_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || {
        for name in ["", "  ", "two\nlines", &"x".repeat(101)] {
            let message = fails(
                folder.path(),
                &["key", "create", "--scope", "chat", "--name", name],
            );
            assert!(
                message.contains("1 to 100 printable characters"),
                "{message}"
            );
        }
        assert!(ok(folder.path(), &["key", "list"]).contains("no keys"));
    };
    refused();
    let _server = Gangway::serve(folder.path(), &[]);
    refused();
}

#[test]
fn complaints_about_arguments_print_nothing_that_a_terminal_interprets() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &[
            "key",
            "create",
            "--name",
            "x",
            "--scope",
            "\u{202e}\u{9b}31m",
        ][..],
        &["\u{1b}[2Jserve"],
        &["serve", "--no-such-\u{202e}option"],
    ] {
        let message = fails(folder.path(), arguments);
        let hidden = message
            .chars()
            .find(|c| *c != '\n' && (c.is_control() || *c == '\u{202e}'));
        assert_eq!(hidden, None, "{message:?}");
    }
}

#[test]
fn a_second_server_on_a_folder_is_refused_with_where_the_first_is() {
    let folder = tempfile::tempdir().unwrap();
    let server = Gangway::serve(folder.path(), &[]);
    let message = fails(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(
        message.contains("in use") && message.contains(&server.url),
        "{message}"
    );
}

#[test]
fn a_folder_whose_server_was_killed_can_be_used_at_once() {
    let folder = tempfile::tempdir().unwrap();
    Gangway::serve(folder.path(), &[]).kill();
    ok(folder.path(), &["key", "list"]);
    Gangway::serve(folder.path(), &[]);
}

#[test]
fn a_taken_port_is_named_with_a_free_one() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let message = fails(folder.path(), &["serve", "--listen", &address]);
    assert!(
        message.contains(&format!(
            "port {} on 127.0.0.1 is already in use",
            taken.local_addr().unwrap().port()
        )),
        "{message}"
    );
    let free = message.split("--listen ").nth(1).unwrap();
    let free = free.split(' ').next().unwrap();
    // What is suggested works as it is: it names the data folder too.
    assert!(
        message.contains(&folder.path().display().to_string()),
        "{message}"
    );
    assert!(TcpListener::bind(free).is_ok(), "{message}");
}

#[test]
fn authentication_can_be_off_on_this_machine_alone() {
    let folder = tempfile::tempdir().unwrap();
    for reached in ["listen: 0.0.0.0:0", "hosts: [box.local]"] {
        let config = format!("authentication: open-to-this-machine\n{reached}\n");
        std::fs::write(folder.path().join("config.yaml"), config).unwrap();
        let message = fails(folder.path(), &["serve"]);
        assert!(
            message.contains("`authentication`") || message.contains("authentication"),
            "{message}"
        );
    }
}

#[test]
fn the_example_config_passes_the_check_and_a_wrong_one_is_reported_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.yaml");
    assert!(ok(folder.path(), &["config", "check"]).contains("no config.yaml"));
    std::fs::write(&file, ok(folder.path(), &["config", "example"])).unwrap();
    assert!(ok(folder.path(), &["config", "check"]).contains("is valid"));
    std::fs::write(&file, "listen: 127.0.0.1:0\nlimits:\n  bodybytes: 3\n").unwrap();
    let message = fails(folder.path(), &["config", "check"]);
    assert!(
        message.contains("line 3") && message.contains("bodybytes"),
        "{message}"
    );
    let message = fails(folder.path(), &["serve"]);
    assert!(message.contains("line 3"), "{message}");
    for (text, key) in [
        ("limits: {connections: 0}", "limits.connections"),
        ("default_agent: nobody", "default_agent"),
    ] {
        std::fs::write(&file, text).unwrap();
        for command in [&["config", "check"][..], &["serve"]] {
            let message = fails(folder.path(), command);
            assert!(
                message.contains(key) && message.contains("must be"),
                "{message}"
            );
        }
    }
    let message = fails(folder.path(), &["config", "check", "/no/such/file"]);
    assert!(message.contains("/no/such/file"), "{message}");
}

#[test]
fn settings_come_from_the_environment_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.yaml"), "default_agent: demo\n").unwrap();
    let output = Gangway::command(folder.path())
        .args(["config", "check", "--json"])
        .env("GANGWAY_LIMITS_CONNECTIONS", "7")
        .output()
        .unwrap();
    let config: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&config["limits"]["connections"], &config["default_agent"]),
        (&serde_json::json!(7), &serde_json::json!("demo"))
    );
}

#[tokio::test]
async fn a_server_that_is_asked_to_stop_marks_its_turns_and_ends_with_success() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Gangway::serve(folder.path(), &[]);
    let http = server.http.clone();
    let new = http
        .post(format!("{}/api/sessions", server.url))
        .json(&serde_json::json!({ "agent": "demo" }))
        .send()
        .await
        .unwrap();
    let session: Value = new.json().await.unwrap();
    let id = session["sessionId"].as_str().unwrap();
    let prompt = serde_json::json!({ "prompt": "a long story" });
    http.post(format!("{}/api/sessions/{id}/messages", server.url))
        .json(&prompt)
        .send()
        .await
        .unwrap();
    // A reader that stays must not hold it up.
    let reader = http
        .get(format!("{}/api/sessions/{id}/events", server.url))
        .send()
        .await
        .unwrap();
    let feed = format!("{}/api/sessions/{id}/events", server.url);
    let feed = crate::support::socket(&feed, &server.token);
    let (mut socket, _) = tokio_tungstenite::connect_async(feed).await.unwrap();
    server.terminate();
    let child = &mut server.child;
    let status = tokio::time::timeout(Duration::from_secs(5), async {
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(status.await.expect("it takes longer than 5 s").success());
    let mut closed = None;
    while let Some(Ok(message)) = futures_util::StreamExt::next(&mut socket).await {
        if let tokio_tungstenite::tungstenite::Message::Close(Some(frame)) = message {
            closed = Some(u16::from(frame.code));
        }
    }
    assert_eq!(closed, Some(1001));
    let log = std::fs::metadata(folder.path().join("gangway.db-wal"));
    assert!(
        log.map_or(true, |log| log.len() == 0),
        "a copy of gangway.db alone is not whole"
    );
    assert!(
        reader
            .text()
            .await
            .unwrap()
            .contains("\"reason\":\"shutdown\"")
    );
    let again = Gangway::serve(folder.path(), &[]);
    let history: Value = again
        .http
        .get(format!("{}/api/history?session={id}", again.url))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(
        history["entries"].as_array().unwrap().last().unwrap()["outcome"],
        "interrupted"
    );
}

#[test]
fn a_model_server_that_is_no_url_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Gangway::command(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    let output = command
        .env("OPENAI_BASE_URL", "localhost:3091/v1")
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && message.contains("OPENAI_BASE_URL"),
        "{message}"
    );
    std::fs::write(
        folder.path().join("config.yaml"),
        "providers: {mine: {type: openai, base_url: foo}}\n",
    )
    .unwrap();
    let message = fails(folder.path(), &["config", "check"]);
    assert!(message.contains("providers.*.base_url"), "{message}");
}
