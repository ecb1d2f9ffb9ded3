//! Keeps llama.cpp's log out of the process log: captures it, logs it at debug level, and uses it in errors.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex, PoisonError},
};

use tracing::{
    Dispatch, Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span,
};

/// Maximum number of captured lines; the reason of a failure is among the last ones.
const LINES: usize = 4;

/// Captures llama.cpp's log on this thread.
#[derive(Debug, Clone)]
pub(crate) struct Quiet {
    caught: Arc<CapturedErrors>,
    dispatch: Dispatch,
    /// The regular log.
    outer: Dispatch,
}

#[derive(Debug, Default)]
struct CapturedErrors {
    errors: Mutex<Vec<String>>,
}

impl Quiet {
    pub fn new() -> Self {
        let caught = Arc::new(CapturedErrors::default());
        let dispatch = Dispatch::new(LogCapture(Arc::clone(&caught)));
        let outer = tracing::dispatcher::get_default(Dispatch::clone);
        Self {
            caught,
            dispatch,
            outer,
        }
    }

    /// Runs a function with its log captured.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        tracing::dispatcher::with_default(&self.dispatch, work)
    }

    /// Logs something of our own.
    pub fn aloud(&self, log: impl FnOnce()) {
        tracing::dispatcher::with_default(&self.outer, log);
    }

    /// The errors since the last call, in llama.cpp's words.
    pub fn errors(&self) -> Option<String> {
        let lines = std::mem::take(&mut *self.caught.lock());
        if !lines.is_empty() {
            self.aloud(|| tracing::debug!(?lines, "llama.cpp"));
        }
        (!lines.is_empty()).then(|| lines.join("; "))
    }
}

impl CapturedErrors {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct LogCapture(Arc<CapturedErrors>);

impl Subscriber for LogCapture {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() == Level::ERROR
    }

    // Otherwise every log statement of the whole process would be evaluated at the finest level.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::ERROR)
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        if *event.metadata().level() != Level::ERROR {
            return;
        }
        let mut line = LogMessage(String::new());
        event.record(&mut line);
        let line = line.0.trim().to_owned();
        let mut errors = self.0.lock();
        if !line.is_empty() && !errors.contains(&line) {
            if errors.len() == LINES {
                errors.remove(0);
            }
            errors.push(line);
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The message of an event.
struct LogMessage(String);

impl Visit for LogMessage {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.0.push_str(value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // Writing to a string cannot fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Quiet;

    #[test]
    fn only_errors_are_kept_each_once_and_the_last_ones() {
        let quiet = Quiet::new();
        quiet.run(|| {
            tracing::info!("loading");
            for number in 0..9 {
                tracing::error!("bad thing {}", number / 2);
            }
        });
        let errors = quiet.errors();
        assert_eq!(
            errors.as_deref(),
            Some("bad thing 1; bad thing 2; bad thing 3; bad thing 4")
        );
        assert_eq!(quiet.errors(), None);
    }
}
