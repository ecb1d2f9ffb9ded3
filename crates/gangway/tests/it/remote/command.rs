//! Remote agents from the command line.

use gangway_testing::tmux_shell::Own;
use serde_json::json;

use super::{model::Model, process::Dock};
use crate::support::{Gangway, eventually};

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

#[tokio::test]
async fn the_command_line_hands_an_agent_over_and_says_why_it_cannot() {
    let mut dock = Dock::new(Model::says(&["Good day."]), json!({})).await;
    dock.start().await;
    let made = dock.agent("Greet the visitor.").await;
    dock.until_state(&made, "complete").await;
    let hand_over = |agent: &str| {
        let output = Gangway::run(dock.folder.path(), &["agents", "hand-over", agent]);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        (output.status.success(), said)
    };
    let (done, said) = hand_over("nobody");
    assert!(
        !done && said.contains("gangway agents list --all"),
        "{said}"
    );
    let (done, said) = hand_over(&made.tmux);
    assert!(done && said.contains("with its next message"), "{said}");
    let text = json!({ "text": "Which bikes?" });
    assert_eq!(dock.post(&made, "messages", text).await.0, 202);
    // The summary, then the answer to the message alone.
    eventually(|| async { (dock.model.asked().len() == 3).then_some(()) }).await;
    dock.until_state(&made, "complete").await;
    let last = dock.model.asked().pop().unwrap()["messages"].to_string();
    assert!(last.contains("Which bikes?") && !last.contains("Greet the visitor."));
    dock.post(&made, "shutdown", json!({})).await;
    dock.until_ended(&made).await;
    let (done, said) = hand_over(&made.id);
    assert!(!done && said.contains("this agent has ended"), "{said}");
}
