//! The messages between a runner and its server: one JSON object per line, over a local socket.

use std::{collections::BTreeMap, path::PathBuf};

use gangway_core::{Source, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest line: the largest message of a user, escaped, fits into it.
pub const LINE_BYTES: usize = 32 << 20;

/// Bytes of the arguments of a page's tool.
pub const PAGE_ARGUMENTS: usize = 512 << 10;

/// How a runner finds its server; in a file that only its owner can read.
#[derive(Clone, Serialize, Deserialize)]
pub struct Ticket {
    pub socket: PathBuf,
    pub agent: String,
    /// Authenticates the runner.
    pub token: String,
}

/// A message of a runner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromRunner {
    /// The first message of each connection.
    Hello {
        agent: String,
        /// The token of the ticket.
        token: String,
        /// The process id.
        pid: u32,
        /// Whether it still needs its setup.
        fresh: bool,
        /// The number of the connection, which counts up; absent for runners that know no page tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        connection: Option<u64>,
    },
    /// The executor has started and can take messages.
    Ready,
    /// The executor could not be started; the runner ends after this.
    Broken {
        /// What happened and what to do.
        message: String,
    },
    /// An event of a turn. Kept by the runner, and sent again after a reconnect, until it is acknowledged.
    Said {
        /// Counts up from 1 without gaps for the life of the runner.
        n: u64,
        turn: u64,
        what: TurnEvent,
    },
    /// The operator typed a message into the pane.
    Typed { text: String },
    /// A message of a newer version, which is ignored.
    #[serde(other)]
    Unknown,
}

/// An event of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TurnEvent {
    /// The executor has the message.
    Taken,
    /// A part of a message.
    Delta {
        text: String,
    },
    /// The message of the deltas is complete.
    MessageEnd,
    Call {
        /// Counts the calls of the turn from 1.
        call: u32,
        /// `server/tool`, or the agent's own name for it.
        tool: String,
        arguments: Value,
    },
    /// The result of a call that the runner made, or why one of a page's tool has none here.
    Result {
        call: u32,
        tool: String,
        result: Result<Value, String>,
    },
    /// A call of a page's tool, which the server makes and logs.
    PageCall {
        /// Counted with the other calls of the turn.
        call: u32,
        /// `server/tool`
        tool: String,
        arguments: Value,
        /// The connection that it belongs to. It is not made over a later one: the runner has given it up by then.
        connection: u64,
    },
    Question {
        /// Counts the questions of the turn from 1.
        question: u32,
        text: String,
        options: Vec<String>,
    },
    /// A notice for the user.
    Notice {
        text: String,
    },
    /// How full the context window is.
    Context {
        /// Tokens in the context.
        used: u64,
        /// The size of the context window, if known.
        window: Option<u64>,
    },
    Done {
        usage: Option<Usage>,
    },
    Failed {
        /// A machine-readable code.
        code: String,
        /// For the user.
        message: String,
        /// Whether the same message may work later.
        retryable: bool,
    },
    /// An event of a newer version, which is ignored.
    #[serde(other)]
    Unknown,
}

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToRunner {
    /// The first message of each connection.
    Welcome {
        /// If the runner asked for it.
        setup: Option<Box<Setup>>,
        /// The last acknowledged number.
        heard: u64,
        /// The running turn; any other turn of the runner is over.
        turn: Option<u64>,
    },
    /// The runner is unknown and must end.
    Refused {
        message: String,
    },
    /// Take this message. It may be sent again after a reconnect.
    Prompt {
        turn: u64,
        text: String,
        source: Source,
    },
    /// A question was answered. It may be sent again after a reconnect.
    Answer {
        turn: u64,
        question: u32,
        text: String,
    },
    Stop {
        turn: u64,
    },
    /// Acknowledges messages up to this number.
    Heard {
        n: u64,
    },
    /// A message typed into the pane was not accepted.
    NotTyped {
        message: String,
    },
    /// Compact the context with the next message, however full the window is.
    HandOver,
    /// All tools of the open pages of the agent's session, in place of those before.
    PageTools {
        /// The runner's connection that calls of them belong to.
        connection: u64,
        tools: Vec<PageTool>,
    },
    /// The result of a call of a page's tool; sent once, on the connection of the call.
    PageResult {
        turn: u64,
        call: u32,
        result: Result<Value, String>,
    },
    /// Finish and exit.
    End,
    /// A message of a newer version, which is ignored.
    #[serde(other)]
    Unknown,
}

/// A tool of an open page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageTool {
    /// `server/tool`
    pub name: String,
    pub description: String,
    pub input_schema: Value,
}

/// The configuration of a runner.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    pub project: String,
    /// The project's folder, in which the agent works.
    pub folder: PathBuf,
    pub persona: Persona,
    /// Rules of the operator, which come before the persona.
    #[serde(default)]
    pub guardrails: Option<String>,
    #[serde(default)]
    pub context: ContextLimits,
    #[serde(alias = "brain")]
    pub backend: Backend,
    /// The model of the project, if any.
    pub model: Option<String>,
    /// The MCP servers of the project; all when absent.
    pub mcp_servers: Option<Vec<String>>,
    /// The server's settings for the built-in loop.
    pub settings: Value,
}

/// What happens as the context window fills up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextLimits {
    /// Percentages at which the user is warned.
    pub warn_percent: Vec<u8>,
    /// From this percentage on, the context is compacted with the next message; never when absent.
    pub hand_over_percent: Option<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    pub slug: String,
    /// What it can do and how it behaves.
    pub skill: String,
    /// Its experience so far, if any.
    pub experience: Option<String>,
}

/// What runs the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Backend {
    Builtin,
    /// An agent that uses the Agent Client Protocol over stdio.
    Acp {
        /// The program and its arguments.
        command: Vec<String>,
        /// Added to its environment.
        env: BTreeMap<String, String>,
    },
    Terminal {
        /// The program and its arguments.
        command: Vec<String>,
        /// Added to its environment.
        env: BTreeMap<String, String>,
        /// A pattern that matches the last line when it waits for input.
        prompt: Option<String>,
        /// How long its output must be quiet to be complete, in milliseconds.
        quiet_ms: u64,
    },
    /// A terminal program in the user's own tmux, which stays there.
    Adopted(Adopted),
}

/// A program that ran in the user's own tmux before it became an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// The socket of the tmux server.
    pub socket: PathBuf,
    /// The pane's id, such as `%3`.
    pub pane: String,
    /// The foreground process group and its start time. Nothing is typed into any other.
    pub foreground: String,
    pub program: String,
    /// A pattern that matches the last line when it waits for input.
    pub prompt: Option<String>,
    /// How long its output must be quiet to be complete, in milliseconds.
    pub quiet_ms: u64,
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = out.debug_struct("Ticket");
        fields.field("agent", &self.agent).finish_non_exhaustive()
    }
}

// Settings and environment contain keys.
impl std::fmt::Debug for Setup {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = out.debug_struct("Setup");
        fields.field("project", &self.project);
        fields.field("folder", &self.folder).finish_non_exhaustive()
    }
}
