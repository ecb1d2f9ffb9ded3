//! No child outlives its parent, nor do the child's own children.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use gangway_mcp::Settings;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use crate::support::*;

/// The example that is a host and a guard; cargo builds examples along with tests.
fn supervised() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let found = own.parent().unwrap().join("../examples/supervised");
    assert!(
        found.exists(),
        "{} is missing; run: cargo build -p gangway-mcp --examples",
        found.display()
    );
    found
}

fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie counts as ended.
    stat.rsplit(')').next().is_some_and(|rest| {
        let state = rest.trim_start().chars().next();
        state.is_some_and(|state| state != 'Z' && state != 'X')
    })
}

fn pids(text: &str) -> Vec<u32> {
    text.split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

async fn assert_gone(pids: &[u32]) {
    for _ in 0..500 {
        if !pids.iter().any(|pid| is_running(*pid)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let left: Vec<&u32> = pids.iter().filter(|pid| is_running(**pid)).collect();
    panic!("still running: {left:?} of {pids:?}");
}

#[tokio::test]
async fn when_the_host_is_killed_its_servers_and_their_children_end() {
    assert!(Path::new("/proc/self").exists(), "this test reads /proc");
    for how in ["", "stubborn"] {
        let mut host = Command::new(supervised())
            .arg("host")
            .args(fault_words(how))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut message = BufReader::new(host.stdout.take().unwrap()).lines();
        let line = message.next_line().await.unwrap().unwrap();
        let pids = pids(&line);
        assert!(
            pids.len() == 3 && pids.iter().all(|pid| is_running(*pid)),
            "{line}"
        );
        // SIGKILL, which the host cannot handle.
        host.kill().await.unwrap();
        assert_gone(&pids).await;
    }
}

#[tokio::test]
async fn a_server_that_is_stopped_goes_with_its_children_however_stubborn() {
    for guard in [Some(vec![supervised().into(), "guard".into()]), None] {
        let is_guarded = guard.is_some();
        let settings = Settings { guard, ..brisk() };
        let host = host(settings, vec![fault("stubborn")]).await;
        let texts = call(&host, "faults/children", Value::Null).await.unwrap();
        let mut pids = pids(texts[0]["text"].as_str().unwrap());
        pids.extend(status(&host).process);
        host.shutdown().await;
        if !is_guarded {
            // Only a guard can find one that left the group.
            let away = pids.remove(2);
            let away = rustix::process::Pid::from_raw(away.cast_signed()).unwrap();
            rustix::process::kill_process(away, rustix::process::Signal::KILL).unwrap();
        }
        assert_gone(&pids).await;
    }
}

#[tokio::test]
async fn the_guard_passes_on_the_exit_code_and_what_was_said() {
    let guard = Some(vec![supervised().into(), "guard".into()]);
    let settings = Settings {
        guard,
        tries: 1,
        ..brisk()
    };
    let host = gangway_mcp::Host::new(settings, None);
    host.set_up(vec![fault("exit")]).await;
    let failed = host.ready(&id("faults")).await.unwrap_err();
    assert!(
        failed.contains("exit status: 2") && failed.contains("the key is missing"),
        "{failed}"
    );
    let mut missing = fault("");
    missing.transport = gangway_mcp::ServerSpec::stdio(id("x"), "/no/such", vec![]).transport;
    host.set_up(vec![missing]).await;
    let failed = host.ready(&id("faults")).await.unwrap_err();
    assert!(failed.contains("/no/such could not be started"), "{failed}");
}
