//! Middles and tails of samples.

/// The sample at this part of the order, 0.5 for the middle.
pub fn quantile(samples: &[f64], part: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index among a few thousand samples"
    )]
    let place = ((sorted.len().saturating_sub(1)) as f64 * part).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// The middle one.
pub fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}
