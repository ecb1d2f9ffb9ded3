//! Where a command does its work: through the server of a data folder, or on the folder itself when none runs.

use std::path::Path;

use gangway_client::{DataError, DataFolder};
pub(super) use gangway_client::{Refused, ServerClient as Through, encode::in_url as encoded};

/// Where to work.
pub(super) enum Place {
    /// A server has the folder.
    Server(Through),
    /// The folder is ours.
    Folder(DataFolder),
}

impl Place {
    /// Takes the folder, or finds the server that has it.
    pub(super) fn find(data: &Path) -> anyhow::Result<Self> {
        match DataFolder::take(data) {
            Ok(folder) => Ok(Self::Folder(folder)),
            Err(DataError::InUse {
                server: Some(note), ..
            }) => Ok(Self::Server(Through::to(note)?)),
            Err(error) => Err(error.into()),
        }
    }
}
