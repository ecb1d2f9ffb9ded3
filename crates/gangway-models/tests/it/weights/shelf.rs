//! The folder with the weights.

use std::fs;

use gangway_models::weights::{ModelName, WeightsError, WeightsStore};

use super::{files, small_gguf};

#[test]
fn a_file_is_linked_or_copied_and_removing_it_leaves_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Some Model.gguf");
    fs::write(&file, small_gguf(10)).unwrap();
    let store = WeightsStore::new(&folder.path().join("models"));
    let linked = store.add(&file, None, false).unwrap();
    assert_eq!(linked.name, "some-model");
    assert_eq!(linked.path.is_symlink(), cfg!(unix));
    let name = ModelName::parse("copy").unwrap();
    let copied = store.add(&file, Some(name), true).unwrap();
    assert!(!copied.path.is_symlink());
    let note = copied.note.clone().unwrap();
    assert!(note.sha256.is_some() && note.source.ends_with("Some Model.gguf"));
    assert_eq!(store.list().unwrap(), [copied, linked]);
    let taken = store.add(&file, None, false).unwrap_err();
    assert!(matches!(taken, WeightsError::Taken(_)), "{taken}");
    store.remove("some-model").unwrap();
    store.remove("copy").unwrap();
    assert!(file.exists());
    assert_eq!(files(store.folder()), [""; 0]);
}

#[test]
fn only_what_is_stored_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.gguf"), "").unwrap();
    let store = WeightsStore::new(&folder.path().join("models"));
    fs::create_dir(store.folder()).unwrap();
    for name in ["../mine", "mine", "", "."] {
        let error = store.remove(name).unwrap_err();
        assert!(matches!(error, WeightsError::NotFound(_)), "{error}");
    }
    assert!(folder.path().join("mine.gguf").exists());
}

#[cfg(unix)]
#[test]
fn a_link_whose_file_is_gone_is_not_listed_and_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.gguf");
    fs::write(&file, small_gguf(10)).unwrap();
    let store = WeightsStore::new(&folder.path().join("models"));
    store.add(&file, None, false).unwrap();
    fs::remove_file(&file).unwrap();
    assert!(store.list().unwrap().is_empty());
    store.remove("a").unwrap();
}

#[test]
fn what_is_no_model_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = WeightsStore::new(&folder.path().join("models"));
    let file = folder.path().join("a.gguf");
    fs::write(&file, &small_gguf(100)[..300]).unwrap();
    for (file, message) in [
        (file, "truncated"),
        (folder.path().to_owned(), "is not a file"),
        (folder.path().join("none"), "cannot be read"),
    ] {
        let error = store.add(&file, None, false).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(store.list().unwrap().is_empty());
}
