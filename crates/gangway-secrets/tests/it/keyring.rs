//! Secrets in a real keyring on its own D-Bus.

use std::{path::PathBuf, process::Command};

use gangway_secrets::{SecretStore, Secrets};

use super::{keeps_and_forgets, name, names, value_of};

/// Where the inner test finds its folder.
const DATA: &str = "KEYRING_TEST_DATA";

/// Starts a D-Bus, an unlocked keyring, and this test binary with the inner test.
const SESSION: &str = r#"
printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null &&
exec "$0" --ignored --exact keyring::inside
"#;

#[test]
fn secrets_are_kept_in_the_keyring_and_only_their_names_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("dbus-run-session")
        .args(["--", "sh", "-c", SESSION])
        .arg(std::env::current_exe().unwrap())
        // The keyring is created here; the user's own is untouched.
        .env("HOME", folder.path())
        .env("XDG_RUNTIME_DIR", folder.path())
        .env_remove("XDG_DATA_HOME")
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env(DATA, folder.path().join("data"))
        .output()
        .expect("this test needs a keyring: scripts/setup.sh keyring");
    let message = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && message.contains("1 passed"),
        "is there a keyring? scripts/setup.sh keyring\n{output:#?}"
    );
}

#[tokio::test]
#[ignore = "run by the test above, which starts the keyring"]
async fn inside() {
    let data = PathBuf::from(std::env::var_os(DATA).unwrap());
    let secrets = Secrets::open(&data, SecretStore::Keyring);
    // Like a server does.
    let stored = secrets.clone();
    tokio::task::spawn_blocking(move || keeps_and_forgets(&stored))
        .await
        .unwrap();
    let file = data.join("secrets/names.json");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("b.c-d_1") && !text.contains("two"), "{text}");
    assert!(!data.join("secrets/credentials.json").exists());
    // Another data folder has its own secrets under the same names.
    let other = Secrets::open(&data.join("other"), SecretStore::Keyring);
    other.set(&name("b.c-d_1"), &"three".into()).unwrap();
    assert_eq!(value_of(&secrets, "b.c-d_1").unwrap(), "two");
    assert_eq!(value_of(&other, "b.c-d_1").unwrap(), "three");
    assert_eq!(names(&other), ["b.c-d_1"]);
}
