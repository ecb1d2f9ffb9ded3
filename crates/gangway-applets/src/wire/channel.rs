//! The messages of the applet channel.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

pub use super::file::{AppletFile, FileEvent, FileKind};
use gangway_http::feed::wire::Outcome;
use gangway_pages::{OfferedTool, RefusedTool, ToolProblem};

/// Requests of a page. Each may have an `id`, which its answer repeats.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[ts(optional_fields)]
pub enum AppletClientMessage {
    /// Change keys of the state; `null` removes a key.
    SetState {
        #[ts(type = "Record<string, JsonValue>")]
        data: Map<String, Value>,
    },
    /// Read the state, or one key of it.
    GetState {
        key: Option<String>,
    },
    /// Read a file of the session's folder, in chunks.
    ReadFile {
        path: String,
        /// Whether its bytes are sent as binary messages; otherwise it must be text.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        binary: bool,
        /// The first byte.
        offset: Option<u64>,
        /// Maximum number of bytes.
        length: Option<u64>,
    },
    /// Atomically write a file of the session's folder.
    WriteFile {
        path: String,
        content: String,
        #[serde(default)]
        #[ts(as = "Option<Encoding>")]
        encoding: Encoding,
    },
    /// List a folder in the session's folder.
    ListFiles {
        /// Default is the session's folder itself.
        path: Option<String>,
    },
    /// Get metadata of a file or folder.
    Stat {
        path: String,
    },
    /// Watch a file or folder.
    Subscribe {
        path: String,
    },
    /// Stop watching.
    Unsubscribe {
        path: String,
    },
    /// Send a message to the agent.
    Invoke {
        prompt: String,
        #[serde(default)]
        #[ts(as = "Option<InvokeOptions>")]
        options: InvokeOptions,
        /// The same options on the top level.
        #[serde(flatten)]
        #[ts(flatten)]
        plain: InvokeOptions,
    },
    /// Stop the running turn, or a message of the page itself.
    Stop {
        /// Stop only the `invoke` with this `id`: withdraw it, or stop its turn.
        #[ts(optional, type = "JsonValue")]
        invoke: Option<Value>,
    },
    /// Offer tools to the agents of the session, all of them; sent again after a reconnect.
    OfferTools {
        tools: Vec<OfferedTool>,
        /// Whether another document took the place of the one that was sent the open calls, which fail.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        reset: bool,
    },
    /// The result of a `toolCall`.
    ToolResult {
        #[ts(type = "number")]
        call: u64,
        #[serde(default)]
        #[ts(optional, type = "JsonValue")]
        result: Value,
        /// Why it failed.
        error: Option<ToolProblem>,
    },
    Ping,
}

#[derive(Debug, Clone, Default, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct InvokeOptions {
    /// `active`, `background`, `new`, or a session id.
    pub session: Option<String>,
    /// Whether the chat shows the message.
    pub show_in_chat: Option<bool>,
    /// Whether the answer is streamed.
    pub wait_for_result: Option<bool>,
    /// Deprecated: `session: "background"`.
    pub background: Option<bool>,
}

/// The encoding of a file's content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Encoding {
    #[default]
    Utf8,
    Base64,
}

/// Messages of the server.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum AppletServerMessage {
    /// The channel is open; events after `seq` follow.
    Ready {
        session: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        applet: Option<String>,
        /// The URL of the applet's frame.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        frame: Option<String>,
        /// The number to resume after.
        #[ts(type = "number")]
        seq: u64,
        /// The version of its state.
        #[ts(type = "number")]
        version: u64,
    },
    /// Resuming after `since` would leave a gap: read the state again; events after `seq` follow.
    Resync {
        /// `trimmed`, `future` or `malformed`.
        reason: String,
        /// The number to resume after.
        #[ts(type = "number")]
        seq: u64,
        /// The version of the applet's state.
        #[ts(type = "number")]
        version: u64,
    },
    /// The state changed.
    StateUpdate {
        /// Set in the answer to a request.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        id: Option<Value>,
        applet: String,
        /// The changed keys; `null` for removed ones.
        #[ts(type = "Record<string, JsonValue>")]
        data: Map<String, Value>,
        /// The version after the change.
        #[ts(type = "number")]
        version: u64,
        /// Its number in the session.
        #[ts(type = "number")]
        seq: u64,
    },
    State {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        /// The state, or the requested key.
        #[ts(type = "Record<string, JsonValue>")]
        data: Map<String, Value>,
        #[ts(type = "number")]
        version: u64,
    },
    /// A chunk of a file.
    FileContent {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        path: String,
        /// The chunk, if it is text.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        chunk: Option<String>,
        /// Size of the binary message that follows, if it is not.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        bytes: Option<usize>,
        /// The size of the whole file.
        #[ts(type = "number")]
        size: u64,
        /// Whether this was the last chunk.
        done: bool,
    },
    FileWritten {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        #[serde(flatten)]
        #[ts(flatten)]
        file: AppletFile,
    },
    /// The entries of a folder.
    Files {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        path: String,
        /// Sorted by name.
        entries: Vec<AppletFile>,
        /// Whether entries were left out.
        more: bool,
    },
    FileStat {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        #[serde(flatten)]
        #[ts(flatten)]
        file: AppletFile,
    },
    Subscribed {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        path: String,
    },
    Unsubscribed {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        path: String,
    },
    FileChanged {
        path: String,
        event: FileEvent,
    },
    /// The user is asked for consent.
    ConsentAsked {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
    },
    /// The agent has the message.
    InvokeStarted {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        /// Identifies the turn.
        stream_id: String,
        /// The turn's session.
        session_id: String,
    },
    /// A delta of the agent's answer.
    Stream {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        delta: String,
    },
    /// The turn has ended.
    InvokeComplete {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        /// The text of the answer.
        result: String,
        /// Why it failed or was stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error: Option<String>,
    },
    Stopped {
        /// The id of the request.
        #[ts(type = "JsonValue")]
        id: Value,
        /// Whether a turn was running.
        stopped: bool,
    },
    /// A message was sent to the agent of this session.
    MessageStarted {
        prompt: String,
        source: SourceKind,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        applet_slug: Option<String>,
        /// Identifies the turn.
        stream_id: String,
        show_in_chat: bool,
        /// Its number in the session.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The agent started to answer; the stream can be read.
    StreamReady {
        /// Identifies the turn.
        stream_id: String,
        /// Its number in the session.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The turn has ended.
    MessageDone {
        /// Identifies the turn.
        stream_id: String,
        outcome: Outcome,
        /// Its number in the session.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The answer to `offerTools`.
    ToolsOffered {
        /// The id of the request.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        id: Option<Value>,
        /// The server name of the page's tools, as agents see it; none before it offers tools.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        server: Option<String>,
        /// The names of the accepted tools.
        tools: Vec<String>,
        refused: Vec<RefusedTool>,
    },
    /// An agent calls a tool of the page, which answers with `toolResult`. After a reconnect it may come again: calls
    /// have increasing numbers.
    ToolCall {
        #[ts(type = "number")]
        call: u64,
        name: String,
        #[ts(type = "JsonValue")]
        arguments: Value,
    },
    /// Nobody waits for the result of this call any more.
    ToolCancel {
        #[ts(type = "number")]
        call: u64,
    },
    /// Reload the page.
    Reload,
    /// A request failed.
    Error {
        /// The id of the request, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        id: Option<Value>,
        /// A machine-readable code.
        code: String,
        /// A message for people.
        error: String,
    },
    /// The last message before the channel closes.
    Closing {
        /// `slow`, `deleted`, `shutdown`, `storage`, `revoked` or `flood`.
        reason: String,
        /// What to do about it.
        message: String,
    },
    Pong {
        /// The id of the request.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        id: Option<Value>,
    },
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum SourceKind {
    Person,
    Applet,
    Agent,
    /// A page of another site.
    Page,
}

impl AppletClientMessage {
    /// The message types, for error messages.
    pub const NAMES: &'static str = "setState, getState, readFile, writeFile, listFiles, stat, subscribe, unsubscribe, invoke, stop, offerTools, toolResult, ping";
}
