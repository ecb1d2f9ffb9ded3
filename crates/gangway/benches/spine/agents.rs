//! Remote agents: how soon one is ready, and what it costs to show many of them to many.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::Context;
use futures_util::future::try_join_all;
use serde_json::Value;

use crate::{
    Effort,
    median::median,
    model::{Model, Plan},
    readers::{Before, Readers, Samples, Wire},
    server::Gangway,
    table::{Row, amount},
};

/// How soon one agent must be ready, and twenty at once.
const ONE: f64 = 400.0;
const TWENTY: f64 = 5.0;

/// What the server may hold with all of them.
const MEMORY: f64 = 150.0;

/// Ends the tmux server of a data folder; agents outlive the server that made them.
struct Panes(PathBuf);

impl Drop for Panes {
    fn drop(&mut self) {
        let _ = tmux(&self.0, &["kill-server"]);
    }
}

fn tmux(socket: &Path, words: &[&str]) -> std::io::Result<std::process::Output> {
    Command::new("tmux")
        .arg("-S")
        .arg(socket)
        .args(["-f", "/dev/null"])
        .args(words)
        .output()
}

/// One at a time, twenty at once, then many readers.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = ready(effort).await?;
    rows.extend(shown(effort).await?);
    Ok(rows)
}

fn settings(folder: &Path) -> anyhow::Result<String> {
    let (project, persona) = (folder.join("project"), folder.join("persona"));
    std::fs::create_dir_all(&project)?;
    std::fs::create_dir_all(&persona)?;
    std::fs::write(persona.join("skill.md"), "You are short.")?;
    Ok(format!(
        "projects: {{ bench: {{ folder: {} }} }}\npersonas: {{ short: {{ folder: {} }} }}\n\
         remote_agents: {{ max_agents: 100, max_agents_per_key: 100, creation_timeout_seconds: 60 }}\n",
        project.display(),
        persona.display()
    ))
}

fn plan(tokens: usize, every: Duration) -> Plan {
    Plan {
        tokens,
        every,
        bytes: 24,
        epoch: Instant::now(),
    }
}

/// An agent: its id and its token.
struct Made {
    id: String,
    token: String,
}

async fn create(gangway: &Gangway) -> anyhow::Result<Made> {
    let body = r#"{"project_name":"bench","persona_slug":"short","initial_prompt":"Hello"}"#;
    let mut connection = gangway.connect().await?;
    let asked = connection.request("POST", "/api/remote_agents/create", body);
    let (status, body) = asked.await?;
    let answer: Value = serde_json::from_slice(&body)?;
    anyhow::ensure!(status == 201, "{status}: {answer}");
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    Ok(Made {
        id: text("agent_id"),
        token: text("session_token"),
    })
}

async fn end(gangway: &Gangway, made: &Made) -> anyhow::Result<()> {
    let mut connection = gangway.connect().await?;
    let path = format!("/api/remote_agents/{}", made.id);
    let (status, _) = connection.request("DELETE", &path, "").await?;
    anyhow::ensure!(status == 200, "an agent could not be ended: {status}");
    Ok(())
}

async fn ready(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let model = Model::start(plan(1, Duration::ZERO)).await?;
    let gangway = Gangway::on_both_cores(&settings(folder.path())?, model.address)?;
    let _panes = Panes(gangway.data().join("agents/tmux.sock"));
    // A pane in which nothing starts: what tmux alone takes.
    let bare = folder.path().join("bare.sock");
    let _bare_panes = Panes(bare.clone());
    let (mut times, mut bare_times) = (Vec::new(), Vec::new());
    for round in 0..effort.pick(5, 20) {
        let begin = Instant::now();
        let made = create(&gangway).await?;
        times.push(begin.elapsed().as_secs_f64() * 1000.0);
        let begin = Instant::now();
        let name = format!("bare-{round}");
        tmux(&bare, &["new-session", "-d", "-s", &name, "sleep 60"])?;
        bare_times.push(begin.elapsed().as_secs_f64() * 1000.0);
        end(&gangway, &made).await?;
    }
    let one = median(&times);
    let limit = median(&bare_times);
    let begin = Instant::now();
    let made = try_join_all((0..20).map(|_| create(&gangway))).await?;
    let twenty = begin.elapsed().as_secs_f64();
    for made in &made {
        end(&gangway, made).await?;
    }
    let figure = "remote agent, create to ready, p50 (limit: a bare tmux session)";
    Ok(vec![
        Row::at_most(figure, one, Some(limit), "ms", ONE),
        Row::at_most(
            "20 remote agents at once, all ready",
            twenty,
            None,
            "s",
            TWENTY,
        ),
    ])
}

async fn shown(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let (agents, readers) = (effort.pick(5, 50), 20);
    let folder = tempfile::tempdir()?;
    let model = Model::start(plan(effort.pick(20, 100), Duration::from_millis(20))).await?;
    let gangway = Gangway::with_both(&settings(folder.path())?, model.address)?;
    let _panes = Panes(gangway.data().join("agents/tmux.sock"));
    let mut made = Vec::new();
    for _ in 0..agents {
        made.push(create(&gangway).await?);
    }
    at_rest(&gangway, &made).await?;
    let mut groups = Vec::new();
    for one in &made {
        let path = format!("/api/remote_agents/{}/events?token={}", one.id, one.token);
        groups.push(Readers::open(gangway.process.address, &path, Wire::Sse, readers).await?);
    }
    let total = |groups: &[Readers]| groups.iter().map(Readers::total).sum::<u64>();
    quiet(|| total(&groups)).await;
    let (before, from) = (Before::new(&gangway.process)?, total(&groups));
    for one in &made {
        let path = format!("/api/remote_agents/{}/messages?token={}", one.id, one.token);
        let mut connection = gangway.connect().await?;
        let (status, _) = connection
            .request("POST", &path, r#"{"text":"Go on"}"#)
            .await?;
        anyhow::ensure!(status == 202, "a message was not taken: {status}");
    }
    at_rest(&gangway, &made).await?;
    let mut samples = Samples::default();
    let deliveries = total(&groups) - from;
    before.end(&mut samples, &gangway.process, deliveries)?;
    #[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
    let memory = gangway.process.memory()? as f64 / 1e6;
    let who = format!("{} readers of {agents} remote agents", readers * agents);
    let rate = amount(median(&samples.rates), "/s");
    let cpu = amount(median(&samples.cpu), "µs");
    Ok(vec![
        Row::shown(&format!("{who}, events delivered"), &rate, "–"),
        Row::shown(&format!("{who}, CPU of the server an event"), &cpu, "–"),
        Row::at_most(
            &format!("{who}, memory of the server"),
            memory,
            None,
            "MB",
            MEMORY,
        ),
    ])
}

/// Waits until every agent has nothing to do.
async fn at_rest(gangway: &Gangway, made: &[Made]) -> anyhow::Result<()> {
    let begin = Instant::now();
    for one in made {
        let path = format!("/api/remote_agents/{}/alive?token={}", one.id, one.token);
        let mut connection = gangway.connect().await?;
        loop {
            let (_, body) = connection.request("GET", &path, "").await?;
            let answer: Value = serde_json::from_slice(&body)?;
            let state = answer["state"].as_str().context("an agent is not alive")?;
            if state == "complete" {
                break;
            }
            anyhow::ensure!(
                begin.elapsed() < Duration::from_secs(120),
                "an agent is still {state}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}

/// Waits until a count stays as it is.
async fn quiet(count: impl Fn() -> u64) {
    let mut last = count();
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = count();
        if now == last {
            return;
        }
        last = now;
    }
}
