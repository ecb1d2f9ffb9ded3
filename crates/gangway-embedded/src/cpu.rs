//! Whether this processor supports the instructions of the build.

/// This machine cannot run the engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unsupported(String);

/// Checks that this processor supports the build; an unknown instruction would crash the engine without an error.
pub(crate) fn supported() -> Result<(), Unsupported> {
    lacking(&missing())
}

fn lacking(missing: &[&str]) -> Result<(), Unsupported> {
    if missing.is_empty() {
        return Ok(());
    }
    Err(Unsupported(format!(
        "This computer's processor lacks {}, which the engine needs. Use a model over the network, or a local server such as Ollama.",
        missing.join(", ")
    )))
}

#[cfg(target_arch = "x86_64")]
fn missing() -> Vec<&'static str> {
    let has = [
        ("AVX2", std::arch::is_x86_feature_detected!("avx2")),
        ("FMA", std::arch::is_x86_feature_detected!("fma")),
        ("F16C", std::arch::is_x86_feature_detected!("f16c")),
        ("BMI2", std::arch::is_x86_feature_detected!("bmi2")),
    ];
    has.into_iter()
        .filter_map(|(name, has)| (!has).then_some(name))
        .collect()
}

// Other builds only use what every processor of their architecture supports.
#[cfg(not(target_arch = "x86_64"))]
fn missing() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::lacking;

    #[test]
    fn what_the_processor_lacks_is_explained() {
        assert_eq!(lacking(&[]), Ok(()));
        let message = lacking(&["AVX2", "FMA"]).map_err(|error| error.to_string());
        assert!(message.is_err_and(|message| message.contains("lacks AVX2, FMA, which")));
    }
}
