//! tmux sessions on our own socket.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process::Command;

/// The timeout of a tmux command.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How often, and after how long, a server that was exiting is asked again.
const EXIT_RETRIES: u32 = 10;
const EXIT_WAIT: Duration = Duration::from_millis(20);

/// Lines of scrollback.
const HISTORY: &str = "20000";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TmuxError {
    #[error("tmux cannot be started: {0}; install it, for instance with `apt install tmux`")]
    Missing(String),
    #[error("tmux failed: {0}")]
    Refused(String),
    #[error("tmux does not respond")]
    Silent,
}

/// Our own tmux server.
#[derive(Debug, Clone)]
pub struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// The server at this socket; it starts with its first session and ends with its last.
    #[must_use]
    pub fn at(socket: &Path) -> Self {
        Self {
            socket: socket.to_owned(),
        }
    }

    pub async fn check(&self) -> Result<(), TmuxError> {
        self.run([OsStr::new("-V")]).await.map(|_| ())
    }

    /// Starts a program in its own session.
    pub async fn start(
        &self,
        name: &str,
        folder: &Path,
        program: &[OsString],
    ) -> Result<(), TmuxError> {
        let mut words: Vec<&OsStr> = [
            "set-option",
            "-g",
            "history-limit",
            HISTORY,
            ";",
            // Programs must not set window names, or the clipboard of attached terminals.
            "set-option",
            "-g",
            "set-clipboard",
            "off",
            ";",
            "new-session",
            "-d",
            "-x",
            "120",
            "-y",
            "40",
            "-s",
            name,
            "-c",
        ]
        .map(OsStr::new)
        .into();
        let folder = literal(&folder.to_string_lossy());
        words.push(OsStr::new(&folder));
        words.push(OsStr::new("--"));
        words.extend(program.iter().map(OsString::as_os_str));
        // Needed to set options before the first session exists.
        let begin = ["start-server", ";"].map(OsStr::new);
        self.run(begin.into_iter().chain(words)).await.map(|_| ())
    }

    pub async fn names(&self) -> Result<Vec<String>, TmuxError> {
        self.list(&["list-sessions", "-F", "#{session_name}"]).await
    }

    /// The sessions whose original program still runs: it may have opened further windows, which do not end with it.
    pub async fn running(&self) -> Result<Vec<String>, TmuxError> {
        let windows = [
            "list-windows",
            "-a",
            "-F",
            "#{window_index} #{session_name}",
        ];
        let windows = self.list(&windows).await?;
        let first = windows.iter().filter_map(|line| line.strip_prefix("0 "));
        Ok(first.map(str::to_owned).collect())
    }

    async fn list(&self, words: &[&str]) -> Result<Vec<String>, TmuxError> {
        let mut retries = EXIT_RETRIES;
        loop {
            match self.run(words.iter().map(OsStr::new)).await {
                Ok(lines) => return Ok(lines.lines().map(str::to_owned).collect()),
                // No server means no sessions. After any other error nothing is known: sessions may exist.
                Err(TmuxError::Refused(words)) if is_no_server(&words) => return Ok(Vec::new()),
                // It ended with its last session, between accepting the connection and answering.
                Err(TmuxError::Refused(words)) if is_exit(&words) && retries > 0 => {
                    retries -= 1;
                    tokio::time::sleep(EXIT_WAIT).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the program of this session still runs.
    pub async fn has(&self, name: &str) -> Result<bool, TmuxError> {
        Ok(self.running().await?.iter().any(|one| one == name))
    }

    /// Ends a session and its programs; it need not exist.
    pub async fn end(&self, name: &str) -> Result<(), TmuxError> {
        let target = exactly(name);
        let asked = ["kill-session", "-t", target.as_str()];
        match self.run(asked.map(OsStr::new)).await {
            Ok(_) | Err(TmuxError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The command to attach to a session.
    #[must_use]
    pub fn attach(&self, name: &str) -> Vec<OsString> {
        let message = ["attach-session", "-t"].map(OsString::from);
        let mut command = vec![
            OsString::from("tmux"),
            OsString::from("-S"),
            self.socket.clone().into(),
        ];
        command.extend(message);
        command.push(exactly(name).into());
        command
    }

    /// Attaches to a session from this terminal, until the user detaches.
    pub async fn join(&self, name: &str) -> Result<(), TmuxError> {
        let words = self.attach(name);
        let status = Command::new("tmux").args(&words[1..]).status().await;
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(TmuxError::Refused("attaching failed".into())),
            Err(error) => Err(TmuxError::Missing(error.to_string())),
        }
    }

    async fn run<'a>(
        &self,
        words: impl IntoIterator<Item = &'a OsStr>,
    ) -> Result<String, TmuxError> {
        let mut command = Command::new("tmux");
        command
            .env_clear()
            .envs(gangway_mcp::environment())
            .env("TERM", "screen-256color")
            .arg("-S")
            .arg(&self.socket)
            // The user's settings could do anything, such as keep sessions whose program ended.
            .args(["-f", "/dev/null"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let output = tokio::time::timeout(TIMEOUT, command.output()).await;
        let output = output.map_err(|_| TmuxError::Silent)?;
        let output = output.map_err(|error| TmuxError::Missing(error.to_string()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(TmuxError::Refused(words.trim().chars().take(300).collect()))
    }
}

/// Escapes a path for tmux: `#(…)` would be executed, and a `;` at the end would start another command.
fn literal(path: &str) -> String {
    let path = path.replace('#', "##");
    match path.strip_suffix(';') {
        Some(begin) => format!("{begin}\\;"),
        None => path,
    }
}

/// Whether tmux reports that its server is not running.
fn is_no_server(message: &str) -> bool {
    let connecting = message.starts_with("error connecting to");
    message.starts_with("no server running on")
        || message.starts_with("no sessions")
        || connecting && message.ends_with("(No such file or directory)")
        || connecting && message.ends_with("(Connection refused)")
}

fn is_exit(message: &str) -> bool {
    message.starts_with("server exited") || message.starts_with("lost server")
}

/// Matches this session only, and none with this prefix.
fn exactly(name: &str) -> String {
    format!("={name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_begins_is_listed_and_ends_with_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let tmux = Tmux::at(&folder.path().join("t.sock"));
        tmux.check().await.unwrap();
        assert!(tmux.names().await.unwrap().is_empty());
        let sleep = ["sleep", "60"].map(OsString::from);
        tmux.start("shop-1", folder.path(), &sleep).await.unwrap();
        tmux.start("shop-12", folder.path(), &sleep).await.unwrap();
        assert!(tmux.has("shop-1").await.unwrap());
        assert!(!tmux.has("shop").await.unwrap());
        assert!(matches!(
            tmux.start("shop-1", folder.path(), &sleep).await,
            Err(TmuxError::Refused(_))
        ));
        let more = ["new-window", "-d", "-t", "=shop-12:", "sleep 60"];
        tmux.run(more.map(OsStr::new)).await.unwrap();
        let first = ["kill-window", "-t", "=shop-12:0"];
        tmux.run(first.map(OsStr::new)).await.unwrap();
        assert_eq!(tmux.running().await.unwrap(), ["shop-1"]);
        tmux.end("shop-1").await.unwrap();
        assert_eq!(tmux.names().await.unwrap(), ["shop-12"]);
        tmux.end("shop-12").await.unwrap();
        tmux.end("shop-12").await.unwrap();
        assert!(tmux.names().await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn the_name_of_a_folder_is_a_name_and_no_command() {
        let outside = tempfile::tempdir().unwrap();
        let tmux = Tmux::at(&outside.path().join("t.sock"));
        let folder = outside.path().join("#(touch run) #S ##;");
        std::fs::create_dir(&folder).unwrap();
        let touch = ["sh", "-c", "touch here; sleep 60"].map(OsString::from);
        tmux.start("shop-1", &folder, &touch).await.unwrap();
        let here = folder.join("here");
        for _ in 0..500 {
            if here.exists() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let found = std::fs::read_dir(outside.path()).unwrap().flatten();
        let mut found: Vec<_> = found.map(|entry| entry.file_name()).collect();
        found.sort();
        assert_eq!(found, ["#(touch run) #S ##;", "t.sock"]);
        assert!(here.exists());
        tmux.end("shop-1").await.unwrap();
    }
}
