//! Remote agents from the command line.

use gangway_testing::tmux_shell::UserTmux;
use serde_json::json;

use super::{model::Model, process::Dock};
use crate::support::{Gangway, eventually};

#[tokio::test]
async fn the_command_line_adopts_and_explains_how_to_release() {
    let own = UserTmux::with_program().await;
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
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(
        message.contains("/embed/") && message.contains("gangway agents stop"),
        "{message}"
    );
    own.until_shows("Heard: Hello").await;
    let mut command = Gangway::command(dock.folder.path());
    let command = command.args(["agents", "adopt", "nowhere", "--project", "shop"]);
    let command = command.arg("--socket").arg(own.tmux.socket());
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && message.contains("tmux list-panes"),
        "{message}"
    );
}

#[tokio::test]
async fn the_command_line_compacts_the_context_of_an_agent_or_says_why_it_cannot() {
    let mut dock = Dock::new(Model::says(&["Good day."]), json!({})).await;
    dock.start().await;
    let made = dock.agent("Greet the visitor.").await;
    dock.until_state(&made, "complete").await;
    let hand_over = |agent: &str| {
        let output = Gangway::run(dock.folder.path(), &["agents", "hand-over", agent]);
        let message = [output.stdout, output.stderr].concat();
        let message = String::from_utf8_lossy(&message).into_owned();
        (output.status.success(), message)
    };
    let (done, message) = hand_over("nobody");
    assert!(
        !done && message.contains("gangway agents list --all"),
        "{message}"
    );
    let (done, message) = hand_over(&made.tmux);
    assert!(
        done && message.contains("with its next message"),
        "{message}"
    );
    let text = json!({ "text": "Which bikes?" });
    assert_eq!(dock.post(&made, "messages", text).await.0, 202);
    // The summary, then the answer to the message alone.
    eventually(|| async { (dock.model.asked().len() == 3).then_some(()) }).await;
    dock.until_state(&made, "complete").await;
    let last = dock.model.asked().pop().unwrap()["messages"].to_string();
    assert!(last.contains("Which bikes?") && !last.contains("Greet the visitor."));
    dock.post(&made, "shutdown", json!({})).await;
    dock.until_ended(&made).await;
    let (done, message) = hand_over(&made.id);
    assert!(
        !done && message.contains("this agent has ended"),
        "{message}"
    );
}
