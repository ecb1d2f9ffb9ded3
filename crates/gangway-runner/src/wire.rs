//! What a runner and its server say to each other: one JSON object a line, over a local socket.

use std::{collections::BTreeMap, path::PathBuf};

use gangway_core::{Source, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest line: the largest message of a person, escaped, fits into it.
pub const LINE_BYTES: usize = 32 << 20;

/// How a runner finds its server; kept in a file that only its owner can read.
#[derive(Clone, Serialize, Deserialize)]
pub struct Ticket {
    /// The socket.
    pub socket: PathBuf,
    /// The agent that the runner is.
    pub agent: String,
    /// Shows that it is.
    pub token: String,
}

/// A line of a runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromRunner {
    /// The first line of each connection.
    Hello {
        /// The agent.
        agent: String,
        /// The token of the ticket.
        token: String,
        /// The process.
        pid: u32,
        /// Whether it still needs its setup.
        fresh: bool,
    },
    /// The executor is there and knows its persona; it can take messages.
    Ready,
    /// It could not be made; the runner ends after this.
    Broken {
        /// What happened and what to do.
        message: String,
    },
    /// Something that happens in a turn. Kept by the runner, and said again after a break, until it was heard.
    Said {
        /// Counts up from 1 without gaps for the life of the runner.
        n: u64,
        /// The turn.
        turn: u64,
        /// What.
        what: What,
    },
    /// Somebody typed a message into the pane.
    Typed {
        /// What.
        text: String,
    },
}

/// What can happen in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// The executor has the message.
    Taken,
    /// A piece of an answer.
    Delta {
        /// The piece.
        text: String,
    },
    /// The message that the pieces made is whole.
    MessageEnd,
    /// A tool is called.
    Call {
        /// Counts the calls of the turn from 1.
        call: u32,
        /// `server/tool`, or what the agent calls it.
        tool: String,
        /// With what.
        arguments: Value,
    },
    /// A tool answered.
    Result {
        /// Which call.
        call: u32,
        /// As in the call.
        tool: String,
        /// The answer, or why there is none.
        result: Result<Value, String>,
    },
    /// The person is asked.
    Question {
        /// Counts the questions of the turn from 1.
        question: u32,
        /// What is asked.
        text: String,
        /// Answers offered.
        options: Vec<String>,
    },
    /// Something the person should know.
    Notice {
        /// What.
        text: String,
    },
    /// How full the model's window is.
    Context {
        /// Tokens in it.
        used: u64,
        /// Tokens that fit, where that is known.
        window: Option<u64>,
    },
    /// The turn is over.
    Done {
        /// What it used.
        usage: Option<Usage>,
    },
    /// The turn cannot go on.
    Failed {
        /// A short machine-readable reason.
        code: String,
        /// What to tell the person.
        message: String,
        /// Whether the same message may work later.
        retryable: bool,
    },
}

/// A line of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToRunner {
    /// The first line of each connection.
    Welcome {
        /// What the runner is to be, if it asked.
        setup: Option<Box<Setup>>,
        /// Up to this number everything is kept.
        heard: u64,
        /// The turn that runs; any other one that the runner still has is over.
        turn: Option<u64>,
    },
    /// The runner has no business here, and ends.
    Refused {
        /// Why.
        message: String,
    },
    /// Take this message. It may come again after a break.
    Prompt {
        /// The turn.
        turn: u64,
        /// What was said.
        text: String,
        /// Who said it.
        source: Source,
    },
    /// A question was answered. It may come again after a break.
    Answer {
        /// The turn.
        turn: u64,
        /// Which question.
        question: u32,
        /// The answer.
        text: String,
    },
    /// The turn was stopped.
    Stop {
        /// The turn.
        turn: u64,
    },
    /// Up to this number everything is kept.
    Heard {
        /// The number.
        n: u64,
    },
    /// What was typed into the pane could not be taken.
    NotTyped {
        /// Why.
        message: String,
    },
    /// Continue with a fresh context and a summary from the next message on, however full the window is.
    HandOver,
    /// Finish and go.
    End,
}

/// What a runner is to be.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The project's name.
    pub project: String,
    /// Its folder, in which the agent works.
    pub folder: PathBuf,
    /// Who the agent is.
    pub persona: Persona,
    /// Rules of the operator, which come before the persona.
    #[serde(default)]
    pub guardrails: Option<String>,
    /// What happens as the model's window fills up.
    #[serde(default)]
    pub context: ContextLimits,
    /// What thinks.
    pub brain: Brain,
    /// The model that the project wants, if any.
    pub model: Option<String>,
    /// The only MCP servers that the project wants; all when absent.
    pub mcp_servers: Option<Vec<String>>,
    /// What the built-in loop needs of the server's own settings.
    pub settings: Value,
}

/// What happens as the model's window fills up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextLimits {
    /// Percentages at which the person is warned.
    pub warn_percent: Vec<u8>,
    /// From this percentage on, the next message goes to a fresh context with a summary; never when absent.
    pub hand_over_percent: Option<u8>,
}

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    /// Its name.
    pub slug: String,
    /// What it can do and how it behaves.
    pub skill: String,
    /// What it has lived through, if it has.
    pub experience: Option<String>,
}

/// What thinks in a runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Brain {
    /// The built-in loop of a model with tools.
    Builtin,
    /// An agent that speaks the Agent Client Protocol on its standard input and output.
    Acp {
        /// The program and its arguments.
        command: Vec<String>,
        /// Its environment, beside the usual.
        env: BTreeMap<String, String>,
    },
    /// A program for terminals.
    Terminal {
        /// The program and its arguments.
        command: Vec<String>,
        /// Its environment, beside the usual.
        env: BTreeMap<String, String>,
        /// A pattern that the last line fits when it waits for input.
        prompt: Option<String>,
        /// How long it must be quiet to be done, in milliseconds.
        quiet_ms: u64,
    },
    /// A program for terminals that runs in somebody's own tmux, and stays there.
    Adopted(Adopted),
}

/// A program that was running in somebody's own tmux before it became an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// The socket of the tmux server.
    pub socket: PathBuf,
    /// The pane's id, such as `%3`.
    pub pane: String,
    /// The process group in its foreground and when that began. Nothing is typed into any other.
    pub foreground: String,
    /// The name of the program.
    pub program: String,
    /// A pattern that the last line fits when it waits for input.
    pub prompt: Option<String>,
    /// How long it must be quiet to be done, in milliseconds.
    pub quiet_ms: u64,
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = out.debug_struct("Ticket");
        fields.field("agent", &self.agent).finish_non_exhaustive()
    }
}

// Settings and environments hold keys.
impl std::fmt::Debug for Setup {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = out.debug_struct("Setup");
        fields.field("project", &self.project);
        fields.field("folder", &self.folder).finish_non_exhaustive()
    }
}
