//! Lines for the person at the terminal.

use std::{
    fmt::Display,
    io::{self, Write},
};

/// Prints a line, as `println!` does, of which nothing can move the cursor or turn the text around: much of what is
/// printed was written by strangers.
macro_rules! say {
    () => { $crate::cli::say::line("") };
    ($($words:tt)*) => { $crate::cli::say::line(&$crate::cli::say::plain(&format!($($words)*))) };
}

pub(super) use say;

/// Prints a line as it is.
pub(super) fn line(text: &str) {
    written(writeln!(io::stdout(), "{text}"));
}

/// Prints a text as it is.
pub(super) fn text(text: impl Display) {
    written(write!(io::stdout(), "{text}"));
}

fn written(done: io::Result<()>) {
    let Err(error) = done else { return };
    if error.kind() == io::ErrorKind::BrokenPipe {
        // Whoever reads on the other side has seen enough.
        std::process::exit(0);
    }
    eprintln!("gangway: writing what there is to say: {error}");
    std::process::exit(1);
}

/// A text without what a terminal would obey.
pub(super) fn plain(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let obeyed = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || turns(c);
    text.replace(obeyed, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_printed() {
        let text = "a\tb\n\u{1b}[2J\r\u{9b}1m\u{202e}gnp.exe é 日本";
        let plain = plain(text);
        assert_eq!(
            plain,
            "a\tb\n\u{fffd}[2J\u{fffd}\u{fffd}1m\u{fffd}gnp.exe é 日本"
        );
    }
}
