//! The files of agents: a private folder for each, and the two sockets.

use std::{
    io,
    path::{Path, PathBuf},
};

use gangway_core::secret::hash;
use gangway_files::make_private_folder;
use gangway_runner::wire::Ticket;

use super::AgentId;

/// A socket's path must fit into 108 bytes everywhere, its name included.
const LONGEST: usize = 80;

/// The folders of agents.
#[derive(Debug, Clone)]
pub struct AgentFolders {
    /// A folder for each agent is in it.
    folder: PathBuf,
    /// The sockets are in it.
    sockets: PathBuf,
}

impl AgentFolders {
    /// The place in this data folder; sockets are elsewhere where their paths would be too long.
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

    /// Where runners come in.
    #[must_use]
    pub fn runners(&self) -> PathBuf {
        self.sockets.join("runners.sock")
    }

    /// Where tmux listens.
    #[must_use]
    pub fn tmux(&self) -> PathBuf {
        self.sockets.join("tmux.sock")
    }

    /// What the runner of an agent is started with.
    #[must_use]
    pub fn ticket(&self, id: &AgentId) -> PathBuf {
        self.of(id).join("ticket.json")
    }

    /// Writes the ticket of an agent, for its owner alone.
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

    /// Removes what is there of an agent; its runner goes when it sees that.
    pub fn remove(&self, id: &AgentId) {
        if let Err(error) = std::fs::remove_dir_all(self.of(id))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the folder of an agent could not be removed");
        }
    }

    /// The agents that have a folder.
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

/// Refuses a folder that somebody else made before us, to listen in.
#[cfg(unix)]
fn own_and_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let known = std::fs::symlink_metadata(folder)?;
    let ours = known.is_dir() && known.uid() == rustix::process::geteuid().as_raw();
    if ours && known.mode() & 0o077 == 0 {
        return Ok(());
    }
    let words = format!("{} is not ours alone", folder.display());
    Err(io::Error::other(words))
}

#[cfg(not(unix))]
fn own_and_private(_: &Path) -> io::Result<()> {
    Ok(())
}
