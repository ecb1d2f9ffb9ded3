//! The files of agents: a private folder for each, and the two sockets.

use std::{
    io,
    path::{Path, PathBuf},
};

use gangway_core::secret::hash;
use gangway_files::make_private_folder;
use gangway_runner::wire::Ticket;

use super::AgentId;

/// A socket path must fit into 108 bytes on every system, including its name.
const LONGEST: usize = 80;

#[derive(Debug, Clone)]
pub struct AgentFolders {
    /// Contains a folder per agent.
    folder: PathBuf,
    /// Contains the sockets.
    sockets: PathBuf,
}

impl AgentFolders {
    /// In the data folder; sockets are elsewhere if their paths would be too long.
    pub fn new(data: &Path) -> io::Result<Self> {
        let folder = std::path::absolute(data.join("agents"))?;
        make_private_folder(&folder)?;
        let sockets = if folder.as_os_str().len() <= LONGEST {
            folder.clone()
        } else {
            let name = &hash(&folder.to_string_lossy())[..16];
            let short = std::env::temp_dir().join(format!("gangway-{name}"));
            make_private_folder(&short)?;
            own_and_private(&short)?;
            short
        };
        Ok(Self { folder, sockets })
    }

    /// The socket for runners.
    #[must_use]
    pub fn runners(&self) -> PathBuf {
        self.sockets.join("runners.sock")
    }

    /// The socket of the tmux server.
    #[must_use]
    pub fn tmux(&self) -> PathBuf {
        self.sockets.join("tmux.sock")
    }

    /// The file that the runner of an agent is started with.
    #[must_use]
    pub fn ticket(&self, id: &AgentId) -> PathBuf {
        self.of(id).join("ticket.json")
    }

    /// Readable only by its owner.
    pub fn write_ticket(&self, id: &AgentId, token: &str) -> io::Result<()> {
        make_private_folder(&self.of(id))?;
        let ticket = Ticket {
            socket: self.runners(),
            agent: id.to_string(),
            token: token.to_owned(),
        };
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(self.ticket(id))?;
        io::Write::write_all(&mut file, &serde_json::to_vec(&ticket)?)
    }

    /// Removes an agent's files; its runner exits when it notices.
    pub fn remove(&self, id: &AgentId) {
        if let Err(error) = std::fs::remove_dir_all(self.of(id))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "cannot remove the folder of an agent");
        }
    }

    /// Agents that have a folder.
    #[must_use]
    pub fn agents(&self) -> Vec<AgentId> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let names = entries.flatten().map(|entry| entry.file_name());
        names
            .filter_map(|name| name.to_str()?.parse().ok())
            .collect()
    }

    fn of(&self, id: &AgentId) -> PathBuf {
        self.folder.join(id.as_str())
    }
}

/// Rejects a folder that another user created beforehand to intercept connections.
#[cfg(unix)]
fn own_and_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let known = std::fs::symlink_metadata(folder)?;
    let ours = known.is_dir() && known.uid() == rustix::process::geteuid().as_raw();
    if ours && known.mode() & 0o077 == 0 {
        return Ok(());
    }
    let message = format!("{} is accessible to other users", folder.display());
    Err(io::Error::other(message))
}

#[cfg(not(unix))]
fn own_and_private(_: &Path) -> io::Result<()> {
    Ok(())
}
