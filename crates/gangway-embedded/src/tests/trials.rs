//! Weights are tried by a process of its own. Here it is a script, which does what such processes do.

use std::{ffi::OsString, time::Duration};

use super::*;

/// A provider that tries weights by this script, in which `$0` is the file.
fn bench(script: &str) -> Bench {
    Bench::new(Settings {
        trial: Some(["sh", "-c", script].map(OsString::from).to_vec()),
        ..Settings::default()
    })
}

fn hello() -> ChatRequest {
    ChatRequest {
        max_tokens: Some(2),
        ..question("Hello!")
    }
}

/// How often a script that leaves a line in a file beside the weights was run.
fn runs(bench: &Bench) -> usize {
    let lines = std::fs::read_to_string(bench.folder.path().join("runs"));
    lines.map_or(0, |lines| lines.lines().count())
}

const COUNT: &str = r#"echo run >> "$(dirname "$0")/runs"; "#;

#[tokio::test]
async fn good_weights_are_tried_once_also_after_a_restart_and_again_when_they_change() {
    let first = bench(COUNT);
    let (one, other) = tokio::join!(first.ask(hello()), first.ask(hello()));
    assert_eq!((one.usage.1, other.usage.1), (2, 2));
    first.ask(hello()).await;
    assert_eq!(runs(&first), 1);

    let settings = Settings {
        trial: Some(["sh", "-c", COUNT].map(OsString::from).to_vec()),
        ..Settings::default()
    };
    let shelf = Shelf::new(first.folder.path());
    let restarted = Bench {
        model: Embedded::new(shelf, settings).unwrap(),
        folder: first.folder,
    };
    restarted.ask(hello()).await;
    assert_eq!(runs(&restarted), 1, "it is noted beside the weights");

    std::fs::remove_file(restarted.path(SMALL)).unwrap();
    std::fs::copy(weights(), restarted.path(SMALL)).unwrap();
    restarted.ask(hello()).await;
    assert_eq!(runs(&restarted), 2);
}

#[tokio::test]
async fn weights_that_kill_the_trial_are_refused_with_its_last_words_and_not_tried_again() {
    let script = r#"echo "loading
/build/of/ggml/vocab.cpp:7: GGML_ASSERT(sane) failed" >&2; kill -ABRT $$"#;
    let bench = bench(&format!("{COUNT}{script}"));
    for _ in 0..2 {
        let error = bench.refusal(hello()).await;
        let reason = "the file makes the engine stop: vocab.cpp:7: GGML_ASSERT(sane) failed";
        assert_eq!(error.details.as_deref(), Some(reason));
        assert!(error.message.contains("weights small cannot be loaded"));
    }
    assert_eq!(runs(&bench), 1);
    assert_eq!(bench.model.status().waiting, 0);
}

#[tokio::test]
async fn what_may_be_otherwise_the_next_time_is_tried_again() {
    for (end, reason) in [
        ("echo 'it takes 9 MB' >&2; exit 3", "it takes 9 MB"),
        ("kill -KILL $$", "want of memory"),
    ] {
        let bench = bench(&format!("{COUNT}{end}"));
        for _ in 0..2 {
            let error = bench.refusal(hello()).await;
            assert!(error.message.contains(reason), "{error}");
        }
        assert_eq!(runs(&bench), 2);
    }
}

#[tokio::test]
async fn a_trial_that_cannot_be_started_keeps_nobody_from_weights() {
    let bench = Bench::new(Settings {
        trial: Some(vec!["/no/such/program".into()]),
        ..Settings::default()
    });
    bench.ask(hello()).await;
    assert!(!bench.path(SMALL).with_extension("tried").exists());
}

// Nothing but the trial's limit can move this time on.
#[tokio::test(start_paused = true)]
async fn a_trial_that_does_not_end_is_ended() {
    let bench = bench("exec sleep 1000");
    let error = bench.refusal(hello()).await;
    assert!(error.message.contains("longer than 61 seconds"), "{error}");
}

#[tokio::test]
async fn who_leaves_ends_the_trial_and_others_get_theirs() {
    let bench = bench(r#"echo $$ > "$(dirname "$0")/pid"; exec sleep 1000"#);
    let file = bench.folder.path().join("pid");
    let asked = bench.model.chat(hello());
    let started = async {
        loop {
            match std::fs::read_to_string(&file) {
                Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    let pid = tokio::select! {
        pid = started => pid,
        _ = asked => panic!("it ended by itself"),
    };
    let running = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while running() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(bench.model.status().waiting, 0);
}
