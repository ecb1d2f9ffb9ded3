//! Programs that ran in the person's own tmux before, as agents.

use std::{path::PathBuf, sync::Arc};

use gangway_runner::{terminal::NotAdoptable, wire::Adopted};
use regex::Regex;

use super::{AdoptedRecord, CreateError, Created, Flags, NewAgent, RemoteAgents};

/// Which program is to become an agent.
#[derive(Debug, Clone)]
pub struct Adoption {
    /// The project.
    pub project: String,
    /// The persona that it is told; who it is already, when absent.
    pub persona: Option<String>,
    /// What it is told first, if anything.
    pub prompt: Option<String>,
    /// What its chat shows.
    pub flags: Flags,
    /// Who wants it.
    pub caller: String,
    /// The socket of the tmux server.
    pub socket: PathBuf,
    /// The pane, as tmux names it.
    pub target: String,
    /// Whether a shell is meant.
    pub shell: bool,
    /// A pattern that the last line fits when the program waits for input.
    pub prompt_pattern: Option<String>,
    /// How long it must be quiet to be done, in milliseconds.
    pub quiet_ms: u64,
}

impl RemoteAgents {
    /// Makes an agent of a program that runs. It stays where it is, also when the agent ends.
    pub async fn adopt(self: &Arc<Self>, wanted: Adoption) -> Result<Created, CreateError> {
        let refused = |words: String| Err(CreateError::NotAdoptable(words));
        if let Some(pattern) = &wanted.prompt_pattern
            && let Err(error) = Regex::new(pattern)
        {
            return refused(format!(
                "`prompt_pattern` is not a regular expression: {error}"
            ));
        }
        let Ok(socket) = wanted.socket.canonicalize() else {
            let socket = wanted.socket.display();
            return refused(format!("there is no tmux server at {socket}"));
        };
        if self
            .folders
            .tmux()
            .canonicalize()
            .is_ok_and(|own| own == socket)
        {
            return refused("this pane belongs to a remote agent already".into());
        }
        let pane = Adopted::find(
            &socket,
            &wanted.target,
            wanted.shell,
            wanted.prompt_pattern,
            wanted.quiet_ms,
        );
        let pane = match pane.await {
            Ok(pane) => pane,
            Err(NotAdoptable::NoPane(words)) if words.contains("tmux could not be started") => {
                return Err(CreateError::Unavailable(words));
            }
            Err(error) => return refused(error.to_string()),
        };
        let wish = NewAgent {
            project: wanted.project,
            persona: wanted
                .persona
                .clone()
                .unwrap_or_else(|| pane.program.clone()),
            prompt: wanted.prompt.unwrap_or_default(),
            flags: wanted.flags,
            caller: wanted.caller,
            once: None,
            adopted: Some(AdoptedRecord {
                pane,
                has_persona: wanted.persona.is_some(),
            }),
        };
        self.create(wish).await
    }
}
