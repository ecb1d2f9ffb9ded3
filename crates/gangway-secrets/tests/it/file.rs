//! Secrets in a file.

use std::{fs, path::Path};

use gangway_secrets::{SecretStore, Secrets, SecretsError, parse_value};

use super::{keeps_and_forgets, name, names, value_of};

#[test]
fn secrets_are_kept_and_forgotten() {
    let data = tempfile::tempdir().unwrap();
    keeps_and_forgets(&Secrets::open(data.path(), SecretStore::File));
}

#[test]
fn reading_makes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let secrets = Secrets::open(data.path(), SecretStore::File);
    assert_eq!(value_of(&secrets, "A"), None);
    assert!(names(&secrets).is_empty());
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
}

#[test]
fn a_change_by_another_process_is_seen_at_once() {
    let data = tempfile::tempdir().unwrap();
    let server = Secrets::open(data.path(), SecretStore::File);
    let command = Secrets::open(data.path(), SecretStore::File);
    for value in ["one", "two"] {
        command.set(&name("A"), &value.into()).unwrap();
        assert_eq!(value_of(&server, "A").unwrap(), value);
    }
    command.remove(&name("A")).unwrap();
    assert_eq!(value_of(&server, "A"), None);
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let data = tempfile::tempdir().unwrap();
    let write = |writer: usize| {
        for number in 0..10 {
            let secrets = Secrets::open(data.path(), SecretStore::File);
            let name = name(&format!("W{writer}.{number}"));
            secrets.set(&name, &"x".into()).unwrap();
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || write(writer));
        }
    });
    let secrets = Secrets::open(data.path(), SecretStore::File);
    assert_eq!(names(&secrets).len(), 80);
}

#[test]
fn no_error_and_no_debug_output_holds_a_value() {
    let data = tempfile::tempdir().unwrap();
    let secrets = Secrets::open(data.path(), SecretStore::File);
    let value = parse_value(&" sk-hidden\n".into()).unwrap();
    assert!(!format!("{value:?}").contains("hidden"));
    secrets.set(&name("A"), &value).unwrap();
    let file = data.path().join("secrets/credentials.json");
    let text = fs::read_to_string(&file).unwrap();
    for broken in [
        text.replace("\"set_at\"", "\"sat_at\""),
        text.replace("\"sk-hidden\"", "[\"sk-hidden\"]"),
        text.replace("\"A\"", "\"sk hidden\""),
        text[..text.len() / 2].to_owned(),
    ] {
        fs::write(&file, broken).unwrap();
        let error = secrets.get(&name("A")).unwrap_err();
        assert!(matches!(error, SecretsError::Garbled { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains("hidden"), "{error}");
        // An invalid file is not overwritten either.
        assert!(secrets.set(&name("B"), &"x".into()).is_err());
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[test]
fn what_others_can_look_into_is_refused_with_what_to_run() {
    use std::os::unix::fs::PermissionsExt;
    let data = tempfile::tempdir().unwrap();
    let secrets = Secrets::open(data.path(), SecretStore::File);
    secrets.set(&name("A"), &"x".into()).unwrap();
    let folder = data.path().join("secrets");
    let file = folder.join("credentials.json");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    for (path, wide, right) in [(&file, 0o640, 0o600), (&folder, 0o755, 0o700)] {
        set_mode(path, wide);
        let advice = format!("chmod {right:03o} '{}'", path.display());
        let errors = [
            secrets.get(&name("A")).unwrap_err(),
            secrets.set(&name("B"), &"x".into()).unwrap_err(),
            secrets.list().unwrap_err(),
            secrets.remove(&name("A")).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains(&advice), "{error}");
        }
        set_mode(path, right);
        assert_eq!(names(&secrets), ["A"]);
    }
    // A link could point anywhere.
    let elsewhere = data.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let error = secrets.get(&name("A")).unwrap_err();
    assert!(matches!(error, SecretsError::Misplaced { .. }), "{error}");
}
