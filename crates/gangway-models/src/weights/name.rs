//! Names of local models, safe as file names.

use std::{fmt, path::Path, str::FromStr};

use super::{WeightsError, gguf::grouped};

/// Some file systems allow only 143 bytes.
const MAX: usize = 100;

/// The name of a local model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelName(String);

impl ModelName {
    pub fn parse(text: &str) -> Result<Self, WeightsError> {
        // `default.json` is the choice of a model.
        if text == "default" || Self::made_safe(text).as_deref() != Some(text) {
            return Err(WeightsError::BadName(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name for a file: its own, made safe.
    pub fn of_file(file: &Path) -> Result<Self, WeightsError> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let stem = name
            .strip_suffix(".gguf")
            .or_else(|| name.strip_suffix(".GGUF"))
            .unwrap_or(&name);
        let safe = Self::made_safe(stem).ok_or_else(|| WeightsError::BadName(stem.to_owned()))?;
        Self::parse(&safe)
    }

    fn made_safe(text: &str) -> Option<String> {
        let safe = |c: char| match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9' | '.' | '_' | '-') => c,
            _ => '-',
        };
        let text: String = text.chars().map(safe).collect();
        // A leading dot would hide the file, a leading hyphen would look like a flag.
        let text = text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let text: String = text.chars().take(MAX).collect();
        (!text.is_empty()).then_some(text)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ModelName {
    type Err = WeightsError;

    fn from_str(text: &str) -> Result<Self, WeightsError> {
        Self::parse(text)
    }
}

/// A size for people, such as `98.4 MB`; exact below a kilobyte.
#[must_use]
pub fn readable(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            let whole = u64::try_from(tenths / 10).unwrap_or(u64::MAX);
            format!("{}.{} {name}", grouped(whole), tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_safe_and_an_unsafe_one_is_refused() {
        let of = |file: &str| ModelName::of_file(Path::new(file)).map(|name| name.to_string());
        assert_eq!(
            of("/a/SmolLM2-135M.Q4_1.gguf").unwrap(),
            "smollm2-135m.q4_1"
        );
        assert_eq!(of("-.My model (1).gguf").unwrap(), "my-model--1-");
        assert_eq!(of(&"x".repeat(300)).unwrap().len(), 100);
        for wrong in ["..", "", "default.gguf", "ü.gguf"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "../x", "A", "a b", "-a", ".a", "default", "a/b"] {
            assert!(ModelName::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(readable(999), "999 bytes");
        assert_eq!(readable(98_362_432), "98.3 MB");
        assert_eq!(readable(7_000_000_000), "7.0 GB");
    }
}
