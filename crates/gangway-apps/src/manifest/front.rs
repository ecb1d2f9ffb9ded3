//! The front matter of `APP.md`, read key by key.

use super::{
    Problem, Severity,
    tree::{MapEntry, Node, NodeValue},
};

/// Reported problems.
const MOST: usize = 100;

#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    pub(super) fn error(&mut self, line: impl Into<Option<u64>>, message: impl Into<String>) {
        self.add(line.into(), Severity::Error, message.into());
    }

    pub(super) fn warning(&mut self, line: impl Into<Option<u64>>, message: impl Into<String>) {
        self.add(line.into(), Severity::Warning, message.into());
    }

    fn add(&mut self, line: Option<u64>, severity: Severity, message: String) {
        if self.0.len() < MOST {
            self.0.push(Problem {
                line,
                severity,
                message,
            });
        }
    }
}

/// The YAML of a manifest, at its original line numbers, and the Markdown below it.
pub(super) fn split(text: &str) -> Result<(String, &str), &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if !fence(first) {
        return Err("the first line is not ---; APP.md begins with YAML between two lines of ---");
    }
    let (mut yaml, mut at) = (String::from("\n"), first.len());
    for line in lines {
        at += line.len();
        if fence(line) {
            return Ok((yaml, &text[at..]));
        }
        yaml.push_str(line);
    }
    Err("the YAML that begins in line 1 is not closed; end it with a line of ---")
}

/// A map that is read key by key, so that unknown keys are left over.
pub(super) struct Keys<'a> {
    entries: Vec<&'a MapEntry>,
    /// The path to it, such as `agent.context.`; empty at the top.
    pub(super) place: String,
}

impl<'a> Keys<'a> {
    /// The keys of a map; anything else is a problem.
    pub(super) fn of(node: &'a Node, place: &str, problems: &mut Problems) -> Self {
        let entries = match &node.part {
            NodeValue::Map(entries) => entries.iter().collect(),
            NodeValue::Nothing => Vec::new(),
            _ => {
                problems.error(
                    node.line,
                    format!("`{place}` is {}, but must be a map", node.kind()),
                );
                Vec::new()
            }
        };
        let place = match place {
            "" => String::new(),
            place => format!("{place}."),
        };
        Self { entries, place }
    }

    /// Removes a key; one without a value counts as absent.
    pub(super) fn take(&mut self, key: &str) -> Option<&'a MapEntry> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        let entry = self.entries.remove(at);
        (!matches!(entry.value.part, NodeValue::Nothing)).then_some(entry)
    }

    pub(super) fn text(&mut self, key: &str, problems: &mut Problems) -> Option<(u64, String)> {
        let entry = self.take(key)?;
        match &entry.value.part {
            NodeValue::Text(text) => Some((entry.value.line, text.trim().to_owned())),
            NodeValue::Number(number) => {
                let place = &self.place;
                problems.warning(
                    entry.value.line,
                    format!("`{place}{key}` is read as the number {number}; put it in quotes"),
                );
                Some((entry.value.line, number.to_string()))
            }
            _ => {
                self.wrong(key, &entry.value, "a text", problems);
                None
            }
        }
    }

    pub(super) fn truth(&mut self, key: &str, problems: &mut Problems) -> Option<bool> {
        let entry = self.take(key)?;
        match &entry.value.part {
            NodeValue::Bool(truth) => Some(*truth),
            _ => {
                self.wrong(key, &entry.value, "true or false", problems);
                None
            }
        }
    }

    /// A list of texts; a single text is a list of one.
    pub(super) fn texts(&mut self, key: &str, problems: &mut Problems) -> Vec<String> {
        let Some(entry) = self.take(key) else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        match &entry.value.part {
            NodeValue::Text(text) => texts.push(text.trim().to_owned()),
            NodeValue::List(items) => {
                for item in items {
                    match &item.part {
                        NodeValue::Text(text) => texts.push(text.trim().to_owned()),
                        NodeValue::Number(number) => texts.push(number.to_string()),
                        _ => self.wrong(key, item, "a list of texts", problems),
                    }
                }
            }
            _ => self.wrong(key, &entry.value, "a list of texts", problems),
        }
        texts.retain(|text| !text.is_empty());
        texts
    }

    pub(super) fn wrong(&self, key: &str, node: &Node, wanted: &str, problems: &mut Problems) {
        let (place, kind) = (&self.place, node.kind());
        problems.error(
            node.line,
            format!("`{place}{key}` must be {wanted}, but is {kind}"),
        );
    }

    /// Warns about unknown keys.
    pub(super) fn finish(self, known: &[&str], problems: &mut Problems) {
        for entry in self.entries {
            let near = known
                .iter()
                .find(|known| is_near(known, &entry.key))
                .map(|near| format!("; did you mean `{near}`?"));
            let key = shown(&entry.key);
            problems.warning(
                entry.line,
                format!(
                    "unknown key `{}{key}`{}",
                    self.place,
                    near.unwrap_or_default()
                ),
            );
        }
    }
}

/// A text of the file, truncated for a message.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(80)
        .collect::<String>()
}

/// Whether two words differ by one letter, a transposition, or case.
fn is_near(known: &str, written: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (
        known.chars().collect(),
        written.to_lowercase().chars().take(64).collect(),
    );
    if a == b {
        return true;
    }
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev());
    let end = end.take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    match (a, b) {
        ([_] | [], [_] | []) => true,
        ([a1, a2], [b1, b2]) => a1 == b2 && a2 == b1,
        _ => false,
    }
}
