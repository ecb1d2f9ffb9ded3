//! Programs that run in the person's own tmux, as remote agents.

use gangway_testing::{
    eventually,
    tmux_shell::{PROGRAM, UserTmux},
};
use reqwest::Method;
use serde_json::{Value, json};

use super::{TestAgent, Yard, answered, model::Model, tmux_sessions};

async fn adopt(remote: &Yard, body: Value) -> (u16, Value) {
    answered(remote.request(Method::POST, "/adopt").json(&body)).await
}

async fn says(remote: &Yard, made: &TestAgent, text: &str) -> Vec<String> {
    let before = remote.answers(made).await.len();
    let body = json!({ "text": text });
    let (status, accepted) = remote.post(made, "messages", body).await;
    assert_eq!(status, 202, "{accepted}");
    eventually(|| async { (remote.answers(made).await.len() > before).then_some(()) }).await;
    remote.until_state(made, "complete").await;
    remote.answers(made).await
}

#[tokio::test]
async fn a_program_in_the_users_own_tmux_becomes_an_agent_and_stays_when_that_ends() {
    let own = UserTmux::with_program().await;
    let remote = Yard::with(Model::says(&["Not asked."]), |_| {}).await;
    let (status, created) = adopt(&remote, own.adopt_request()).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["persona_slug"], "perl");
    let made = TestAgent::of(&created);
    assert_eq!(remote.alive(&made).await["state"], "idle");
    assert_eq!(says(&remote, &made, "Hello").await, ["Heard: Hello\n"]);
    let answers = says(&remote, &made, "Again").await;
    assert_eq!(answers, ["Heard: Hello\n", "Heard: Again\n"]);
    let (status, refused) = adopt(&remote, own.adopt_request()).await;
    assert_eq!(
        (status, &refused["error_code"]),
        (409, &json!("already_adopted"))
    );
    let (status, refused) = answered(remote.owner.post(format!(
        "{}/api/remote_agents/hand_over/{}",
        remote.base, made.id
    )))
    .await;
    assert_eq!(
        (status, &refused["error_code"]),
        (409, &json!("hand_over_unsupported"))
    );
    remote.post(&made, "shutdown", json!({})).await;
    remote.until_ended(&made).await;
    // What they did before is still there, and so is the program.
    own.types("direct");
    own.until_shows("Heard: direct").await;
    assert!(own.shown().contains("my-own-42") && own.shown().contains("\n1000\n"));
    let (status, created) = adopt(&remote, own.adopt_request()).await;
    assert_eq!(status, 201, "{created}");
    let made = TestAgent::of(&created);
    assert_eq!(says(&remote, &made, "Back").await, ["Heard: Back\n"]);
}

#[tokio::test]
async fn an_adopted_program_is_given_guardrails_and_a_persona_once() {
    let own = UserTmux::with_program().await;
    let remote = Yard::with(Model::says(&["Not asked."]), |config| {
        config.remote_agents.guardrails = Some("Never promise a refund.".into());
    })
    .await;
    let mut request = own.adopt_request();
    request["persona_slug"] = json!("clerk");
    request["initial_prompt"] = json!("Good day");
    let (status, created) = adopt(&remote, request).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["persona_slug"], "clerk");
    let made = TestAgent::of(&created);
    remote.until_state(&made, "complete").await;
    assert_eq!(remote.answers(&made).await, ["Heard: Good day\n"]);
    says(&remote, &made, "More").await;
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
    let own = UserTmux::with_program().await;
    let remote = Yard::with(Model::says(&["Not asked."]), |_| {}).await;
    let (status, created) = adopt(&remote, own.adopt_request()).await;
    assert_eq!(status, 201, "{created}");
    let made = TestAgent::of(&created);
    assert_eq!(says(&remote, &made, "Hello").await, ["Heard: Hello\n"]);
    own.tmux.call(&["send-keys", "-t", "own", "C-d"]);
    own.until_runs("bash").await;
    // Another program with the same name is another program.
    for again in [false, true] {
        if again {
            own.types(PROGRAM);
            own.until_runs("perl").await;
        }
        remote
            .post(
                &made,
                "messages",
                json!({ "text": "echo typed-by-a-visitor" }),
            )
            .await;
        let why = eventually(|| async {
            let (_, history) = remote.get(&made, "history").await;
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
    let message = remote.answers(&made).await.concat();
    assert_eq!(message, "Heard: Hello\n");
}

#[tokio::test]
async fn what_cannot_be_adopted_is_named_and_nothing_is_left() {
    let own = UserTmux::with_shell().await;
    let remote = Yard::with(Model::says(&["Hi."]), |_| {}).await;
    let running = remote.agent("Hi.").await;
    let with = |name: &str, value: Value| {
        let mut body = own.adopt_request();
        body[name] = value;
        body
    };
    let tmux = remote.data().join("agents/tmux.sock");
    let mut other = with("socket", json!(tmux));
    other["target"] = json!(running.tmux);
    for (body, code, text) in [
        (own.adopt_request(), "not_adoptable", "a shell, bash"),
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
        let (status, refused) = adopt(&remote, body).await;
        let message = refused["message"].as_str().unwrap_or_default();
        assert!(message.contains(text), "{refused}");
        assert_eq!(refused["error_code"], code, "{status} {refused}");
    }
    for (name, value, code) in [
        ("project_name", json!("nowhere"), "project_not_found"),
        ("persona_slug", json!("nobody"), "persona_not_found"),
    ] {
        let mut body = with(name, value);
        body["shell"] = json!(true);
        let (status, refused) = adopt(&remote, body).await;
        assert_eq!((status, &refused["error_code"]), (404, &json!(code)));
    }
    let (_, list) = answered(remote.request(Method::GET, "")).await;
    assert_eq!(list["agents"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(tmux_sessions(remote.data()), [running.tmux]);
}

/// It opens a terminal of the person's.
#[tokio::test]
async fn only_the_owner_adopts() {
    let own = UserTmux::with_program().await;
    let remote = Yard::with(Model::says(&["Hi."]), |_| {}).await;
    let key = remote
        .server
        .key_for(&["agents", "chat", "tools", "apps"])
        .await;
    let asked = remote
        .nobody(Method::POST, "/adopt")
        .json(&own.adopt_request());
    let (status, refused) = answered(asked.bearer_auth(key.key)).await;
    assert_eq!(status, 403, "{refused}");
    let asked = remote
        .nobody(Method::POST, "/adopt")
        .json(&own.adopt_request());
    assert_eq!(answered(asked).await.0, 401);
}
