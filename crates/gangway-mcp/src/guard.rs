//! A guard process between Gangway and a child: ends the child and all its descendants even when Gangway was killed.

use std::{
    ffi::OsString,
    process::{ExitCode, ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, kill_process_group};
use tokio::{
    process::{Child, Command},
    signal::unix::{SignalKind, signal},
    time::{MissedTickBehavior, interval},
};

/// The process that started the guard: the parent may be gone before the guard can look.
pub(crate) const PARENT: &str = "GANGWAY_GUARD_PARENT";

/// Tells the guard to kill everything at once.
pub(crate) const NOW: Signal = Signal::INT;

/// How often the parent is checked. On Linux the kernel also signals it at once.
const LOOK: Duration = Duration::from_millis(500);

/// How long a child may take to exit after SIGTERM.
const GRACE: Duration = Duration::from_millis(1000);

/// The exit code of a shell for a killed command.
const KILLED: u8 = 128 + 9;

/// The exit code of a shell for a missing command.
const NOT_FOUND: u8 = 127;

/// Runs a command with this process's standard streams until it exits, this process is told to end, or its parent is
/// gone; then kills all descendants, and returns the command's exit code.
///
/// Must be a process of its own.
pub fn run(command: Vec<OsString>) -> ExitCode {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return ExitCode::FAILURE;
    };
    let code = runtime.block_on(watch(&command));
    ExitCode::from(code)
}

async fn watch(command: &[OsString]) -> u8 {
    let parent = std::env::var(PARENT)
        .ok()
        .and_then(|id| Pid::from_raw(id.parse().ok()?))
        .or_else(getppid);
    // Signals go to the whole group, which this process leads; it must survive them to clean up.
    if getpid() != rustix::process::getpgrp() {
        let _ = rustix::process::setpgid(None, None);
    }
    let signals = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ]
    .map(signal);
    let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = signals else {
        return 1;
    };
    #[cfg(target_os = "linux")]
    {
        // Orphaned descendants are reparented to this process.
        let _ = rustix::process::set_child_subreaper(Some(getpid()));
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::HUP));
    }
    let Some((program, args)) = command.split_first() else {
        return NOT_FOUND;
    };
    let started = Command::new(program)
        .args(args)
        .env_remove(PARENT)
        .stdin(Stdio::inherit())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            complain(&format!(
                "{} could not be started: {error}",
                program.display()
            ));
            return NOT_FOUND;
        }
    };
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let code = loop {
        tokio::select! {
            ended = child.wait() => break ended.map_or(1, code),
            _ = interrupt.recv() => break KILLED,
            _ = terminate.recv() => break end(&mut child, &mut interrupt).await,
            // The kernel also sends this when the thread that started this process ends.
            _ = hangup.recv() => if getppid() != parent { break end(&mut child, &mut interrupt).await },
            _ = look.tick() => if getppid() != parent { break end(&mut child, &mut interrupt).await },
        }
    };
    sweep();
    // Where descendants cannot be listed, the group is all there is, and this process is in it.
    if cfg!(not(target_os = "linux")) {
        let _ = kill_process_group(getpid(), Signal::KILL);
    }
    code
}

/// Written to the log of the server.
#[allow(
    clippy::print_stderr,
    reason = "this is a process of its own, and its standard error is a server's log"
)]
fn complain(text: &str) {
    eprintln!("{text}");
}

fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let shell = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(shell).unwrap_or(u8::MAX)
}

/// Signals the group to end and waits a little.
async fn end(child: &mut Child, now: &mut tokio::signal::unix::Signal) -> u8 {
    let _ = kill_process_group(getpid(), Signal::TERM);
    tokio::select! {
        ended = child.wait() => ended.map_or(1, code),
        () = tokio::time::sleep(GRACE) => KILLED,
        _ = now.recv() => KILLED,
    }
}

/// Kills all remaining descendants.
fn sweep() {
    // Children of killed processes are reparented here, so it takes a few rounds.
    for _ in 0..100 {
        let left = children();
        if left.is_empty() {
            return;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
        }
    }
    // A fork bomb: kills the group, this process included.
    let _ = kill_process_group(getpid(), Signal::KILL);
}

/// The direct children of this process.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let own = getpid();
    let parent = |pid: i32| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in the second field may contain brackets.
        let rest = &stat[stat.rfind(')')? + 1..];
        rest.split_whitespace().nth(1)?.parse().ok()
    };
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|&pid| parent(pid) == Some(own.as_raw_pid()))
        .filter_map(Pid::from_raw)
        .collect()
}

/// Elsewhere only the group is known; the parent or the last signal kills it.
#[cfg(not(target_os = "linux"))]
fn children() -> Vec<Pid> {
    Vec::new()
}
