//! Cores, processes and their resources, as reported by the kernel.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::Context;

const SERVER_CORE: &str = "0";
const DRIVER_CORE: &str = "1";

/// Moves this process to its core; where that cannot be done, figures are noisier and nothing else.
pub fn pin_driver() {
    let pid = std::process::id().to_string();
    let pinned = Command::new("taskset")
        .args(["-acp", DRIVER_CORE, &pid])
        .stdout(Stdio::null())
        .status();
    if !pinned.is_ok_and(|status| status.success()) {
        eprintln!("taskset (util-linux) could not pin the driver to core {DRIVER_CORE}");
    }
}

/// A command that will run on the server's core.
pub fn on_server_core(program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", SERVER_CORE, program]);
    command
}

/// A command that will run wherever there is room.
pub fn on_both_cores(program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0,1", program]);
    command
}

/// A process under measurement, killed when dropped.
pub struct Measured {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Measured {
    /// Starts it and waits for the line that names its address.
    pub fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let out = child.stdout.take().context("its output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address = line
            .split_whitespace()
            .find_map(|word| word.strip_prefix("http://")?.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            anyhow::bail!("{command:?} named no address but said {line:?}");
        };
        Ok(Self { child, address })
    }

    /// Starts one with a given address, which it does not print.
    pub fn start_at(mut command: Command, address: SocketAddr) -> anyhow::Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        Ok(Self { child, address })
    }

    /// CPU time of all its threads so far.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        let mut nanos = 0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // A thread may end between the listing and the reading.
            if let Ok(text) = std::fs::read_to_string(thread?.path().join("schedstat")) {
                let first = text.split_whitespace().next().context("schedstat")?;
                nanos += first.parse::<u64>()?;
            }
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// Resident memory in bytes.
    pub fn memory(&self) -> anyhow::Result<u64> {
        resident(self.child.id())
    }

    /// Resident memory in bytes, of its child processes too.
    pub fn memory_with_children(&self) -> anyhow::Result<u64> {
        resident_with_children(self.child.id())
    }

    /// The most memory that was ever resident.
    pub fn peak_memory(&self) -> anyhow::Result<u64> {
        status(self.child.id(), "VmHWM:")
    }
}

/// The resident memory of a process in bytes.
pub fn resident(process: u32) -> anyhow::Result<u64> {
    status(process, "VmRSS:")
}

/// The resident memory of a process and its children in bytes.
pub fn resident_with_children(process: u32) -> anyhow::Result<u64> {
    let mut bytes = resident(process)?;
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let children = std::fs::read_to_string(thread?.path().join("children"))?;
        for child in children.split_whitespace() {
            bytes += resident_with_children(child.parse()?)?;
        }
    }
    Ok(bytes)
}

fn status(process: u32, field: &str) -> anyhow::Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes = text
        .lines()
        .find_map(|line| line.strip_prefix(field)?.split_whitespace().next())
        .with_context(|| format!("no {field} in the status of the process"))?;
    Ok(kilobytes.parse::<u64>()? * 1024)
}

impl Drop for Measured {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
