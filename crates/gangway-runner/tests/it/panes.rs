//! The operator's view and input in an agent's pane.

use gangway_runner::wire::{FromRunner, ToRunner};
use gangway_testing::{eventually, runner::Server, tmux::Tmux};

use crate::acp::{backend, example};

/// A runner for this server, in its own session.
pub fn in_tmux(server: &Server) -> Tmux {
    let tmux = Tmux::new();
    let ticket = server.ticket.to_str().unwrap();
    tmux.run(&["TOP_SECRET=1"], &[&example("runner"), ticket]);
    tmux
}

async fn shows(tmux: &Tmux, text: &str) {
    eventually(|| async { tmux.pane().contains(text).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_is_seen_and_joined_in_the_pane() {
    let server = Server::start();
    let tmux = in_tmux(&server);
    let mut connection = server.ready(backend(&[])).await;
    shows(&tmux, "ready; type a message").await;
    connection.ask(1, "echo Good \u{1b}[2Jday").await;
    shows(&tmux, "done").await;
    let pane = tmux.pane();
    assert!(pane.contains("person  echo Good \u{fffd}[2Jday"), "{pane}");
    assert!(pane.contains("agent  Good \u{fffd}[2Jday"), "{pane}");

    tmux.call(&["send-keys", "-t", "agent:0", "-l", "typed by hand"]);
    tmux.call(&["send-keys", "-t", "agent:0", "Enter"]);
    let text = "typed by hand".to_owned();
    assert_eq!(connection.line().await, FromRunner::Typed { text });
    let message = "the agent is busy".to_owned();
    connection.send(ToRunner::NotTyped { message }).await;
    shows(&tmux, "not accepted: the agent is busy").await;

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
    let tmux = in_tmux(&server);
    let connection = server.ready(backend(&[])).await;
    let process = std::path::PathBuf::from(format!("/proc/{}", connection.pid));
    assert!(process.exists());
    tmux.call(&["kill-session", "-t", "agent"]);
    eventually(|| async { (!process.exists()).then_some(()) }).await;
}
