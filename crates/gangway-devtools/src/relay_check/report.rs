//! What a check found: one line for each thing that was looked at.

use serde::Serialize;

use gangway_terminal::{print_json, say};

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    /// As the protocol wants it.
    Good,
    /// Not so.
    Wrong,
    /// It did not come up, or is no more than advice.
    Open,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    /// A short name, for machines.
    check: &'static str,
    verdict: Verdict,
    /// What was seen, and what the protocol wants.
    words: String,
}

/// All that was looked at.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    findings: Vec<Finding>,
}

impl Report {
    pub(super) fn good(&mut self, check: &'static str, words: impl Into<String>) {
        self.add(check, Verdict::Good, words.into());
    }

    pub(super) fn wrong(&mut self, check: &'static str, words: impl Into<String>) {
        self.add(check, Verdict::Wrong, words.into());
    }

    pub(super) fn open(&mut self, check: &'static str, words: impl Into<String>) {
        self.add(check, Verdict::Open, words.into());
    }

    /// Good, or wrong in these words.
    pub(super) fn judge(&mut self, check: &'static str, good: &str, wrong: Option<String>) {
        match wrong {
            None => self.good(check, good),
            Some(words) => self.wrong(check, words),
        }
    }

    fn add(&mut self, check: &'static str, verdict: Verdict, words: String) {
        self.findings.push(Finding {
            check,
            verdict,
            words,
        });
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn passed(&self) -> bool {
        let mut all = self.findings.iter();
        all.all(|finding| finding.verdict != Verdict::Wrong)
    }

    pub(super) fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            print_json(&serde_json::json!({
                "passed": self.passed(),
                "findings": self.findings,
            }))?;
            return Ok(());
        }
        for finding in &self.findings {
            let mark = match finding.verdict {
                Verdict::Good => "✓",
                Verdict::Wrong => "✗",
                Verdict::Open => "–",
            };
            say!("{mark} {}: {}", finding.check, finding.words);
        }
        let count = |verdict| {
            let all = self.findings.iter();
            all.filter(|finding| finding.verdict == verdict).count()
        };
        say!(
            "{} passed, {} failed, {} skipped",
            count(Verdict::Good),
            count(Verdict::Wrong),
            count(Verdict::Open)
        );
        Ok(())
    }
}
