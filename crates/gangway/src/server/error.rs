//! Errors of starting and running the server.

use std::path::PathBuf;

use gangway_http::app_address::BadAppsUrl;

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Core(#[from] gangway_core::Error),
    #[error(transparent)]
    Script(#[from] gangway_agents::ScriptError),
    #[error(transparent)]
    AppsUrl(#[from] BadAppsUrl),
    #[error(
        "apps_url includes {0}, Gangway's own host; use a separate one, such as https://{{app}}.apps.example.org"
    )]
    AppsTaken(String),
    #[error("{folder} is not a folder; --apps takes folders", folder = .0.display())]
    NoApps(PathBuf),
    #[error("internal error: the accept loop ended unexpectedly")]
    AcceptEnded,
}
