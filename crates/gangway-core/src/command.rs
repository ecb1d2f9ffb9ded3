//! Everything that may be asked of a session.

use serde_json::{Map, Value};

use crate::{
    app::{AppNews, Launch},
    event::{Leave, Source},
    id::{AppName, LaunchId, QuestionId, Slug},
};

/// What to do with a message while another is being answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenBusy {
    /// Wait for the turns before it.
    #[default]
    Queue,
    /// Refuse it.
    Refuse,
}

/// Some of the turns of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turns {
    /// The one with this number.
    Numbered(u64),
    /// Those that this applet asked for.
    Of(Slug),
}

impl Turns {
    pub(crate) fn has(&self, turn: u64, source: &Source) -> bool {
        match self {
            Self::Numbered(number) => turn == *number,
            Self::Of(applet) => {
                matches!(source, Source::Applet { slug } if slug == applet.as_str())
            }
        }
    }
}

/// Anything that someone may ask of a session.
#[derive(Debug, Clone)]
pub enum Command {
    /// Answer this message.
    Prompt {
        /// What is said.
        prompt: String,
        /// Who says it.
        source: Source,
        /// Whether the chat shows it and what comes of it.
        shown: bool,
        /// What to do when a turn runs.
        when_busy: WhenBusy,
    },
    /// End the running turn, and forget the messages that wait.
    Stop,
    /// The same for some turns alone; the others go on.
    StopOnly(Turns),
    /// Answer a question of the agent.
    Answer {
        /// Which question.
        question: QuestionId,
        /// The answer.
        text: String,
    },
    /// Change title, model or agent; what is absent stays.
    Change {
        /// The new title.
        title: Option<String>,
        /// The new model.
        model: Option<String>,
        /// The new agent.
        agent: Option<String>,
    },
    /// Change the state of an applet, key by key; `null` takes a key away.
    SetState {
        /// Whose state.
        applet: Slug,
        /// The keys that change.
        patch: Map<String, Value>,
        /// Who changes it.
        source: Source,
    },
    /// Say whether an applet may speak here; if nobody decided, ask the person.
    AskLeave {
        /// Which applet.
        applet: Slug,
        /// What it wants to say.
        prompt: String,
    },
    /// Say that an applet no longer asks for leave, where nothing was decided.
    UnaskLeave {
        /// Which applet.
        applet: Slug,
    },
    /// Decide whether an applet may speak here.
    SetLeave {
        /// Which applet.
        applet: Slug,
        /// What is decided.
        leave: Leave,
    },
    /// Open an applet beside the chat.
    OpenApplet {
        /// Which.
        applet: Slug,
    },
    /// Load the pages of this session anew.
    Reload {
        /// Only this applet.
        applet: Option<Slug>,
    },
    /// Open an app for an agent.
    Launch(Box<Launch>),
    /// Note what happened between an app and its agent. What has a name of its own is noted once.
    App {
        /// Which opening of the app.
        launch: LaunchId,
        /// The app.
        app: AppName,
        /// What happened.
        news: Box<AppNews>,
    },
    /// Stop, then remove the session and its log.
    Delete,
}

/// What a command did. It is given only after the effect is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    /// The message was accepted under this number.
    Accepted {
        /// The number of the message, which names the turn.
        turn: u64,
    },
    /// What was stopped.
    Stopped {
        /// Whether a turn ran.
        running: bool,
        /// How many waiting messages were dropped.
        dropped: usize,
    },
    /// The state was changed.
    State {
        /// Its version now.
        version: u64,
        /// The number of the event that says so; the newest one of the session where nothing changed.
        seq: u64,
        /// Whether anything changed.
        changed: bool,
    },
    /// Whether an applet may speak.
    Leave {
        /// What was decided.
        leave: Leave,
        /// A number of the log; whoever must wait for a decision follows it from there.
        seq: u64,
    },
    /// It is in the log.
    Noted {
        /// Under this number.
        seq: u64,
    },
    /// It is done.
    Done,
}
