//! Why a server cannot be made, or ended.

use std::path::PathBuf;

use gangway_http::app_address::BadAppsUrl;

/// Why a server cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The store does not open, or an agent is unknown.
    #[error(transparent)]
    Core(#[from] gangway_core::Error),
    /// A script does not work.
    #[error(transparent)]
    Script(#[from] gangway_agents::ScriptError),
    /// The address of apps makes no sense.
    #[error(transparent)]
    AppsUrl(#[from] BadAppsUrl),
    /// Apps would stand where Gangway itself is.
    #[error(
        "apps_url would take {0}, where Gangway itself is; give apps a place of their own, such as https://{{app}}.apps.example.org"
    )]
    AppsTaken(String),
    /// A folder of apps is not there.
    #[error("{folder} is not a folder; give folders with --apps", folder = .0.display())]
    NoApps(PathBuf),
    /// Nobody takes connections any more.
    #[error("the task that takes connections ended by itself; this is a fault in Gangway")]
    AcceptEnded,
}
