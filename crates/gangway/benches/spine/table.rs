//! The table of figures: ours, the limit in the same run, their ratio, its spread over runs, the bar and whether it is met.

const HEAD: [&str; 7] = ["figure", "ours", "limit", "ratio", "spread", "bar", ""];

/// One line of the table.
pub struct Row {
    pub figure: String,
    ours: String,
    limit: String,
    ratio: String,
    spread: String,
    bar: String,
    verdict: &'static str,
    /// The ratio where there is a limit to divide by, otherwise the amount: what runs are compared by.
    pub value: f64,
}

impl Row {
    /// A cost that may be at most `bar` times the limit's.
    pub fn at_most_times(figure: &str, ours: f64, limit: f64, unit: &str, bar: f64) -> Self {
        let ratio = ours / limit;
        Self {
            ratio: format!("{ratio:.2}×"),
            bar: format!("≤ {bar}×"),
            verdict: verdict(ratio <= bar),
            value: ratio,
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
            value: ratio,
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
            value: ours,
            ..Self::shown(figure, &amount(ours, unit), &shown)
        }
    }

    /// Two rates that have no bar.
    pub fn compared(figure: &str, ours: f64, limit: f64, unit: &str) -> Self {
        Self {
            ratio: format!("{:.2}×", ours / limit),
            value: ours / limit,
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
            spread: "–".into(),
            bar: "–".into(),
            verdict: "",
            value: f64::NAN,
        }
    }

    /// A figure that could not be measured.
    pub fn broken(figure: &str, error: &anyhow::Error) -> Self {
        Self {
            verdict: "BROKEN",
            ..Self::shown(figure, &format!("{error:#}"), "–")
        }
    }

    fn cells(&self) -> [&str; 7] {
        [
            &self.figure,
            &self.ours,
            &self.limit,
            &self.ratio,
            &self.spread,
            &self.bar,
            self.verdict,
        ]
    }

    /// The middle of several runs of this figure, with the lowest and the highest.
    fn of_runs(mut runs: Vec<Self>) -> Option<Self> {
        runs.sort_by(|one, other| one.value.total_cmp(&other.value));
        let (low, high) = (runs.first()?.value, runs.last()?.value);
        let mut middle = runs.swap_remove(runs.len() / 2);
        if !runs.is_empty() && low.is_finite() && high.is_finite() {
            let shown = |value| amount(value, "").trim_end().to_owned();
            middle.spread = format!("{}–{}", shown(low), shown(high));
        }
        Some(middle)
    }
}

/// The rows of several runs of one group, each figure once.
pub fn middles(runs: Vec<Vec<Row>>) -> Vec<Row> {
    // A run that broke has one row, which says why.
    let whole = runs.iter().map(Vec::len).max().unwrap_or(0);
    let runs = runs.into_iter().filter(|run| run.len() == whole);
    let mut runs: Vec<_> = runs.map(Vec::into_iter).collect();
    let mut rows = Vec::new();
    loop {
        // A group has the same figures in each run, in the same order.
        let same: Vec<_> = runs.iter_mut().filter_map(Iterator::next).collect();
        match Row::of_runs(same) {
            Some(row) => rows.push(row),
            None => return rows,
        }
    }
}

fn line(cells: [&str; 7]) -> String {
    format!("| {} |", cells.join(" | "))
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

/// The rows as a table in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let lines = [line(HEAD), line(HEAD.map(|_| "---"))];
    let lines = lines
        .into_iter()
        .chain(rows.iter().map(|row| line(row.cells())));
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

/// Prints a table, then what is short.
pub fn print(rows: &[Row]) {
    println!("{}", markdown(rows));
    let short: Vec<_> = rows.iter().filter(|row| row.verdict == "SHORT").collect();
    if short.is_empty() {
        println!("Every bar is met.");
    }
    for row in short {
        println!("short: {} ({} against {})", row.figure, row.ours, row.bar);
    }
}
