//! `--write`: puts the tables into docs/benchmarks.md; what stands around them is written by hand and kept.

use std::path::Path;

use crate::table::{Row, markdown};

const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks.md");

/// Replaces the table of each group that was measured.
pub fn write(groups: &[(&str, Vec<Row>)]) -> anyhow::Result<()> {
    let mut text = std::fs::read_to_string(Path::new(REPORT))?;
    for (group, rows) in groups {
        let begin = format!("<!-- measured: {group} -->\n");
        let end = "<!-- end -->\n";
        let table = format!("{begin}{}{end}", markdown(rows));
        let old = text.find(&begin).and_then(|at| {
            let length = text[at..].find(end)? + end.len();
            Some(at..at + length)
        });
        match old {
            Some(old) => text.replace_range(old, &table),
            None => anyhow::bail!("{REPORT} has no place for {group}: add {begin:?} and {end:?}"),
        }
    }
    Ok(std::fs::write(REPORT, text)?)
}
