//! A program in a shell in a tmux of the person's own.

use serde_json::{Value, json};

use crate::{eventually, tmux::Tmux};

/// Repeats what it reads, and ends with its input.
pub const PROGRAM: &str = r#"perl -ne '$|=1; print "Heard: $_"'"#;

/// A shell in a tmux of the person's own, in which they did something and then started a program.
pub struct UserTmux {
    pub tmux: Tmux,
}

impl UserTmux {
    pub async fn with_program() -> Self {
        let own = Self::with_shell().await;
        own.types(PROGRAM);
        own.until_runs("perl").await;
        own
    }

    pub async fn with_shell() -> Self {
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

    pub fn types(&self, line: &str) {
        let typed = self.tmux.call(&["send-keys", "-t", "own", "-l", line]);
        assert!(typed.status.success(), "{typed:?}");
        self.tmux.call(&["send-keys", "-t", "own", "Enter"]);
    }

    pub fn shown(&self) -> String {
        let shown = ["capture-pane", "-p", "-J", "-S", "-", "-t", "own"];
        String::from_utf8_lossy(&self.tmux.call(&shown).stdout).into_owned()
    }

    pub async fn until_shows(&self, message: &str) {
        eventually(|| async { self.shown().contains(message).then_some(()) }).await;
    }

    pub async fn until_runs(&self, program: &str) {
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

    pub fn adopt_request(&self) -> Value {
        json!({
            "project_name": "shop",
            "socket": self.tmux.socket(),
            "target": "own:0.0",
            "quiet_ms": 300,
        })
    }
}
