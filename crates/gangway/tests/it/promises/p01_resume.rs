//! P1: a reader whose socket is cut resumes without loss, doubling or reordering.

use std::time::Duration;

use rand::RngExt;

use super::{
    chance,
    feed::{Feed, ReceivedFrame, Way},
    scale,
};
use crate::support::TestServer;

/// Follows a session from its start to the end of its turn, cutting its own socket at random.
async fn read_with_cuts(
    n: usize,
    http: reqwest::Client,
    url: String,
    session: String,
    cut_every: Duration,
) -> (Vec<(u64, ReceivedFrame)>, usize) {
    let mut chance = chance(n as u64);
    let (mut seen, mut cuts) = (Vec::new(), 0);
    loop {
        let last = seen
            .last()
            .map_or(0, |(seq, _): &(u64, ReceivedFrame)| *seq);
        // The way changes too: a number means the same on both.
        let way = Way::nth(n + cuts);
        let mut feed = Feed::open(way, &http, &url, &session, Some(&last.to_string()))
            .await
            .unwrap();
        let open = cut_every.mul_f64(chance.random_range(0.0..2.0));
        let cut = tokio::time::sleep(open);
        tokio::pin!(cut);
        loop {
            tokio::select! {
                () = &mut cut => break,
                (seq, received) = feed.event() => {
                    let over = received.is("done");
                    seen.push((seq, received));
                    if over {
                        return (seen, cuts);
                    }
                }
            }
        }
        cuts += 1;
    }
}

/// P1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reader_ends_with_the_same_sequence_however_often_it_is_cut() {
    let readers = scale(24, 200);
    let deltas = scale(300, 12_000);
    let script = format!(
        "turns: [{{steps: [{{delta: 'word ', times: {deltas}, every_ms: 5}}, {{say: 'the end'}}]}}]"
    );
    let server = TestServer::scripted(&script).await;
    let session = server.session().await;
    let url = server.url("");
    let cut_every = Duration::from_millis(scale(250, 3000));
    let reading: Vec<_> = (0..readers)
        .map(|n| {
            let (http, url, session) = (server.http.clone(), url.clone(), session.clone());
            tokio::spawn(read_with_cuts(n, http, url, session, cut_every))
        })
        .collect();
    server.send_message(&session, "go").await;

    let mut all = Vec::new();
    let mut cuts = 0;
    for reader in reading {
        let (seen, cut) = reader.await.unwrap();
        cuts += cut;
        all.push(seen);
    }
    assert!(cuts > readers, "only {cuts} cuts: this showed nothing");
    // Created, titled, asked and started come before the deltas; two more words, the message and the end after them.
    let expected = 4 + deltas + 2 + 2;
    for (n, seen) in all.iter().enumerate() {
        let numbers: Vec<u64> = seen.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(
            numbers,
            (1..=expected as u64).collect::<Vec<_>>(),
            "reader {n}"
        );
        assert!(seen == &all[0], "reader {n} read something else");
    }
    println!("{} deliveries, {cuts} cuts, 0 wrong", all.len() * expected);
}
