//! What a server is and how it is to be treated.

use std::{
    collections::BTreeMap, ffi::OsString, fmt, path::PathBuf, str::FromStr, sync::Arc,
    time::Duration,
};

use crate::{
    oauth::TokenStore,
    outbound::{Resolve, SystemResolver},
};

/// The longest id of a server.
const MAX_ID: usize = 64;

/// A server's name: small letters, digits, `-`, `_` and `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(Arc<str>);

/// A text that names no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no server; use 1 to {MAX_ID} small letters, digits, '-', '_' or '.', and not only dots"
)]
pub struct BadServerId(String);

impl ServerId {
    /// Gangway itself, whose own tools and questions carry this name.
    #[must_use]
    pub fn own() -> Self {
        Self(Arc::from(gangway_core::OWN))
    }

    /// The text of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ServerId {
    type Err = BadServerId;

    fn from_str(text: &str) -> Result<Self, BadServerId> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        // An id becomes part of file names elsewhere, so that `.` and `..` are none.
        let empty = text.chars().all(|c| c == '.');
        if empty || text.len() > MAX_ID || !text.chars().all(fits) {
            return Err(BadServerId(text.chars().take(2 * MAX_ID).collect()));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Where a URL may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UrlPolicy {
    /// Anywhere: a person typed it.
    Any,
    /// Only to addresses on the public internet: a page gave it.
    #[default]
    PublicOnly,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process, spoken to over its standard input and output.
    Stdio {
        /// The program.
        command: OsString,
        /// What it is given.
        args: Vec<OsString>,
        /// What is added to its environment.
        env: BTreeMap<OsString, OsString>,
        /// Where it runs; here when not said.
        cwd: Option<PathBuf>,
    },
    /// A URL: streamable HTTP, or the older HTTP with server-sent events.
    Http {
        /// The URL.
        url: String,
        /// Sent along with every request.
        headers: BTreeMap<String, String>,
        /// Where the URL may lead.
        policy: UrlPolicy,
    },
}

impl fmt::Debug for Transport {
    // Environments and headers hold secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, .. } => write!(out, "Stdio({})", command.display()),
            Self::Http { policy, .. } => write!(out, "Http({policy:?})"),
        }
    }
}

/// A server to keep running. What equals what runs already is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name.
    pub id: ServerId,
    /// How it is reached.
    pub transport: Transport,
    /// How long a call may take; as the settings say when not said.
    pub timeout: Option<Duration>,
    /// How long a call of one tool may take, by the name its server gives it.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// Whether it starts with everything else.
    pub enabled: bool,
    /// As whom to log in, at servers that do not let anybody register.
    pub login: Option<LoginClient>,
}

/// A client that somebody registered at a server by hand.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginClient {
    /// Its id.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<String>,
}

impl fmt::Debug for LoginClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "LoginClient({})", self.id)
    }
}

impl ServerSpec {
    /// A child process.
    #[must_use]
    pub fn stdio(id: ServerId, command: impl Into<OsString>, args: Vec<OsString>) -> Self {
        let transport = Transport::Stdio {
            command: command.into(),
            args,
            env: BTreeMap::new(),
            cwd: None,
        };
        Self::new(id, transport)
    }

    /// A URL.
    #[must_use]
    pub fn http(id: ServerId, url: impl Into<String>, policy: UrlPolicy) -> Self {
        let transport = Transport::Http {
            url: url.into(),
            headers: BTreeMap::new(),
            policy,
        };
        Self::new(id, transport)
    }

    /// Whether it is reached at a URL.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        matches!(self.transport, Transport::Http { .. })
    }

    fn new(id: ServerId, transport: Transport) -> Self {
        Self {
            id,
            transport,
            timeout: None,
            tool_timeouts: BTreeMap::new(),
            enabled: true,
            login: None,
        }
    }
}

/// How all servers are treated.
#[derive(Clone)]
pub struct Settings {
    /// How long a call may take.
    pub call_timeout: Duration,
    /// How long a person may take to answer a server's question; the call waits meanwhile.
    pub ask_timeout: Duration,
    /// Calls of one caller that run at the same time.
    pub per_caller: usize,
    /// Calls of one caller that may wait for a turn; more are told that it is busy.
    pub waiting_per_caller: usize,
    /// The size in bytes from which on a result is cut.
    pub max_result_bytes: usize,
    /// The largest message that is read from a server at all.
    pub max_message_bytes: usize,
    /// Bytes of cut results kept so that the rest of them can be read.
    pub max_kept_bytes: usize,
    /// How long a server may take from its start to being ready. Downloading one takes a while.
    pub start_timeout: Duration,
    /// How often in a row a server may fail before it is left alone.
    pub tries: u32,
    /// The wait after a first failure; it doubles with each further one.
    pub backoff: Duration,
    /// A server that was ready for this long has no failures behind it.
    pub settled_after: Duration,
    /// How long a child may take to end by itself, and then once more after it was told to.
    pub grace: Duration,
    /// Lines kept of each server's log.
    pub log_lines: usize,
    /// Tools of one server that are listed; more are left out, and its log says so.
    pub max_tools: usize,
    /// What is put in front of a child's command line so that it ends when Gangway does, however Gangway ends: a
    /// command that calls [`crate::guard::run`] with what follows it.
    pub guard: Option<Vec<OsString>>,
    /// The search path of children, in place of Gangway's own.
    pub path: Option<OsString>,
    /// Where tokens are kept that servers at a URL give after a login; without it nobody can log in.
    pub tokens: Option<Arc<dyn TokenStore>>,
    /// Who turns names into addresses.
    pub resolver: Arc<dyn Resolve>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            call_timeout: Duration::from_secs(30),
            ask_timeout: Duration::from_secs(120),
            per_caller: 2,
            waiting_per_caller: 256,
            max_result_bytes: 256 * 1024,
            max_message_bytes: 16 * 1024 * 1024,
            max_kept_bytes: 64 * 1024 * 1024,
            start_timeout: Duration::from_secs(60),
            tries: 3,
            backoff: Duration::from_millis(500),
            settled_after: Duration::from_secs(60),
            grace: Duration::from_millis(1500),
            log_lines: 1000,
            max_tools: 1000,
            guard: None,
            path: None,
            tokens: None,
            resolver: Arc::new(SystemResolver),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_id_is_small_letters_digits_and_three_signs() {
        for text in ["a", "files", "my-server_2.0", &"x".repeat(64)] {
            assert_eq!(text.parse::<ServerId>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "A",
            "a/b",
            "a b",
            "ä",
            ".",
            "..",
            "a\n",
            &"x".repeat(65),
        ] {
            assert!(text.parse::<ServerId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn secrets_of_a_server_are_not_shown() {
        let mut spec = ServerSpec::http("a".parse().unwrap(), "https://u:pw@x/", UrlPolicy::Any);
        if let Transport::Http { headers, .. } = &mut spec.transport {
            headers.insert("authorization".into(), "hunter2".into());
        }
        let shown = format!("{spec:?}");
        assert!(
            !shown.contains("hunter2") && !shown.contains("pw"),
            "{shown}"
        );
    }
}
