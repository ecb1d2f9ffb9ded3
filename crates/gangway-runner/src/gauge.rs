//! How full the context window is: warnings at thresholds, and when to compact the context.

use parking_lot::Mutex;

use super::wire::ContextLimits;

/// Warnings are repeated once less than this part of the first threshold is used, as after compacting. Small changes
/// around a threshold do not repeat them.
const REARMED_BELOW: u64 = 2;

/// Compacting that failed is retried when this many percent more are used, and not with every message.
const RETRY_AFTER: u64 = 3;

#[derive(Default)]
pub struct Gauge {
    limits: ContextLimits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    percent: u64,
    /// The highest threshold that was warned about.
    warned: u8,
    /// Compacting was requested.
    requested: bool,
    /// How full it was when compacting failed.
    failed: Option<u64>,
}

impl Gauge {
    #[must_use]
    pub fn new(limits: ContextLimits) -> Self {
        Self {
            limits,
            state: Mutex::default(),
        }
    }

    /// Records the usage; returns a warning when a threshold is passed for the first time.
    pub(super) fn note(&self, used: u64, window: Option<u64>) -> Option<String> {
        let window = window.filter(|window| *window > 0)?;
        let percent = used.saturating_mul(100) / window;
        let mut state = self.state.lock();
        state.percent = percent;
        let thresholds = self.limits.warn_percent.iter().copied();
        let first = thresholds.clone().min()?;
        if percent < u64::from(first) / REARMED_BELOW {
            state.warned = 0;
        }
        let passed = thresholds.filter(|one| u64::from(*one) <= percent).max()?;
        if passed <= state.warned {
            return None;
        }
        state.warned = passed;
        let next = match self.limits.hand_over_percent {
            Some(at) => format!(
                " From {at} % on, the next message goes to a fresh context with a summary of the conversation."
            ),
            None => String::new(),
        };
        Some(format!(
            "The context window is {percent} % full ({used} of {window} tokens).{next}"
        ))
    }

    /// Requests compacting with the next message.
    pub(super) fn request(&self) {
        self.state.lock().requested = true;
    }

    /// Whether it is time to compact, and how full the window is.
    pub(super) fn is_due(&self) -> Option<u64> {
        let state = self.state.lock();
        let at = self.limits.hand_over_percent.map(u64::from);
        let at = at.map(|at| at.max(state.failed.map_or(0, |failed| failed + RETRY_AFTER)));
        let full = at.is_some_and(|at| state.percent >= at);
        (state.requested || full).then_some(state.percent)
    }

    /// The context was compacted, or that failed.
    pub(super) fn handed_over(&self, done: bool) {
        let mut state = self.state.lock();
        state.requested = false;
        state.failed = (!done).then_some(state.percent);
        if done {
            (state.percent, state.warned) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gauge(warn: &[u8], hand_over: Option<u8>) -> Gauge {
        Gauge::new(ContextLimits {
            warn_percent: warn.to_vec(),
            hand_over_percent: hand_over,
        })
    }

    #[test]
    fn each_threshold_is_warned_of_once_until_the_window_is_nearly_empty_again() {
        let gauge = gauge(&[95, 80], None);
        let warns = |used| gauge.note(used, Some(1000)).is_some();
        let seen: Vec<bool> = [100, 799, 800, 810, 700, 805, 950, 990, 1200, 500, 960, 399]
            .map(warns)
            .to_vec();
        let wanted = [
            false, false, true, false, false, false, true, false, false, false, false, false,
        ];
        assert_eq!(seen, wanted);
        // Both are passed at once: one warning is enough.
        let message = gauge.note(960, Some(1000)).unwrap();
        assert_eq!(
            message,
            "The context window is 96 % full (960 of 1000 tokens)."
        );
        assert!(!warns(961));
    }

    #[test]
    fn no_notice_appears_for_a_window_that_is_unknown_or_where_no_threshold_is_set() {
        assert_eq!(gauge(&[80], None).note(u64::MAX, None), None);
        assert_eq!(gauge(&[80], None).note(1, Some(0)), None);
        assert_eq!(gauge(&[], Some(90)).note(1000, Some(1000)), None);
    }

    #[test]
    fn compaction_is_due_when_the_window_is_full_or_on_request() {
        let gauge = gauge(&[], Some(90));
        assert_eq!(gauge.is_due(), None);
        gauge.note(900, Some(1000));
        assert_eq!(gauge.is_due(), Some(90));
        gauge.handed_over(true);
        assert_eq!(gauge.is_due(), None);
        gauge.request();
        assert_eq!(gauge.is_due(), Some(0));
        gauge.note(950, Some(1000));
        gauge.handed_over(false);
        // After a failure it is not retried with every message, but on request.
        assert_eq!(gauge.is_due(), None);
        gauge.request();
        assert_eq!(gauge.is_due(), Some(95));
        gauge.handed_over(false);
        gauge.note(980, Some(1000));
        assert_eq!(gauge.is_due(), Some(98));
    }
}
