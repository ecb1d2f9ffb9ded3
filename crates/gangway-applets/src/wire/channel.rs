//! The messages of the session channel, both ways.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

pub use super::file::{AppletFile, FileEvent, FileKind};
use gangway_http::feed::wire::Outcome;

/// What a page may ask. Each may carry an `id`, which its answer carries back.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[ts(optional_fields)]
pub enum AppletAsk {
    /// Change the state, key by key; `null` takes a key away.
    SetState {
        /// The keys that change.
        #[ts(type = "Record<string, JsonValue>")]
        data: Map<String, Value>,
    },
    /// Read the state, or one key of it.
    GetState {
        /// The key.
        key: Option<String>,
    },
    /// Read a file of the session's folder, piece by piece.
    ReadFile {
        /// Which.
        path: String,
        /// Whether its bytes come as binary messages; otherwise it must be text.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        binary: bool,
        /// From which byte on.
        offset: Option<u64>,
        /// How many bytes at the most.
        length: Option<u64>,
    },
    /// Write a file of the session's folder, whole.
    WriteFile {
        /// Which.
        path: String,
        /// What is to be in it.
        content: String,
        /// How `content` says it.
        #[serde(default)]
        #[ts(as = "Option<Encoding>")]
        encoding: Encoding,
    },
    /// List a folder in the session's folder.
    ListFiles {
        /// Which; the session's folder itself when absent.
        path: Option<String>,
    },
    /// Look at a file or folder.
    Stat {
        /// Which.
        path: String,
    },
    /// Be told when a file or folder changes.
    Subscribe {
        /// Which.
        path: String,
    },
    /// Be told no longer.
    Unsubscribe {
        /// Which.
        path: String,
    },
    /// Say something to the agent.
    Invoke {
        /// What.
        prompt: String,
        /// How.
        #[serde(default)]
        #[ts(as = "Option<InvokeOptions>")]
        options: InvokeOptions,
        /// The same, without a box around it.
        #[serde(flatten)]
        #[ts(flatten)]
        plain: InvokeOptions,
    },
    /// Stop the turn that runs, or what the page asked for itself.
    Stop {
        /// The `id` of the `invoke` that is to be stopped, and nothing else: it is not said any more, or not answered.
        #[ts(optional, type = "JsonValue")]
        invoke: Option<Value>,
    },
    /// Nothing: is anyone there?
    Ping,
}

/// How something is said to the agent.
#[derive(Debug, Clone, Default, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct InvokeOptions {
    /// `active`, `background`, `new`, or the id of a session.
    pub session: Option<String>,
    /// Whether the chat shows it.
    pub show_in_chat: Option<bool>,
    /// Whether the answer is streamed and told.
    pub wait_for_result: Option<bool>,
    /// The older way to say `session: "background"`.
    pub background: Option<bool>,
}

/// How the content of a file is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Encoding {
    /// As text.
    #[default]
    Utf8,
    /// As bytes in base64.
    Base64,
}

/// What the server says.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum AppletTold {
    /// The channel is open; what follows comes after `seq`.
    Ready {
        /// The session.
        session: String,
        /// The applet that speaks here.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        applet: Option<String>,
        /// Where the applet's frame is.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        frame: Option<String>,
        /// The number to resume from.
        #[ts(type = "number")]
        seq: u64,
        /// The version of its state.
        #[ts(type = "number")]
        version: u64,
    },
    /// What came after `since` cannot be told without a gap: read the state again; what follows comes after `seq`.
    Resync {
        /// `trimmed`, `future` or `malformed`.
        reason: String,
        /// The number to resume from.
        #[ts(type = "number")]
        seq: u64,
        /// The version of the applet's state.
        #[ts(type = "number")]
        version: u64,
    },
    /// The state changed.
    StateUpdate {
        /// The answer to this message.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        id: Option<Value>,
        /// Whose state.
        applet: String,
        /// The keys that changed; `null` took a key away.
        #[ts(type = "Record<string, JsonValue>")]
        data: Map<String, Value>,
        /// The version after it.
        #[ts(type = "number")]
        version: u64,
        /// Its number in the session.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The state as it is.
    State {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// The state, or the key that was asked for.
        #[ts(type = "Record<string, JsonValue>")]
        data: Map<String, Value>,
        /// Its version.
        #[ts(type = "number")]
        version: u64,
    },
    /// A piece of a file.
    FileContent {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// Which file.
        path: String,
        /// The piece, where it is text.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        chunk: Option<String>,
        /// The bytes of the binary message that follows, where it is not.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        bytes: Option<usize>,
        /// The size of the whole file.
        #[ts(type = "number")]
        size: u64,
        /// Whether this was the last piece.
        done: bool,
    },
    /// A file was written.
    FileWritten {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// What it is now.
        #[serde(flatten)]
        #[ts(flatten)]
        file: AppletFile,
    },
    /// What is in a folder.
    Files {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// Which folder.
        path: String,
        /// What is in it, by name.
        entries: Vec<AppletFile>,
        /// Whether there is more than that.
        more: bool,
    },
    /// What a file or folder is.
    FileStat {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// What it is.
        #[serde(flatten)]
        #[ts(flatten)]
        file: AppletFile,
    },
    /// Changes of a file or folder are told from now on.
    Subscribed {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// Which.
        path: String,
    },
    /// Changes of a file or folder are told no longer.
    Unsubscribed {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// Which.
        path: String,
    },
    /// A file or folder changed.
    FileChanged {
        /// Which.
        path: String,
        /// How.
        event: FileEvent,
    },
    /// The person is asked whether this applet may speak.
    ConsentAsked {
        /// The message that waits for it.
        #[ts(type = "JsonValue")]
        id: Value,
    },
    /// The agent has the message.
    InvokeStarted {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// Names the turn.
        stream_id: String,
        /// The session it is in.
        session_id: String,
    },
    /// A piece of the agent's answer.
    Stream {
        /// The message that it answers.
        #[ts(type = "JsonValue")]
        id: Value,
        /// The piece.
        delta: String,
    },
    /// The agent finished.
    InvokeComplete {
        /// The message that it answers.
        #[ts(type = "JsonValue")]
        id: Value,
        /// What it said.
        result: String,
        /// Why it did not finish well.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error: Option<String>,
    },
    /// A stop was done.
    Stopped {
        /// The answer to this message.
        #[ts(type = "JsonValue")]
        id: Value,
        /// Whether a turn was running.
        stopped: bool,
    },
    /// Somebody said something to the agent of this session.
    MessageStarted {
        /// What.
        prompt: String,
        /// Who said it.
        source: SourceKind,
        /// Which applet.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        applet_slug: Option<String>,
        /// Names the turn.
        stream_id: String,
        /// Whether the chat shows it.
        show_in_chat: bool,
        /// Its number in the session.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The agent began to answer; the stream can be read.
    StreamReady {
        /// Names the turn.
        stream_id: String,
        /// Its number in the session.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The agent is done with a message.
    MessageDone {
        /// Names the turn.
        stream_id: String,
        /// How it ended.
        outcome: Outcome,
        /// Its number in the session.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The page is to be loaded anew.
    Reload,
    /// A message could not be obeyed.
    Error {
        /// Which message.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        id: Option<Value>,
        /// A short machine-readable reason.
        code: String,
        /// What to tell a person.
        error: String,
    },
    /// The channel ends after this.
    Closing {
        /// `slow`, `deleted`, `shutdown`, `storage`, `revoked` or `flood`.
        reason: String,
        /// What to do about it.
        message: String,
    },
    /// Here.
    Pong {
        /// The answer to this message.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        id: Option<Value>,
    },
}

/// Who said something to the agent.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum SourceKind {
    /// The person.
    Person,
    /// An applet.
    Applet,
    /// Another agent.
    Agent,
    /// A page of another site.
    Page,
}

impl AppletAsk {
    /// The names of the messages, for whoever sent another.
    pub const NAMES: &'static str = "setState, getState, readFile, writeFile, listFiles, stat, subscribe, unsubscribe, invoke, stop, ping";
}
