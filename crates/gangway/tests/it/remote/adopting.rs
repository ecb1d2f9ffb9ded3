//! Programs that run in the person's own tmux, as remote agents.

use gangway_testing::tmux::Tmux;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Made, Yard, answered, model::Model, process::Dock, tmux_sessions};
use crate::support::{Gangway, eventually};

/// Repeats what it reads, and ends with its input.
const PROGRAM: &str = r#"perl -ne '$|=1; print "Heard: $_"'"#;

/// A shell in a tmux of the person's own, in which they did something and then started a program.
struct Own {
    tmux: Tmux,
}

impl Own {
    async fn with_program() -> Self {
        let own = Self::with_shell().await;
        own.types(PROGRAM);
        own.until_runs("perl").await;
        own
    }

    async fn with_shell() -> Self {
        let tmux = Tmux::new();
        let shell = ["bash", "--norc", "--noprofile", "-i"];
        let new = ["new-session", "-d", "-s", "own", "-x", "100", "-y", "30"];
        let made = tmux.call(&[&new[..], &shell[..]].concat());
        assert!(made.status.success(), "{made:?}");
        let own = Self { tmux };
        own.types("seq 1000 1100; echo my-own-$((40 + 2))");
        own.until_shows("my-own-42").await;
        own
    }

    fn types(&self, line: &str) {
        let typed = self.tmux.call(&["send-keys", "-t", "own", "-l", line]);
        assert!(typed.status.success(), "{typed:?}");
        self.tmux.call(&["send-keys", "-t", "own", "Enter"]);
    }

    fn shown(&self) -> String {
        let shown = ["capture-pane", "-p", "-J", "-S", "-", "-t", "own"];
        String::from_utf8_lossy(&self.tmux.call(&shown).stdout).into_owned()
    }

    async fn until_shows(&self, words: &str) {
        eventually(|| async { self.shown().contains(words).then_some(()) }).await;
    }

    async fn until_runs(&self, program: &str) {
        let asked = [
            "display-message",
            "-p",
            "-t",
            "own",
            "#{pane_current_command}",
        ];
        eventually(|| async {
            let running = self.tmux.call(&asked).stdout;
            (String::from_utf8_lossy(&running).trim() == program).then_some(())
        })
        .await;
    }

    fn wish(&self) -> Value {
        json!({
            "project_name": "shop",
            "socket": self.tmux.socket(),
            "target": "own:0.0",
            "quiet_ms": 300,
        })
    }
}

async fn adopt(yard: &Yard, body: Value) -> (u16, Value) {
    answered(yard.request(Method::POST, "/adopt").json(&body)).await
}

async fn says(yard: &Yard, made: &Made, text: &str) -> Vec<String> {
    let before = yard.answers(made).await.len();
    let body = json!({ "text": text });
    let (status, accepted) = yard.post(made, "messages", body).await;
    assert_eq!(status, 202, "{accepted}");
    eventually(|| async { (yard.answers(made).await.len() > before).then_some(()) }).await;
    yard.until_state(made, "complete").await;
    yard.answers(made).await
}

#[tokio::test]
async fn a_program_in_the_persons_own_tmux_becomes_an_agent_and_stays_when_that_ends() {
    let own = Own::with_program().await;
    let yard = Yard::with(Model::says(&["Not asked."]), |_| {}).await;
    let (status, created) = adopt(&yard, own.wish()).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["persona_slug"], "perl");
    let made = Made::of(&created);
    assert_eq!(yard.alive(&made).await["state"], "idle");
    assert_eq!(says(&yard, &made, "Hello").await, ["Heard: Hello\n"]);
    let answers = says(&yard, &made, "Again").await;
    assert_eq!(answers, ["Heard: Hello\n", "Heard: Again\n"]);
    let (status, refused) = adopt(&yard, own.wish()).await;
    assert_eq!(
        (status, &refused["error_code"]),
        (409, &json!("already_adopted"))
    );
    let (status, refused) = answered(yard.owner.post(format!(
        "{}/api/remote_agents/hand_over/{}",
        yard.base, made.id
    )))
    .await;
    assert_eq!(
        (status, &refused["error_code"]),
        (409, &json!("hand_over_unsupported"))
    );
    yard.post(&made, "shutdown", json!({})).await;
    yard.until_ended(&made).await;
    // What they did before is still there, and so is the program.
    own.types("direct");
    own.until_shows("Heard: direct").await;
    assert!(own.shown().contains("my-own-42") && own.shown().contains("\n1000\n"));
    let (status, created) = adopt(&yard, own.wish()).await;
    assert_eq!(status, 201, "{created}");
    let made = Made::of(&created);
    assert_eq!(says(&yard, &made, "Back").await, ["Heard: Back\n"]);
}

#[tokio::test]
async fn an_adopted_program_is_given_guardrails_and_a_persona_once() {
    let own = Own::with_program().await;
    let yard = Yard::with(Model::says(&["Not asked."]), |config| {
        config.remote_agents.guardrails = Some("Never promise a refund.".into());
    })
    .await;
    let mut wish = own.wish();
    wish["persona_slug"] = json!("clerk");
    wish["initial_prompt"] = json!("Good day");
    let (status, created) = adopt(&yard, wish).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["persona_slug"], "clerk");
    let made = Made::of(&created);
    yard.until_state(&made, "complete").await;
    assert_eq!(yard.answers(&made).await, ["Heard: Good day\n"]);
    says(&yard, &made, "More").await;
    let shown = own.shown();
    assert_eq!(
        shown.matches("Heard: Never promise a refund.").count(),
        1,
        "{shown}"
    );
    assert_eq!(
        shown.matches("Heard: You are the clerk").count(),
        1,
        "{shown}"
    );
}

/// A shell would run what a visitor writes.
#[tokio::test]
async fn nothing_is_typed_once_the_adopted_program_has_ended() {
    let own = Own::with_program().await;
    let yard = Yard::with(Model::says(&["Not asked."]), |_| {}).await;
    let (status, created) = adopt(&yard, own.wish()).await;
    assert_eq!(status, 201, "{created}");
    let made = Made::of(&created);
    assert_eq!(says(&yard, &made, "Hello").await, ["Heard: Hello\n"]);
    own.tmux.call(&["send-keys", "-t", "own", "C-d"]);
    own.until_runs("bash").await;
    // Another program with the same name is another program.
    for again in [false, true] {
        if again {
            own.types(PROGRAM);
            own.until_runs("perl").await;
        }
        yard.post(
            &made,
            "messages",
            json!({ "text": "echo typed-by-a-visitor" }),
        )
        .await;
        let why = eventually(|| async {
            let (_, history) = yard.get(&made, "history").await;
            let entries = history["entries"].as_array()?;
            let errors = entries.iter().filter(|entry| entry["role"] == "error");
            let errors: Vec<_> = errors.map(|entry| entry["message"].to_string()).collect();
            (errors.len() > usize::from(again)).then(|| errors.concat())
        })
        .await;
        assert!(why.contains("perl is no longer in the foreground"), "{why}");
    }
    assert!(
        !own.shown().contains("typed-by-a-visitor"),
        "{}",
        own.shown()
    );
    let said = yard.answers(&made).await.concat();
    assert_eq!(said, "Heard: Hello\n");
}

#[tokio::test]
async fn what_cannot_be_adopted_is_named_and_nothing_is_left() {
    let own = Own::with_shell().await;
    let yard = Yard::with(Model::says(&["Hi."]), |_| {}).await;
    let running = yard.agent("Hi.").await;
    let with = |name: &str, value: Value| {
        let mut wish = own.wish();
        wish[name] = value;
        wish
    };
    let tmux = yard.data().join("agents/tmux.sock");
    let mut other = with("socket", json!(tmux));
    other["target"] = json!(running.tmux);
    for (wish, code, words) in [
        (own.wish(), "not_adoptable", "a shell, bash"),
        (
            with("target", json!("nowhere:3")),
            "not_adoptable",
            "pane nowhere:3 not found",
        ),
        (
            with("target", json!("%99")),
            "not_adoptable",
            "pane %99 not found",
        ),
        (
            with("socket", json!("/nowhere/tmux")),
            "not_adoptable",
            "no tmux server is listening at /nowhere/tmux",
        ),
        (other, "not_adoptable", "belongs to a remote agent"),
        (
            with("prompt_pattern", json!("(")),
            "not_adoptable",
            "prompt_pattern",
        ),
        (with("unknown", json!(1)), "invalid_request", "unknown"),
    ] {
        let (status, refused) = adopt(&yard, wish).await;
        let message = refused["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{refused}");
        assert_eq!(refused["error_code"], code, "{status} {refused}");
    }
    for (name, value, code) in [
        ("project_name", json!("nowhere"), "project_not_found"),
        ("persona_slug", json!("nobody"), "persona_not_found"),
    ] {
        let mut wish = with(name, value);
        wish["shell"] = json!(true);
        let (status, refused) = adopt(&yard, wish).await;
        assert_eq!((status, &refused["error_code"]), (404, &json!(code)));
    }
    let (_, list) = answered(yard.request(Method::GET, "")).await;
    assert_eq!(list["agents"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(tmux_sessions(yard.data()), [running.tmux]);
}

/// It opens a terminal of the person's.
#[tokio::test]
async fn only_the_owner_adopts() {
    let own = Own::with_program().await;
    let yard = Yard::with(Model::says(&["Hi."]), |_| {}).await;
    let wish = json!({ "name": "site", "scopes": ["agents", "chat", "tools", "apps"] });
    let (_, key) = yard.server.post("/api/keys", wish).await;
    let key = key["key"].as_str().unwrap();
    let asked = yard.nobody(Method::POST, "/adopt").json(&own.wish());
    let (status, refused) = answered(asked.bearer_auth(key)).await;
    assert_eq!(status, 403, "{refused}");
    let asked = yard.nobody(Method::POST, "/adopt").json(&own.wish());
    assert_eq!(answered(asked).await.0, 401);
}

#[tokio::test]
async fn the_command_line_adopts_and_tells_how_to_let_go() {
    let own = Own::with_program().await;
    let mut dock = Dock::new(Model::says(&["Hi."]), json!({})).await;
    dock.start().await;
    let mut command = Gangway::command(dock.folder.path());
    command.args([
        "agents",
        "adopt",
        "own:0.0",
        "--project",
        "shop",
        "--message",
        "Hello",
    ]);
    let command = command.arg("--socket").arg(own.tmux.socket());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(
        said.contains("/embed/") && said.contains("gangway agents stop"),
        "{said}"
    );
    own.until_shows("Heard: Hello").await;
    let mut command = Gangway::command(dock.folder.path());
    let command = command.args(["agents", "adopt", "nowhere", "--project", "shop"]);
    let command = command.arg("--socket").arg(own.tmux.socket());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("tmux list-panes"),
        "{said}"
    );
}
