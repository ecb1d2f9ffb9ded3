//! Sanitized terminal output, and the user's browser. Depends on `gangway-core` alone.
#![allow(
    clippy::print_stderr,
    reason = "writing to the terminal is what this crate is for"
)]

pub mod browser;

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

pub use gangway_core::text::for_terminal;
use gangway_core::text::{escaped_json, is_hidden};

/// Prints a line like `println!`, sanitized: untrusted text cannot move the cursor or reorder the line.
#[macro_export]
macro_rules! say {
    () => { $crate::line("") };
    ($($words:tt)*) => { $crate::line(&$crate::for_terminal(&format!($($words)*))) };
}

/// The same on standard error.
#[macro_export]
macro_rules! complain {
    ($($words:tt)*) => { $crate::error_line(&$crate::for_terminal(&format!($($words)*))) };
}

/// Prints a line without sanitizing.
pub fn line(text: &str) {
    written(writeln!(io::stdout(), "{text}"));
}

/// Prints a line without sanitizing on standard error.
pub fn error_line(text: &str) {
    eprintln!("{text}");
}

/// Prints a text without sanitizing.
pub fn text(text: impl Display) {
    written(write!(io::stdout(), "{text}"));
}

/// Prints JSON with escaped control characters.
pub fn json(json: &str) {
    line(&escaped_json(json));
}

/// Prints a value as indented JSON.
pub fn print_json<T: serde::Serialize>(value: &T) -> serde_json::Result<()> {
    json(&serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Standard output for exports: sanitized on a terminal, unchanged elsewhere.
pub fn output() -> Box<dyn Write> {
    let out = io::stdout();
    match out.is_terminal() {
        true => Box::new(Terminal::new(out)),
        false => Box::new(out.lock()),
    }
}

/// A writer that sanitizes its output.
pub struct Terminal<W> {
    to: W,
    /// An incomplete character.
    rest: Vec<u8>,
}

impl<W: Write> Terminal<W> {
    /// Sanitizes what is written to `to`.
    pub fn new(to: W) -> Self {
        let rest = Vec::new();
        Self { to, rest }
    }
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        let text = for_terminal(&String::from_utf8_lossy(&text));
        self.to.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The writer of log lines. Their library escapes control characters; this replaces other deceptive characters, and
/// keeps its colors.
pub struct LogOutput<W>(pub W);

impl<W: Write> Write for LogOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let hidden = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\u{1b}');
        self.0
            .write_all(text.replace(hidden, "\u{fffd}").as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn written(done: io::Result<()>) {
    let Err(error) = done else { return };
    if error.kind() == io::ErrorKind::BrokenPipe {
        // The reader of the pipe has exited.
        std::process::exit(0);
    }
    eprintln!("gangway: cannot write the output: {error}");
    std::process::exit(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters_also_when_a_character_comes_in_two_pieces() {
        let mut shown = Vec::new();
        let mut terminal = Terminal::new(&mut shown);
        let text = "é\u{9b}2J\n".as_bytes();
        for byte in text {
            terminal.write_all(&[*byte]).unwrap();
        }
        terminal.write_all(b"\xff\x1b[2J").unwrap();
        drop(terminal);
        let shown = String::from_utf8(shown).unwrap();
        assert_eq!(shown, "é\u{fffd}2J\n\u{fffd}\u{fffd}[2J");
    }
}
