//! Extracts a terminal program's answer from its screen: without the echo of the input and without the prompt.

use regex::Regex;

/// Where an answer begins among the lines of a pane, even when tmux drops the oldest of them.
pub(super) struct AnswerStart {
    above: usize,
    /// Lines on the screen, which can still change.
    rows: usize,
    /// The lines of the last read.
    seen: Vec<String>,
    /// Whether the lines above are the user's own.
    private: bool,
    /// Whether the lines of the last read were not found again.
    pub(super) is_lost: bool,
}

impl AnswerStart {
    /// Below this many of the current lines.
    pub(super) fn new(above: usize, rows: usize, seen: &[String], private: bool) -> Self {
        let seen = seen.to_vec();
        Self {
            above,
            rows,
            seen,
            private,
            is_lost: false,
        }
    }

    /// The lines from there on. Without a match, none if the lines above are private.
    pub(super) fn below<'a>(&mut self, shown: &'a [String]) -> &'a [String] {
        let scrolled_out = self.seen.len().saturating_sub(self.rows);
        let scrolled_out = &self.seen[..scrolled_out];
        let dropped = (0..scrolled_out.len()).find(|n| shown.starts_with(&scrolled_out[*n..]));
        self.is_lost = dropped.is_none() && !scrolled_out.is_empty();
        match dropped {
            Some(dropped) => self.above = self.above.saturating_sub(dropped),
            None if self.private && self.is_lost => return &[],
            None => {}
        }
        self.seen = shown.to_vec();
        shown.get(self.above..).unwrap_or_default()
    }
}

/// The answer to one input, as far as it is visible.
pub(super) struct ScreenAnswer {
    /// The typed lines, as they are echoed.
    typed: Vec<String>,
    /// The line before typing: probably the prompt, which comes again at the end.
    before: String,
    /// Lines that were returned so far.
    returned: Vec<String>,
    /// The lines of the last read; only unchanged ones are returned.
    seen: Vec<String>,
}

impl ScreenAnswer {
    pub(super) fn new(typed: &str, before: &str) -> Self {
        let lines = typed.lines().map(|line| line.trim().to_owned());
        Self {
            typed: lines.filter(|line| !line.is_empty()).collect(),
            before: before.trim().to_owned(),
            returned: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// More of the answer, if there are more lines that will not change.
    pub(super) fn more(&mut self, shown: &[String]) -> Option<String> {
        let body = self.body(shown);
        // The last line may be incomplete.
        let (_, whole) = body.split_last()?;
        let lasting = whole.iter().zip(&self.seen).take_while(|(a, b)| a == b);
        let lasting = lasting.count();
        let new = (body.starts_with(&self.returned) && lasting > self.returned.len())
            .then(|| text(&body[self.returned.len()..lasting]));
        if new.is_some() {
            self.returned = body[..lasting].to_vec();
        }
        self.seen = body;
        new
    }

    /// The rest of the answer, at its end.
    pub(super) fn rest(&mut self, shown: &[String], prompt: Option<&Regex>) -> Option<String> {
        let mut body = self.body(shown);
        let is_prompt = |line: &String| match prompt {
            Some(prompt) => fits(prompt, line),
            None => !self.before.is_empty() && line.trim() == self.before,
        };
        if body.last().is_some_and(is_prompt) {
            body.pop();
        }
        while body.last().is_some_and(|line| line.trim().is_empty()) {
            body.pop();
        }
        // Overwritten lines are returned again from the first difference.
        let same = body.iter().zip(&self.returned).take_while(|(a, b)| a == b);
        let same = same.count();
        (same < body.len()).then(|| text(&body[same..]))
    }

    /// The lines after the echo of the input.
    fn body(&self, shown: &[String]) -> Vec<String> {
        let mut rest = shown;
        for (n, typed) in self.typed.iter().enumerate() {
            let Some((first, after)) = rest.split_first() else {
                break;
            };
            let first = first.trim();
            let is_echo = first.ends_with(typed.as_str())
                // A prompt without an echo is alone on its line.
                || (n == 0 && first == self.before && !self.before.is_empty());
            if !is_echo {
                break;
            }
            rest = after;
        }
        rest.iter().map(|line| line.trim_end().to_owned()).collect()
    }
}

/// Whether a line is a prompt, whether or not the terminal keeps a trailing space.
pub(super) fn fits(prompt: &Regex, line: &str) -> bool {
    let line = line.trim_end();
    prompt.is_match(line) || prompt.is_match(&format!("{line} "))
}

fn text(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| format!("{line}\n"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_echo_and_the_prompt_are_no_part_of_an_answer() {
        for (typed, before, shown, wanted) in [
            ("ls", "$", "$ ls\na\nb\n$", "a\nb\n"),
            (
                "print(1)\nprint(2)",
                ">>>",
                ">>> print(1)\n1\n>>> print(2)\n2\n>>>",
                "1\n>>> print(2)\n2\n",
            ),
            ("hello", "", "hello\nhello", "hello\n"),
            // Without an echo.
            ("hello", "", "Who is there?", "Who is there?\n"),
            ("hello", ">", ">\nanswer\n>", "answer\n"),
            ("true", "$", "$ true\n$", ""),
        ] {
            let mut answer = ScreenAnswer::new(typed, before);
            let rest = answer.rest(&lines(shown), None).unwrap_or_default();
            assert_eq!(rest, wanted, "{typed:?}");
        }
        let prompt = Regex::new(r"^\w+> $").unwrap();
        let mut answer = ScreenAnswer::new("a", "one>");
        let shown = lines("one> a\nb\ntwo>");
        assert_eq!(answer.rest(&shown, Some(&prompt)).as_deref(), Some("b\n"));
    }

    #[test]
    fn an_answer_begins_where_it_did_when_the_oldest_lines_are_dropped() {
        let numbered =
            |lines: std::ops::Range<u32>| -> Vec<String> { lines.map(|n| n.to_string()).collect() };
        let mut start = AnswerStart::new(10, 3, &numbered(0..11), true);
        assert_eq!(start.below(&numbered(0..14)), numbered(10..14));
        assert_eq!(start.below(&numbered(4..20)), numbered(10..20));
        assert_eq!(start.below(&numbered(9..24)), numbered(10..24));
        assert_eq!(start.below(&numbered(15..30)), numbered(15..30));
        // The alternate screen, such as that of an editor, and back.
        let mut start = AnswerStart::new(10, 3, &numbered(0..11), true);
        assert!(start.below(&lines("~\n~\n~")).is_empty());
        assert_eq!(start.below(&numbered(0..12)), numbered(10..12));
        // The screen and the scrollback were cleared.
        assert!(start.below(&lines("$")).is_empty());
        let mut start = AnswerStart::new(0, 3, &numbered(0..11), false);
        assert_eq!(start.below(&lines("$")), lines("$"));
    }

    #[test]
    fn lines_are_given_out_once_when_they_stay() {
        let mut answer = ScreenAnswer::new("go", "$");
        assert_eq!(answer.more(&lines("$ go\none\ntw")), None);
        assert_eq!(
            answer.more(&lines("$ go\none\ntwo\nth")).as_deref(),
            Some("one\n")
        );
        assert_eq!(
            answer.more(&lines("$ go\none\ntwo\nthree")).as_deref(),
            Some("two\n")
        );
        assert_eq!(answer.more(&lines("$ go\none\ntwo\nthree")), None);
        let end = lines("$ go\none\ntwo\nthree\n$");
        assert_eq!(answer.rest(&end, None).as_deref(), Some("three\n"));
        let mut answer = ScreenAnswer::new("go", "$");
        answer.more(&lines("$ go\none\n"));
        assert_eq!(answer.rest(&lines("$ go\n$"), None), None);
    }

    #[test]
    fn what_is_drawn_over_is_given_out_at_the_end() {
        let mut answer = ScreenAnswer::new("go", ">");
        answer.more(&lines("> go\nthinking 1\nx"));
        assert_eq!(answer.more(&lines("> go\nthinking 2\nx")), None);
        assert_eq!(
            answer.more(&lines("> go\nthinking 2\nx")).as_deref(),
            Some("thinking 2\n")
        );
        assert_eq!(answer.more(&lines("> go\nthe answer\nx")), None);
        let rest = answer.rest(&lines("> go\nthe answer\n>"), None);
        assert_eq!(rest.as_deref(), Some("the answer\n"));
    }
}
