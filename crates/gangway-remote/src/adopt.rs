//! Adopting programs of the user's own tmux as agents.

use std::{path::PathBuf, sync::Arc};

use gangway_runner::{terminal::NotAdoptable, wire::Adopted};
use regex::Regex;

use super::{AdoptedRecord, CreateError, Created, Flags, NewAgent, RemoteAgents};

#[derive(Debug, Clone)]
pub struct Adoption {
    pub project: String,
    /// The persona that it is given; `None` leaves the program as it is.
    pub persona: Option<String>,
    /// The first message, if any.
    pub prompt: Option<String>,
    pub flags: Flags,
    pub caller: String,
    /// The socket of the tmux server.
    pub socket: PathBuf,
    /// A tmux target.
    pub target: String,
    /// Whether a shell may be adopted.
    pub shell: bool,
    /// A pattern that the last line matches when the program waits for input.
    pub prompt_pattern: Option<String>,
    /// How long without output ends a turn, in milliseconds.
    pub quiet_ms: u64,
}

impl RemoteAgents {
    /// Turns a running program into an agent. It keeps running when the agent ends.
    pub async fn adopt(self: &Arc<Self>, wanted: Adoption) -> Result<Created, CreateError> {
        let refused = |message: String| Err(CreateError::NotAdoptable(message));
        if let Some(pattern) = &wanted.prompt_pattern
            && let Err(error) = Regex::new(pattern)
        {
            return refused(format!(
                "`prompt_pattern` is not a regular expression: {error}"
            ));
        }
        let Ok(socket) = wanted.socket.canonicalize() else {
            let socket = wanted.socket.display();
            return refused(format!("no tmux server is listening at {socket}"));
        };
        if self
            .folders
            .tmux()
            .canonicalize()
            .is_ok_and(|own| own == socket)
        {
            return refused("this pane already belongs to a remote agent".into());
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
            Err(NotAdoptable::NoPane(message)) if message.contains("tmux could not be started") => {
                return Err(CreateError::Unavailable(message));
            }
            Err(error) => return refused(error.to_string()),
        };
        let request = NewAgent {
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
        self.create(request).await
    }
}
