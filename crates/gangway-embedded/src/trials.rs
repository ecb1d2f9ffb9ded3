//! Which weights were tried in a process of their own, and how that went.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use gangway_models::ModelError;
use tokio::{
    io::AsyncReadExt as _,
    process::{Child, Command},
    runtime::Handle,
};

use crate::{model::Model, source::Source, trial::REFUSED};

/// How long a trial may take, beside the reading of the file.
const TIME: Duration = Duration::from_secs(60);
/// Bytes of a file that a slow disk reads in a second.
const SLOW: u64 = 50_000_000;
/// Bytes of a process's last words that are looked at.
const WORDS: usize = 4096;

/// What is known of weights that were tried.
#[derive(Default)]
pub(crate) struct Trials {
    known: Mutex<HashMap<PathBuf, (Source, Verdict)>>,
    /// One at a time: each takes a processor, and the same file is tried once however many ask for it.
    turn: tokio::sync::Mutex<()>,
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Good,
    /// The file is wrong, and will be until it changes.
    Bad(String),
    /// It did not work this time.
    Unknown(String),
    /// It could not even be tried.
    Untried,
}

impl Trials {
    /// Goes on when these weights are known to be good, which is found out where it is not known.
    pub async fn pass(
        &self,
        command: &[OsString],
        source: &Source,
        runtime: &Handle,
    ) -> Result<(), ModelError> {
        let verdict = match self.known(source) {
            Some(verdict) => verdict,
            None => {
                let _turn = self.turn.lock().await;
                match self.known(source) {
                    Some(verdict) => verdict,
                    None => self.find_out(command, source, runtime).await,
                }
            }
        };
        match verdict {
            Verdict::Good | Verdict::Untried => Ok(()),
            Verdict::Bad(reason) | Verdict::Unknown(reason) => Err(Model::refused(source, &reason)),
        }
    }

    fn known(&self, source: &Source) -> Option<Verdict> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (tried, verdict) = known.get(&source.path)?;
        (tried == source).then(|| verdict.clone())
    }

    async fn find_out(&self, command: &[OsString], source: &Source, runtime: &Handle) -> Verdict {
        let (path, line) = (note_of(source), note(source));
        let noted = runtime.spawn_blocking({
            let (path, line) = (path.clone(), line.clone());
            move || line.is_some() && std::fs::read_to_string(path).ok() == line
        });
        let noted = noted.await.unwrap_or(false);
        let verdict = if noted {
            Verdict::Good
        } else {
            hold(command, source).await
        };
        if let (Verdict::Good, false, Some(line)) = (&verdict, noted, line) {
            // Where it cannot be written, the next start tries again.
            let write = runtime.spawn_blocking(move || std::fs::write(path, line));
            let _ = write.await;
        }
        if matches!(verdict, Verdict::Good | Verdict::Bad(_)) {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(source.path.clone(), (source.clone(), verdict.clone()));
        }
        verdict
    }
}

/// Where it is noted that weights are good, so that the next start need not try them.
fn note_of(source: &Source) -> PathBuf {
    source.path.with_extension("tried")
}

/// What the note says: which file, and for which engine. A later one may see it otherwise.
fn note(source: &Source) -> Option<String> {
    let changed = source.changed?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!(
        "{} {} {}\n",
        env!("CARGO_PKG_VERSION"),
        source.bytes,
        changed.as_nanos()
    ))
}

/// Tries weights.
async fn hold(command: &[OsString], source: &Source) -> Verdict {
    let mut child = match start(command, source) {
        Ok(child) => child,
        Err(error) => {
            // A machine that cannot start a process is no reason to refuse weights that are most likely good.
            tracing::warn!(%error, "weights cannot be tried before they are loaded");
            return Verdict::Untried;
        }
    };
    let time = TIME + Duration::from_secs(source.bytes / SLOW);
    let ended = tokio::time::timeout(time, async {
        let words = last_words(&mut child).await;
        (child.wait().await, words)
    });
    match ended.await {
        Ok((Ok(status), words)) => judge(status, &words),
        Ok((Err(error), _)) => Verdict::Unknown(format!("it cannot be tried: {error}")),
        // It is killed when it is dropped.
        Err(_) => Verdict::Bad(format!(
            "it took longer than {} seconds to load and to write a few words. It is tried again when the file changes, or when Gangway starts anew",
            time.as_secs()
        )),
    }
}

fn start(command: &[OsString], source: &Source) -> std::io::Result<Child> {
    let (program, arguments) = command
        .split_first()
        .ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(program);
    child
        .args(arguments)
        .arg(&source.path)
        // It has no use for keys and the like. The rest is what a program needs to start at all.
        .env_clear()
        .env("GGML_NO_BACKTRACE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    for name in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot"] {
        if let Some(value) = std::env::var_os(name) {
            child.env(name, value);
        }
    }
    child.spawn()
}

/// The end of what a process writes to its standard error.
async fn last_words(child: &mut Child) -> String {
    let mut words = Vec::new();
    let mut part = [0; WORDS];
    if let Some(mut said) = child.stderr.take() {
        while let Ok(read @ 1..) = said.read(&mut part).await {
            words.extend_from_slice(&part[..read]);
            words.drain(..words.len().saturating_sub(WORDS));
        }
    }
    String::from_utf8_lossy(&words).into_owned()
}

fn judge(status: ExitStatus, words: &str) -> Verdict {
    if status.success() {
        return Verdict::Good;
    }
    let mut lines = words.lines().map(str::trim);
    let last = lines.rfind(|line| !line.is_empty());
    let last = last.map_or_else(|| status.to_string(), without_folders);
    if status.code() == Some(i32::from(REFUSED)) {
        // In its own words, which may be about memory and the like: that may be otherwise the next time.
        return Verdict::Unknown(last);
    }
    #[cfg(unix)]
    if std::os::unix::process::ExitStatusExt::signal(&status) == Some(9) {
        let reason = "the system ended the trial of it, most likely for want of memory";
        return Verdict::Unknown(reason.to_owned());
    }
    Verdict::Bad(format!("the file makes the engine stop: {last}"))
}

/// A line without the folders of the machine on which the program was built.
fn without_folders(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let path = word.starts_with('/') || word.starts_with("./");
        if path { word.rsplit('/').next() } else { None }.unwrap_or(word)
    });
    words.collect::<Vec<_>>().join(" ")
}
