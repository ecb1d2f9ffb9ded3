//! Files and folders as the session channel describes them.

use gangway_files::{ChangeEvent, Kind};
use serde::Serialize;
use ts_rs::TS;
use utoipa::ToSchema;

/// A file or folder of a session's folder.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppletFile {
    /// Where it is, from the session's folder on.
    pub path: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Bytes of a file.
    #[ts(type = "number")]
    pub size: u64,
    /// When it was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub modified: Option<String>,
}

/// What something in a folder is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A device, a pipe, a socket, or a link that leads out or nowhere.
    Other,
}

impl From<Kind> for FileKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File,
            Kind::Folder => Self::Folder,
            Kind::Other => Self::Other,
        }
    }
}

/// What happened to a file or folder.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum FileEvent {
    /// It is there now.
    Created,
    /// It is another than before; of a folder: look at all of it again.
    Changed,
    /// It is gone.
    Removed,
}

impl From<ChangeEvent> for FileEvent {
    fn from(event: ChangeEvent) -> Self {
        match event {
            ChangeEvent::Created => Self::Created,
            ChangeEvent::Changed => Self::Changed,
            ChangeEvent::Removed => Self::Removed,
        }
    }
}
