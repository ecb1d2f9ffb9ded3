//! Secrets in a file and in a keyring.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod file;
#[cfg(target_os = "linux")]
mod keyring;

use gangway_secrets::{SecretName, Secrets};
use secrecy::ExposeSecret;

fn name(text: &str) -> SecretName {
    SecretName::parse(text).unwrap()
}

fn value_of(secrets: &Secrets, text: &str) -> Option<String> {
    let value = secrets.get(&name(text)).unwrap();
    value.map(|value| value.expose_secret().to_owned())
}

fn names(secrets: &Secrets) -> Vec<String> {
    let list = secrets.list().unwrap().into_iter();
    list.map(|listed| listed.name.to_string()).collect()
}

/// Guarantees of every backend.
fn keeps_and_forgets(secrets: &Secrets) {
    assert_eq!(value_of(secrets, "A"), None);
    assert!(!secrets.remove(&name("A")).unwrap());
    secrets.set(&name("A"), &"one ü \"'\\".into()).unwrap();
    secrets.set(&name("b.c-d_1"), &"two".into()).unwrap();
    assert_eq!(value_of(secrets, "A").unwrap(), "one ü \"'\\");
    secrets.set(&name("A"), &"x".repeat(16_384).into()).unwrap();
    assert_eq!(value_of(secrets, "A").unwrap().len(), 16_384);
    assert_eq!(value_of(secrets, "b.c-d_1").unwrap(), "two");
    assert_eq!(names(secrets), ["A", "b.c-d_1"]);
    assert!(secrets.remove(&name("A")).unwrap());
    assert!(!secrets.remove(&name("A")).unwrap());
    assert_eq!(value_of(secrets, "A"), None);
    assert_eq!(names(secrets), ["b.c-d_1"]);
}
