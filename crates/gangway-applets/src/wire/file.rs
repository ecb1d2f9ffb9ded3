//! Files and folders on the applet channel.

use gangway_files::{ChangeEvent, Kind};
use serde::Serialize;
use ts_rs::TS;
use utoipa::ToSchema;

/// A file or folder of a session's folder.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppletFile {
    /// Relative to the session's folder.
    pub path: String,
    pub name: String,
    pub kind: FileKind,
    /// In bytes.
    #[ts(type = "number")]
    pub size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub modified: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum FileKind {
    File,
    Folder,
    /// A device, pipe, socket, or a link that is broken or leads out of the folder.
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

#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum FileEvent {
    Created,
    /// For a folder: list it again.
    Changed,
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
