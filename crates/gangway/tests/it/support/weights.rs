//! The small model that tests run.

use std::path::PathBuf;

/// The file with its weights. A test that needs it cannot do without.
pub fn test_weights() -> PathBuf {
    let usual = "../../target/test-weights/smollm2-135m-instruct.gguf";
    let usual = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(usual);
    let file = std::env::var_os("GANGWAY_TEST_WEIGHTS").map_or(usual, PathBuf::from);
    assert!(
        file.exists(),
        "there are no weights at {}: run `scripts/setup.sh weights`",
        file.display()
    );
    file.canonicalize().unwrap()
}
