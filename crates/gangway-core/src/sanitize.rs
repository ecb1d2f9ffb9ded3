//! Sanitizes untrusted text for display: no character is invisible, breaks a line or reorders the text.

use std::fmt::Write;

use crate::text::is_hidden;

/// Whether a text has no hidden characters.
#[must_use]
pub fn is_visible(text: &str) -> bool {
    !text.contains(is_hidden)
}

/// Escapes hidden characters and line breaks, such as `\u{202e}`.
#[must_use]
pub fn escape_line(text: &str) -> String {
    escape(text, |_| false)
}

/// Escapes hidden characters except line breaks.
#[must_use]
pub fn escape_text(text: &str) -> String {
    escape(&text.replace("\r\n", "\n"), |c| matches!(c, '\n' | '\t'))
}

/// Removes hidden characters and line breaks, and truncates to a number of characters; a truncated text ends with `…`.
#[must_use]
pub fn strip_to_line(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut written = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        let mut seen = word.chars().filter(|c| !is_hidden(*c)).peekable();
        if seen.peek().is_some() && written > 0 {
            out.push(' ');
            written += 1;
        }
        for c in seen {
            if written >= limit {
                out.pop();
                out.push('…');
                return out;
            }
            out.push(c);
            written += 1;
        }
    }
    out
}

fn escape(text: &str, may: impl Fn(char) -> bool) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if may(c) || !is_hidden(c) => plain.push(c),
            '\n' => plain.push_str("\\n"),
            '\t' => plain.push_str("\\t"),
            '\r' => plain.push_str("\\r"),
            // Writing to a string cannot fail.
            hidden => drop(write!(plain, "\\u{{{:04x}}}", u32::from(hidden))),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_the_reading_around_is_escape() {
        let name = "invoice\u{202e}fdp.exe";
        assert_eq!(escape_line(name), "invoice\\u{202e}fdp.exe");
        for c in [
            '\u{0}',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{200e}',
            '\u{200f}',
            '\u{202a}',
            '\u{202b}',
            '\u{202c}',
            '\u{202d}',
            '\u{2028}',
            '\u{2066}',
            '\u{2067}',
            '\u{2068}',
            '\u{2069}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            let text = format!("a{c}b");
            assert!(!is_visible(&text), "{c:?}");
            assert!(is_visible(&escape_line(&text)), "{c:?}");
            assert!(is_visible(&escape_text(&text)), "{c:?}");
        }
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
        for text in ["", "a b.txt", "Größe", "אבג", "می‌خواهم", "日本語", "👩‍💻"]
        {
            assert!(is_visible(text), "{text}");
            assert_eq!(escape_line(text), text);
            assert_eq!(escape_text(text), text);
        }
    }

    #[test]
    fn lines_stay_only_where_there_may_be_some() {
        assert_eq!(escape_line("a\r\n\tb"), "a\\r\\n\\tb");
        assert_eq!(escape_text("a\r\n\tb\rc"), "a\n\tb\\rc");
    }

    #[test]
    fn what_a_stranger_says_becomes_one_line_that_reads_as_it_is_written() {
        for (message, shown) in [
            ("To help you shop", "To help you shop"),
            ("line\n\n\r\nbreaks\tand\u{b}tabs ", "line breaks and tabs"),
            ("safe\u{202e}live\u{2069}", "safelive"),
            ("in\u{200b}vis\u{feff}ible", "invisible"),
            ("\u{1b}[31mred\u{7}", "[31mred"),
            ("\u{200f} \u{200b}", ""),
            ("größe 🎉", "größe 🎉"),
        ] {
            assert_eq!(strip_to_line(message, 100), shown);
            assert!(is_visible(shown));
        }
    }

    #[test]
    fn what_is_too_long_is_cut_where_that_can_be_seen() {
        assert_eq!(strip_to_line("abcdef", 6), "abcdef");
        assert_eq!(strip_to_line("abcdefg", 6), "abcde…");
        assert_eq!(strip_to_line("abc defg", 4), "abc…");
        assert_eq!(strip_to_line(&"ä".repeat(9000), 500).chars().count(), 500);
    }
}
