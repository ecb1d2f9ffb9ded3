//! Random secrets, and their hashes.

use rand::Rng;

/// 32 random bytes as text.
#[must_use]
pub fn new_secret() -> String {
    let mut bytes = [0_u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of a secret.
#[must_use]
pub fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}
