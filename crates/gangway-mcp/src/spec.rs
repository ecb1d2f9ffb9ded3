//! Server configuration and settings.

use std::{
    collections::BTreeMap, ffi::OsString, fmt, path::PathBuf, str::FromStr, sync::Arc,
    time::Duration,
};

use crate::{
    oauth::TokenStore,
    outbound::{Resolve, SystemResolver},
};

const MAX_ID: usize = 64;

/// A server's id: lowercase letters, digits, `-`, `_` and `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(Arc<str>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a server id; use 1 to {MAX_ID} lowercase letters, digits, '-', '_' or '.', and not only dots"
)]
pub struct BadServerId(String);

impl ServerId {
    /// Gangway itself, for its own tools and questions.
    #[must_use]
    pub fn own() -> Self {
        Self(Arc::from(gangway_core::OWN))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ServerId {
    type Err = BadServerId;

    fn from_str(text: &str) -> Result<Self, BadServerId> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        // An id becomes part of file names, so `.` and `..` are invalid.
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
    /// Anywhere: the user entered it.
    Any,
    /// Only to public addresses: a page provided it.
    #[default]
    PublicOnly,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    Stdio {
        command: OsString,
        args: Vec<OsString>,
        /// Added to its environment.
        env: BTreeMap<OsString, OsString>,
        /// The current folder by default.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP, or the older HTTP with server-sent events.
    Http {
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, String>,
        policy: UrlPolicy,
    },
}

impl fmt::Debug for Transport {
    // Environment and headers contain secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, .. } => write!(out, "Stdio({})", command.display()),
            Self::Http { policy, .. } => write!(out, "Http({policy:?})"),
        }
    }
}

/// A server to keep running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    pub id: ServerId,
    pub transport: Transport,
    /// The timeout of a call; the settings' default when absent.
    pub timeout: Option<Duration>,
    /// Timeouts of single tools, by their name at the server.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// Whether it is started.
    pub enabled: bool,
    /// For servers without dynamic client registration.
    pub login: Option<LoginClient>,
}

/// A client that was registered at a server by hand.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginClient {
    pub id: String,
    pub secret: Option<String>,
}

impl fmt::Debug for LoginClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "LoginClient({})", self.id)
    }
}

impl ServerSpec {
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

    #[must_use]
    pub fn http(id: ServerId, url: impl Into<String>, policy: UrlPolicy) -> Self {
        let transport = Transport::Http {
            url: url.into(),
            headers: BTreeMap::new(),
            policy,
        };
        Self::new(id, transport)
    }

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

#[derive(Clone)]
pub struct Settings {
    /// What servers read as the name of their client.
    pub client_name: String,
    /// The timeout of a call.
    pub call_timeout: Duration,
    /// How long the user may take to answer a server's question; the call waits meanwhile.
    pub ask_timeout: Duration,
    /// Concurrent calls per caller.
    pub per_caller: usize,
    /// Waiting calls per caller; more are refused as busy.
    pub waiting_per_caller: usize,
    /// Results larger than this are truncated.
    pub max_result_bytes: usize,
    /// The largest message that is read from a server.
    pub max_message_bytes: usize,
    /// Bytes of truncated results that are kept for reading on.
    pub max_kept_bytes: usize,
    /// How long a server may take to start. Downloading one takes a while.
    pub start_timeout: Duration,
    /// Consecutive failures before a server is given up.
    pub tries: u32,
    /// The pause after the first failure, doubled with each further one.
    pub backoff: Duration,
    /// A server that was ready for this long has its failure count reset.
    pub settled_after: Duration,
    /// How long a child may take to exit by itself, and again after SIGTERM.
    pub grace: Duration,
    /// Lines kept of each server's log.
    pub log_lines: usize,
    /// Tools per server; more are ignored and logged.
    pub max_tools: usize,
    /// A command that is put in front of a child's command line, so that it ends when Gangway does, however Gangway
    /// ends. It calls [`crate::guard::run`] with its arguments.
    pub guard: Option<Vec<OsString>>,
    /// The `PATH` of children, instead of Gangway's own.
    pub path: Option<OsString>,
    /// Stores OAuth tokens; without it logins are not possible.
    pub tokens: Option<Arc<dyn TokenStore>>,
    pub resolver: Arc<dyn Resolve>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            client_name: "gangway".to_owned(),
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
