//! Commands of a session.

use serde_json::{Map, Value};

use crate::{
    app::{AppEvent, Launch},
    asks::AskEntry,
    event::{Consent, Source},
    id::{AppName, LaunchId, QuestionId, Slug},
    page::{PageEntry, PageId, PageKind},
};

/// What to do with a message while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenBusy {
    /// Queue it.
    #[default]
    Queue,
    /// Reject it.
    Refuse,
}

/// A selection of turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turns {
    /// The turn with this number.
    Numbered(u64),
    /// The turns that this applet started.
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

/// A request to change a session.
#[derive(Debug, Clone)]
pub enum Command {
    /// Send a message to the agent.
    Prompt {
        /// The text.
        prompt: String,
        /// Who sent it.
        source: Source,
        /// Whether the chat shows the message and its turn.
        shown: bool,
        /// What to do while a turn runs.
        when_busy: WhenBusy,
    },
    /// Stop the running turn and drop the queued messages.
    Stop,
    /// Stop only some turns.
    StopOnly(Turns),
    /// Answer the agent's question.
    Answer {
        /// The question.
        question: QuestionId,
        /// The answer.
        text: String,
    },
    /// Change title, model or agent; absent values stay.
    Change {
        /// The new title.
        title: Option<String>,
        /// The new model.
        model: Option<String>,
        /// The new agent.
        agent: Option<String>,
    },
    /// Merge into the state of an applet; `null` removes a key.
    SetState {
        /// The applet.
        applet: Slug,
        /// The changed keys.
        patch: Map<String, Value>,
        /// Who changes it.
        source: Source,
    },
    /// Return the consent for an applet; if it is undecided, ask the user.
    RequestConsent {
        /// The applet.
        applet: Slug,
        /// The message it wants to send.
        prompt: String,
    },
    /// Withdraw an undecided consent request of an applet.
    WithdrawConsentRequest {
        /// The applet.
        applet: Slug,
    },
    /// Decide about the consent for an applet.
    SetConsent {
        /// The applet.
        applet: Slug,
        /// The decision.
        consent: Consent,
    },
    /// Open an applet beside the chat.
    OpenApplet {
        /// The applet.
        applet: Slug,
    },
    /// Reload the pages of this session.
    Reload {
        /// Only this applet.
        applet: Option<Slug>,
    },
    /// Launch an app for an agent.
    Launch(Box<Launch>),
    /// Log an event between an app and its agent; one with an idempotency key is logged once.
    App {
        /// The launch.
        launch: LaunchId,
        /// The app.
        app: AppName,
        /// The event.
        app_event: Box<AppEvent>,
    },
    /// Log an event about a page of the session.
    Page {
        /// The page.
        page: PageId,
        /// Its kind.
        kind: PageKind,
        /// The app, applet, site or relay session that it is.
        name: String,
        /// The event.
        page_event: Box<PageEntry>,
    },
    /// Log a request to the user, or its end.
    Ask {
        /// Identifies the request in this session.
        ask: String,
        /// The entry.
        entry: Box<AskEntry>,
    },
    /// Stop, then delete the session and its log.
    Delete,
}

/// The result of a command, returned once its effect is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    /// The message was accepted.
    Accepted {
        /// Its number, which is also the turn's.
        turn: u64,
    },
    /// Turns were stopped.
    Stopped {
        /// Whether a turn was running.
        running: bool,
        /// The number of dropped messages.
        dropped: usize,
    },
    /// The state was changed.
    State {
        /// Its new version.
        version: u64,
        /// The number of its event, or of the newest event if nothing changed.
        seq: u64,
        /// Whether anything changed.
        changed: bool,
    },
    /// The consent for an applet.
    Consent {
        /// The decision.
        consent: Consent,
        /// Where to follow the log from to see the decision.
        seq: u64,
    },
    /// The event was logged.
    Logged {
        /// Its number.
        seq: u64,
    },
    /// Done.
    Done,
}
