//! A server that is killed at any moment of a create or a shutdown leaves nothing that does not belong together.

use std::{collections::BTreeSet, path::Path, time::Duration};

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    TestAgent, answered, create_request, model::Model, process::Dock, processes, tmux_sessions,
};

/// What there is of agents, by what each part of the system says.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    tmux: BTreeSet<String>,
    folders: BTreeSet<String>,
    runners: usize,
    records: usize,
    sessions: BTreeSet<String>,
}

async fn get(dock: &Dock, path: &str) -> Value {
    let url = format!("{}{path}", dock.base);
    answered(dock.owner.get(url)).await.1
}

fn texts(list: &Value, name: &str, wanted: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    let all = list.as_array().unwrap().iter().filter(|one| wanted(one));
    all.map(|one| one[name].as_str().unwrap().to_owned())
        .collect()
}

fn folders(data: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(data.join("agents")).unwrap().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

fn records(data: &Path) -> usize {
    let store = rusqlite::Connection::open(data.join("gangway.db")).unwrap();
    let count = "SELECT count(*) FROM records WHERE key LIKE 'remote/%'";
    store.query_row(count, [], |row| row.get(0)).unwrap()
}

/// What the list of agents says, and what is there.
async fn both(dock: &Dock) -> (Said, Said) {
    let data = dock.folder.path();
    let agents = get(dock, "/api/remote_agents").await["agents"].take();
    let alive = |one: &Value| one["alive"] == true;
    let listed = Said {
        tmux: texts(&agents, "tmux_session_name", alive),
        folders: texts(&agents, "agent_id", alive),
        runners: texts(&agents, "agent_id", alive).len(),
        records: agents.as_array().unwrap().len(),
        sessions: texts(&agents, "session_id", |_| true),
    };
    let sessions = get(dock, "/api/sessions").await["sessions"].take();
    let runner = |line: &String| line.contains(" agent --ticket ") && !line.starts_with("tmux");
    let there = Said {
        tmux: tmux_sessions(data).into_iter().collect(),
        folders: folders(data),
        runners: processes(data).into_iter().filter(runner).count(),
        records: records(data),
        sessions: texts(&sessions, "sessionId", |_| true),
    };
    (listed, there)
}

/// Waits until everything agrees.
async fn agreed(dock: &Dock, when: &str) -> Said {
    for _ in 0..400 {
        let (listed, there) = both(dock).await;
        if listed == there {
            return there;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (listed, there) = both(dock).await;
    panic!("{when}: listed {listed:#?}, there {there:#?}");
}

async fn end_all(dock: &Dock) {
    let agents = get(dock, "/api/remote_agents").await["agents"].take();
    for id in texts(&agents, "agent_id", |one| one["alive"] == true) {
        let ended = answered(dock.request(Method::DELETE, &format!("/{id}"))).await;
        assert_eq!(ended.0, 200);
    }
    let left = agreed(dock, "after the end").await;
    assert!(left.tmux.is_empty() && left.folders.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_server_killed_at_any_moment_of_a_create_leaves_a_whole_agent_or_nothing() {
    let mut dock = Dock::new(Model::says(&["Hi."]), json!({})).await;
    dock.start().await;
    let (mut made, mut not) = (0, 0);
    for moment in (0..).map(|n| Duration::from_millis(7 * n)) {
        let before = agreed(&dock, "before").await;
        let request = dock
            .request(Method::POST, "/create")
            .json(&create_request("Hi."))
            .send();
        let asked = tokio::time::timeout(moment, request).await;
        dock.crash().await;
        let after = agreed(&dock, &format!("after {moment:?}")).await;
        match asked {
            Ok(answer) => {
                // It was answered, so it is there and its token is good.
                let answer: Value = answer.unwrap().json().await.unwrap();
                let answer = TestAgent::of(&answer);
                assert!(after.tmux.contains(&answer.tmux), "{moment:?}: {after:?}");
                assert_eq!(dock.alive(&answer).await["alive"], true);
                made += 1;
            }
            Err(_) => not += 1,
        }
        assert!(after.records <= before.records + 1);
        end_all(&dock).await;
        if made == 1 {
            break;
        }
    }
    assert!(not >= 3, "{not} attempts were cut off");
}

#[tokio::test]
async fn a_server_killed_at_any_moment_of_a_shutdown_ends_what_it_said_it_would() {
    let mut dock = Dock::new(Model::held(2), json!({})).await;
    dock.start().await;
    let mut acknowledged = 0;
    for moment in (0..6).map(|n| Duration::from_millis(12 * n)) {
        let made = dock.agent("Work.").await;
        let request = dock.of(&made, Method::POST, "shutdown").send();
        let asked = tokio::time::timeout(Duration::from_millis(20).min(moment), request).await;
        tokio::time::sleep(moment).await;
        dock.crash().await;
        let after = agreed(&dock, &format!("after {moment:?}")).await;
        if asked.is_ok() {
            acknowledged += 1;
            assert_eq!(dock.alive(&made).await["alive"], false, "{moment:?}");
            assert!(after.tmux.is_empty(), "{moment:?}: {after:?}");
        }
        end_all(&dock).await;
    }
    assert!(acknowledged > 0);
}
