//! The table of figures: ours, the limit in the same run, their ratio, the bar and whether it is met.

/// One line of the table.
pub struct Row {
    figure: String,
    ours: String,
    limit: String,
    ratio: String,
    bar: String,
    verdict: &'static str,
}

impl Row {
    /// A cost that may be at most `bar` times the limit's.
    pub fn at_most_times(figure: &str, ours: f64, limit: f64, unit: &str, bar: f64) -> Self {
        let ratio = ours / limit;
        Self {
            ratio: format!("{ratio:.2}×"),
            bar: format!("≤ {bar}×"),
            verdict: verdict(ratio <= bar),
            ..Self::shown(figure, &amount(ours, unit), &amount(limit, unit))
        }
    }

    /// A rate that must be at least `bar` times the limit's.
    pub fn at_least_times(figure: &str, ours: f64, limit: f64, unit: &str, bar: f64) -> Self {
        Self::at_least_ratio(figure, (ours, limit), ours / limit, unit, bar)
    }

    /// The same, where the ratio is not that of the two that are shown.
    pub fn at_least_ratio(
        figure: &str,
        (ours, limit): (f64, f64),
        ratio: f64,
        unit: &str,
        bar: f64,
    ) -> Self {
        Self {
            ratio: format!("{ratio:.2}×"),
            bar: format!("≥ {bar}×"),
            verdict: verdict(ratio >= bar),
            ..Self::shown(figure, &amount(ours, unit), &amount(limit, unit))
        }
    }

    /// An amount with a bar of its own; the limit is only shown.
    pub fn at_most(figure: &str, ours: f64, limit: Option<f64>, unit: &str, bar: f64) -> Self {
        let shown = limit.map_or_else(|| "–".to_owned(), |limit| amount(limit, unit));
        Self {
            ratio: limit.map_or_else(|| "–".to_owned(), |limit| format!("{:.2}×", ours / limit)),
            bar: format!("≤ {}", amount(bar, unit)),
            verdict: verdict(ours <= bar),
            ..Self::shown(figure, &amount(ours, unit), &shown)
        }
    }

    /// Two rates that have no bar.
    pub fn compared(figure: &str, ours: f64, limit: f64, unit: &str) -> Self {
        Self {
            ratio: format!("{:.2}×", ours / limit),
            ..Self::shown(figure, &amount(ours, unit), &amount(limit, unit))
        }
    }

    /// Something to know that has no bar.
    pub fn shown(figure: &str, ours: &str, limit: &str) -> Self {
        Self {
            figure: figure.into(),
            ours: ours.into(),
            limit: limit.into(),
            ratio: "–".into(),
            bar: "–".into(),
            verdict: "",
        }
    }

    /// A figure that could not be measured.
    pub fn broken(figure: &str, error: &anyhow::Error) -> Self {
        Self {
            verdict: "BROKEN",
            ..Self::shown(figure, &format!("{error:#}"), "–")
        }
    }

    fn cells(&self) -> [&str; 6] {
        [
            &self.figure,
            &self.ours,
            &self.limit,
            &self.ratio,
            &self.bar,
            self.verdict,
        ]
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "pass" } else { "SHORT" }
}

/// A number with as many digits as mean something.
pub fn amount(value: f64, unit: &str) -> String {
    let digits = match value.abs() {
        v if v >= 1000.0 => {
            let whole = format!("{value:.0}");
            return format!("{} {unit}", thousands(&whole));
        }
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

fn thousands(whole: &str) -> String {
    let mut text = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let left = whole.len() - place;
        if place > 0 && left.is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Prints all rows as Markdown, then what is short.
pub fn print(rows: &[Row]) {
    let head = ["figure", "ours", "limit", "ratio", "bar", ""];
    let mut widths = head.map(|cell| cell.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.cells()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [&str; 6]| {
        let padded = cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        println!("| {} |", padded.collect::<Vec<_>>().join(" | "));
    };
    line(head);
    let rules = widths.map(|width| "-".repeat(width));
    line(rules.each_ref().map(String::as_str));
    for row in rows {
        line(row.cells());
    }
    let short: Vec<_> = rows.iter().filter(|row| row.verdict == "SHORT").collect();
    if short.is_empty() {
        println!("\nEvery bar is met.");
    }
    for row in short {
        println!("\nshort: {} ({} against {})", row.figure, row.ours, row.bar);
    }
}
