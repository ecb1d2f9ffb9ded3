//! Rejects hyperparameters that no engine can work with: llama.cpp aborts the process on some of them.

use std::ops::RangeInclusive;

/// Integers, by key suffix, with their valid range. The largest models have about a tenth of the maximum.
const COUNTS: [(&str, RangeInclusive<u64>); 10] = [
    ("block_count", 1..=1024),
    // Positions are signed 32-bit numbers.
    ("context_length", 0..=i32::MAX as u64),
    ("embedding_length", 1..=1 << 20),
    ("feed_forward_length", 0..=1 << 24),
    ("attention.head_count", 0..=1 << 14),
    ("attention.head_count_kv", 0..=1 << 14),
    ("attention.key_length", 0..=1 << 16),
    ("attention.value_length", 0..=1 << 16),
    ("expert_count", 0..=1 << 12),
    ("expert_used_count", 0..=1 << 12),
];

/// Added before a square root is taken.
const EPSILONS: [&str; 3] = [
    "attention.layer_norm_rms_epsilon",
    "attention.layer_norm_epsilon",
    "attention.group_norm_epsilon",
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Figure {
    Count(u64),
    Real(f64),
}

/// Hyperparameters by key; the architecture is known only after all are read.
#[derive(Debug, Default)]
pub(super) struct Figures(Vec<(String, Figure)>);

impl Figures {
    /// Whether a key may be relevant. A file with too many such keys is not a model.
    pub fn wants(&self, key: &str) -> bool {
        let watched = COUNTS.iter().map(|(end, _)| end).chain(&EPSILONS);
        let mut watched = watched.filter_map(|end| key.strip_suffix(end));
        self.0.len() < 64 && watched.any(|start| start.ends_with('.'))
    }

    pub fn add(&mut self, key: String, figure: Figure) {
        self.0.push((key, figure));
    }

    /// An integer of this architecture.
    pub fn count(&self, architecture: &str, name: &str) -> Option<u64> {
        match self.figure(architecture, name)? {
            Figure::Count(count) => Some(count),
            Figure::Real(_) => None,
        }
    }

    fn figure(&self, architecture: &str, name: &str) -> Option<Figure> {
        let is_it = |key: &str| {
            let rest = key.strip_prefix(architecture);
            rest.and_then(|rest| rest.strip_prefix('.')) == Some(name)
        };
        let found = self.0.iter().find(|(key, _)| is_it(key));
        found.map(|(_, figure)| *figure)
    }

    /// The first invalid value, in words.
    pub fn fault(&self, architecture: &str) -> Option<String> {
        let counts = COUNTS.iter().filter_map(|(name, range)| {
            let count = self.count(architecture, name)?;
            let (least, most) = (range.start(), range.end());
            let message = format!("its {name} is {count}, but must be {least} to {most}");
            (!range.contains(&count)).then_some(message)
        });
        let epsilons = EPSILONS.iter().filter_map(|name| {
            let Some(Figure::Real(real)) = self.figure(architecture, name) else {
                return None;
            };
            let sane = real.is_finite() && real >= 0.0;
            (!sane).then(|| format!("its {name} is {real}, but must be a small positive number"))
        });
        counts.chain(epsilons).next()
    }
}
