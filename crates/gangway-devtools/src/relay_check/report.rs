//! The report of a check: one line per finding.

use serde::Serialize;

use gangway_terminal::{print_json, say};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Good,
    Wrong,
    /// Not tested, or advice.
    Open,
}

#[derive(Debug, Serialize)]
pub(super) struct Finding {
    /// A short name, for programs.
    check: &'static str,
    verdict: Verdict,
    words: String,
}

#[derive(Debug, Default, Serialize)]
pub struct Report {
    findings: Vec<Finding>,
}

impl Report {
    pub(super) fn good(&mut self, check: &'static str, message: impl Into<String>) {
        self.add(check, Verdict::Good, message.into());
    }

    pub(super) fn wrong(&mut self, check: &'static str, message: impl Into<String>) {
        self.add(check, Verdict::Wrong, message.into());
    }

    pub(super) fn open(&mut self, check: &'static str, message: impl Into<String>) {
        self.add(check, Verdict::Open, message.into());
    }

    /// Adds a pass, or a failure with this text.
    pub(super) fn judge(&mut self, check: &'static str, good: &str, wrong: Option<String>) {
        match wrong {
            None => self.good(check, good),
            Some(message) => self.wrong(check, message),
        }
    }

    fn add(&mut self, check: &'static str, verdict: Verdict, message: String) {
        self.findings.push(Finding {
            check,
            verdict,
            words: message,
        });
    }

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
