//! The operator's input in an agent's pane, and the keys that must not end it.

use std::io::{BufRead, IsTerminal, Read};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};

use super::pane::Pane;

const LINE_BYTES: u64 = 64 << 10;

const HELP: &str = "Type a message and press Enter. Everyone who watches this agent sees the message and the answer. \
    When the agent asks a question, type the answer or its number. \
    Leave with Ctrl-B d; the agent keeps working. End it with `gangway agents stop`, or on the Agents page.";

const STAYS: &str = "The agent keeps running: Ctrl-B d leaves this window, `gangway agents stop` ends the agent. /help shows more.";

/// Reads lines until the terminal is gone.
#[must_use]
pub fn lines(pane: Pane) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(16);
    // Reading from a terminal cannot be cancelled, so it has a thread that ends with the process.
    let _ = std::thread::Builder::new()
        .name("typing".into())
        .spawn(move || read(&pane, &sender));
    lines
}

fn read(pane: &Pane, lines: &mpsc::Sender<String>) {
    let input = std::io::stdin();
    let is_terminal = input.is_terminal();
    loop {
        let mut line = Vec::new();
        let read = input
            .lock()
            .take(LINE_BYTES)
            .read_until(b'\n', &mut line)
            .ok();
        match read {
            // Ctrl-D does not end a terminal's input.
            Some(0) if is_terminal => {
                pane.state(STAYS);
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
            None | Some(0) => return,
            Some(_) => {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if let Some(text) = meant(pane, text)
                    && lines.blocking_send(text).is_err()
                {
                    return;
                }
            }
        }
    }
}

/// A message, or `None` if it was a command.
fn meant(pane: &Pane, text: String) -> Option<String> {
    match text.as_str() {
        "" => None,
        "/help" | "/?" => {
            pane.state(HELP);
            None
        }
        "/quit" | "/exit" => {
            pane.state(STAYS);
            None
        }
        _ => Some(text),
    }
}

/// Waits until the process is told to end. Ctrl-C and similar keys only explain how to end it.
pub async fn told_to_end(pane: Pane) {
    let mut keys: Vec<Signal> = [SignalKind::interrupt(), SignalKind::quit()]
        .into_iter()
        // Ctrl-Z.
        .chain([SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw())])
        .filter_map(|kind| signal(kind).ok())
        .collect();
    let ends = [SignalKind::terminate(), SignalKind::hangup()].map(signal);
    let [Ok(mut terminate), Ok(mut hangup)] = ends else {
        return std::future::pending().await;
    };
    loop {
        let key = futures_util::future::select_all(keys.iter_mut().map(|key| Box::pin(key.recv())));
        tokio::select! {
            _ = terminate.recv() => return,
            _ = hangup.recv() => return,
            _ = key => pane.state(STAYS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_no_messages() {
        let pane = Pane::none();
        assert_eq!(meant(&pane, "hi".into()), Some("hi".into()));
        for command in ["", "/help", "/quit"] {
            assert_eq!(meant(&pane, command.into()), None);
        }
    }
}
