//! What an operator sees and types in an agent's pane.

use gangway_runner::wire::{Brain, FromRunner, ToRunner};

use super::{server::Server, settings, streamed, tmux::Tmux};
use crate::{providers::fake::Fake, support::eventually};

async fn shows(tmux: &Tmux, text: &str) {
    eventually(|| async { tmux.pane().contains(text).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_is_seen_and_joined_in_the_pane() {
    let says = streamed(&["Good \u{1b}[2Jday"]).concat();
    let base = Fake::streams(&[&says]).start().await;
    let server = Server::start();
    let tmux = Tmux::new();
    tmux.run(&server.ticket, &server.data());
    let setup = server.setup(Brain::Builtin, &settings(Some(&base), &server.data()));
    let mut connection = server.ready(setup).await;
    shows(&tmux, "ready; type a message").await;
    connection.ask(1, "Hello there").await;
    shows(&tmux, "done").await;
    let pane = tmux.pane();
    assert!(pane.contains("person  Hello there"), "{pane}");
    assert!(pane.contains("agent  Good \u{fffd}[2Jday"), "{pane}");

    tmux.call(&["send-keys", "-t", "agent:0", "-l", "typed by hand"]);
    tmux.call(&["send-keys", "-t", "agent:0", "Enter"]);
    let text = "typed by hand".to_owned();
    assert_eq!(connection.line().await, FromRunner::Typed { text });
    let message = "the agent is busy".to_owned();
    connection.send(ToRunner::NotTyped { message }).await;
    shows(&tmux, "not taken: the agent is busy").await;

    // Keys that end other programs do not end this one.
    for key in ["C-c", "C-z", "C-d", "C-\\"] {
        tmux.call(&["send-keys", "-t", "agent:0", key]);
    }
    shows(&tmux, "gangway agents stop").await;
    tmux.call(&["send-keys", "-t", "agent:0", "-l", "still here"]);
    tmux.call(&["send-keys", "-t", "agent:0", "Enter"]);
    let text = "still here".to_owned();
    assert_eq!(connection.line().await, FromRunner::Typed { text });
    connection.send(ToRunner::End).await;
    eventually(|| async { (!tmux.is_there()).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_whose_session_is_killed_ends() {
    let server = Server::start();
    let tmux = Tmux::new();
    tmux.run(&server.ticket, &server.data());
    let setup = server.setup(Brain::Builtin, &settings(None, &server.data()));
    let connection = server.ready(setup).await;
    let process = std::path::PathBuf::from(format!("/proc/{}", connection.pid));
    assert!(process.exists());
    tmux.call(&["kill-session", "-t", "agent"]);
    eventually(|| async { (!process.exists()).then_some(()) }).await;
}
