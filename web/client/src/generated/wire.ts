// Generated from the Rust wire types by `make schema`; do not edit.

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/**
 * The error envelope.
 */
export type ApiError = { status: number, 
/**
 * A machine-readable code.
 */
error_code: string, 
/**
 * What was wrong, and what to do.
 */
message: string, 
/**
 * The same as `message`, for clients of the applet protocol.
 */
error: string, 
/**
 * Whether the same request may succeed later.
 */
retryable: boolean, 
/**
 * How long to wait before retrying.
 */
retry_after_seconds?: number, 
/**
 * The model provider's own error message.
 */
details?: string, };

/**
 * The sender of a message.
 */
export type Source = { "kind": "person" } | { "kind": "applet", slug: string, } | { "kind": "agent", name: string, } | { "kind": "page", origin: string, };

export type SessionState = "idle" | "running";

export type Session = { sessionId: string, 
/**
 * Taken from the first message unless one was set.
 */
title: string | null, 
/**
 * The folder it works in.
 */
cwd: string, 
/**
 * The model that was chosen.
 */
model: string | null, agent: string, state: SessionState, createdAt: string, 
/**
 * When it was last changed, or its last turn ended.
 */
updatedAt: string, };

export type CreateSession = { 
/**
 * An existing folder to work in; default is a new one.
 */
cwd?: string, model?: string, 
/**
 * See `GET /api/agents`.
 */
agent?: string, title?: string, };

/**
 * Absent fields stay unchanged.
 */
export type UpdateSession = { title?: string, model?: string, agent?: string, };

/**
 * A page of sessions, newest first.
 */
export type SessionList = { sessions: Array<Session>, 
/**
 * `before` of the next page; null on the last one.
 */
next: string | null, };

/**
 * What to do with a message while a turn is running.
 */
export type WhenBusy = "queue" | "refuse";

/**
 * A message to the agent.
 */
export type PostMessage = { prompt: string, whenBusy?: WhenBusy, 
/**
 * Changes to the state of the session's applet, applied before the message; see `setState` of `/ws/applet`.
 */
appletState?: Record<string, JsonValue>, 
/**
 * An image as a base64 `data:` URL; it is stored in the session's folder, and the message refers to the file.
 */
imageData?: string, };

/**
 * An accepted message; it is stored.
 */
export type MessageAccepted = { 
/**
 * See `GET /api/stream/{streamId}`.
 */
streamId: string, sessionId: string, };

export type StopResult = { 
/**
 * Whether a turn was running.
 */
stopped: boolean, 
/**
 * Number of queued messages that were dropped.
 */
dropped: number, };

/**
 * An answer to a question of the agent.
 */
export type PostAnswer = { questionId: string, answer: string, };

export type Outcome = "completed" | "stopped" | "failed" | "interrupted";

/**
 * Tokens used by a turn, as the model reported them.
 */
export type Usage = { inputTokens: number, outputTokens: number, };

export type ToolState = "running" | "done" | "failed";

export type EntryBody = { "role": "user", content: string, source: Source, } | { "role": "assistant", messageId: string, content: string, 
/**
 * True when the turn ended before the message was complete.
 */
partial: boolean, 
/**
 * True while more is coming.
 */
streaming: boolean, } | { "role": "tool", toolCallId: string, 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * What it was called with.
 */
arguments: JsonValue, state: ToolState, result: JsonValue | null, error: string | null, } | { "role": "question", questionId: string, question: string, options: Array<string>, answer: string | null, } | { "role": "app", launchId: string, app: string, news: AppEvent, } | { "role": "pageCall", pageId: string, callId: string, 
/**
 * `server/tool`.
 */
tool: string, arguments: JsonValue, 
/**
 * Who called it.
 */
by: Source, state: ToolState, result: JsonValue | null, error: string | null, } | { "role": "pageMessage", pageId: string, content: string, 
/**
 * The agent; none for the person.
 */
by: string | null, } | { "role": "notice", message: string, } | { "role": "error", 
/**
 * A machine-readable code.
 */
code: string, 
/**
 * For the user.
 */
message: string, 
/**
 * Whether the same prompt may work later.
 */
retryable: boolean, } | { "role": "end", outcome: Outcome, };

/**
 * An entry of a conversation.
 */
export type Entry = { 
/**
 * The number of its first event.
 */
seq: number, at: string, 
/**
 * The turn it belongs to.
 */
streamId: string, 
/**
 * Whether the chat hides it.
 */
hidden: boolean, } & ({ "role": "user", content: string, source: Source, } | { "role": "assistant", messageId: string, content: string, 
/**
 * True when the turn ended before the message was complete.
 */
partial: boolean, 
/**
 * True while more is coming.
 */
streaming: boolean, } | { "role": "tool", toolCallId: string, 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * What it was called with.
 */
arguments: JsonValue, state: ToolState, result: JsonValue | null, error: string | null, } | { "role": "question", questionId: string, question: string, options: Array<string>, answer: string | null, } | { "role": "app", launchId: string, app: string, news: AppEvent, } | { "role": "pageCall", pageId: string, callId: string, 
/**
 * `server/tool`.
 */
tool: string, arguments: JsonValue, 
/**
 * Who called it.
 */
by: Source, state: ToolState, result: JsonValue | null, error: string | null, } | { "role": "pageMessage", pageId: string, content: string, 
/**
 * The agent; none for the person.
 */
by: string | null, } | { "role": "notice", message: string, } | { "role": "error", 
/**
 * A machine-readable code.
 */
code: string, 
/**
 * For the user.
 */
message: string, 
/**
 * Whether the same prompt may work later.
 */
retryable: boolean, } | { "role": "end", outcome: Outcome, });

/**
 * A part of a conversation, oldest entry first.
 */
export type History = { sessionId: string, entries: Array<Entry>, 
/**
 * Whether there are older entries; request them with `before` set to the first entry's `seq`.
 */
older: boolean, };

/**
 * How full the model's context window is.
 */
export type ContextUse = { 
/**
 * Tokens in the context.
 */
used: number, 
/**
 * The size of the context window, if known.
 */
window: number | null, };

/**
 * Everything a page needs to show a session and to follow it from `seq` on.
 */
export type Snapshot = { session: Session, 
/**
 * The number of the last event in it.
 */
seq: number, 
/**
 * The newest entries.
 */
entries: Array<Entry>, 
/**
 * Whether there are older ones.
 */
older: boolean, 
/**
 * The running turn.
 */
running: string | null, 
/**
 * The waiting turns.
 */
queued: Array<string>, 
/**
 * How full the model's context window is, if the agent reported it.
 */
context: ContextUse | null, };

export type EventBody = { "type": "session.created", cwd: string, title: string | null, model: string | null, agent: string, } | { "type": "session.changed", title: string | null, model: string | null, agent: string, } | { "type": "user.message", 
/**
 * The turn that answers it.
 */
streamId: string, prompt: string, source: Source, 
/**
 * Whether the chat shows it and the turn.
 */
showInChat: boolean, } | { "type": "assistant.turn_start", streamId: string, agent: string, 
/**
 * The model that was chosen.
 */
model: string | null, } | { "type": "assistant.message_delta", streamId: string, messageId: string, delta: string, } | { "type": "assistant.message", streamId: string, messageId: string, content: string, 
/**
 * True when the turn ended before the message was complete.
 */
partial: boolean, 
/**
 * Numbers of the first and the last delta it replaces; a reader that resumes later may not get those.
 */
replaces: [number, number] | null, } | { "type": "tool.execution_start", streamId: string, toolCallId: string, 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * What it was called with.
 */
arguments: JsonValue, } | { "type": "tool.execution_complete", streamId: string, toolCallId: string, 
/**
 * `server/tool`.
 */
tool: string, success: boolean, result: JsonValue | null, error: string | null, } | { "type": "session.question", streamId: string, questionId: string, question: string, 
/**
 * Suggested answers; others are allowed.
 */
options: Array<string>, } | { "type": "session.answer", streamId: string, questionId: string, answer: string, } | { "type": "applet.state", applet: string, 
/**
 * Its version after the change.
 */
version: number, 
/**
 * The keys that changed; `null` removed a key.
 */
patch: Record<string, JsonValue>, source: Source, } | { "type": "applet.asks", applet: string, 
/**
 * The message it wants to send.
 */
prompt: string, } | { "type": "applet.leave", applet: string, speak: ConsentState, } | { "type": "applet.open", applet: string, } | { "type": "page.reload", 
/**
 * Only this applet.
 */
applet: string | null, } | { "type": "app", launchId: string, app: string, news: AppEvent, } | { "type": "page", pageId: string, pageKind: PageKind, 
/**
 * The app, applet, site or relay session that it is.
 */
name: string, news: PageEntry, } | { "type": "ask.opened", 
/**
 * Identifies the request in this session.
 */
askId: string, asker: AskerInfo, request: LoggedAsk, } | { "type": "ask.closed", askId: string, outcome: AskOutcome, 
/**
 * Where the user answered.
 */
by: AskActor | null, } | { "type": "session.notice", streamId: string, message: string, } | { "type": "session.context", streamId: string, 
/**
 * Tokens in the context.
 */
used: number, 
/**
 * The size of the context window, if known.
 */
window: number | null, } | { "type": "session.error", streamId: string, 
/**
 * A machine-readable code.
 */
code: string, 
/**
 * For the user.
 */
message: string, 
/**
 * Whether the same prompt may work later.
 */
retryable: boolean, } | { "type": "done", streamId: string, outcome: Outcome, usage: Usage | null, 
/**
 * True when no other message waits.
 */
idle: boolean, };

/**
 * An event with its number and time.
 */
export type EventFrame = { 
/**
 * Its number in the session.
 */
seq: number, at: string, } & EventBody;

export type FeedFrame = { "type": "snapshot", snapshot: Snapshot, } | { "type": "resync", 
/**
 * `trimmed`, `future` or `malformed`.
 */
reason: string, snapshot: Snapshot, } | { "type": "closing", 
/**
 * `slow`, `deleted`, `shutdown`, `storage`, `revoked` or `flood`.
 */
reason: string, 
/**
 * What to do about it.
 */
message: string, } | EventFrame;

export type AgentInfo = { name: string, description: string, 
/**
 * Whether it can take a turn now.
 */
ready: boolean, 
/**
 * Why it is not ready.
 */
reason: string | null, };

export type AgentList = { 
/**
 * Used for sessions without an agent of their own.
 */
default: string, agents: Array<AgentInfo>, };

export type CreateKey = { name: string, 
/**
 * `chat`, `models`, `tools`, `tools:SERVER/TOOL`, `agents`, `agents:PROJECT`, `relay`, `relay.agent:SESSION`,
 * `relay.host:SESSION`, `apps`, `metrics`, `admin`.
 */
scopes: string[], 
/**
 * Seconds until it expires; default is never.
 */
expiresIn?: number, };

/**
 * A new key with its secret, which is shown only once.
 */
export type CreatedKey = { 
/**
 * For revoking it.
 */
id: string, 
/**
 * A label for lists.
 */
name: string, 
/**
 * The secret key itself.
 */
key: string, 
/**
 * Possible mistakes, such as a tool that no server has.
 */
warnings?: Array<string>, };

export type KeyInfo = { 
/**
 * For revoking it.
 */
id: string, 
/**
 * A label for lists.
 */
name: string, createdAt: string, 
/**
 * Such as `chat`, `tools:files/*` or `admin`.
 */
scopes: string[], expiresAt?: string, };

export type KeyList = { 
/**
 * Oldest first.
 */
keys: Array<KeyInfo>, };

export type Login = { 
/**
 * A code from `gangway open`, or an API key.
 */
key: string, };

/**
 * The default model.
 */
export type DefaultModel = { 
/**
 * The provider.
 */
provider: string, 
/**
 * The provider's model, if determined.
 */
model?: string, };

/**
 * A provider.
 */
export type ProviderInfo = { 
/**
 * Its id.
 */
id: string, 
/**
 * `ollama`, `llamafile`, `openai`, `anthropic` or `embedded`.
 */
type: string, 
/**
 * Its display name.
 */
name: string, 
/**
 * Whether it is available.
 */
available: boolean, 
/**
 * Whether it is the default provider.
 */
isDefault: boolean, 
/**
 * Whether its type, used as a name, refers to it.
 */
isTypeDefault: boolean, 
/**
 * Whether its models can call tools.
 */
supportsTools: boolean, 
/**
 * Always false: it is not part of a browser.
 */
isNative: boolean, 
/**
 * `bridge`.
 */
runtime: string, 
/**
 * Whether weights must be downloaded first.
 */
downloadRequired: boolean, 
/**
 * Progress of a running download, 0 to 1.
 */
downloadProgress?: number, 
/**
 * Its URL.
 */
baseUrl?: string, 
/**
 * The number of its models, as far as known.
 */
models: number, 
/**
 * The name of its stored key, if it uses one.
 */
keyName?: string, 
/**
 * The source of its key: `environment` or `secrets`. Absent means there is none.
 */
keySource?: string, 
/**
 * Why it is unavailable, and what to do.
 */
problem?: string, };

/**
 * The providers.
 */
export type ProviderList = { 
/**
 * Configured and detectable providers.
 */
providers: Array<ProviderInfo>, 
/**
 * The default model.
 */
default?: DefaultModel, 
/**
 * The user's choice: `provider` or `provider/model`. Absent means the first available provider.
 */
choice?: string, };

/**
 * A model.
 */
export type ModelInfo = { 
/**
 * `provider/model`, the name for requests.
 */
id: string, 
/**
 * The provider.
 */
provider: string, 
/**
 * Its name at the provider.
 */
name: string, 
/**
 * Whether it is the default model, if determined.
 */
isDefault: boolean, };

/**
 * The models.
 */
export type ModelList = { 
/**
 * The models of all available providers.
 */
models: Array<ModelInfo>, 
/**
 * The default model.
 */
default?: DefaultModel, };

/**
 * The default model to set.
 */
export type SetDefault = { 
/**
 * `provider`, `provider/model`, or null for the first available provider.
 */
model: string | null, };

/**
 * A provider's API key.
 */
export type SetKey = { 
/**
 * The key. It is stored as a secret and never shown again.
 */
key: string, };

/**
 * Whether the engine process can run local models.
 */
export type EngineState = "ready" | "building" | "missing" | "unsupported";

/**
 * The state of the engine, the process that runs local models.
 */
export type EmbeddedActivity = { 
/**
 * Whether it can run.
 */
engine: EngineState, 
/**
 * The loaded model.
 */
loaded?: string, 
/**
 * Its memory: weights and conversations.
 */
memoryBytes: number, 
/**
 * Running answers.
 */
active: number, 
/**
 * Queued requests.
 */
waiting: number, 
/**
 * Prompt tokens reused from earlier requests, since the start.
 */
reusedTokens: number, };

/**
 * Model activity of the last minute.
 */
export type ModelActivity = { 
/**
 * Running chats of all providers.
 */
active: number, 
/**
 * Output tokens in each of the last 60 seconds, oldest first.
 */
tokens: Array<number>, 
/**
 * Memory of this process, if known.
 */
memoryBytes?: number, 
/**
 * Local models.
 */
embedded: EmbeddedActivity, };

/**
 * Local weights.
 */
export type WeightsInfo = { 
/**
 * The model's name at the embedded provider.
 */
name: string, 
/**
 * Size of the file.
 */
bytes: number, 
/**
 * Its URL, if known.
 */
source?: string, };

/**
 * Weights in the catalog.
 */
export type CatalogInfo = { 
/**
 * The model's name.
 */
name: string, 
/**
 * Their description.
 */
title: string, 
/**
 * Size of the download.
 */
bytes: number, 
/**
 * Its licence.
 */
license: string, 
/**
 * Whether they are already local.
 */
installed: boolean, };

/**
 * The phase of a download.
 */
export type PullStep = "fetching" | "checking" | "unpacking" | "done" | "failed";

/**
 * A download of weights.
 */
export type PullInfo = { 
/**
 * The model's name.
 */
name: string, 
/**
 * Its phase.
 */
step: PullStep, 
/**
 * Downloaded bytes.
 */
fetched: number, 
/**
 * Total bytes; 0 if unknown.
 */
total: number, 
/**
 * Why it failed.
 */
error?: string, };

/**
 * Local and downloadable weights.
 */
export type WeightsList = { 
/**
 * Local weights.
 */
weights: Array<WeightsInfo>, 
/**
 * Weights in the catalog.
 */
catalog: Array<CatalogInfo>, 
/**
 * Running and recent downloads.
 */
pulls: Array<PullInfo>, };

/**
 * The weights to download, by `name` or by `url`.
 */
export type PullWeights = { 
/**
 * A name from the catalog, or of an earlier download by URL to retry.
 */
name?: string, 
/**
 * The address of a GGUF file: https, or http with `sha256` or on the server's own machine.
 */
url?: string, 
/**
 * The hash that the file at `url` must have.
 */
sha256?: string, };

/**
 * The state of a server.
 */
export type ToolServerState = "stopped" | "starting" | "ready" | "unauthorized" | "failed";

/**
 * An MCP server.
 */
export type ToolServerInfo = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its state.
 */
state: ToolServerState, 
/**
 * Why it failed.
 */
problem?: string, 
/**
 * Its self-description.
 */
title?: string, 
/**
 * Its version.
 */
version?: string, 
/**
 * The negotiated protocol version.
 */
protocol?: string, 
/**
 * The number of its tools.
 */
tools: number, 
/**
 * Its command line or URL, without environment and headers.
 */
target: string, 
/**
 * Whether it is configured in config.yaml and cannot be removed here.
 */
fromConfig: boolean, 
/**
 * Whether the user has logged in.
 */
loggedIn: boolean, 
/**
 * Whether it requires another login with more scopes.
 */
wantsMore: boolean, };

/**
 * The MCP servers.
 */
export type ToolServerList = { 
/**
 * All servers.
 */
servers: Array<ToolServerInfo>, };

/**
 * The installer's metadata of a server.
 */
export type Installed = { 
/**
 * Its name in the catalog.
 */
server?: string, 
/**
 * The package with its version.
 */
package?: string, 
/**
 * The names of its secrets by input.
 */
secrets?: { [key in string]: string }, 
/**
 * Whether its URL must be on the public internet, since it is from an untrusted author.
 */
publicOnly?: boolean, };

/**
 * Which calls of a server's tools need the user's approval.
 */
export type ApprovalPolicy = "writes" | "all" | "none";

/**
 * An MCP server: a command, or a URL.
 */
export type ServerEntry = { 
/**
 * The command of a local server.
 */
command?: string, 
/**
 * Its arguments. `${secret:NAME}` inserts a secret.
 */
args?: Array<string>, 
/**
 * Additional environment variables. `${secret:NAME}` inserts a secret.
 */
env?: { [key in string]: string }, 
/**
 * Its working directory.
 */
cwd?: string, 
/**
 * The URL of a remote server. `${secret:NAME}` inserts a secret.
 */
url?: string, 
/**
 * Headers of all requests to it. `${secret:NAME}` inserts a secret.
 */
headers?: { [key in string]: string }, 
/**
 * Whether it is not started.
 */
disabled?: boolean, 
/**
 * Timeout of a call, in seconds.
 */
timeout_seconds?: number, 
/**
 * Which calls of its tools need approval: `writes`, `all` or `none`; default is `tools.approval`.
 */
approval?: ApprovalPolicy, 
/**
 * Metadata written by the installer only.
 */
gangway?: Installed, };

/**
 * A choice for all chats.
 */
export type LastingChoice = "always" | "never";

/**
 * The policy of an MCP server.
 */
export type ServerApproval = { 
/**
 * The server.
 */
id: string, 
/**
 * Its policy; may be the default.
 */
policy: ApprovalPolicy, 
/**
 * Whether the server and its policy are configured in config.yaml.
 */
fromConfig: boolean, };

/**
 * A choice about one tool.
 */
export type ToolApproval = { 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * Whether it is always or never allowed.
 */
choice: LastingChoice, };

/**
 * The approval policies and choices.
 */
export type ApprovalList = { 
/**
 * The policy of servers without one of their own (`tools.approval` in config.yaml).
 */
defaultPolicy: ApprovalPolicy, 
/**
 * The MCP servers.
 */
servers: Array<ServerApproval>, 
/**
 * Tools that are always or never allowed.
 */
tools: Array<ToolApproval>, };

/**
 * Sets the policy of a server.
 */
export type SetServerApproval = { 
/**
 * The policy.
 */
policy: ApprovalPolicy, };

/**
 * Sets or removes the choice about a tool.
 */
export type SetToolApproval = { 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * The choice; without one the server's policy applies.
 */
choice?: LastingChoice, };

/**
 * Servers to add.
 */
export type AddServers = { 
/**
 * By id, in the common JSON form of MCP hosts.
 */
mcpServers: { [key in string]: ServerEntry }, };

/**
 * A line of a server's log.
 */
export type LogLine = { 
/**
 * Counts up from 1.
 */
number: number, 
/**
 * When it was written.
 */
at: string, 
/**
 * `stderr`, `stdout`, `message` or `host`.
 */
source: string, 
/**
 * The text.
 */
text: string, };

/**
 * Lines of a server's log.
 */
export type LogLines = { 
/**
 * The lines, oldest first.
 */
lines: Array<LogLine>, };

/**
 * A tool.
 */
export type ToolInfo = { 
/**
 * `server/tool`.
 */
name: string, 
/**
 * Its description.
 */
description: string, 
/**
 * Its input schema, of type object.
 */
inputSchema: JsonValue, 
/**
 * The server.
 */
serverId: string, };

/**
 * Available tools.
 */
export type ToolList = { 
/**
 * All tools.
 */
tools: Array<ToolInfo>, };

/**
 * A tool call.
 */
export type CallTool = { 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * The arguments; default is an empty object.
 */
args?: JsonValue, };

/**
 * The result of a tool.
 */
export type ToolAnswer = { 
/**
 * The result.
 */
result: JsonValue, };

/**
 * A sentence to find servers for.
 */
export type RouteSentence = { 
/**
 * The sentence.
 */
sentence: string, };

/**
 * The servers that match a sentence.
 */
export type RouteAnswer = { 
/**
 * The servers with the matched words. If empty, all tools are offered.
 */
servers: { [key in string]: Array<string> }, };

/**
 * The phase of a refresh.
 */
export type RefreshState = "idle" | "running" | "failed";

/**
 * The state of a refresh.
 */
export type CatalogRefresh = { 
/**
 * What is going on.
 */
state: RefreshState, 
/**
 * Servers received so far, during a refresh.
 */
fetched: number, 
/**
 * Why the last refresh failed. The previous entries remain.
 */
problem?: string, 
/**
 * When the catalog was last refreshed completely.
 */
at?: string, };

/**
 * What is installed.
 */
export type OptionKind = "npm" | "pypi" | "remote" | "other";

/**
 * Where an input's value is used.
 */
export type InputPlace = "env" | "argument" | "header" | "url";

/**
 * An input of a server.
 */
export type CatalogInput = { 
/**
 * Its name.
 */
name: string, 
/**
 * Where its value is used.
 */
place: InputPlace, 
/**
 * Its description.
 */
description?: string, 
/**
 * Whether it is required.
 */
required: boolean, 
/**
 * Whether it is stored as a secret.
 */
secret: boolean, 
/**
 * Its default.
 */
default?: string, 
/**
 * The allowed values, if restricted.
 */
choices?: Array<string>, };

/**
 * An install option of a server.
 */
export type CatalogOption = { 
/**
 * Its id among the server's options.
 */
key: string, 
/**
 * What is installed.
 */
kind: OptionKind, 
/**
 * The command or URL, for display.
 */
label: string, 
/**
 * Whether this machine supports it.
 */
available: boolean, 
/**
 * Why it is not supported, and what to do.
 */
problem?: string, 
/**
 * Its inputs.
 */
inputs: Array<CatalogInput>, };

/**
 * A server in the catalog.
 */
export type CatalogServer = { 
/**
 * Its name in the catalog, such as `io.github.someone/files`.
 */
name: string, 
/**
 * Its display name.
 */
title?: string, 
/**
 * Its description by its author.
 */
description: string, 
/**
 * Its version.
 */
version: string, 
/**
 * URL of its source code.
 */
repository?: string, 
/**
 * URL of its website.
 */
website?: string, 
/**
 * The installed servers from this entry.
 */
installed: Array<string>, 
/**
 * The install options.
 */
options: Array<CatalogOption>, };

/**
 * Search results from the catalog.
 */
export type CatalogPage = { 
/**
 * The servers, best matches first.
 */
servers: Array<CatalogServer>, 
/**
 * The total number of results.
 */
total: number, 
/**
 * Cursor of the next page.
 */
nextCursor?: string, 
/**
 * The state of the refresh.
 */
refresh: CatalogRefresh, 
/**
 * The source of the catalog: a URL, or `built-in`.
 */
source: string, };

/**
 * The state of the catalog.
 */
export type CatalogState = { 
/**
 * The number of servers.
 */
total: number, 
/**
 * The state of the refresh.
 */
refresh: CatalogRefresh, 
/**
 * The source: a URL, or `built-in`.
 */
source: string, };

/**
 * A program that runs packages.
 */
export type RuntimeInfo = { 
/**
 * `npx`, `uvx` or `pipx`.
 */
name: string, 
/**
 * Whether it is here and works.
 */
found: boolean, 
/**
 * Whether it was found and works.
 */
version?: string, 
/**
 * Its path.
 */
path?: string, 
/**
 * The packages that it runs.
 */
for: string, 
/**
 * How to install it.
 */
hint?: string, };

/**
 * The package runtimes of this machine.
 */
export type RuntimeList = { 
/**
 * All known runtimes, found or not.
 */
runtimes: Array<RuntimeInfo>, };

/**
 * A package registry.
 */
export type PackageKind = "npm" | "pypi";

/**
 * A package.
 */
export type PackageName = { 
/**
 * Its registry.
 */
kind: PackageKind, 
/**
 * Its name in the registry.
 */
name: string, 
/**
 * Its exact version; default is the newest.
 */
version?: string, };

/**
 * A server to install: a catalog entry (`server`, `option`, `inputs`), or a package (`package`, `args`, `env`,
 * `secrets`).
 */
export type InstallServer = { 
/**
 * Its id here.
 */
id: string, 
/**
 * Its name in the catalog.
 */
server?: string, 
/**
 * The install option; default is the first that this machine supports.
 */
option?: string, 
/**
 * Values by input name. Secret ones are stored as secrets.
 */
inputs?: { [key in string]: string }, 
/**
 * A package, not necessarily in the catalog.
 */
package?: PackageName, 
/**
 * Additional arguments.
 */
args?: Array<string>, 
/**
 * Additional environment variables.
 */
env?: { [key in string]: string }, 
/**
 * Additional environment variables that are stored as secrets.
 */
secrets?: { [key in string]: string }, 
/**
 * Whether the install scripts of npm packages run.
 */
allowScripts?: boolean, };

/**
 * The state of an install.
 */
export type InstallState = "fetching" | "starting" | "done" | "failed" | "cancelled";

/**
 * The steps of an install.
 */
export type StepName = "check" | "fetch" | "register" | "start";

/**
 * The state of a step.
 */
export type StepState = "waiting" | "running" | "done" | "failed";

/**
 * A step of an install.
 */
export type InstallStep = { 
/**
 * Which step.
 */
name: StepName, 
/**
 * Its state.
 */
state: StepState, 
/**
 * A note about its result.
 */
detail?: string, };

/**
 * A server being installed.
 */
export type Install = { 
/**
 * Its id.
 */
install: string, 
/**
 * The server's id here.
 */
id: string, 
/**
 * Its state.
 */
state: InstallState, 
/**
 * Its steps in order.
 */
steps: Array<InstallStep>, 
/**
 * The last lines of the package manager's output.
 */
lines: Array<string>, 
/**
 * Why it failed.
 */
problem?: string, 
/**
 * When it began.
 */
startedAt: string, };

/**
 * Running installs, and the last ones that ended.
 */
export type InstallList = { 
/**
 * Newest first.
 */
installs: Array<Install>, };

/**
 * New values of a server's secrets.
 */
export type SetSecrets = { 
/**
 * Values by the names of their environment variables or headers. They are stored as secrets and never shown again.
 */
secrets: { [key in string]: string }, };

/**
 * The login page of a server.
 */
export type LoginPage = { 
/**
 * A page to open in a browser.
 */
url: string, };

export type LoginCode = { 
/**
 * Valid once, for ten minutes.
 */
code: string, 
/**
 * A page that logs in with the code.
 */
url: string, };

export type LoggedIn = { 
/**
 * For `Authorization: Bearer TOKEN`. Valid only for pages of the origin that logged in.
 */
token: string, };

export type LoginInfo = { 
/**
 * For ending it.
 */
id: string, 
/**
 * Such as `Firefox on Linux`.
 */
browser: string, 
/**
 * The network address that it logged in from.
 */
address: string, 
/**
 * The origin of the logged-in pages.
 */
origin: string, createdAt: string, 
/**
 * When it was last used.
 */
lastUsedAt: string, 
/**
 * Whether the request that lists it came from it.
 */
current: boolean, };

export type LoginList = { 
/**
 * Most recently used first.
 */
logins: Array<LoginInfo>, };

/**
 * A permission that a page may be granted.
 */
export type PermissionScope = "model:prompt" | "model:tools" | "model:list" | "mcp:tools.list" | "mcp:tools.call" | "mcp:servers.register" | "browser:activeTab.read" | "browser:activeTab.click" | "browser:activeTab.fill" | "browser:activeTab.screenshot" | "chat:open";

/**
 * How long `granted-always` lasts.
 */
export type PermissionDuration = "1h" | "1d" | "30d" | "never";

/**
 * Permissions that a site requests.
 */
export type PermissionDetails = { 
/**
 * The page of another site in whose frame the asking page is.
 */
embedder?: string, 
/**
 * What is not granted yet.
 */
scopes: PermissionScope[], 
/**
 * Why, in the page's words.
 */
reason?: string, 
/**
 * The tools to choose from, where it is about tools.
 */
tools?: Array<AskedTool>, 
/**
 * An MCP server that the page brings along.
 */
server?: AskedServer, 
/**
 * Whether the page was loaded without HTTPS, so that it can be allowed once only.
 */
onceOnly: boolean, 
/**
 * How many requests of the same origin come after it.
 */
waiting: number, };

/**
 * An open request to the person.
 */
export type AskInfo = { id: string, asker: AskerInfo, request: AskRequest, askedAt: string, 
/**
 * When it times out, if it does.
 */
expiresAt?: string, };

/**
 * Who asks.
 */
export type AskerInfo = { "kind": "site", origin: string, } | { "kind": "server", id: string, } | { "kind": "app", slug: string, name: string, } | { "kind": "applet", slug: string, name: string, } | { "kind": "agent", name: string, };

/**
 * What is asked, and so how it is answered.
 */
export type AskRequest = { "type": "elicitation", message: string, 
/**
 * The form: a JSON Schema of flat properties.
 */
schema?: JsonValue, 
/**
 * The page to visit instead.
 */
url?: string, } | { "type": "action", message: string, 
/**
 * Whether "always allow" is offered.
 */
lasting: boolean, 
/**
 * The URL to open, where that is the action.
 */
url?: string, } | { "type": "message", sessionId: string, text: string, } | { "type": "permission" } & PermissionDetails;

/**
 * A tool that a permission request is about.
 */
export type AskedTool = { 
/**
 * `server/tool`.
 */
name: string, 
/**
 * In its server's words.
 */
description: string, server: string, 
/**
 * Whether the page named it.
 */
asked: boolean, };

/**
 * An MCP server that a page brings along, in the page's words.
 */
export type AskedServer = { url: string, name: string, description?: string, 
/**
 * The tools that it is said to have.
 */
tools?: Array<string>, };

/**
 * The open requests.
 */
export type AskList = { 
/**
 * Oldest first; of each origin, applet and app one at a time.
 */
asks: Array<AskInfo>, };

/**
 * The person's decision.
 */
export type AskDecision = "once" | "always" | "deny";

/**
 * An answer to a request.
 */
export type AnswerAsk = { decision: AskDecision, 
/**
 * The form, filled in.
 */
content?: Record<string, JsonValue>, 
/**
 * The tools of a permission request that stay selected; all by default.
 */
tools?: string[], 
/**
 * How long permissions last that are always allowed; 30 days by default.
 */
duration?: PermissionDuration, };

/**
 * A message of `/ws/asks`.
 */
export type AsksFrame = { "type": "asks", 
/**
 * Oldest first.
 */
asks: Array<AskInfo>, } | { "type": "changed" };

/**
 * The state of one scope of one origin.
 */
export type PermissionGrant = "granted-always" | "granted-once" | "denied" | "not-granted";

/**
 * The budget of an origin for the user's models, and its usage today.
 */
export type ModelBudget = { 
/**
 * Tokens per day (UTC), input and output together.
 */
tokensPerDay: number, 
/**
 * Concurrent calls.
 */
maxConcurrent: number, 
/**
 * Tokens used today.
 */
usedToday: number, 
/**
 * When `usedToday` returns to 0.
 */
resetsAt: string, };

/**
 * A change to a budget. Fields that are absent stay as they are.
 */
export type SetBudget = { 
/**
 * Tokens per day; 0 blocks every call.
 */
tokensPerDay?: number, 
/**
 * Concurrent calls, at least 1.
 */
maxConcurrent?: number, };

/**
 * The permissions of an origin's pages.
 */
export type OriginPermissions = { 
/**
 * The origin.
 */
origin: string, 
/**
 * By scope.
 */
scopes: Record<PermissionScope, PermissionGrant>, 
/**
 * The only tools that they may use; none without a list.
 */
allowedTools?: string[], 
/**
 * The MCP servers that they may provide without a request.
 */
servers: Array<string>, 
/**
 * Expiries of those that expire.
 */
ends?: GrantEnds, 
/**
 * Whether the origin lacks HTTPS, so that it can only be allowed once.
 */
onceOnly: boolean, 
/**
 * Their model budget, if they may use models.
 */
budget?: ModelBudget, 
/**
 * When they last used a permission.
 */
lastUsed?: string, };

/**
 * The permissions of all origins.
 */
export type PermissionList = { 
/**
 * By origin.
 */
origins: Array<OriginPermissions>, };

/**
 * New permissions of an origin; absent values stay.
 */
export type SetPermissions = { 
/**
 * The origin.
 */
origin: string, 
/**
 * `granted-always`, `denied` or `not-granted`.
 */
scopes?: Partial<Record<PermissionScope, PermissionGrant>>, 
/**
 * The only tools that they may use.
 */
allowedTools?: string[], 
/**
 * The only MCP servers that they may provide without a request.
 */
servers?: Array<string>, 
/**
 * How long the grants last; default is until revoked.
 */
duration?: PermissionDuration, 
/**
 * Their model budget.
 */
budget?: SetBudget, };

/**
 * When grants expire; what is absent lasts until revoked.
 */
export type GrantEnds = { 
/**
 * By scope.
 */
scopes?: Partial<Record<PermissionScope, string>>, 
/**
 * By tool.
 */
tools?: Record<string, string>, 
/**
 * By URL of the server.
 */
servers?: Record<string, string>, };

/**
 * The type of an entry of the audit log.
 */
export type AuditKind = "decision" | "use";

/**
 * An entry of the audit log.
 */
export type AuditEntry = { 
/**
 * The time.
 */
at: string, 
/**
 * The origin.
 */
origin: string, 
/**
 * Its type.
 */
kind: AuditKind, 
/**
 * The permission.
 */
scope?: PermissionScope, 
/**
 * The method or tool that was used, or how it was decided.
 */
what: string, 
/**
 * `ok` or an error code, or the decision.
 */
outcome: string, 
/**
 * Where the user decided: `page` or `terminal`.
 */
by?: string, };

/**
 * A page of the audit log.
 */
export type AuditPage = { 
/**
 * Newest first.
 */
entries: Array<AuditEntry>, 
/**
 * Cursor of the next page, if there is one.
 */
before?: string, 
/**
 * The number of uses since the start that were not logged.
 */
lost: number, };

/**
 * An action that the extension executes in the active tab.
 */
export type BrowserAct = { 
/**
 * Its id.
 */
id: string, 
/**
 * The action.
 */
action: BrowserAction, 
/**
 * Gangway's own origins, on whose pages actions are refused.
 */
own: Array<string>, };

/**
 * An action in the active tab.
 */
export type BrowserAction = { "type": "read_page", } | { "type": "click", 
/**
 * The origin of the page.
 */
origin: string, 
/**
 * A CSS selector or a reference.
 */
target: string, } | { "type": "fill", 
/**
 * The origin of the page.
 */
origin: string, 
/**
 * A CSS selector or a reference.
 */
target: string, 
/**
 * The value.
 */
value: string, } | { "type": "screenshot", };

/**
 * The result of an action in the active tab.
 */
export type BrowserAnswer = { 
/**
 * The result.
 */
result?: JsonValue, 
/**
 * The error.
 */
error?: BrowserProblem, };

/**
 * Why an action in the active tab failed.
 */
export type BrowserProblem = { 
/**
 * The error code, as pages know it.
 */
code: string, 
/**
 * What was wrong and what to do.
 */
message: string, };

/**
 * Why a page's call failed.
 */
export type SiteError = { 
/**
 * The error code.
 */
code: string, 
/**
 * What was wrong and what to do.
 */
message: string, };

/**
 * A message to a page, via its broker.
 */
export type SiteServerMessage = { "type": "result", 
/**
 * The call.
 */
id: number, 
/**
 * The result.
 */
result: JsonValue, } | { "type": "error", 
/**
 * The call.
 */
id: number, 
/**
 * The error.
 */
error: SiteError, } | { "type": "event", 
/**
 * The call.
 */
id: number, 
/**
 * The event.
 */
event: JsonValue, } | { "type": "ask", 
/**
 * The call.
 */
id: number, 
/**
 * Id of the request.
 */
ask: string, 
/**
 * The URL of the request.
 */
url: string, } | { "type": "tool_call", 
/**
 * Id of the call.
 */
call: number, 
/**
 * The tool.
 */
name: string, 
/**
 * The arguments.
 */
args: JsonValue, } | { "type": "tool_cancel", 
/**
 * The call.
 */
call: number, } | { "type": "chat", 
/**
 * The chat.
 */
chatId: string, 
/**
 * `closed`.
 */
state: string, } | { "type": "token", 
/**
 * The token.
 */
token: string, };

/**
 * A numbered message.
 */
export type Numbered = { 
/**
 * Starts at 1.
 */
n: number, } & SiteServerMessage;

/**
 * A tool as its page describes it.
 */
export type PageTool = { 
/**
 * Letters, digits, `_`, `-` and `.`.
 */
name: string, description?: string, 
/**
 * The JSON Schema of its arguments, of type object.
 */
inputSchema?: JsonValue, 
/**
 * Whether calls change nothing; the user is not asked about those.
 */
readOnly?: boolean, };

/**
 * An open page.
 */
export type PageInfo = { pageId: string, kind: PageKind, 
/**
 * The app, applet, site or relay session that it is.
 */
name: string, origin: string, title: string, 
/**
 * The session whose agents may use its tools.
 */
sessionId: string | null, 
/**
 * The name of its tool server; none before it offers tools.
 */
server: string | null, 
/**
 * Whether it is connected; otherwise it may be reconnecting.
 */
present: boolean, 
/**
 * The names of its tools, as they were last offered.
 */
tools: Array<string>, };

export type PageList = { 
/**
 * In the order of opening.
 */
pages: Array<PageInfo>, };

/**
 * The session of a site.
 */
export type ConnectPage = { 
/**
 * `null` disconnects it.
 */
sessionId: string | null, };

export type DemoState = "running" | "done" | "denied" | "failed" | "stopped";

/**
 * Something that happened.
 */
export type DemoStep = { 
/**
 * Who did it, such as "MCP client".
 */
actor: string, text: string, };

/**
 * What the demo waits for the person to do.
 */
export type DemoTask = { text: string, 
/**
 * The page to open, if that is it.
 */
url: string | null, };

export type DemoInfo = { 
/**
 * Counts changes.
 */
version: number, state: DemoState, 
/**
 * The chat that it is in.
 */
sessionId: string | null, 
/**
 * The app that it launched.
 */
app: string, launchId: string | null, steps: Array<DemoStep>, task: DemoTask | null, 
/**
 * Why it ended, unless it is done.
 */
error: string | null, };

export type DemoStatus = { 
/**
 * The running demo, or the last one.
 */
demo: DemoInfo | null, };

/**
 * A tool that was not accepted.
 */
export type RefusedPageTool = { name: string, 
/**
 * What is wrong with it.
 */
message: string, };

/**
 * Why a tool of a page failed.
 */
export type ToolProblem = { message: string, };

/**
 * Appearance of a panel.
 */
export type PanelStyle = { 
/**
 * `light` or `dark`; default is the user's setting.
 */
theme?: string, 
/**
 * A CSS color.
 */
accentColor?: string, };

/**
 * The chat of a panel.
 */
export type PanelInfo = { 
/**
 * The chat.
 */
chatId: string, 
/**
 * Its session.
 */
sessionId: string, 
/**
 * The origin that opened it.
 */
origin: string, 
/**
 * Its appearance.
 */
style: PanelStyle, 
/**
 * For `Authorization: Bearer TOKEN`; valid only for this chat.
 */
token: string, };

/**
 * A panel's ticket.
 */
export type PanelTicket = { 
/**
 * The one-time secret from the panel's URL.
 */
ticket: string, 
/**
 * The origin from the panel's URL, the only one that can embed it.
 */
origin: string, };

/**
 * The first message of a broker.
 */
export type BrokerHello = { 
/**
 * The version of this protocol.
 */
v: number, 
/**
 * The origin of the page, as reported by the browser.
 */
origin: string, 
/**
 * The tab.
 */
tab: string, 
/**
 * The origins of the page's ancestors, nearest first, as reported by the browser; empty for a top page. `null`
 * where the browser does not report it.
 */
ancestors?: Array<string>, 
/**
 * The visit to resume after a lost connection.
 */
visit?: string, 
/**
 * The last number received.
 */
seen?: number, 
/**
 * A token that replaces the user's login, where cookies are blocked.
 */
token?: string, };

/**
 * Messages of the broker.
 */
export type BrokerClientMessage = { "type": "hello" } & BrokerHello | { "type": "call", 
/**
 * Its number; counts up.
 */
id: number, 
/**
 * The method.
 */
method: string, 
/**
 * The parameters.
 */
params?: JsonValue, } | { "type": "abort", 
/**
 * The call.
 */
id: number, } | { "type": "tools", 
/**
 * The tools.
 */
tools: Array<PageTool>, } | { "type": "tool_result", 
/**
 * The call of the tool.
 */
call: number, 
/**
 * The result.
 */
result?: JsonValue, 
/**
 * The error.
 */
error?: ToolProblem, } | { "type": "ack", 
/**
 * The number.
 */
n: number, } | { "type": "bye" };

/**
 * The answer to a hello.
 */
export type welcome = { "type": "welcome", 
/**
 * The id of the visit, for reconnecting.
 */
visit: string, 
/**
 * Whether a visit was resumed.
 */
resumed: boolean, 
/**
 * Whether the visitor must first prove to be the user.
 */
locked: boolean, 
/**
 * The interval of pings on a silent connection.
 */
heartbeatSeconds: number, };

/**
 * The broker is rejected; the connection closes after it.
 */
export type refused = { "type": "refused", 
/**
 * The error.
 */
error: SiteError, };

/**
 * Optional features of an agent's chat.
 */
export type Features = { file_upload: boolean, 
/**
 * Shows how much of the context window is used.
 */
context_usage: boolean, voice_mic: boolean, };

/**
 * A folder that agents work in.
 */
export type ProjectConfig = { folder: string, 
/**
 * `builtin`, or one of `remote_agents.backends`.
 */
backend?: string, 
/**
 * The model of the built-in agent.
 */
model?: string, 
/**
 * The MCP servers of its agents; default is none.
 */
mcp_servers?: Array<string>, };

export type PersonaConfig = { 
/**
 * A folder with `skill.md` and, optionally, `experience.md`.
 */
folder: string, 
/**
 * Whether new agents can have it.
 */
active: boolean, };

export type AgentState = "idle" | "commanded" | "processing" | "awaiting_input" | "complete";

export type StoredIn = "config" | "added";

export type CreateAgent = { project_name: string, persona_slug: string, 
/**
 * The first message.
 */
initial_prompt: string, feature_flags?: FlagsWanted, };

/**
 * A program in the user's own tmux to adopt as an agent.
 */
export type AdoptAgent = { project_name: string, 
/**
 * The absolute path of the tmux server's socket.
 */
socket: string, 
/**
 * A tmux target: `session:window.pane` or `%ID`.
 */
target: string, 
/**
 * A persona to give it; by default the program keeps its identity.
 */
persona_slug?: string, 
/**
 * The first message, if any.
 */
initial_prompt?: string, 
/**
 * A regular expression that the last line matches when the program waits for input.
 */
prompt_pattern?: string, 
/**
 * How long without output ends a turn, in milliseconds; default 3000.
 */
quiet_ms?: number, 
/**
 * Allows a shell, which runs every message as a command.
 */
shell: boolean, feature_flags?: FlagsWanted, };

/**
 * Optional features of the chat; absent ones use the defaults.
 */
export type FlagsWanted = { file_upload?: boolean, 
/**
 * Shows how much of the context window is used.
 */
context_usage?: boolean, voice_mic?: boolean, };

export type CreatedAgent = { agent_id: string, 
/**
 * The URL of its chat, with its token.
 */
embed_url: string, 
/**
 * Shown only once.
 */
session_token: string, project_name: string, persona_slug: string, tmux_session_name: string, 
/**
 * `ready`.
 */
status: string, feature_flags: Features, session_id: string, };

/**
 * An agent, for administrators.
 */
export type RemoteAgentInfo = { agent_id: string, project_name: string, persona_slug: string, tmux_session_name: string, 
/**
 * Shell command that attaches a terminal.
 */
attach_command: string, backend: string, alive: boolean, 
/**
 * Whether its context can be compacted.
 */
can_hand_over: boolean, 
/**
 * The state of a live agent.
 */
state: AgentState | null, 
/**
 * Whether its process is connected.
 */
attached: boolean, session_id: string, feature_flags: Features, created_at: string, last_active_at: string, ended_at: string | null, ended_reason: string | null, };

export type RemoteAgentList = { 
/**
 * Newest first.
 */
agents: Array<RemoteAgentInfo>, 
/**
 * Maximum number of live agents.
 */
limit: number, 
/**
 * Default features of chats.
 */
embed_defaults: Features, };

export type AgentAlive = { alive: boolean, 
/**
 * Absent if it has ended.
 */
agent_id?: string, state?: AgentState, project_name?: string, 
/**
 * Why it is not alive: `agent_not_found` or `agent_ended`.
 */
reason?: string, };

export type AgentShutdown = { 
/**
 * `shutdown_initiated` or `already_terminated`.
 */
status: string, 
/**
 * A message for people.
 */
message: string, agent_id: string, };

export type AgentHandOver = { 
/**
 * `hand_over_requested`.
 */
status: string, 
/**
 * A message for people.
 */
message: string, agent_id: string, };

export type AgentToken = { 
/**
 * Replaces the previous one.
 */
session_token: string, 
/**
 * The URL of the chat, with the token.
 */
embed_url: string, };

export type OpenFrame = { 
/**
 * Flags of its URL.
 */
feature_flags?: FlagsWanted, };

export type FrameInfo = { 
/**
 * Valid for the chat in this frame only.
 */
frame_token: string, agent_id: string, project_name: string, persona_slug: string, 
/**
 * Absent when it has ended.
 */
state: AgentState | null, feature_flags: Features, upload: UploadRules, 
/**
 * Whether speech recognition is available.
 */
speech: boolean, 
/**
 * Origins that events may be posted to.
 */
parents: Array<string>, };

export type UploadRules = { 
/**
 * Size limit of a file.
 */
max_bytes: number, 
/**
 * Media types, with `*` as wildcard.
 */
types: Array<string>, };

export type PostToAgent = { text: string, 
/**
 * Paths of uploads.
 */
attachments?: Array<string>, };

export type AcceptedByAgent = { 
/**
 * Identifies the turn.
 */
stream_id: string, };

export type AnswerToAgent = { question_id: string, answer: string, };

/**
 * An empty object.
 */
export type EmptyBody = Record<symbol, never>;

export type Uploaded = { 
/**
 * Relative to the agent's folder.
 */
path: string, name: string, 
/**
 * In bytes.
 */
size: number, 
/**
 * The media type.
 */
type: string, };

export type SpeechText = { text: string, };

/**
 * A frame of an agent's stream that is not an event of its session.
 */
export type AgentFrame = { "type": "agent.state", state: AgentState, } | { "type": "agent.ended", reason: string, };

export type ProjectInfo = { name: string, from: StoredIn, 
/**
 * Whether its folder is missing.
 */
missing: boolean, folder: string, 
/**
 * `builtin`, or one of `remote_agents.backends`.
 */
backend?: string, 
/**
 * The model of the built-in agent.
 */
model?: string, 
/**
 * The MCP servers of its agents; default is none.
 */
mcp_servers?: Array<string>, };

export type ProjectList = { 
/**
 * Sorted by name.
 */
projects: Array<ProjectInfo>, 
/**
 * Available backends.
 */
backends: Array<string>, };

export type PersonaInfo = { slug: string, from: StoredIn, 
/**
 * Whether it has `experience.md`.
 */
has_experience: boolean, 
/**
 * Whether it is unreadable.
 */
missing: boolean, 
/**
 * Whether its folder was created by Gangway and is deleted with the persona.
 */
own: boolean, 
/**
 * A folder with `skill.md` and, optionally, `experience.md`.
 */
folder: string, 
/**
 * Whether new agents can have it.
 */
active: boolean, };

export type PersonaList = { 
/**
 * Sorted by slug.
 */
personas: Array<PersonaInfo>, };

export type PersonaText = { slug: string, folder: string, 
/**
 * One from config.yaml is read-only.
 */
from: StoredIn, 
/**
 * `skill.md`: abilities and behavior.
 */
skill: string, 
/**
 * `experience.md`: background, if any.
 */
experience: string | null, 
/**
 * Identifies these texts; sent back with a change.
 */
version: string, };

/**
 * Texts of a changed or new persona.
 */
export type PutPersonaText = { 
/**
 * `skill.md`.
 */
skill: string, 
/**
 * `experience.md`; absent or empty for none.
 */
experience?: string, 
/**
 * The version that is changed; absent for a new persona.
 */
version?: string, };

export type WrittenPersonaText = { version: string, };

export type StudyDirection = "in" | "out" | "internal";

export type StudyEvent = { sessionId: string, 
/**
 * Consecutive, from 1.
 */
eventIndex: number, timestamp: string, 
/**
 * `in` to the page, `out` from the page, `internal` by the relay.
 */
direction: StudyDirection, 
/**
 * The type of the message.
 */
type: string, 
/**
 * Id of a request to the page.
 */
id?: string, 
/**
 * Id of the request that it answers.
 */
replyTo?: string, 
/**
 * The agent that sent it, if any.
 */
agent?: string, payload: { [key: string]: JsonValue }, };

/**
 * Events of a study log, oldest first.
 */
export type StudyEvents = { events: Array<StudyEvent>, 
/**
 * Whether more events follow.
 */
more: boolean, };

export type StudyEntry = { sessionId: string, studyId: string | null, participantId: string | null, startedAt: string, endedAt: string | null, 
/**
 * Why it ended.
 */
reason: string | null, relaySession: string, 
/**
 * Number of events; null for an open one without members.
 */
events: number | null, };

export type StudyList = { 
/**
 * Newest first.
 */
sessions: Array<StudyEntry>, };

/**
 * Counts by actor.
 */
export type StudyBy = { 
/**
 * The participant's.
 */
user: number, agent: number, };

export type StudyStage = { stage: string, 
/**
 * Time in all visits.
 */
seconds: number, steps: number, errors: number, 
/**
 * Steps by actor.
 */
by: StudyBy, };

export type StudySummary = { 
/**
 * Actions on the page.
 */
steps: number, 
/**
 * Failed actions.
 */
errors: number, 
/**
 * From the first event to the last.
 */
seconds: number, 
/**
 * In order of first appearance.
 */
stages: Array<StudyStage>, 
/**
 * Steps by actor.
 */
by: StudyBy, 
/**
 * Messages by actor.
 */
messages: StudyBy, };

export type CreateInvitation = { 
/**
 * The name under which the agent appears; default is `External agent`.
 */
label?: string, 
/**
 * Seconds until it expires, at most 30 days; default is a day.
 */
expiresIn?: number, };

/**
 * An invitation of an agent to a chat.
 */
export type InvitationInfo = { invitationId: string, sessionId: string, 
/**
 * The name under which its agents appear.
 */
label: string, createdAt: string, expiresAt: string, 
/**
 * How many agents are connected with it.
 */
agents: number, };

export type CreatedInvitation = { 
/**
 * For `token` of `relay.join`, with the chat as `sessionId`; not shown again.
 */
token: string, invitation: InvitationInfo, };

/**
 * The external agents of a chat.
 */
export type InvitationList = { 
/**
 * Those that are valid, oldest first.
 */
invitations: Array<InvitationInfo>, 
/**
 * The names of all connected agents.
 */
agents: Array<string>, };

export type RelayInfo = { name: string, 
/**
 * Whether a page has joined.
 */
host: boolean, 
/**
 * Number of agents.
 */
agents: number, 
/**
 * The open study session.
 */
studySession: string | null, 
/**
 * Whether it has tokens.
 */
token: boolean, };

/**
 * Current and recent relay sessions.
 */
export type RelayList = { 
/**
 * Sorted by name.
 */
sessions: Array<RelayInfo>, 
/**
 * Invitations of agents to chats.
 */
invitations: Array<InvitationInfo>, };

/**
 * The tokens of a relay session, one per role.
 */
export type RelayTokens = { session: string, 
/**
 * `token` of agents.
 */
agentToken: string, 
/**
 * `token` of the page.
 */
hostToken: string, };

/** The version of the external agent protocol. */
export type RelayVersion = "mvp-0.2";

export type RelayRole = "host" | "agent";

export type RelayCode = "INVALID_MESSAGE" | "SESSION_NOT_ACTIVE" | "UNKNOWN_TOOL" | "INVALID_PARAMS" | "NO_ACTIVE_SPEC" | "TOOL_EXECUTION_FAILED";

/**
 * Types that agents send.
 */
export type RelayFromAgent = "session.start" | "snapshot.get" | "tool.call" | "agent.message" | "agent.status" | "session.reset" | "session.end";

/**
 * Types that pages send.
 */
export type RelayFromHost = "session.started" | "snapshot.state" | "tool.result" | "state.updated" | "user.message" | "session.ended" | "error";

/**
 * An outgoing message.
 */
export type RelayEnvelope = { v: RelayVersion, type: string, 
/**
 * Request id.
 */
id?: string, 
/**
 * Id of the request that it answers.
 */
replyTo?: string, 
/**
 * Its number in the relay session, to resume after.
 */
seq?: number, payload: Record<string, unknown>, };

export type RelayError = { code: RelayCode, message: string, 
/**
 * Another page replaced this one, which must not reconnect by itself: the two would replace each other forever.
 */
replaced?: boolean, };

export type RelayJoin = { role: RelayRole, 
/**
 * Default `default`.
 */
sessionId?: string, 
/**
 * The number of the last message received.
 */
since?: number, 
/**
 * Identifies the client after a reconnect, so that it gets missed answers.
 */
clientId?: string, 
/**
 * Whether to send `relay.presence`; default for agents.
 */
presence?: boolean, 
/**
 * The session's token, if it has one.
 */
token?: string, 
/**
 * The chat whose agents may use the page too.
 */
gangwaySession?: string, };

/**
 * The response to a join.
 */
export type RelayJoined = { role: RelayRole, sessionId: string, 
/**
 * The number of the last message so far.
 */
seq: number, host: boolean, 
/**
 * Number of agents.
 */
agents: number, 
/**
 * The open study session.
 */
studySession: string | null, 
/**
 * There is a gap: the client must read the page's state again.
 */
resync?: boolean, };

export type RelayPresence = { host: boolean, 
/**
 * Number of agents.
 */
agents: number, names: Array<string>, };

export type ServerOrigin = "server" | "own";

export type BridgeProblem = { 
/**
 * A machine-readable code.
 */
code: string, 
/**
 * What was wrong, and what to do.
 */
message: string, 
/**
 * The HTTP status, if the server returned an error.
 */
status?: number, 
/**
 * A model provider's own error message.
 */
details?: string, 
/**
 * Whether the request may be retried, if the server said so.
 */
retryable?: boolean, 
/**
 * Seconds to wait before a retry.
 */
retry_after?: number, };

/**
 * The answer to `hello`.
 */
export type BridgeHello = { 
/**
 * Protocol version.
 */
protocol: number, gangway: string, pid: number, attached: ServerOrigin, base_url: string, 
/**
 * Supported message types.
 */
capabilities: Array<string>, limits: BridgeLimits, };

export type BridgeLimits = { 
/**
 * Bytes of a message from the extension.
 */
frame_bytes: number, 
/**
 * Bytes of a frame to the extension; longer messages are sent in parts.
 */
reply_bytes: number, 
/**
 * Open requests.
 */
requests: number, 
/**
 * Open pages.
 */
pages: number, };

export type ServerPresence = "up" | "gone";

/**
 * A notification: a message that answers no request.
 */
export type BridgeStatus = { "about": "server", state: ServerPresence, attached: ServerOrigin, base_url: string, } | { "about": "asks", 
/**
 * As the server said it.
 */
frame: AsksFrame, };

/**
 * A message of the bridge itself.
 */
export type BridgeMessage = { "type": "status" } & BridgeStatus | { "type": "part", 
/**
 * Id of the message.
 */
part: string, 
/**
 * From 0.
 */
index: number, 
/**
 * Number of parts.
 */
count: number, data: string, } | { "type": "error", 
/**
 * Absent if it could not be read.
 */
request_id: string | null, 
/**
 * True if its id is in use: the open request continues.
 */
refused?: boolean, error: BridgeProblem, };

export type FileKind = "file" | "folder" | "other";

export type FileEvent = "created" | "changed" | "removed";

/**
 * The sender of a message.
 */
export type SourceKind = "person" | "applet" | "agent" | "page";

/**
 * Whether an applet may send messages in a session.
 */
export type ConsentState = "once" | "allowed" | "denied" | "ask";

/**
 * An event between an app and its agent.
 */
export type AppEvent = { "what": "launched", 
/**
 * The name of the agent.
 */
agent: string, } | { "what": "event", 
/**
 * The id that the page gave it.
 */
id: string, event: string, payload: JsonValue, 
/**
 * False when the app's manifest declares events, and this is not one of them.
 */
declared: boolean, 
/**
 * Whether a message to the agent contains it.
 */
turn: boolean, } | { "what": "taken", 
/**
 * The id that the page gave it.
 */
id: string, by: string, } | { "what": "request", 
/**
 * The id that the page gave the request.
 */
requestId: string, action: string, params: JsonValue, } | { "what": "begun", requestId: string, } | { "what": "answer", requestId: string, result: JsonValue | null, 
/**
 * The error code that the page sees.
 */
code: string | null, 
/**
 * The error message.
 */
error: string | null, by: string, } | { "what": "told", event: string, payload: JsonValue, source: Source, };

/**
 * What the user was asked for; no values of forms, and of URLs only the origin.
 */
export type LoggedAsk = { "type": "elicitation", message: string, 
/**
 * The names of the form's fields.
 */
fields: Array<string>, 
/**
 * The origin of the page.
 */
origin: string | null, } | { "type": "action", message: string, } | { "type": "message", text: string, } | { "type": "permission", scopes: Array<PermissionScope>, 
/**
 * The tools to choose from, as `server/tool`.
 */
tools: Array<string>, 
/**
 * Why, in the page's words.
 */
reason: string | null, 
/**
 * The origin of the MCP server that the page brings along.
 */
server: string | null, } | { "type": "invitation" };

/**
 * How a request to the user ended.
 */
export type AskOutcome = "once" | "always" | "denied" | "dismissed" | "expired" | "withdrawn";

/**
 * Where the user answered.
 */
export type AskActor = "person" | "terminal" | "extension" | "page";

/**
 * The kinds of pages, by the protocol that they use.
 */
export type PageKind = "app" | "applet" | "site" | "relay";

/**
 * An event about a page.
 */
export type PageEntry = { "what": "opened", origin: string, title: string, } | { "what": "left" } | { "what": "offered", 
/**
 * The names of all of them.
 */
tools: Array<string>, } | { "what": "called", 
/**
 * Identifies the call in this session.
 */
callId: string, 
/**
 * `server/tool`.
 */
tool: string, arguments: JsonValue, by: Source, } | { "what": "returned", callId: string, result: JsonValue | null, 
/**
 * The error message.
 */
error: string | null, 
/**
 * The error code, as pages know it.
 */
code: string | null, } | { "what": "message", 
/**
 * Its type, as on the relay.
 */
kind: string, payload: JsonValue, 
/**
 * The agent that sent it; none for the page.
 */
by: string | null, };

export type AppletList = { 
/**
 * Sorted by slug.
 */
applets: Array<AppletInfo>, };

export type AppletInfo = { 
/**
 * Its name in URLs.
 */
slug: string, name: string, description?: string, 
/**
 * `builtin`, `apps` or `data`.
 */
origin: string, 
/**
 * The URL of its frame, for a page that answers it itself.
 */
frame: string, 
/**
 * Why it cannot be opened.
 */
problem?: string, };

export type AppletConsentList = { 
/**
 * Applets that were allowed, denied, or have asked.
 */
applets: Array<AppletConsent>, };

export type AppletConsent = { slug: string, name: string, 
/**
 * `allowed`, `denied` or `ask`.
 */
speak: string, 
/**
 * The message that waits for consent.
 */
asking?: PendingConsent, };

export type PendingConsent = { prompt: string, askedAt: string, };

export type SetAppletConsent = { speak: ConsentDecision, };

export type ConsentDecision = "once" | "allow" | "always" | "deny" | "ask";

/**
 * Requests of a page. Each may have an `id`, which its answer repeats.
 */
export type AppletClientMessage = { "type": "setState", data: Record<string, JsonValue>, } | { "type": "getState", key?: string, } | { "type": "readFile", path: string, 
/**
 * Whether its bytes are sent as binary messages; otherwise it must be text.
 */
binary?: boolean, 
/**
 * The first byte.
 */
offset?: number, 
/**
 * Maximum number of bytes.
 */
length?: number, } | { "type": "writeFile", path: string, content: string, encoding?: Encoding, } | { "type": "listFiles", 
/**
 * Default is the session's folder itself.
 */
path?: string, } | { "type": "stat", path: string, } | { "type": "subscribe", path: string, } | { "type": "unsubscribe", path: string, } | { "type": "invoke", prompt: string, options?: InvokeOptions, 
/**
 * `active`, `background`, `new`, or a session id.
 */
session?: string, 
/**
 * Whether the chat shows the message.
 */
showInChat?: boolean, 
/**
 * Whether the answer is streamed.
 */
waitForResult?: boolean, 
/**
 * Deprecated: `session: "background"`.
 */
background?: boolean, } | { "type": "stop", 
/**
 * Stop only the `invoke` with this `id`: withdraw it, or stop its turn.
 */
invoke?: JsonValue, } | { "type": "offerTools", tools: Array<PageTool>, 
/**
 * Whether another document took the place of the one that was sent the open calls, which fail.
 */
reset?: boolean, } | { "type": "toolResult", call: number, result?: JsonValue, 
/**
 * Why it failed.
 */
error?: ToolProblem, } | { "type": "ping" };

export type InvokeOptions = { 
/**
 * `active`, `background`, `new`, or a session id.
 */
session?: string, 
/**
 * Whether the chat shows the message.
 */
showInChat?: boolean, 
/**
 * Whether the answer is streamed.
 */
waitForResult?: boolean, 
/**
 * Deprecated: `session: "background"`.
 */
background?: boolean, };

/**
 * The encoding of a file's content.
 */
export type Encoding = "utf8" | "base64";

/**
 * Messages of the server.
 */
export type AppletServerMessage = { "type": "ready", session: string, applet?: string, 
/**
 * The URL of the applet's frame.
 */
frame?: string, 
/**
 * The number to resume after.
 */
seq: number, 
/**
 * The version of its state.
 */
version: number, } | { "type": "resync", 
/**
 * `trimmed`, `future` or `malformed`.
 */
reason: string, 
/**
 * The number to resume after.
 */
seq: number, 
/**
 * The version of the applet's state.
 */
version: number, } | { "type": "stateUpdate", 
/**
 * Set in the answer to a request.
 */
id?: JsonValue, applet: string, 
/**
 * The changed keys; `null` for removed ones.
 */
data: Record<string, JsonValue>, 
/**
 * The version after the change.
 */
version: number, 
/**
 * Its number in the session.
 */
seq: number, } | { "type": "state", 
/**
 * The id of the request.
 */
id: JsonValue, 
/**
 * The state, or the requested key.
 */
data: Record<string, JsonValue>, version: number, } | { "type": "fileContent", 
/**
 * The id of the request.
 */
id: JsonValue, path: string, 
/**
 * The chunk, if it is text.
 */
chunk?: string, 
/**
 * Size of the binary message that follows, if it is not.
 */
bytes?: number, 
/**
 * The size of the whole file.
 */
size: number, 
/**
 * Whether this was the last chunk.
 */
done: boolean, } | { "type": "fileWritten", 
/**
 * The id of the request.
 */
id: JsonValue, 
/**
 * Relative to the session's folder.
 */
path: string, name: string, kind: FileKind, 
/**
 * In bytes.
 */
size: number, modified?: string, } | { "type": "files", 
/**
 * The id of the request.
 */
id: JsonValue, path: string, 
/**
 * Sorted by name.
 */
entries: Array<AppletFile>, 
/**
 * Whether entries were left out.
 */
more: boolean, } | { "type": "fileStat", 
/**
 * The id of the request.
 */
id: JsonValue, 
/**
 * Relative to the session's folder.
 */
path: string, name: string, kind: FileKind, 
/**
 * In bytes.
 */
size: number, modified?: string, } | { "type": "subscribed", 
/**
 * The id of the request.
 */
id: JsonValue, path: string, } | { "type": "unsubscribed", 
/**
 * The id of the request.
 */
id: JsonValue, path: string, } | { "type": "fileChanged", path: string, event: FileEvent, } | { "type": "consentAsked", 
/**
 * The id of the request.
 */
id: JsonValue, } | { "type": "invokeStarted", 
/**
 * The id of the request.
 */
id: JsonValue, 
/**
 * Identifies the turn.
 */
streamId: string, 
/**
 * The turn's session.
 */
sessionId: string, } | { "type": "stream", 
/**
 * The id of the request.
 */
id: JsonValue, delta: string, } | { "type": "invokeComplete", 
/**
 * The id of the request.
 */
id: JsonValue, 
/**
 * The text of the answer.
 */
result: string, 
/**
 * Why it failed or was stopped.
 */
error?: string, } | { "type": "stopped", 
/**
 * The id of the request.
 */
id: JsonValue, 
/**
 * Whether a turn was running.
 */
stopped: boolean, } | { "type": "messageStarted", prompt: string, source: SourceKind, appletSlug?: string, 
/**
 * Identifies the turn.
 */
streamId: string, showInChat: boolean, 
/**
 * Its number in the session.
 */
seq: number, } | { "type": "streamReady", 
/**
 * Identifies the turn.
 */
streamId: string, 
/**
 * Its number in the session.
 */
seq: number, } | { "type": "messageDone", 
/**
 * Identifies the turn.
 */
streamId: string, outcome: Outcome, 
/**
 * Its number in the session.
 */
seq: number, } | { "type": "toolsOffered", 
/**
 * The id of the request.
 */
id?: JsonValue, 
/**
 * The server name of the page's tools, as agents see it; none before it offers tools.
 */
server?: string, 
/**
 * The names of the accepted tools.
 */
tools: Array<string>, refused: Array<RefusedPageTool>, } | { "type": "toolCall", call: number, name: string, arguments: JsonValue, } | { "type": "toolCancel", call: number, } | { "type": "reload" } | { "type": "error", 
/**
 * The id of the request, if any.
 */
id?: JsonValue, 
/**
 * A machine-readable code.
 */
code: string, 
/**
 * A message for people.
 */
error: string, } | { "type": "closing", 
/**
 * `slow`, `deleted`, `shutdown`, `storage`, `revoked` or `flood`.
 */
reason: string, 
/**
 * What to do about it.
 */
message: string, } | { "type": "pong", 
/**
 * The id of the request.
 */
id?: JsonValue, };

/**
 * A file or folder of a session's folder.
 */
export type AppletFile = { 
/**
 * Relative to the session's folder.
 */
path: string, name: string, kind: FileKind, 
/**
 * In bytes.
 */
size: number, modified?: string, };

export type Severity = "error" | "warning";

export type Problem = { 
/**
 * The line of `APP.md`, from 1.
 */
line?: number, severity: Severity, 
/**
 * What is wrong, and what to do.
 */
message: string, };

/**
 * How an event reaches Gangway's own agents.
 */
export type Delivery = "context" | "turn";

export type FieldKind = "string" | "number" | "boolean" | "array" | "object" | "date";

export type Field = { 
/**
 * Any value when absent.
 */
type?: FieldKind, description?: string, required: boolean, default?: unknown, 
/**
 * The allowed values.
 */
enum?: unknown[], 
/**
 * The fields of an object.
 */
properties: { [key in string]: Field }, 
/**
 * The items of an array.
 */
items?: Field, };

export type ContextFields = { data: { [key in string]: Field }, config: { [key in string]: Field }, };

export type AppAddress = { 
/**
 * Valid for one minute; that of a replay for one day.
 */
url: string, };

export type EnterApp = { 
/**
 * The path in the app, with its query.
 */
path: string, };

/**
 * What a page of an app is shown with in a replay.
 */
export type ReplayApp = { 
/**
 * The launch; a page that was opened without an agent has none.
 */
launchId?: string, };

export type AppInfo = { name: string, title: string, 
/**
 * One or two characters such as an emoji, or an image as a `data:` URL.
 */
icon?: string, description: string, version: string, category?: string, tags: Array<string>, 
/**
 * When an agent should suggest it.
 */
triggers: Array<string>, provides: Array<string>, 
/**
 * Whether agents can find it.
 */
discoverable: boolean, 
/**
 * Whether agents may launch it.
 */
launchable: boolean, 
/**
 * `builtin`, `named` or `folder`.
 */
origin: string, 
/**
 * Its URL without an agent.
 */
url: string, problems: Array<Problem>, 
/**
 * Events that it emits.
 */
events: Array<AppEventInfo>, 
/**
 * How its events reach a built-in agent.
 */
delivery: Delivery, };

export type AppEventInfo = { name: string, description?: string, };

export type UntrustedFolder = { folder: string, 
/**
 * Number of apps.
 */
apps: number, };

export type TrustFolder = { folder: string, trusted: boolean, };

export type AppList = { 
/**
 * Sorted by name, or by relevance if there is a query.
 */
apps: Array<AppInfo>, 
/**
 * Folders whose apps are not loaded until they are trusted.
 */
untrusted: Array<UntrustedFolder>, };

export type AppDetails = { 
/**
 * The data and config that it accepts.
 */
context: ContextFields, 
/**
 * The text of its manifest, in Markdown.
 */
about: string, 
/**
 * Actions that the user has always allowed.
 */
grants: Array<string>, name: string, title: string, 
/**
 * One or two characters such as an emoji, or an image as a `data:` URL.
 */
icon?: string, description: string, version: string, category?: string, tags: Array<string>, 
/**
 * When an agent should suggest it.
 */
triggers: Array<string>, provides: Array<string>, 
/**
 * Whether agents can find it.
 */
discoverable: boolean, 
/**
 * Whether agents may launch it.
 */
launchable: boolean, 
/**
 * `builtin`, `named` or `folder`.
 */
origin: string, 
/**
 * Its URL without an agent.
 */
url: string, problems: Array<Problem>, 
/**
 * Events that it emits.
 */
events: Array<AppEventInfo>, 
/**
 * How its events reach a built-in agent.
 */
delivery: Delivery, };

/**
 * The agent of a launch: its name, or more.
 */
export type LaunchAgent = string | { name: string, 
/**
 * Such as 1.0.0.
 */
version?: string, capabilities: Array<string>, };

export type LaunchApp = { 
/**
 * Default is the session's agent.
 */
agent?: LaunchAgent, data: Record<string, JsonValue>, config: Record<string, JsonValue>, 
/**
 * Default is a new session.
 */
session?: string, 
/**
 * The origin of a page that embeds the app.
 */
embedOrigin?: string, 
/**
 * Whether its pages reload when its files change.
 */
reload: boolean, };

export type LaunchedApp = { launchId: string, 
/**
 * Valid for one browser.
 */
url: string, 
/**
 * When the URL expires.
 */
expiresAt: string, 
/**
 * The session that logs the channel.
 */
sessionId: string, warnings: Array<string>, };

export type LaunchInfo = { launchId: string, app: string, 
/**
 * The session that logs the channel.
 */
sessionId: string, 
/**
 * The agent's name.
 */
agent: string, createdAt: string, 
/**
 * When its addresses expire.
 */
expiresAt: string, 
/**
 * Number of connected pages.
 */
open: number, 
/**
 * Whether it has a built-in or connected agent.
 */
attached: boolean, };

export type OpenLaunch = { 
/**
 * The origin of a page that embeds the app.
 */
embedOrigin?: string, };

export type OpenedLaunch = { 
/**
 * Valid for one browser.
 */
url: string, expiresAt: string, };

export type SendAppEvent = { 
/**
 * Lowercase letters, digits and hyphens.
 */
event: string, payload: JsonValue, };

export type SentAppEvent = { 
/**
 * Its number in the log.
 */
seq: number, };

export type AppFault = { 
/**
 * The code that the app sees, such as `E-AGT-004`.
 */
code: string | null, message: string | null, };

/**
 * Messages from a page.
 */
export type PageClientMessage = { "type": "weblet-event", 
/**
 * Chosen by the page; the same when it is repeated.
 */
id: string, event: string, payload: JsonValue, } | { "type": "weblet-request", 
/**
 * Chosen by the page; the same when it is repeated.
 */
requestId: string, action: string, params: JsonValue, } | { "type": "weblet-tools", tools: Array<PageTool>, 
/**
 * Whether another document took the place of the one that was sent the open calls, which fail.
 */
reset?: boolean, } | { "type": "weblet-tool-result", call: number, success: boolean, result?: JsonValue, error?: AppFault, } | { "type": "weblet-cancel", 
/**
 * The `id` of an event, or the `requestId` of a request.
 */
id: string, } | { "type": "ping", };

/**
 * Messages to a page.
 */
export type PageServerMessage = { "type": "welcome", 
/**
 * The number to resume after.
 */
seq: number, } | { "type": "resync", 
/**
 * The number to resume after.
 */
seq: number, } | { "type": "weblet-ack", id: string, } | { "type": "weblet-nack", id: string, error: AppFault, } | { "type": "weblet-response", requestId: string, success: boolean, result?: JsonValue, error?: AppFault, } | { "type": "agent-event", event: string, payload: JsonValue, 
/**
 * Its number in the log.
 */
seq: number, } | { "type": "tools-offered", 
/**
 * The server name of the page's tools, as agents see it; none before it offers tools.
 */
server?: string, 
/**
 * The names of the accepted tools.
 */
tools: Array<string>, refused: Array<RefusedPageTool>, } | { "type": "tool-call", call: number, name: string, arguments: JsonValue, } | { "type": "tool-cancel", call: number, } | { "type": "reload" } | { "type": "error", error: string, 
/**
 * The id of that message, if any.
 */
id?: string, } | { "type": "pong" } | { "type": "closing", 
/**
 * A machine-readable reason.
 */
reason: string, 
/**
 * What to do about it.
 */
message: string, };

/**
 * Messages from an agent.
 */
export type AgentClientMessage = { "type": "weblet-ack", id: string, } | { "type": "weblet-response", requestId: string, success: boolean, result: JsonValue, error: AppFault | null, } | { "type": "agent-event", event: string, payload: JsonValue, 
/**
 * Chosen by the agent, for `sent`.
 */
id: string | null, } | { "type": "ping", };

/**
 * Messages to an agent.
 */
export type AgentServerMessage = { "type": "welcome", launchId: string, app: string, 
/**
 * The session that logs the channel.
 */
sessionId: string, 
/**
 * The number of its newest event.
 */
seq: number, } | { "type": "weblet-event", id: string, event: string, payload: JsonValue, 
/**
 * Milliseconds since 1970.
 */
timestamp: number, weblet: string, 
/**
 * Its number in the log.
 */
seq: number, } | { "type": "weblet-request", requestId: string, action: string, params: JsonValue, 
/**
 * Milliseconds since 1970.
 */
timestamp: number, weblet: string, 
/**
 * Its number in the log.
 */
seq: number, } | { "type": "sent", id?: string, 
/**
 * Its number in the log.
 */
seq: number, } | { "type": "error", error: string, 
/**
 * The id of that message, if any.
 */
id?: string, } | { "type": "pong" } | { "type": "closing", 
/**
 * A machine-readable reason.
 */
reason: string, 
/**
 * What to do about it.
 */
message: string, };
