//! The conversation as the operator sees it in the agent's terminal.

use std::{
    io::Write,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

use gangway_core::text::for_terminal;
use parking_lot::Mutex;
use serde_json::Value;

use super::wire::TurnEvent;

/// Queued output; a blocked terminal must not block the agent.
const WAITING: usize = 1024;

/// Characters of arguments and results.
const SHORT: usize = 100;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const BLUE: &str = "\x1b[34m";
const PLAIN: &str = "\x1b[0m";

/// Terminal output; clones share it.
#[derive(Clone)]
pub struct Pane {
    drawings: SyncSender<PaneOutput>,
    /// The options of the open question, so that it can be answered by number.
    offered: Arc<Mutex<Vec<String>>>,
}

enum PaneOutput {
    /// Status of the runner.
    State(String),
    Said {
        who: String,
        text: String,
    },
    Did(TurnEvent),
}

impl Pane {
    /// Writes on its own thread.
    #[must_use]
    pub fn on(output: impl Write + Send + 'static) -> Self {
        let (drawings, waiting) = sync_channel(WAITING);
        // Without a thread nothing is shown, but the agent still works.
        let _ = std::thread::Builder::new()
            .name("pane".into())
            .spawn(move || draw(output, &waiting));
        Self {
            drawings,
            offered: Arc::default(),
        }
    }

    /// Shows nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::on(std::io::sink())
    }

    pub fn state(&self, text: &str) {
        let _ = self.drawings.try_send(PaneOutput::State(text.to_owned()));
    }

    pub fn show_message(&self, who: &str, text: &str) {
        let (who, text) = (who.to_owned(), text.to_owned());
        let _ = self.drawings.try_send(PaneOutput::Said { who, text });
    }

    pub(super) fn show(&self, what: &TurnEvent) {
        let offered = match what {
            TurnEvent::Question { options, .. } => Some(options.clone()),
            TurnEvent::Taken | TurnEvent::Done { .. } | TurnEvent::Failed { .. } => {
                Some(Vec::new())
            }
            _ => None,
        };
        if let Some(offered) = offered {
            *self.offered.lock() = offered;
        }
        let _ = self.drawings.try_send(PaneOutput::Did(what.clone()));
    }
}

impl Pane {
    /// What was typed; the number of an option is replaced by that option, once.
    pub(super) fn meant(&self, typed: String) -> String {
        let mut offered = self.offered.lock();
        let number: Option<usize> = typed.trim().parse().ok();
        let chosen = number.and_then(|n| offered.get(n.checked_sub(1)?).cloned());
        if chosen.is_some() {
            offered.clear();
        }
        chosen.unwrap_or(typed)
    }
}

fn draw(mut output: impl Write, waiting: &Receiver<PaneOutput>) {
    let mut open = false;
    while let Ok(drawing) = waiting.recv() {
        let text = drawn(&drawing, &mut open);
        // The agent works on without a terminal.
        let _ = output.write_all(text.as_bytes());
        let _ = output.flush();
    }
}

/// Renders as text; `open` is whether the agent's text ends in the middle of a line.
fn drawn(drawing: &PaneOutput, open: &mut bool) -> String {
    let mut text = String::new();
    if let PaneOutput::Did(TurnEvent::Delta { text: chunk }) = drawing {
        if !*open {
            text.push_str(&format!("\n{BOLD}{GREEN}agent{PLAIN}  "));
            *open = true;
        }
        return text + &harmless(chunk);
    }
    if std::mem::take(open) {
        text.push('\n');
    }
    let line = match drawing {
        PaneOutput::State(message) => format!("{DIM}─ {}{PLAIN}", harmless(message)),
        PaneOutput::Said { who, text } => {
            format!("\n{BOLD}{BLUE}{}{PLAIN}  {}", one_line(who), harmless(text))
        }
        PaneOutput::Did(what) => match did(what) {
            Some(line) => line,
            None => return text,
        },
    };
    text + &line + "\n"
}

fn did(what: &TurnEvent) -> Option<String> {
    Some(match what {
        TurnEvent::Taken => format!("{DIM}─ working{PLAIN}"),
        TurnEvent::Delta { .. }
        | TurnEvent::MessageEnd
        | TurnEvent::Context { .. }
        | TurnEvent::Unknown => return None,
        TurnEvent::Call {
            tool, arguments, ..
        }
        | TurnEvent::PageCall {
            tool, arguments, ..
        } => format!(
            "{YELLOW}▸ {}{PLAIN} {DIM}{}{PLAIN}",
            one_line(tool),
            short(arguments)
        ),
        TurnEvent::Result { tool, result, .. } => match result {
            Ok(value) => format!(
                "{YELLOW}◂ {}{PLAIN} {DIM}{}{PLAIN}",
                one_line(tool),
                short(value)
            ),
            Err(reason) => format!("{RED}◂ {}: {}{PLAIN}", one_line(tool), one_line(reason)),
        },
        TurnEvent::Question { text, options, .. } => {
            let options = options.iter().enumerate();
            let options = options
                .map(|(n, option)| format!("\n   {BOLD}{}{PLAIN} {}", n + 1, one_line(option)));
            let hint = "Type the answer, or its number.";
            format!(
                "\n{BOLD}{YELLOW}?{PLAIN} {}{}\n{DIM}─ {hint}{PLAIN}",
                harmless(text),
                options.collect::<String>()
            )
        }
        TurnEvent::Notice { text } => format!("{DIM}· {}{PLAIN}", harmless(text)),
        TurnEvent::Done { .. } => format!("{DIM}─ done{PLAIN}"),
        TurnEvent::Failed { message, .. } => format!("{RED}✗ {}{PLAIN}", harmless(message)),
    })
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    one_line(&super::executor::cut(&text, SHORT))
}

/// Escapes control characters for a terminal.
pub(super) fn harmless(text: &str) -> String {
    for_terminal(&text.replace('\r', ""))
}

fn one_line(text: &str) -> String {
    harmless(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn_all(all: &[PaneOutput]) -> String {
        let mut open = false;
        let text: String = all.iter().map(|one| drawn(one, &mut open)).collect();
        // Removes our own colors before comparing.
        [BOLD, DIM, RED, GREEN, YELLOW, BLUE, PLAIN]
            .iter()
            .fold(text, |text, code| text.replace(code, ""))
    }

    #[test]
    fn a_conversation_can_be_read() {
        let message = PaneOutput::Said {
            who: "person".into(),
            text: "Hi\nthere".into(),
        };
        let delta = |text: &str| PaneOutput::Did(TurnEvent::Delta { text: text.into() });
        let call = TurnEvent::Call {
            call: 1,
            tool: "files/read".into(),
            arguments: serde_json::json!({ "path": "a" }),
        };
        let question = TurnEvent::Question {
            question: 1,
            text: "Which?".into(),
            options: vec!["red".into(), "blue".into()],
        };
        let all = [
            message,
            PaneOutput::Did(TurnEvent::Taken),
            delta("One "),
            delta("moment."),
            PaneOutput::Did(call),
            PaneOutput::Did(question),
            PaneOutput::Did(TurnEvent::Done { usage: None }),
        ];
        let wanted = "\nperson  Hi\nthere\n─ working\n\nagent  One moment.\n▸ files/read {\"path\":\"a\"}\n\n? Which?\n   1 red\n   2 blue\n─ Type the answer, or its number.\n─ done\n";
        assert_eq!(drawn_all(&all), wanted);
    }

    #[test]
    fn the_number_of_an_answer_is_that_answer_while_the_question_is_open() {
        let pane = Pane::none();
        assert_eq!(pane.meant("2".into()), "2");
        pane.show(&TurnEvent::Question {
            question: 1,
            text: "Which?".into(),
            options: vec!["red".into(), "blue".into()],
        });
        assert_eq!(pane.meant("0".into()), "0");
        assert_eq!(pane.meant("3".into()), "3");
        assert_eq!(pane.meant(" 2 ".into()), "blue");
        assert_eq!(pane.meant("2".into()), "2");
    }

    #[test]
    fn what_others_say_cannot_reach_the_terminal() {
        let evil = "a\x1b]0;title\x07b\u{9b}31m\u{202e}c\x00\r\nd";
        for what in [
            TurnEvent::Delta { text: evil.into() },
            TurnEvent::Notice { text: evil.into() },
            TurnEvent::Call {
                call: 1,
                tool: evil.into(),
                arguments: Value::String(evil.into()),
            },
            TurnEvent::Result {
                call: 1,
                tool: evil.into(),
                result: Err(evil.into()),
            },
            TurnEvent::Question {
                question: 1,
                text: evil.into(),
                options: vec![evil.into()],
            },
            TurnEvent::Failed {
                code: "x".into(),
                message: evil.into(),
                retryable: false,
            },
        ] {
            let text = drawn_all(&[PaneOutput::Did(what)]);
            let bad = |c: char| c != '\n' && gangway_core::text::is_hidden(c);
            assert!(!text.contains(bad), "{text:?}");
        }
    }
}
