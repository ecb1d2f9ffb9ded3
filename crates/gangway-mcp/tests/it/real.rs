//! Public servers from npm and PyPI.

use std::{
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use gangway_core::{SessionId, ToolError, Toolbox};
use gangway_mcp::{ModelNames, Progress, Settings};
use serde_json::{Map, Value, json};

use crate::support::*;

fn text(value: &Value) -> &str {
    value[0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn everything_handles_every_kind_of_request() {
    let host = host(Settings::default(), vec![npm("everything", &[])]).await;
    let seen = status(&host);
    assert_eq!(seen.protocol.as_deref(), Some("2025-11-25"));
    assert!(seen.server.is_some() && seen.tools >= 10, "{seen:?}");
    let session = SessionId::new();
    let box_of_tools: &dyn Toolbox = &*host;
    let tools = box_of_tools.tools(session, "").await;
    let names = ModelNames::new(tools.iter().map(|tool| &tool.name));
    assert_eq!(
        names.to_model_name(&tool("everything/echo")),
        Some("everything__echo")
    );

    let echo = box_of_tools.call(session, tool("everything/echo"), json!({"message": "hi"}));
    assert_eq!(text(&echo.await.unwrap()), "Echo: hi");
    let structured = tools.iter().find(|t| t.name.tool().contains("structured"));
    let structured = structured.expect("a tool with structured content");
    let arguments = json!({"location": "New York"});
    let weather = host
        .call("t", &structured.name, arguments, None)
        .await
        .unwrap();
    assert!(weather["temperature"].is_number(), "{weather}");
    let image = tools
        .iter()
        .find(|t| t.name.tool().contains("image"))
        .unwrap();
    let image = host
        .call("t", &image.name, Value::Null, None)
        .await
        .unwrap();
    let blocks = image.as_array().unwrap();
    assert!(
        blocks
            .iter()
            .any(|b| b["type"] == "image" && b["mimeType"] == "image/png")
    );

    let long = tools
        .iter()
        .find(|t| t.name.tool().contains("long-running"));
    let long = &long.expect("a tool that takes long").name;
    let received: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let sink = received.clone();
    let sink = Arc::new(move |progress| sink.lock().unwrap().push(progress));
    let arguments = json!({"duration": 0.3, "steps": 3});
    host.call("t", long, arguments, Some(sink)).await.unwrap();
    let received = std::mem::take(&mut *received.lock().unwrap());
    assert!(
        received.len() >= 2 && received[0].total == Some(3.0),
        "{received:?}"
    );
    let endless = json!({"duration": 1000, "steps": 3});
    let dropped = host.call("t", long, endless, None);
    assert!(
        tokio::time::timeout(Duration::from_millis(100), dropped)
            .await
            .is_err()
    );

    let offered = host.resources(&id("everything")).await.unwrap();
    let uri = offered["resources"][0]["uri"].as_str().unwrap();
    let read = host.read_resource(&id("everything"), uri).await.unwrap();
    assert!(read["contents"][0]["text"].is_string(), "{read}");
    let unknown = host
        .read_resource(&id("everything"), "demo://nothing")
        .await;
    assert!(matches!(unknown, Err(ToolError::Failed(_))));
    let prompts = host.prompts(&id("everything")).await.unwrap();
    let simple = prompts
        .iter()
        .find(|p| p["arguments"].as_array().is_none_or(Vec::is_empty));
    let name = simple.unwrap()["name"].as_str().unwrap();
    let prompt = host
        .get_prompt(&id("everything"), name, Map::new())
        .await
        .unwrap();
    assert!(prompt["messages"][0]["content"].is_object(), "{prompt}");
    host.shutdown().await;
}

#[tokio::test]
async fn files_and_memory_are_changed_through_their_servers() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut memory = npm("memory", &[]);
    if let gangway_mcp::Transport::Stdio { env, .. } = &mut memory.transport {
        env.insert("MEMORY_FILE_PATH".into(), root.join("memory.jsonl").into());
    }
    let files = npm("filesystem", &[root.to_str().unwrap()]);
    let host = host(Settings::default(), vec![files, memory]).await;
    let path = root.join("a.txt");
    let written = call(
        &host,
        "filesystem/write_file",
        json!({"path": path, "content": "hello"}),
    );
    written.await.unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello");
    let outside = call(
        &host,
        "filesystem/read_text_file",
        json!({"path": "/etc/passwd"}),
    )
    .await;
    assert!(
        matches!(&outside, Err(ToolError::Failed(why)) if why.contains("denied")),
        "{outside:?}"
    );
    let rome =
        json!({"entities": [{"name": "Rome", "entityType": "city", "observations": ["old"]}]});
    call(&host, "memory/create_entities", rome).await.unwrap();
    let graph = call(&host, "memory/read_graph", json!({})).await.unwrap();
    assert_eq!(graph["entities"][0]["name"], "Rome");
    host.shutdown().await;
}

#[tokio::test]
async fn servers_in_python_speak_the_current_revision() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path();
    let git = |args: &[&str]| {
        let done = Command::new("git")
            .current_dir(repository)
            .args(args)
            .status();
        assert!(done.unwrap().success());
    };
    git(&["init", "--quiet"]);
    std::fs::write(repository.join("new.txt"), "x").unwrap();
    let specs = vec![pypi("time", &["--local-timezone", "UTC"]), pypi("git", &[])];
    let host = host(Settings::default(), specs).await;
    for status in host.status() {
        assert_eq!(status.protocol.as_deref(), Some("2026-07-28"), "{status:?}");
    }
    let arguments =
        json!({"source_timezone": "UTC", "target_timezone": "Asia/Tokyo", "time": "12:00"});
    let tokyo = call(&host, "time/convert_time", arguments).await.unwrap();
    assert!(tokyo.to_string().contains("21:00"), "{tokyo}");
    let wrong = call(&host, "time/get_current_time", json!({"timezone": "Mars"})).await;
    assert!(matches!(wrong, Err(ToolError::Failed(_))), "{wrong:?}");
    let seen = call(&host, "git/git_status", json!({"repo_path": repository}))
        .await
        .unwrap();
    assert!(seen.to_string().contains("new.txt"), "{seen}");
    host.shutdown().await;
}
