//! Agents keep running while their server is down, and end when their process does.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use super::{RemoteClient, TestAgent, Yard, model::Model, process::Dock, tmux_sessions};
use crate::support::{SseReader, eventually};

/// Reads this many more chunks, also if they are joined; returns their text and the last number.
async fn chunks(stream: &mut SseReader, count: usize, last: &mut String) -> String {
    let mut text = String::new();
    while text.matches("chunk").count() < count {
        let frame = stream.until("assistant.message_delta").await;
        text += frame.data["delta"].as_str().unwrap();
        *last = frame.id.unwrap().to_string();
    }
    text
}

/// The process of an agent.
fn pid_of(made: &TestAgent) -> String {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ours = entries.filter(|entry| {
        let line = std::fs::read_to_string(entry.path().join("cmdline"));
        line.is_ok_and(|line| line.contains(&made.id) && !line.starts_with("tmux"))
    });
    let pids: Vec<_> = ours
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert_eq!(pids.len(), 1, "{pids:?}");
    pids[0].clone()
}

/// The first message of each request to the model.
fn systems(asked: &[Value]) -> Vec<usize> {
    let count = |one: &Value| {
        let messages = one["messages"].as_array().unwrap();
        messages
            .iter()
            .filter(|m| m["content"].to_string().contains(super::SKILL))
            .count()
    };
    asked.iter().map(count).collect()
}

#[tokio::test]
async fn an_answer_continues_while_the_server_restarts() {
    let remote = Yard::with(Model::held(6), |_| {}).await;
    let made = remote.agent("Work.").await;
    let (mut stream, mut last) = (remote.stream(&made, None).await, "0".to_owned());
    remote.model.release(2);
    let mut text = chunks(&mut stream, 2, &mut last).await;
    // These are sent while no server may be connected.
    remote.model.release(2);
    let remote = remote.restart().await;
    while stream.next().await.is_some() {}
    let mut stream = remote.stream(&made, Some(&last)).await;
    text += &chunks(&mut stream, 2, &mut last).await;
    remote.model.release(2);
    text += &chunks(&mut stream, 2, &mut last).await;
    assert_eq!(text, remote.model.answer());
    remote.until_state(&made, "complete").await;
    assert_eq!(remote.answers(&made).await, [text.clone()]);
    assert_eq!(tmux_sessions(remote.data()).concat(), made.tmux);
    // It knows who it is and what was said, once.
    remote.model.release(6);
    remote
        .post(&made, "messages", json!({ "text": "And now?" }))
        .await;
    eventually(|| async { (remote.answers(&made).await.len() == 2).then_some(()) }).await;
    let asked = remote.model.asked();
    assert_eq!(systems(&asked), [1, 1]);
    let roles = asked[1]["messages"].as_array().unwrap().iter();
    let roles: Vec<_> = roles
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

#[tokio::test]
async fn an_answer_is_kept_whole_and_once_however_often_the_server_is_killed() {
    let mut dock = Dock::new(Model::held(40), json!({})).await;
    dock.start().await;
    let made = dock.agent("Work.").await;
    let (mut text, mut last) = (String::new(), "0".to_owned());
    for round in 0..4 {
        let mut stream = dock.stream(&made, Some(&last)).await;
        dock.model.release(8);
        // Killed with all, some or none of them read, and some said in its absence.
        text += &chunks(&mut stream, round * 2, &mut last).await;
        dock.server.take().unwrap().kill();
        dock.model.release(1);
        dock.start().await;
    }
    dock.model.release(100);
    let mut stream = dock.stream(&made, Some(&last)).await;
    let left = 40 - text.matches("chunk").count();
    text += &chunks(&mut stream, left, &mut last).await;
    assert_eq!(text, dock.model.answer());
    dock.until_state(&made, "complete").await;
    assert_eq!(dock.answers(&made).await, [text]);
    assert_eq!(systems(&dock.model.asked()), [1]);
    // Its tokens are good, and it ends as any other.
    dock.post(&made, "shutdown", json!({})).await;
    dock.until_ended(&made).await;
    eventually(|| async { tmux_sessions(dock.folder.path()).is_empty().then_some(()) }).await;
}

async fn assert_lost(desk: &RemoteClient, made: &TestAgent, mut stream: SseReader) {
    desk.until_ended(made).await;
    let over = json!({ "alive": false, "reason": "agent_ended" });
    assert_eq!(desk.alive(made).await, over);
    // The failure of the turn is reported before the end.
    let failed = stream.until("session.error").await;
    assert_eq!(failed.data["code"], "agent_ended", "{failed:?}");
    let ended = stream.until("agent.ended").await;
    assert_eq!(ended.data["reason"], "its process ended");
    assert!(stream.next().await.is_none());
    let (status, error) = desk
        .post(made, "messages", json!({ "text": "Hello?" }))
        .await;
    assert_eq!((status, &error["error_code"]), (409, &json!("agent_ended")));
    let (_, history) = desk.get(made, "history").await;
    let lines = history["entries"].as_array().unwrap();
    assert!(
        lines.iter().any(|line| line["role"] == "error"),
        "{history}"
    );
}

fn folders(data: &Path) -> usize {
    let entries = std::fs::read_dir(data.join("agents")).unwrap().flatten();
    entries.filter(|entry| entry.path().is_dir()).count()
}

#[tokio::test]
async fn an_agent_whose_process_is_killed_ends_with_a_reason_and_its_turn_fails() {
    let remote = Yard::with(Model::held(2), |_| {}).await;
    let (made, other) = (remote.agent("Work.").await, remote.agent("Work.").await);
    let mut stream = remote.stream(&made, None).await;
    stream.until("agent.state").await;
    let killed = Command::new("kill").args(["-9", &pid_of(&made)]).status();
    assert!(killed.unwrap().success());
    assert_lost(&remote, &made, stream).await;
    assert_eq!(remote.alive(&other).await["state"], "processing");
    assert_eq!(folders(remote.data()), 1);
    // The same without a connected client.
    let mut dock = Dock::new(Model::held(2), json!({})).await;
    dock.start().await;
    let made = dock.agent("Work.").await;
    dock.server.take().unwrap().kill();
    let killed = Command::new("kill").args(["-9", &pid_of(&made)]).status();
    assert!(killed.unwrap().success());
    eventually(|| async { tmux_sessions(dock.folder.path()).is_empty().then_some(()) }).await;
    dock.start().await;
    let stream = dock.stream(&made, Some("0")).await;
    assert_lost(&dock, &made, stream).await;
    assert_eq!(folders(dock.folder.path()), 0);
}

#[tokio::test]
async fn when_tmux_is_killed_all_agents_end() {
    let remote = Yard::with(Model::held(2), |_| {}).await;
    let (one, two) = (remote.agent("Work.").await, remote.agent("Work.").await);
    let mut streams = Vec::new();
    for made in [&one, &two] {
        let mut stream = remote.stream(made, None).await;
        stream.until("agent.state").await;
        streams.push(stream);
    }
    let mut kill = Command::new("tmux");
    kill.arg("-S").arg(remote.data().join("agents/tmux.sock"));
    assert!(kill.arg("kill-server").status().unwrap().success());
    for (made, stream) in [&one, &two].into_iter().zip(streams) {
        assert_lost(&remote, made, stream).await;
    }
    eventually(|| async {
        super::processes(&remote.data().join("agents"))
            .is_empty()
            .then_some(())
    })
    .await;
    assert_eq!(folders(remote.data()), 0);
    // And others can be made.
    let made = remote.agent("Work.").await;
    assert_eq!(remote.alive(&made).await["alive"], true);
}

#[tokio::test]
async fn what_is_typed_into_the_pane_is_part_of_the_conversation() {
    let remote = Yard::open().await;
    let made = remote.agent("Hi.").await;
    remote.until_state(&made, "complete").await;
    let mut keys = Command::new("tmux");
    keys.arg("-S").arg(remote.data().join("agents/tmux.sock"));
    keys.args(["send-keys", "-t", &made.tmux, "I am the operator.", "Enter"]);
    assert!(keys.status().unwrap().success());
    eventually(|| async { (remote.answers(&made).await.len() == 2).then_some(()) }).await;
    let asked = remote.model.asked()[1]["messages"].to_string();
    assert!(asked.contains("I am the operator."), "{asked}");
}
