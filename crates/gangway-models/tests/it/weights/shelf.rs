//! The folder with the weights.

use std::fs;

use gangway_models::weights::{ModelName, Shelf, WeightsError};

use super::{files, small_gguf};

#[test]
fn a_file_is_linked_or_copied_and_removing_it_leaves_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Some Model.gguf");
    fs::write(&file, small_gguf(10)).unwrap();
    let shelf = Shelf::new(&folder.path().join("models"));
    let linked = shelf.add(&file, None, false).unwrap();
    assert_eq!(linked.name, "some-model");
    assert_eq!(linked.path.is_symlink(), cfg!(unix));
    let name = ModelName::parse("copy").unwrap();
    let copied = shelf.add(&file, Some(name), true).unwrap();
    assert!(!copied.path.is_symlink());
    let note = copied.note.clone().unwrap();
    assert!(note.sha256.is_some() && note.source.ends_with("Some Model.gguf"));
    assert_eq!(shelf.list().unwrap(), [copied, linked]);
    let taken = shelf.add(&file, None, false).unwrap_err();
    assert!(matches!(taken, WeightsError::Taken(_)), "{taken}");
    shelf.remove("some-model").unwrap();
    shelf.remove("copy").unwrap();
    assert!(file.exists());
    assert_eq!(files(shelf.folder()), [""; 0]);
}

#[test]
fn only_what_lies_on_the_shelf_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.gguf"), "").unwrap();
    let shelf = Shelf::new(&folder.path().join("models"));
    fs::create_dir(shelf.folder()).unwrap();
    for name in ["../mine", "mine", "", "."] {
        let error = shelf.remove(name).unwrap_err();
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
    let shelf = Shelf::new(&folder.path().join("models"));
    shelf.add(&file, None, false).unwrap();
    fs::remove_file(&file).unwrap();
    assert!(shelf.list().unwrap().is_empty());
    shelf.remove("a").unwrap();
}

#[test]
fn what_is_no_model_is_not_put_on_the_shelf() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(&folder.path().join("models"));
    let file = folder.path().join("a.gguf");
    fs::write(&file, &small_gguf(100)[..300]).unwrap();
    for (file, words) in [
        (file, "truncated"),
        (folder.path().to_owned(), "is not a file"),
        (folder.path().join("none"), "cannot be read"),
    ] {
        let error = shelf.add(&file, None, false).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(shelf.list().unwrap().is_empty());
}
