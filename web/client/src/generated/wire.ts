// Generated from the Rust wire types by `make schema`; do not edit.

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/**
 * What is wrong with a request, or why it could not be served.
 */
export type ApiError = { 
/**
 * The HTTP status.
 */
status: number, 
/**
 * A short machine-readable reason.
 */
error_code: string, 
/**
 * What was wrong, where, and what to do.
 */
message: string, 
/**
 * The same as `message`, under the name that clients of the applet protocol read.
 */
error: string, 
/**
 * Whether the same request may work later.
 */
retryable: boolean, 
/**
 * How long to wait before that.
 */
retry_after_seconds?: number, 
/**
 * A model provider's own words, where one failed.
 */
details?: string, };

/**
 * Who a message came from.
 */
export type Source = { "kind": "person" } | { "kind": "applet", 
/**
 * Which applet.
 */
slug: string, } | { "kind": "agent", 
/**
 * What it calls itself.
 */
name: string, } | { "kind": "page", 
/**
 * Its origin.
 */
origin: string, };

/**
 * Whether a session is answering.
 */
export type SessionState = "idle" | "running";

/**
 * A session.
 */
export type Session = { 
/**
 * Its id.
 */
sessionId: string, 
/**
 * What people call it; set from the first message when nobody chose one.
 */
title: string | null, 
/**
 * The folder it works in.
 */
cwd: string, 
/**
 * The model it was told to use.
 */
model: string | null, 
/**
 * The agent that takes its turns.
 */
agent: string, 
/**
 * Whether it is answering.
 */
state: SessionState, 
/**
 * When it was made.
 */
createdAt: string, 
/**
 * When it was last changed, or a turn of it ended.
 */
updatedAt: string, };

/**
 * How to make a session.
 */
export type CreateSession = { 
/**
 * The folder to work in; it must exist. A fresh one of its own when absent.
 */
cwd?: string, 
/**
 * The model to use.
 */
model?: string, 
/**
 * The agent to use; see `GET /api/agents`.
 */
agent?: string, 
/**
 * What to call it.
 */
title?: string, };

/**
 * What to change of a session; what is absent stays.
 */
export type UpdateSession = { 
/**
 * What to call it.
 */
title?: string, 
/**
 * The model to use.
 */
model?: string, 
/**
 * The agent to use.
 */
agent?: string, };

/**
 * A page of sessions, newest first.
 */
export type SessionList = { 
/**
 * The sessions.
 */
sessions: Array<Session>, 
/**
 * Give it as `before` to get the next page; null on the last one.
 */
next: string | null, };

/**
 * What to do with a message while another is being answered.
 */
export type WhenBusy = "queue" | "refuse";

/**
 * A message to the agent.
 */
export type PostMessage = { 
/**
 * What to say.
 */
prompt: string, 
/**
 * What to do when the session is answering another message.
 */
whenBusy?: WhenBusy, 
/**
 * Changes to the state of the session's applet that are made before the message; see `setState` of `/ws/applet`.
 */
appletState?: Record<string, JsonValue>, 
/**
 * A picture, as a `data:` URL in base64; it is kept in the session's folder, and the message names the file.
 */
imageData?: string, };

/**
 * A message that was accepted; it is on the disk.
 */
export type MessageAccepted = { 
/**
 * Names the answer; see `GET /api/stream/{streamId}`.
 */
streamId: string, 
/**
 * The session.
 */
sessionId: string, };

/**
 * What a stop did.
 */
export type StopResult = { 
/**
 * Whether a turn was running.
 */
stopped: boolean, 
/**
 * How many waiting messages were dropped.
 */
dropped: number, };

/**
 * An answer to a question of the agent.
 */
export type PostAnswer = { 
/**
 * Which question.
 */
questionId: string, 
/**
 * The answer.
 */
answer: string, };

/**
 * How a turn ended.
 */
export type Outcome = "completed" | "stopped" | "failed" | "interrupted";

/**
 * Tokens a turn used, as the model counted them.
 */
export type Usage = { 
/**
 * Tokens read.
 */
inputTokens: number, 
/**
 * Tokens written.
 */
outputTokens: number, };

/**
 * How far a tool call is.
 */
export type ToolState = "running" | "done" | "failed";

/**
 * What a line of a conversation can be.
 */
export type Line = { "role": "user", 
/**
 * What.
 */
content: string, 
/**
 * Who.
 */
source: Source, } | { "role": "assistant", 
/**
 * The message.
 */
messageId: string, 
/**
 * Its text so far.
 */
content: string, 
/**
 * True when the turn ended before the agent finished it.
 */
partial: boolean, 
/**
 * True while more is coming.
 */
streaming: boolean, } | { "role": "tool", 
/**
 * The call.
 */
toolCallId: string, 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * What it was called with.
 */
arguments: JsonValue, 
/**
 * How far it is.
 */
state: ToolState, 
/**
 * Its answer.
 */
result: JsonValue | null, 
/**
 * Why it has none.
 */
error: string | null, } | { "role": "question", 
/**
 * The question.
 */
questionId: string, 
/**
 * What was asked.
 */
question: string, 
/**
 * Answers offered.
 */
options: Array<string>, 
/**
 * The answer, once it is there.
 */
answer: string | null, } | { "role": "app", 
/**
 * Which opening of the app.
 */
launchId: string, 
/**
 * The app.
 */
app: string, 
/**
 * What happened.
 */
news: AppNews, } | { "role": "notice", 
/**
 * What.
 */
message: string, } | { "role": "error", 
/**
 * A short machine-readable reason.
 */
code: string, 
/**
 * What to tell the person.
 */
message: string, 
/**
 * Whether the same prompt may work later.
 */
retryable: boolean, } | { "role": "end", 
/**
 * How.
 */
outcome: Outcome, };

/**
 * One line of a conversation.
 */
export type Entry = { 
/**
 * The number of the event it began with.
 */
seq: number, 
/**
 * When it began.
 */
at: string, 
/**
 * The turn it belongs to.
 */
streamId: string, 
/**
 * Whether the chat leaves it out.
 */
hidden: boolean, } & ({ "role": "user", 
/**
 * What.
 */
content: string, 
/**
 * Who.
 */
source: Source, } | { "role": "assistant", 
/**
 * The message.
 */
messageId: string, 
/**
 * Its text so far.
 */
content: string, 
/**
 * True when the turn ended before the agent finished it.
 */
partial: boolean, 
/**
 * True while more is coming.
 */
streaming: boolean, } | { "role": "tool", 
/**
 * The call.
 */
toolCallId: string, 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * What it was called with.
 */
arguments: JsonValue, 
/**
 * How far it is.
 */
state: ToolState, 
/**
 * Its answer.
 */
result: JsonValue | null, 
/**
 * Why it has none.
 */
error: string | null, } | { "role": "question", 
/**
 * The question.
 */
questionId: string, 
/**
 * What was asked.
 */
question: string, 
/**
 * Answers offered.
 */
options: Array<string>, 
/**
 * The answer, once it is there.
 */
answer: string | null, } | { "role": "app", 
/**
 * Which opening of the app.
 */
launchId: string, 
/**
 * The app.
 */
app: string, 
/**
 * What happened.
 */
news: AppNews, } | { "role": "notice", 
/**
 * What.
 */
message: string, } | { "role": "error", 
/**
 * A short machine-readable reason.
 */
code: string, 
/**
 * What to tell the person.
 */
message: string, 
/**
 * Whether the same prompt may work later.
 */
retryable: boolean, } | { "role": "end", 
/**
 * How.
 */
outcome: Outcome, });

/**
 * A part of a conversation, oldest line first.
 */
export type History = { 
/**
 * The session.
 */
sessionId: string, 
/**
 * The lines.
 */
entries: Array<Entry>, 
/**
 * Whether there are older ones; ask with `before` set to the first line's `seq`.
 */
older: boolean, };

/**
 * How full the model's window is.
 */
export type ContextUse = { 
/**
 * Tokens in it.
 */
used: number, 
/**
 * Tokens that fit, where that is known.
 */
window: number | null, };

/**
 * Everything a page needs to draw a session and to follow it from `seq` on.
 */
export type Snapshot = { 
/**
 * The session.
 */
session: Session, 
/**
 * The last number this covers.
 */
seq: number, 
/**
 * The newest lines.
 */
entries: Array<Entry>, 
/**
 * Whether there are older ones.
 */
older: boolean, 
/**
 * The turn that runs.
 */
running: string | null, 
/**
 * The turns that wait.
 */
queued: Array<string>, 
/**
 * How full the model's window is, where the agent told.
 */
context: ContextUse | null, };

/**
 * What can happen in a session.
 */
export type EventBody = { "type": "session.created", 
/**
 * Its folder.
 */
cwd: string, 
/**
 * Its title.
 */
title: string | null, 
/**
 * Its model.
 */
model: string | null, 
/**
 * Its agent.
 */
agent: string, } | { "type": "session.changed", 
/**
 * Its title.
 */
title: string | null, 
/**
 * Its model.
 */
model: string | null, 
/**
 * Its agent.
 */
agent: string, } | { "type": "user.message", 
/**
 * Names the turn that answers it.
 */
streamId: string, 
/**
 * What was said.
 */
prompt: string, 
/**
 * Who said it.
 */
source: Source, 
/**
 * Whether the chat shows it and what comes of it.
 */
showInChat: boolean, } | { "type": "assistant.turn_start", 
/**
 * The turn.
 */
streamId: string, 
/**
 * The agent.
 */
agent: string, 
/**
 * The model it was told to use.
 */
model: string | null, } | { "type": "assistant.message_delta", 
/**
 * The turn.
 */
streamId: string, 
/**
 * The message it belongs to.
 */
messageId: string, 
/**
 * The piece.
 */
delta: string, } | { "type": "assistant.message", 
/**
 * The turn.
 */
streamId: string, 
/**
 * The message.
 */
messageId: string, 
/**
 * All of its text.
 */
content: string, 
/**
 * True when the turn ended before the agent finished it.
 */
partial: boolean, 
/**
 * Numbers of the first and the last delta it stands for; a reader that resumes later may not get those again.
 */
replaces: [number, number] | null, } | { "type": "tool.execution_start", 
/**
 * The turn.
 */
streamId: string, 
/**
 * The call.
 */
toolCallId: string, 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * What it was called with.
 */
arguments: JsonValue, } | { "type": "tool.execution_complete", 
/**
 * The turn.
 */
streamId: string, 
/**
 * The call.
 */
toolCallId: string, 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * Whether it worked.
 */
success: boolean, 
/**
 * Its answer.
 */
result: JsonValue | null, 
/**
 * Why it has none.
 */
error: string | null, } | { "type": "session.question", 
/**
 * The turn.
 */
streamId: string, 
/**
 * The question.
 */
questionId: string, 
/**
 * What is asked.
 */
question: string, 
/**
 * Answers offered; others are allowed.
 */
options: Array<string>, } | { "type": "session.answer", 
/**
 * The turn.
 */
streamId: string, 
/**
 * The question.
 */
questionId: string, 
/**
 * The answer.
 */
answer: string, } | { "type": "applet.state", 
/**
 * Whose state.
 */
applet: string, 
/**
 * Its version after the change.
 */
version: number, 
/**
 * The keys that changed; `null` took a key away.
 */
patch: Record<string, JsonValue>, 
/**
 * Who changed it.
 */
source: Source, } | { "type": "applet.asks", 
/**
 * Which applet.
 */
applet: string, 
/**
 * What it wants to say.
 */
prompt: string, } | { "type": "applet.leave", 
/**
 * Which applet.
 */
applet: string, 
/**
 * What was decided.
 */
speak: Speak, } | { "type": "applet.open", 
/**
 * Which.
 */
applet: string, } | { "type": "page.reload", 
/**
 * Only this applet.
 */
applet: string | null, } | { "type": "app", 
/**
 * Which opening of the app.
 */
launchId: string, 
/**
 * The app.
 */
app: string, 
/**
 * What happened.
 */
news: AppNews, } | { "type": "session.notice", 
/**
 * The turn.
 */
streamId: string, 
/**
 * What.
 */
message: string, } | { "type": "session.context", 
/**
 * The turn.
 */
streamId: string, 
/**
 * Tokens in it.
 */
used: number, 
/**
 * Tokens that fit, where that is known.
 */
window: number | null, } | { "type": "session.error", 
/**
 * The turn.
 */
streamId: string, 
/**
 * A short machine-readable reason.
 */
code: string, 
/**
 * What to tell the person.
 */
message: string, 
/**
 * Whether the same prompt may work later.
 */
retryable: boolean, } | { "type": "done", 
/**
 * The turn.
 */
streamId: string, 
/**
 * How it ended.
 */
outcome: Outcome, 
/**
 * What it used.
 */
usage: Usage | null, 
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
seq: number, 
/**
 * When it was written.
 */
at: string, } & EventBody;

/**
 * A frame of a session's feed.
 */
export type FeedFrame = { "type": "snapshot", 
/**
 * The session as it is.
 */
snapshot: Snapshot, } | { "type": "resync", 
/**
 * `trimmed`, `future` or `malformed`.
 */
reason: string, 
/**
 * The session as it is.
 */
snapshot: Snapshot, } | { "type": "closing", 
/**
 * `slow`, `deleted`, `shutdown`, `storage`, `revoked` or `flood`.
 */
reason: string, 
/**
 * What to do about it.
 */
message: string, } | EventFrame;

/**
 * An agent that can take turns.
 */
export type AgentInfo = { 
/**
 * Its name.
 */
name: string, 
/**
 * One line about it.
 */
description: string, 
/**
 * Whether it can take a turn now.
 */
ready: boolean, 
/**
 * Why not.
 */
reason: string | null, };

/**
 * The agents there are.
 */
export type AgentList = { 
/**
 * The one that is used when nobody chose.
 */
default: string, 
/**
 * All of them.
 */
agents: Array<AgentInfo>, };

/**
 * A key to make.
 */
export type CreateKey = { 
/**
 * What it is for, as a person calls it.
 */
name: string, 
/**
 * What it may do: `chat`, `models`, `tools`, `tools:SERVER/TOOL`, `agents`, `agents:PROJECT`, `relay`,
 * `relay.agent:SESSION`, `relay.host:SESSION`, `apps`, `metrics`, `admin`.
 */
scopes: string[], 
/**
 * Seconds until it stops working. Without it, it works until it is revoked.
 */
expiresIn?: number, };

/**
 * A new key, with its secret, which is never shown again.
 */
export type CreatedKey = { 
/**
 * Its id, for revoking it.
 */
id: string, 
/**
 * What it is for.
 */
name: string, 
/**
 * The key itself.
 */
key: string, 
/**
 * What may be a mistake, such as a tool that no server has.
 */
warnings?: Array<string>, };

/**
 * A key as it is listed.
 */
export type KeyInfo = { 
/**
 * Its id, for revoking it.
 */
id: string, 
/**
 * What it is for.
 */
name: string, 
/**
 * When it was made.
 */
createdAt: string, 
/**
 * What it may do, such as `chat`, `tools:files/*` or `admin`.
 */
scopes: string[], 
/**
 * When it stops working.
 */
expiresAt?: string, };

/**
 * The keys there are.
 */
export type KeyList = { 
/**
 * Oldest first.
 */
keys: Array<KeyInfo>, };

/**
 * A key to log in with.
 */
export type Login = { 
/**
 * A code of `gangway open`, or an API key.
 */
key: string, };

/**
 * What answers when nobody names a model.
 */
export type DefaultModel = { 
/**
 * The provider.
 */
provider: string, 
/**
 * The model there, where one is settled.
 */
model?: string, };

/**
 * A provider.
 */
export type ProviderInfo = { 
/**
 * Its name.
 */
id: string, 
/**
 * `ollama`, `llamafile`, `openai`, `anthropic` or `embedded`.
 */
type: string, 
/**
 * Its name for people.
 */
name: string, 
/**
 * Whether it could take a chat now.
 */
available: boolean, 
/**
 * Whether it answers when nobody names a provider.
 */
isDefault: boolean, 
/**
 * Whether the name of its type means this one.
 */
isTypeDefault: boolean, 
/**
 * Whether its models can call tools.
 */
supportsTools: boolean, 
/**
 * Never: it is not part of a browser.
 */
isNative: boolean, 
/**
 * `bridge`.
 */
runtime: string, 
/**
 * Whether weights must be fetched before it can work.
 */
downloadRequired: boolean, 
/**
 * How much of them is there, 0 to 1, while they are fetched.
 */
downloadProgress?: number, 
/**
 * Where it is.
 */
baseUrl?: string, 
/**
 * How many models it is known to have.
 */
models: number, 
/**
 * The name under which its key is kept, where it takes one.
 */
keyName?: string, 
/**
 * Where its key comes from: `environment` or `secrets`. Absent means there is none.
 */
keySource?: string, 
/**
 * Why it is not available, and what to do.
 */
problem?: string, };

/**
 * The providers there are.
 */
export type ProviderList = { 
/**
 * Those that are set up and those that can be found.
 */
providers: Array<ProviderInfo>, 
/**
 * What answers when nobody names a model.
 */
default?: DefaultModel, 
/**
 * What the person chose: `provider` or `provider/model`. Absent means the nearest that runs.
 */
choice?: string, };

/**
 * A model.
 */
export type ModelInfo = { 
/**
 * `provider/model`: what to ask for.
 */
id: string, 
/**
 * The provider.
 */
provider: string, 
/**
 * Its name there.
 */
name: string, 
/**
 * Whether it answers when nobody names a model, as far as that is settled.
 */
isDefault: boolean, };

/**
 * The models there are.
 */
export type ModelList = { 
/**
 * The models of all providers that answer.
 */
models: Array<ModelInfo>, 
/**
 * What answers when nobody names a model.
 */
default?: DefaultModel, };

/**
 * What to use when nobody names a model.
 */
export type SetDefault = { 
/**
 * `provider`, `provider/model`, or null for the nearest that runs.
 */
model: string | null, };

/**
 * A provider's key.
 */
export type SetKey = { 
/**
 * The key. It is kept with the secrets and never shown again.
 */
key: string, };

/**
 * Whether the engine process can run models on this machine.
 */
export type EngineState = "ready" | "building" | "missing" | "unsupported";

/**
 * What the engine does, the process that runs models on this machine.
 */
export type EmbeddedActivity = { 
/**
 * Whether it can run.
 */
engine: EngineState, 
/**
 * The model that is loaded.
 */
loaded?: string, 
/**
 * What it takes: weights and conversations.
 */
memoryBytes: number, 
/**
 * Answers being written.
 */
active: number, 
/**
 * Requests that wait for their turn.
 */
waiting: number, 
/**
 * Tokens of conversations that did not have to be read again, since the start.
 */
reusedTokens: number, };

/**
 * What the models were doing in the last minute.
 */
export type ModelActivity = { 
/**
 * Chats that are running, with any provider.
 */
active: number, 
/**
 * Tokens written in each of the last sixty seconds, oldest first.
 */
tokens: Array<number>, 
/**
 * Memory of this process, where the system tells.
 */
memoryBytes?: number, 
/**
 * Models on this machine.
 */
embedded: EmbeddedActivity, };

/**
 * Weights on this machine.
 */
export type WeightsInfo = { 
/**
 * The model's name with the embedded provider.
 */
name: string, 
/**
 * How large the file is.
 */
bytes: number, 
/**
 * Where it came from, where that is known.
 */
source?: string, };

/**
 * Weights that can be fetched.
 */
export type CatalogInfo = { 
/**
 * The model's name.
 */
name: string, 
/**
 * What it is, for people.
 */
title: string, 
/**
 * How much is fetched.
 */
bytes: number, 
/**
 * Its licence.
 */
license: string, 
/**
 * Whether it is here already.
 */
installed: boolean, };

/**
 * What is going on with weights on their way.
 */
export type PullStep = "fetching" | "checking" | "unpacking" | "done" | "failed";

/**
 * Weights on their way.
 */
export type PullInfo = { 
/**
 * The model's name.
 */
name: string, 
/**
 * What is going on.
 */
step: PullStep, 
/**
 * Bytes that are here.
 */
fetched: number, 
/**
 * Bytes in all; 0 while that is not known.
 */
total: number, 
/**
 * Why it failed.
 */
error?: string, };

/**
 * Weights on this machine, and those that can be fetched.
 */
export type WeightsList = { 
/**
 * What is here.
 */
weights: Array<WeightsInfo>, 
/**
 * What can be fetched by name.
 */
catalog: Array<CatalogInfo>, 
/**
 * What is being fetched, or was not long ago.
 */
pulls: Array<PullInfo>, };

/**
 * Which weights to fetch: by `name` or by `url`.
 */
export type PullWeights = { 
/**
 * A name from the catalog, or that of a pull from a URL, to try it again.
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
 * What a server is doing.
 */
export type ToolServerState = "stopped" | "starting" | "ready" | "unauthorized" | "failed";

/**
 * An MCP server.
 */
export type ToolServerInfo = { 
/**
 * Its name here.
 */
id: string, 
/**
 * What it is doing.
 */
state: ToolServerState, 
/**
 * Why it failed.
 */
problem?: string, 
/**
 * What it says it is.
 */
title?: string, 
/**
 * Its version.
 */
version?: string, 
/**
 * The revision of the protocol that was agreed on.
 */
protocol?: string, 
/**
 * How many tools it has.
 */
tools: number, 
/**
 * How it is reached: its command line, or its URL. Nothing of its environment and headers.
 */
target: string, 
/**
 * Whether it comes from the settings and cannot be removed here.
 */
fromConfig: boolean, 
/**
 * Whether the person has logged in at it.
 */
loggedIn: boolean, 
/**
 * Whether it wants the person to log in again, and to allow it more.
 */
wantsMore: boolean, };

/**
 * The MCP servers.
 */
export type ToolServerList = { 
/**
 * All of them.
 */
servers: Array<ToolServerInfo>, };

/**
 * What the installer noted about a server.
 */
export type Installed = { 
/**
 * Its name in the catalog.
 */
server?: string, 
/**
 * The package and its version.
 */
package?: string, 
/**
 * The names of its secrets, by the names of its inputs.
 */
secrets?: { [key in string]: string }, 
/**
 * Whether its URL must lead to the public internet: a stranger wrote it.
 */
publicOnly?: boolean, };

/**
 * Before which calls of a server's tools the chat's agent asks.
 */
export type ApprovalPolicy = "writes" | "all" | "none";

/**
 * An MCP server: a command, or a URL.
 */
export type ServerEntry = { 
/**
 * The program of a server that runs here.
 */
command?: string, 
/**
 * What it is given. `${secret:NAME}` stands for a secret.
 */
args?: Array<string>, 
/**
 * What is added to its environment. `${secret:NAME}` stands for a secret.
 */
env?: { [key in string]: string }, 
/**
 * Where it runs.
 */
cwd?: string, 
/**
 * The address of a server that runs elsewhere. `${secret:NAME}` stands for a secret.
 */
url?: string, 
/**
 * Sent along with every request to it. `${secret:NAME}` stands for a secret.
 */
headers?: { [key in string]: string }, 
/**
 * Whether it does not start with everything else.
 */
disabled?: boolean, 
/**
 * Seconds that a call may take.
 */
timeout_seconds?: number, 
/**
 * Before which calls of its tools the chat's agent asks: `writes`, `all` or `none`; as `tools.approval` says when
 * absent.
 */
approval?: ApprovalPolicy, 
/**
 * What the installer noted; nobody else writes it.
 */
gangway?: Installed, };

/**
 * A choice that holds in every chat.
 */
export type LastingChoice = "always" | "never";

/**
 * The policy of one MCP server.
 */
export type ServerApproval = { 
/**
 * The server.
 */
id: string, 
/**
 * Its policy, the default included.
 */
policy: ApprovalPolicy, 
/**
 * Whether the server, and so its policy, is set in config.yaml.
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
 * How the chat's agent asks before it calls tools.
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
 * The choice; without one the policy of the server decides again.
 */
choice?: LastingChoice, };

/**
 * A server to add.
 */
export type AddServers = { 
/**
 * Servers by name, in the form that other hosts use.
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
 * When it was said.
 */
at: string, 
/**
 * `stderr`, `stdout`, `message` or `host`.
 */
source: string, 
/**
 * What was said.
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
 * What it is good for.
 */
description: string, 
/**
 * A JSON Schema of type object.
 */
inputSchema: JsonValue, 
/**
 * The server.
 */
serverId: string, };

/**
 * Tools that can be called.
 */
export type ToolList = { 
/**
 * All of them.
 */
tools: Array<ToolInfo>, };

/**
 * A call.
 */
export type CallTool = { 
/**
 * `server/tool`.
 */
tool: string, 
/**
 * What it is called with; nothing is an empty object.
 */
args?: JsonValue, };

/**
 * What a tool answered.
 */
export type ToolAnswer = { 
/**
 * The answer.
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
 * Which servers a sentence is for.
 */
export type RouteAnswer = { 
/**
 * The servers, each with the words that speak for it. None at all means that every tool is offered.
 */
servers: { [key in string]: Array<string> }, };

/**
 * What is going on with the catalog.
 */
export type RefreshState = "idle" | "running" | "failed";

/**
 * How the catalog is brought up to date.
 */
export type CatalogRefresh = { 
/**
 * What is going on.
 */
state: RefreshState, 
/**
 * Servers that came in, while it is going on.
 */
fetched: number, 
/**
 * Why the last one failed. What was there before is still there.
 */
problem?: string, 
/**
 * When the whole of it was last fetched.
 */
at?: string, };

/**
 * What kind of thing is installed.
 */
export type OptionKind = "npm" | "pypi" | "remote" | "other";

/**
 * Where a value goes.
 */
export type InputPlace = "env" | "argument" | "header" | "url";

/**
 * Something that a server wants to be told.
 */
export type CatalogInput = { 
/**
 * Its name.
 */
name: string, 
/**
 * Where its value goes.
 */
place: InputPlace, 
/**
 * What it is.
 */
description?: string, 
/**
 * Whether nothing works without it.
 */
required: boolean, 
/**
 * Whether it is kept with the secrets.
 */
secret: boolean, 
/**
 * What it is unless something else is given.
 */
default?: string, 
/**
 * What it may be, where not everything will do.
 */
choices?: Array<string>, };

/**
 * A way to install a server.
 */
export type CatalogOption = { 
/**
 * Names it among the ways of its server.
 */
key: string, 
/**
 * What kind of thing is installed.
 */
kind: OptionKind, 
/**
 * The command or the URL, for people.
 */
label: string, 
/**
 * Whether this machine can do it.
 */
available: boolean, 
/**
 * Why it cannot, and what to do.
 */
problem?: string, 
/**
 * What it wants to be told.
 */
inputs: Array<CatalogInput>, };

/**
 * A server of the catalog.
 */
export type CatalogServer = { 
/**
 * Its name there, such as `io.github.someone/files`.
 */
name: string, 
/**
 * Its name for people.
 */
title?: string, 
/**
 * What it is good for, in the words of whoever made it.
 */
description: string, 
/**
 * Its version.
 */
version: string, 
/**
 * Where its source is: a URL.
 */
repository?: string, 
/**
 * Its pages: a URL.
 */
website?: string, 
/**
 * The servers here that were installed from it.
 */
installed: Array<string>, 
/**
 * The ways to install it.
 */
options: Array<CatalogOption>, };

/**
 * Servers of the catalog that were looked for.
 */
export type CatalogPage = { 
/**
 * Those that were found, the best first.
 */
servers: Array<CatalogServer>, 
/**
 * How many were found in all.
 */
total: number, 
/**
 * Where the next page begins.
 */
nextCursor?: string, 
/**
 * How the catalog is brought up to date.
 */
refresh: CatalogRefresh, 
/**
 * Where the catalog comes from: a URL, or `built-in`.
 */
source: string, };

/**
 * How the catalog as a whole is.
 */
export type CatalogState = { 
/**
 * How many servers it has.
 */
total: number, 
/**
 * How it is brought up to date.
 */
refresh: CatalogRefresh, 
/**
 * Where it comes from: a URL, or `built-in`.
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
 * Its version.
 */
version?: string, 
/**
 * Where it is.
 */
path?: string, 
/**
 * What it runs.
 */
for: string, 
/**
 * How to get it.
 */
hint?: string, };

/**
 * What this machine can run packages with.
 */
export type RuntimeList = { 
/**
 * All that are known of, found or not.
 */
runtimes: Array<RuntimeInfo>, };

/**
 * Where a package comes from.
 */
export type PackageKind = "npm" | "pypi";

/**
 * A package.
 */
export type PackageName = { 
/**
 * Where it comes from.
 */
kind: PackageKind, 
/**
 * Its name there.
 */
name: string, 
/**
 * Its exact version; the newest when not said.
 */
version?: string, };

/**
 * A server to install: one of the catalog (`server`, `option`, `inputs`), or a package (`package`, `args`, `env`,
 * `secrets`).
 */
export type InstallServer = { 
/**
 * Its name here.
 */
id: string, 
/**
 * Its name in the catalog.
 */
server?: string, 
/**
 * The way to install it; the first that this machine can do when not said.
 */
option?: string, 
/**
 * What it wants to be told, by the names of its inputs. What is secret is kept with the secrets.
 */
inputs?: { [key in string]: string }, 
/**
 * A package that need not be in the catalog.
 */
package?: PackageName, 
/**
 * What it is given, behind what the catalog says.
 */
args?: Array<string>, 
/**
 * What is added to its environment.
 */
env?: { [key in string]: string }, 
/**
 * What is added to its environment and kept with the secrets.
 */
secrets?: { [key in string]: string }, 
/**
 * Whether the install scripts of npm packages run.
 */
allowScripts?: boolean, };

/**
 * How far an install is.
 */
export type InstallState = "fetching" | "starting" | "done" | "failed" | "cancelled";

/**
 * The steps of an install.
 */
export type StepName = "check" | "fetch" | "register" | "start";

/**
 * How far a step is.
 */
export type StepState = "waiting" | "running" | "done" | "failed";

/**
 * A step of an install.
 */
export type InstallStep = { 
/**
 * Which.
 */
name: StepName, 
/**
 * How far it is.
 */
state: StepState, 
/**
 * What came of it, in words.
 */
detail?: string, };

/**
 * A server being installed.
 */
export type Install = { 
/**
 * Names this install.
 */
install: string, 
/**
 * The server's name here.
 */
id: string, 
/**
 * How far it is.
 */
state: InstallState, 
/**
 * Its steps, in their order.
 */
steps: Array<InstallStep>, 
/**
 * What the package manager said, newest last; only so many lines are kept.
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
 * Installs that go on, and the last that ended.
 */
export type InstallList = { 
/**
 * The newest first.
 */
installs: Array<Install>, };

/**
 * Values of secrets of a server.
 */
export type SetSecrets = { 
/**
 * The values by the names they have in its environment or headers. They are kept with the secrets and never shown
 * again.
 */
secrets: { [key in string]: string }, };

/**
 * A question of a server.
 */
export type OpenQuestion = { 
/**
 * Names it in the answer.
 */
id: string, 
/**
 * The server that asks, and gets the answer.
 */
server: string, 
/**
 * What it asks, in its own words.
 */
message: string, 
/**
 * The form to fill in: a JSON Schema of flat properties.
 */
schema?: JsonValue, 
/**
 * A page to visit instead.
 */
url?: string, 
/**
 * When it was asked.
 */
askedAt: string, };

/**
 * The questions that are open.
 */
export type QuestionList = { 
/**
 * Oldest first.
 */
questions: Array<OpenQuestion>, };

/**
 * What the person said.
 */
export type QuestionAction = "accept" | "decline" | "cancel";

/**
 * An answer to a question of a server.
 */
export type AnswerQuestion = { 
/**
 * What the person said.
 */
action: QuestionAction, 
/**
 * What was filled in.
 */
content?: Record<string, JsonValue>, };

/**
 * Where to log in.
 */
export type LoginPage = { 
/**
 * A page to open in a browser.
 */
url: string, };

/**
 * A code that logs one page in.
 */
export type LoginCode = { 
/**
 * The code. It is good once, for ten minutes.
 */
code: string, 
/**
 * A page of ours that logs itself in with it.
 */
url: string, };

/**
 * The token of a browser that logged in.
 */
export type LoggedIn = { 
/**
 * For `Authorization: Bearer TOKEN`. Only pages of the origin that logged in can use it.
 */
token: string, };

/**
 * A login as it is listed.
 */
export type LoginInfo = { 
/**
 * Its id, for ending it.
 */
id: string, 
/**
 * The browser, such as `Firefox on Linux`.
 */
browser: string, 
/**
 * The network address that it logged in from.
 */
address: string, 
/**
 * The origin of the pages that are logged in.
 */
origin: string, 
/**
 * When it logged in.
 */
createdAt: string, 
/**
 * When it was last used.
 */
lastUsedAt: string, 
/**
 * Whether the request that lists it came from it.
 */
current: boolean, };

/**
 * The browsers that are logged in.
 */
export type LoginList = { 
/**
 * The most recently used first.
 */
logins: Array<LoginInfo>, };

/**
 * One thing that a page may be allowed to do.
 */
export type PermissionScope = "model:prompt" | "model:tools" | "model:list" | "mcp:tools.list" | "mcp:tools.call" | "mcp:servers.register" | "browser:activeTab.read" | "browser:activeTab.click" | "browser:activeTab.fill" | "browser:activeTab.screenshot" | "chat:open";

/**
 * What stands about one scope of one origin.
 */
export type PermissionGrant = "granted-always" | "granted-once" | "denied" | "not-granted";

/**
 * How much an origin's pages may use the person's models, and have used today.
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
 * What pages of one origin may do.
 */
export type OriginPermissions = { 
/**
 * Where they come from.
 */
origin: string, 
/**
 * What stands about each scope.
 */
scopes: Record<PermissionScope, PermissionGrant>, 
/**
 * The only tools that they may use; none where there is no list.
 */
allowedTools?: string[], 
/**
 * The MCP servers that they may bring along without a question.
 */
servers: Array<string>, 
/**
 * When those of them end that do.
 */
ends?: GrantEnds, 
/**
 * Whether they come without HTTPS, so that they can be allowed nothing for longer than once.
 */
onceOnly: boolean, 
/**
 * How much of the models they may use, where they may use any.
 */
budget?: ModelBudget, 
/**
 * When they last used any of it.
 */
lastUsed?: string, };

/**
 * What pages may do.
 */
export type PermissionList = { 
/**
 * By name.
 */
origins: Array<OriginPermissions>, };

/**
 * What pages of an origin shall be allowed; what is not named stays as it is.
 */
export type SetPermissions = { 
/**
 * Where they come from.
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
 * The only MCP servers that they may bring along without a question.
 */
servers?: Array<string>, 
/**
 * How long what is allowed lasts; until it is revoked when not given.
 */
duration?: GrantDuration, 
/**
 * How much of the models they may use.
 */
budget?: SetBudget, };

/**
 * A question of a page to the person.
 */
export type PermissionAsk = { 
/**
 * Names it in the answer.
 */
id: string, 
/**
 * Where the page comes from.
 */
origin: string, 
/**
 * The page of another site in whose frame it is, where it is in one.
 */
embedder?: string, 
/**
 * What it wishes to do and may not yet.
 */
scopes: PermissionScope[], 
/**
 * Why, in its own words.
 */
reason?: string, 
/**
 * The tools to choose from, where it is about tools.
 */
tools?: Array<AskedTool>, 
/**
 * An MCP server that it brings along.
 */
server?: AskedServer, 
/**
 * Whether the page comes without HTTPS, so that it can be allowed nothing for longer than once.
 */
onceOnly: boolean, 
/**
 * When it was asked.
 */
askedAt: string, 
/**
 * When it is no longer waited for.
 */
expiresAt: string, 
/**
 * How many questions of the same origin come after it.
 */
waiting: number, };

/**
 * A tool that a question is about.
 */
export type AskedTool = { 
/**
 * `server/tool`.
 */
name: string, 
/**
 * What it is good for, in its server's words.
 */
description: string, 
/**
 * The server that has it.
 */
server: string, 
/**
 * Whether the page named it.
 */
asked: boolean, };

/**
 * An MCP server that a question is about, in the page's words.
 */
export type AskedServer = { 
/**
 * Where it is.
 */
url: string, 
/**
 * What it is called.
 */
name: string, 
/**
 * What it is good for.
 */
description?: string, 
/**
 * The tools that it is said to have.
 */
tools?: Array<string>, };

/**
 * The questions that are open.
 */
export type PermissionAsks = { 
/**
 * Oldest first, one of each origin.
 */
asks: Array<PermissionAsk>, };

/**
 * How long `granted-always` lasts.
 */
export type GrantDuration = "1h" | "1d" | "30d" | "never";

/**
 * When grants end; what is not named lasts until it is revoked.
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
 * By the address of a server.
 */
servers?: Record<string, string>, };

/**
 * What the person says.
 */
export type AskDecision = "once" | "always" | "deny";

/**
 * An answer to a question of a page.
 */
export type AnswerAsk = { 
/**
 * What the person says.
 */
decision: AskDecision, 
/**
 * The tools that stay checked; all of the question when not given.
 */
tools?: string[], 
/**
 * How long `always` lasts; 30 days when not given.
 */
duration?: GrantDuration, };

/**
 * What an entry of the log tells of.
 */
export type AuditKind = "decision" | "use";

/**
 * An entry of the log.
 */
export type AuditEntry = { 
/**
 * When it was.
 */
at: string, 
/**
 * Whom it is about.
 */
origin: string, 
/**
 * What it tells of.
 */
kind: AuditKind, 
/**
 * The permission.
 */
scope?: PermissionScope, 
/**
 * The method or the tool that was used; how it was decided.
 */
what: string, 
/**
 * `ok` or the code of an error; what was decided.
 */
outcome: string, 
/**
 * Where the person decided: `page` or `terminal`.
 */
by?: string, };

/**
 * A page of the log.
 */
export type AuditPage = { 
/**
 * Newest first.
 */
entries: Array<AuditEntry>, 
/**
 * Where the next page begins, if there is one.
 */
before?: string, 
/**
 * How many uses since the start were too many to write down.
 */
lost: number, };

/**
 * What `/ws/permissions` says.
 */
export type PermissionsFrame = { "type": "asks", 
/**
 * Oldest first, one of each origin.
 */
asks: Array<PermissionAsk>, } | { "type": "changed" };

/**
 * One thing that the extension is to do in the tab in front.
 */
export type BrowserAct = { 
/**
 * Names it in the answer.
 */
id: string, 
/**
 * What to do.
 */
action: BrowserAction, 
/**
 * The origins of Gangway itself, on whose pages nothing is done.
 */
own: Array<string>, };

/**
 * What an agent does in the tab in front.
 */
export type BrowserAction = { "type": "read_page", } | { "type": "click", 
/**
 * The origin of the page that is meant.
 */
origin: string, 
/**
 * A CSS selector or a reference.
 */
target: string, } | { "type": "fill", 
/**
 * The origin of the page that is meant.
 */
origin: string, 
/**
 * A CSS selector or a reference.
 */
target: string, 
/**
 * What to write.
 */
value: string, } | { "type": "screenshot", };

/**
 * What an action in the tab in front came to.
 */
export type BrowserAnswer = { 
/**
 * What it gave.
 */
result?: JsonValue, 
/**
 * Why it was not done.
 */
error?: BrowserProblem, };

/**
 * Why something could not be done in the tab in front.
 */
export type BrowserProblem = { 
/**
 * Its name, as pages know it.
 */
code: string, 
/**
 * What was wrong and what to do.
 */
message: string, };

/**
 * Why a page does not get what it asked for.
 */
export type SiteError = { 
/**
 * The name by which pages know the reason.
 */
code: string, 
/**
 * What was wrong and what to do.
 */
message: string, };

/**
 * One message to a page, by way of its broker.
 */
export type SiteTold = { "type": "result", 
/**
 * The call.
 */
id: number, 
/**
 * What came of it.
 */
result: JsonValue, } | { "type": "error", 
/**
 * The call.
 */
id: number, 
/**
 * Why.
 */
error: SiteError, } | { "type": "event", 
/**
 * The call.
 */
id: number, 
/**
 * What happened.
 */
event: JsonValue, } | { "type": "ask", 
/**
 * The call.
 */
id: number, 
/**
 * Names the question.
 */
ask: string, 
/**
 * Where the person decides.
 */
url: string, } | { "type": "tool_call", 
/**
 * Names it in the answer.
 */
call: number, 
/**
 * The tool.
 */
name: string, 
/**
 * What it is called with.
 */
args: JsonValue, } | { "type": "tool_cancel", 
/**
 * Which call.
 */
call: number, } | { "type": "chat", 
/**
 * Which.
 */
chatId: string, 
/**
 * `closed`.
 */
state: string, } | { "type": "token", 
/**
 * A secret.
 */
token: string, };

/**
 * A message with its number.
 */
export type Numbered = { 
/**
 * Counts up from 1.
 */
n: number, } & SiteTold;

/**
 * A tool as a page describes it.
 */
export type PageTool = { 
/**
 * Its name.
 */
name: string, 
/**
 * What it is good for.
 */
description: string, 
/**
 * A JSON Schema of type object.
 */
inputSchema?: JsonValue, };

/**
 * How a panel looks.
 */
export type PanelStyle = { 
/**
 * `light` or `dark`; the person's own when absent.
 */
theme?: string, 
/**
 * A colour as CSS writes it.
 */
accentColor?: string, };

/**
 * What a panel learns.
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
 * Who opened it.
 */
origin: string, 
/**
 * How it looks.
 */
style: PanelStyle, 
/**
 * For `Authorization: Bearer TOKEN`; it is for this chat alone.
 */
token: string, };

/**
 * What a panel was opened with.
 */
export type PanelTicket = { 
/**
 * The secret in the panel's address; it is good once.
 */
ticket: string, 
/**
 * The origin that the panel's address names, which alone may frame it.
 */
origin: string, };

/**
 * Why a tool of a page failed.
 */
export type ToolProblem = { 
/**
 * In words.
 */
message: string, };

/**
 * The first message of a broker.
 */
export type BrokerHello = { 
/**
 * The version of this protocol.
 */
v: number, 
/**
 * The origin of the page, as the browser told the broker.
 */
origin: string, 
/**
 * The tab.
 */
tab: string, 
/**
 * The origins of the pages around it, nearest first, as the browser says them; none for a page in a tab of its own. What the
 * browser does not say is `null`.
 */
ancestors?: Array<string>, 
/**
 * The visit that goes on after a lost connection.
 */
visit?: string, 
/**
 * The last number that came.
 */
seen?: number, 
/**
 * What lets it in where the person's log-in cannot come along.
 */
token?: string, };

/**
 * What the broker says.
 */
export type BrokerSays = { "type": "hello" } & BrokerHello | { "type": "call", 
/**
 * Counts up.
 */
id: number, 
/**
 * What.
 */
method: string, 
/**
 * How.
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
 * What it gave.
 */
result?: JsonValue, 
/**
 * Why it failed.
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
 * Names the visit when the connection is lost.
 */
visit: string, 
/**
 * Whether a visit goes on.
 */
resumed: boolean, 
/**
 * Whether the person must show first that this Gangway is theirs.
 */
locked: boolean, 
/**
 * A silent connection is looked after this often.
 */
heartbeatSeconds: number, };

/**
 * A broker that is not let in; the connection closes after it.
 */
export type refused = { "type": "refused", 
/**
 * Why.
 */
error: SiteError, };

/**
 * What the chat of an agent shows beside the conversation.
 */
export type Features = { 
/**
 * Files can be sent.
 */
file_upload: boolean, 
/**
 * How full the model's window is.
 */
context_usage: boolean, 
/**
 * The microphone.
 */
voice_mic: boolean, };

/**
 * A folder that agents work in.
 */
export type ProjectConfig = { 
/**
 * The folder.
 */
folder: string, 
/**
 * What thinks: `builtin`, or one of `remote_agents.brains`.
 */
brain?: string, 
/**
 * The model, for the built-in loop.
 */
model?: string, 
/**
 * The MCP servers that its agents get; none when absent.
 */
mcp_servers?: Array<string>, };

/**
 * Who an agent can be.
 */
export type PersonaConfig = { 
/**
 * The folder with `skill.md`, and `experience.md` if there is one.
 */
folder: string, 
/**
 * Whether agents can be made of it.
 */
active: boolean, };

/**
 * What an agent that lives is doing.
 */
export type AgentState = "idle" | "commanded" | "processing" | "awaiting_input" | "complete";

/**
 * Where something is from.
 */
export type KeptIn = "config" | "added";

/**
 * An agent to be made.
 */
export type CreateAgent = { 
/**
 * The project it works for.
 */
project_name: string, 
/**
 * Who it is.
 */
persona_slug: string, 
/**
 * What it is told first.
 */
initial_prompt: string, 
/**
 * What its chat shows beside the conversation.
 */
feature_flags?: FlagsWanted, };

/**
 * A program in the person's own tmux that is to become an agent.
 */
export type AdoptAgent = { 
/**
 * The project it works for.
 */
project_name: string, 
/**
 * The socket of the tmux server, as an absolute path.
 */
socket: string, 
/**
 * The pane, as tmux names it: `session:window.pane` or `%ID`.
 */
target: string, 
/**
 * A persona to tell it; without one it is who it was before.
 */
persona_slug?: string, 
/**
 * What it is told first, if anything.
 */
initial_prompt?: string, 
/**
 * A regular expression that the last line fits when the program waits for input.
 */
prompt_pattern?: string, 
/**
 * How long it must be quiet to be done, in milliseconds; 3000 when absent.
 */
quiet_ms?: number, 
/**
 * Allows a shell, which runs every message as a command.
 */
shell: boolean, 
/**
 * What its chat shows beside the conversation.
 */
feature_flags?: FlagsWanted, };

/**
 * What a chat is to show; what is absent is as the settings have it.
 */
export type FlagsWanted = { 
/**
 * Files can be sent.
 */
file_upload?: boolean, 
/**
 * How full the model's window is.
 */
context_usage?: boolean, 
/**
 * The microphone.
 */
voice_mic?: boolean, };

/**
 * An agent that is ready.
 */
export type CreatedAgent = { 
/**
 * Its id.
 */
agent_id: string, 
/**
 * Where its chat is, with its token.
 */
embed_url: string, 
/**
 * What lets its maker in; it is never shown again.
 */
session_token: string, 
/**
 * Its project.
 */
project_name: string, 
/**
 * Who it is.
 */
persona_slug: string, 
/**
 * Its tmux session.
 */
tmux_session_name: string, 
/**
 * `ready`.
 */
status: string, 
/**
 * What its chat shows.
 */
feature_flags: Features, 
/**
 * Its session here.
 */
session_id: string, };

/**
 * An agent as those who look after it see it.
 */
export type RemoteAgentInfo = { 
/**
 * Its id.
 */
agent_id: string, 
/**
 * Its project.
 */
project_name: string, 
/**
 * Who it is.
 */
persona_slug: string, 
/**
 * Its tmux session.
 */
tmux_session_name: string, 
/**
 * How to join it in a terminal.
 */
attach_command: string, 
/**
 * What thinks in it.
 */
brain: string, 
/**
 * Whether it lives.
 */
alive: boolean, 
/**
 * Whether it can continue in a fresh context, with a summary.
 */
can_hand_over: boolean, 
/**
 * What it is doing, while it lives.
 */
state: AgentState | null, 
/**
 * Whether its process is connected.
 */
attached: boolean, 
/**
 * Its session here.
 */
session_id: string, 
/**
 * What its chat shows.
 */
feature_flags: Features, 
/**
 * When it was made.
 */
created_at: string, 
/**
 * When something last happened in it.
 */
last_active_at: string, 
/**
 * When it ended.
 */
ended_at: string | null, 
/**
 * Why it ended.
 */
ended_reason: string | null, };

/**
 * The agents there are.
 */
export type RemoteAgentList = { 
/**
 * The agents, newest first.
 */
agents: Array<RemoteAgentInfo>, 
/**
 * How many may live at once.
 */
limit: number, 
/**
 * What chats show where the create request does not say.
 */
embed_defaults: Features, };

/**
 * Whether an agent lives.
 */
export type AgentAlive = { 
/**
 * Whether it does.
 */
alive: boolean, 
/**
 * Its id, if it does.
 */
agent_id?: string, 
/**
 * What it is doing.
 */
state?: AgentState, 
/**
 * Its project.
 */
project_name?: string, 
/**
 * Why it does not: `agent_not_found` or `agent_ended`.
 */
reason?: string, };

/**
 * What came of ending an agent.
 */
export type AgentShutdown = { 
/**
 * `shutdown_initiated` or `already_terminated`.
 */
status: string, 
/**
 * The same for people.
 */
message: string, 
/**
 * The agent.
 */
agent_id: string, };

/**
 * What came of asking for a hand-over.
 */
export type AgentHandOver = { 
/**
 * `hand_over_requested`.
 */
status: string, 
/**
 * The same for people.
 */
message: string, 
/**
 * The agent.
 */
agent_id: string, };

/**
 * A new session token.
 */
export type AgentToken = { 
/**
 * The token; the old one is no longer good.
 */
session_token: string, 
/**
 * Where the chat is, with it.
 */
embed_url: string, };

/**
 * What a frame asks for when it opens.
 */
export type OpenFrame = { 
/**
 * What its address asks for.
 */
feature_flags?: FlagsWanted, };

/**
 * What a frame learns.
 */
export type FrameInfo = { 
/**
 * Lets this frame in, and is for the chat alone.
 */
frame_token: string, 
/**
 * The agent.
 */
agent_id: string, 
/**
 * Its project.
 */
project_name: string, 
/**
 * Who it is.
 */
persona_slug: string, 
/**
 * What it is doing; absent when it has ended.
 */
state: AgentState | null, 
/**
 * What to show beside the conversation.
 */
feature_flags: Features, 
/**
 * What may be uploaded.
 */
upload: UploadRules, 
/**
 * Whether speech can be turned into text here.
 */
speech: boolean, 
/**
 * The origins to which events may be told.
 */
parents: Array<string>, };

/**
 * What may be uploaded.
 */
export type UploadRules = { 
/**
 * Bytes of one file.
 */
max_bytes: number, 
/**
 * Types, `*` for all of a kind.
 */
types: Array<string>, };

/**
 * Something to say to an agent.
 */
export type PostToAgent = { 
/**
 * What.
 */
text: string, 
/**
 * Paths of uploads that belong to it.
 */
attachments?: Array<string>, };

/**
 * What was accepted.
 */
export type AcceptedByAgent = { 
/**
 * Names the turn that answers it.
 */
stream_id: string, };

/**
 * An answer to a question of an agent.
 */
export type AnswerToAgent = { 
/**
 * The question.
 */
question_id: string, 
/**
 * The answer.
 */
answer: string, };

/**
 * Nothing more to say.
 */
export type Nothing = Record<symbol, never>;

/**
 * A file that has arrived.
 */
export type Uploaded = { 
/**
 * Where it is in the agent's folder.
 */
path: string, 
/**
 * What it is called there.
 */
name: string, 
/**
 * Its bytes.
 */
size: number, 
/**
 * Its type.
 */
type: string, };

/**
 * What was said, as text.
 */
export type SpeechText = { 
/**
 * The text.
 */
text: string, };

/**
 * A frame of an agent's stream that is no event of its session.
 */
export type AgentFrame = { "type": "agent.state", 
/**
 * What.
 */
state: AgentState, } | { "type": "agent.ended", 
/**
 * Why.
 */
reason: string, };

/**
 * A project.
 */
export type ProjectInfo = { 
/**
 * Its name.
 */
name: string, 
/**
 * Where it is from.
 */
from: KeptIn, 
/**
 * Whether its folder is not there.
 */
missing: boolean, 
/**
 * The folder.
 */
folder: string, 
/**
 * What thinks: `builtin`, or one of `remote_agents.brains`.
 */
brain?: string, 
/**
 * The model, for the built-in loop.
 */
model?: string, 
/**
 * The MCP servers that its agents get; none when absent.
 */
mcp_servers?: Array<string>, };

/**
 * The projects there are.
 */
export type ProjectList = { 
/**
 * By name.
 */
projects: Array<ProjectInfo>, 
/**
 * What can think in them.
 */
brains: Array<string>, };

/**
 * A persona.
 */
export type PersonaInfo = { 
/**
 * Its slug.
 */
slug: string, 
/**
 * Where it is from.
 */
from: KeptIn, 
/**
 * Whether it has lived through something.
 */
has_experience: boolean, 
/**
 * Whether it cannot be read.
 */
missing: boolean, 
/**
 * Whether its folder is Gangway's own, and goes when the persona is removed.
 */
own: boolean, 
/**
 * The folder with `skill.md`, and `experience.md` if there is one.
 */
folder: string, 
/**
 * Whether agents can be made of it.
 */
active: boolean, };

/**
 * The personas there are.
 */
export type PersonaList = { 
/**
 * By slug.
 */
personas: Array<PersonaInfo>, };

/**
 * The texts of a persona.
 */
export type PersonaText = { 
/**
 * Its slug.
 */
slug: string, 
/**
 * Its folder.
 */
folder: string, 
/**
 * Where it is from; one that stands in the settings cannot be changed here.
 */
from: KeptIn, 
/**
 * `skill.md`: what it can do and how it behaves.
 */
skill: string, 
/**
 * `experience.md`: what it has lived through, if it has.
 */
experience: string | null, 
/**
 * Names these texts; goes with a change of them.
 */
version: string, };

/**
 * A change of the texts of a persona, or the texts of a new one.
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

/**
 * What was written.
 */
export type WrittenPersonaText = { 
/**
 * The new version.
 */
version: string, };

/**
 * Where something went.
 */
export type StudyDirection = "in" | "out" | "internal";

/**
 * One line of a study log.
 */
export type StudyEvent = { 
/**
 * The study session.
 */
sessionId: string, 
/**
 * Counts up from 1 without gaps.
 */
eventIndex: number, 
/**
 * When.
 */
timestamp: string, 
/**
 * `in` to the page, `out` from the page, `internal` by the relay.
 */
direction: StudyDirection, 
/**
 * The type of the message.
 */
type: string, 
/**
 * The name of a question to the page.
 */
id?: string, 
/**
 * The question that it answers.
 */
replyTo?: string, 
/**
 * The agent that said it, where it was one.
 */
agent?: string, 
/**
 * What it said.
 */
payload: { [key: string]: JsonValue }, };

/**
 * Events of a study log, oldest first.
 */
export type StudyEvents = { 
/**
 * The events.
 */
events: Array<StudyEvent>, 
/**
 * Whether there are more after them.
 */
more: boolean, };

/**
 * A study session in the list of them.
 */
export type StudyEntry = { 
/**
 * Its id.
 */
sessionId: string, 
/**
 * The study, as whoever started it calls it.
 */
studyId: string | null, 
/**
 * The participant, as whoever started it calls them.
 */
participantId: string | null, 
/**
 * When it began.
 */
startedAt: string, 
/**
 * When it ended.
 */
endedAt: string | null, 
/**
 * Why it ended, as whoever ended it says.
 */
reason: string | null, 
/**
 * The relay session it is in.
 */
relaySession: string, 
/**
 * How many events it has; null for one that is open while nobody is there.
 */
events: number | null, };

/**
 * The study sessions.
 */
export type StudyList = { 
/**
 * Newest first.
 */
sessions: Array<StudyEntry>, };

/**
 * How many are whose.
 */
export type StudyBy = { 
/**
 * The participant's.
 */
user: number, 
/**
 * Of agents.
 */
agent: number, };

/**
 * One stage of a study session.
 */
export type StudyStage = { 
/**
 * Which.
 */
stage: string, 
/**
 * Seconds in it, all visits together.
 */
seconds: number, 
/**
 * Steps in it.
 */
steps: number, 
/**
 * Things that failed in it.
 */
errors: number, 
/**
 * Who did how many of the steps.
 */
by: StudyBy, };

/**
 * What a study session comes to.
 */
export type StudySummary = { 
/**
 * Things that somebody did on the page.
 */
steps: number, 
/**
 * Things that failed.
 */
errors: number, 
/**
 * Seconds from the first event to the last.
 */
seconds: number, 
/**
 * Stages in the order in which they were first seen.
 */
stages: Array<StudyStage>, 
/**
 * Who did how many of the steps.
 */
by: StudyBy, 
/**
 * Who said how much.
 */
messages: StudyBy, };

/**
 * A relay session.
 */
export type RelayInfo = { 
/**
 * Its name.
 */
name: string, 
/**
 * Whether there is a page.
 */
host: boolean, 
/**
 * How many agents there are.
 */
agents: number, 
/**
 * The study session that is open.
 */
studySession: string | null, 
/**
 * Whether it has tokens.
 */
token: boolean, };

/**
 * The relay sessions where somebody is, or was a short time ago.
 */
export type RelayList = { 
/**
 * By name.
 */
sessions: Array<RelayInfo>, };

/**
 * The tokens of a relay session: each lets in in one role.
 */
export type RelayTokens = { 
/**
 * The relay session.
 */
session: string, 
/**
 * What agents put into `token`.
 */
agentToken: string, 
/**
 * What the page puts into `token`.
 */
hostToken: string, };

/** The version of the external agent protocol. */
export type RelayVersion = "mvp-0.2";

/**
 * What somebody in a relay session is.
 */
export type RelayRole = "host" | "agent";

/**
 * Why something was not done.
 */
export type RelayCode = "INVALID_MESSAGE" | "SESSION_NOT_ACTIVE" | "UNKNOWN_TOOL" | "INVALID_PARAMS" | "NO_ACTIVE_SPEC" | "TOOL_EXECUTION_FAILED";

/**
 * What agents send.
 */
export type RelayFromAgent = "session.start" | "snapshot.get" | "tool.call" | "agent.message" | "agent.status" | "session.reset" | "session.end";

/**
 * What pages send.
 */
export type RelayFromHost = "session.started" | "snapshot.state" | "tool.result" | "state.updated" | "user.message" | "session.ended" | "error";

/**
 * A message on its way out.
 */
export type RelayEnvelope = { 
/**
 * The version.
 */
v: RelayVersion, 
/**
 * The type.
 */
type: string, 
/**
 * The name of a question.
 */
id?: string, 
/**
 * The question that it answers.
 */
replyTo?: string, 
/**
 * Its number in the relay session, to resume after.
 */
seq?: number, 
/**
 * What it says.
 */
payload: Record<string, unknown>, };

/**
 * What an error says.
 */
export type RelayError = { 
/**
 * Its code.
 */
code: RelayCode, 
/**
 * In words.
 */
message: string, 
/**
 * Another page took the place of this one, which should not come back by itself: the two would throw each other out for ever.
 */
replaced?: boolean, };

/**
 * What somebody who joins says.
 */
export type RelayJoin = { 
/**
 * As what.
 */
role: RelayRole, 
/**
 * The relay session; `default` when absent.
 */
sessionId?: string, 
/**
 * The last number it saw.
 */
since?: number, 
/**
 * What it calls itself, to get answers that it missed.
 */
clientId?: string, 
/**
 * Whether it wants `relay.presence`; agents do unless they say otherwise.
 */
presence?: boolean, 
/**
 * The token of the session, where it has one.
 */
token?: string, 
/**
 * The chat whose agents may use the page too.
 */
gangwaySession?: string, };

/**
 * What somebody who joined is told.
 */
export type RelayJoined = { 
/**
 * As what it joined.
 */
role: RelayRole, 
/**
 * The relay session.
 */
sessionId: string, 
/**
 * The number of the last message so far.
 */
seq: number, 
/**
 * Whether there is a page.
 */
host: boolean, 
/**
 * How many agents there are.
 */
agents: number, 
/**
 * The study session that is open.
 */
studySession: string | null, 
/**
 * What it missed cannot be told; it must look at the page anew.
 */
resync?: boolean, };

/**
 * Who is in a relay session.
 */
export type RelayPresence = { 
/**
 * Whether there is a page.
 */
host: boolean, 
/**
 * How many agents there are.
 */
agents: number, 
/**
 * What they are called.
 */
names: Array<string>, };

/**
 * How the bridge came to its Gangway.
 */
export type Attached = "server" | "own";

/**
 * An error, as it travels.
 */
export type BridgeProblem = { 
/**
 * A short machine-readable reason.
 */
code: string, 
/**
 * What was wrong, and what to do.
 */
message: string, 
/**
 * The HTTP status, where the server refused.
 */
status?: number, 
/**
 * A model provider's own words, where one failed.
 */
details?: string, 
/**
 * Whether the same request may work later, where the server said so.
 */
retryable?: boolean, 
/**
 * Seconds to wait before that.
 */
retry_after?: number, };

/**
 * The answer to `hello`.
 */
export type BridgeHello = { 
/**
 * The version of the protocol.
 */
protocol: number, 
/**
 * The version of Gangway.
 */
gangway: string, 
/**
 * The process of the bridge.
 */
pid: number, 
/**
 * How the bridge came to its Gangway.
 */
attached: Attached, 
/**
 * Where that Gangway is.
 */
base_url: string, 
/**
 * The kinds of messages it knows.
 */
capabilities: Array<string>, 
/**
 * How much it takes at once.
 */
limits: BridgeLimits, };

/**
 * How much a bridge takes at once.
 */
export type BridgeLimits = { 
/**
 * Bytes of a message from the extension.
 */
frame_bytes: number, 
/**
 * Bytes of a frame to the extension; longer messages come in parts.
 */
reply_bytes: number, 
/**
 * Requests that are open.
 */
requests: number, 
/**
 * Pages that are open.
 */
pages: number, };

/**
 * Whether there is a server.
 */
export type ServerPresence = "up" | "gone";

/**
 * A notification: a message that answers no request.
 */
export type BridgeStatus = { "about": "server", 
/**
 * Which of both.
 */
state: ServerPresence, 
/**
 * How the bridge came to it.
 */
attached: Attached, 
/**
 * Where it is.
 */
base_url: string, } | { "about": "permissions", 
/**
 * As the server said it.
 */
frame: PermissionsFrame, };

/**
 * A message that is not an answer of the server passed on.
 */
export type BridgeTold = { "type": "status" } & BridgeStatus | { "type": "part", 
/**
 * Which message.
 */
part: string, 
/**
 * Which piece, from 0 on.
 */
index: number, 
/**
 * How many there are.
 */
count: number, 
/**
 * The piece.
 */
data: string, } | { "type": "error", 
/**
 * Which request, where that could be read.
 */
request_id: string | null, 
/**
 * True when its id is in use: the request that has it goes on.
 */
refused?: boolean, 
/**
 * Why.
 */
error: BridgeProblem, };

/**
 * What something in a folder is.
 */
export type FileKind = "file" | "folder" | "other";

/**
 * What happened to a file or folder.
 */
export type FileEvent = "created" | "changed" | "removed";

/**
 * Who said something to the agent.
 */
export type SourceKind = "person" | "applet" | "agent" | "page";

/**
 * Whether an applet may speak in a session.
 */
export type Speak = "once" | "allowed" | "denied" | "ask";

/**
 * Something that happened between an app and its agent.
 */
export type AppNews = { "what": "launched", 
/**
 * What the agent calls itself.
 */
agent: string, } | { "what": "event", 
/**
 * The name that the page gave it.
 */
id: string, 
/**
 * What kind of thing.
 */
event: string, 
/**
 * More about it.
 */
payload: JsonValue, 
/**
 * False when the app's manifest lists its events, and this one is not among them.
 */
declared: boolean, 
/**
 * Whether a message to the agent carries it.
 */
turn: boolean, } | { "what": "taken", 
/**
 * The name that the page gave it.
 */
id: string, 
/**
 * Who took it.
 */
by: string, } | { "what": "request", 
/**
 * The name that the page gave the request.
 */
requestId: string, 
/**
 * What is to be done.
 */
action: string, 
/**
 * With what.
 */
params: JsonValue, } | { "what": "begun", 
/**
 * The name that the page gave the request.
 */
requestId: string, } | { "what": "answer", 
/**
 * The name that the page gave the request.
 */
requestId: string, 
/**
 * What came of it.
 */
result: JsonValue | null, 
/**
 * Why nothing did: the code that the page sees.
 */
code: string | null, 
/**
 * Why nothing did, in words.
 */
error: string | null, 
/**
 * Who answered.
 */
by: string, } | { "what": "told", 
/**
 * What kind of thing.
 */
event: string, 
/**
 * More about it.
 */
payload: JsonValue, 
/**
 * Who said it.
 */
source: Source, };

/**
 * The applets there are.
 */
export type AppletList = { 
/**
 * By slug.
 */
applets: Array<AppletInfo>, };

/**
 * An applet.
 */
export type AppletInfo = { 
/**
 * Its name in addresses.
 */
slug: string, 
/**
 * What people call it.
 */
name: string, 
/**
 * What it is for.
 */
description?: string, 
/**
 * `builtin`, `apps` or `data`.
 */
origin: string, 
/**
 * Why it cannot be opened.
 */
problem?: string, };

/**
 * Who can speak in a session beside the person.
 */
export type Speakers = { 
/**
 * Every applet that may speak there, may not, or was asked about.
 */
applets: Array<Speaker>, };

/**
 * An applet in a session.
 */
export type Speaker = { 
/**
 * Which.
 */
slug: string, 
/**
 * What people call it.
 */
name: string, 
/**
 * `allowed`, `denied` or `ask`.
 */
speak: string, 
/**
 * What it waits to say.
 */
asking?: AskingToSpeak, };

/**
 * What an applet waits to say.
 */
export type AskingToSpeak = { 
/**
 * What.
 */
prompt: string, 
/**
 * Since when it waits.
 */
askedAt: string, };

/**
 * A decision about an applet in a session.
 */
export type DecideSpeech = { 
/**
 * What is decided.
 */
speak: Decision, };

/**
 * What can be decided.
 */
export type Decision = "once" | "allow" | "always" | "deny" | "ask";

/**
 * What a page may ask. Each may carry an `id`, which its answer carries back.
 */
export type AppletAsk = { "type": "setState", 
/**
 * The keys that change.
 */
data: Record<string, JsonValue>, } | { "type": "getState", 
/**
 * The key.
 */
key?: string, } | { "type": "readFile", 
/**
 * Which.
 */
path: string, 
/**
 * Whether its bytes come as binary messages; otherwise it must be text.
 */
binary?: boolean, 
/**
 * From which byte on.
 */
offset?: number, 
/**
 * How many bytes at the most.
 */
length?: number, } | { "type": "writeFile", 
/**
 * Which.
 */
path: string, 
/**
 * What is to be in it.
 */
content: string, 
/**
 * How `content` says it.
 */
encoding?: Encoding, } | { "type": "listFiles", 
/**
 * Which; the session's folder itself when absent.
 */
path?: string, } | { "type": "stat", 
/**
 * Which.
 */
path: string, } | { "type": "subscribe", 
/**
 * Which.
 */
path: string, } | { "type": "unsubscribe", 
/**
 * Which.
 */
path: string, } | { "type": "invoke", 
/**
 * What.
 */
prompt: string, 
/**
 * How.
 */
options?: InvokeOptions, 
/**
 * `active`, `background`, `new`, or the id of a session.
 */
session?: string, 
/**
 * Whether the chat shows it.
 */
showInChat?: boolean, 
/**
 * Whether the answer is streamed and told.
 */
waitForResult?: boolean, 
/**
 * The older way to say `session: "background"`.
 */
background?: boolean, } | { "type": "stop", 
/**
 * The `id` of the `invoke` that is to be stopped, and nothing else: it is not said any more, or not answered.
 */
invoke?: JsonValue, } | { "type": "ping" };

/**
 * How something is said to the agent.
 */
export type InvokeOptions = { 
/**
 * `active`, `background`, `new`, or the id of a session.
 */
session?: string, 
/**
 * Whether the chat shows it.
 */
showInChat?: boolean, 
/**
 * Whether the answer is streamed and told.
 */
waitForResult?: boolean, 
/**
 * The older way to say `session: "background"`.
 */
background?: boolean, };

/**
 * How the content of a file is said.
 */
export type Encoding = "utf8" | "base64";

/**
 * What the server says.
 */
export type AppletTold = { "type": "ready", 
/**
 * The session.
 */
session: string, 
/**
 * The applet that speaks here.
 */
applet?: string, 
/**
 * Where the applet's frame is.
 */
frame?: string, 
/**
 * The number to resume from.
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
 * The number to resume from.
 */
seq: number, 
/**
 * The version of the applet's state.
 */
version: number, } | { "type": "stateUpdate", 
/**
 * The answer to this message.
 */
id?: JsonValue, 
/**
 * Whose state.
 */
applet: string, 
/**
 * The keys that changed; `null` took a key away.
 */
data: Record<string, JsonValue>, 
/**
 * The version after it.
 */
version: number, 
/**
 * Its number in the session.
 */
seq: number, } | { "type": "state", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * The state, or the key that was asked for.
 */
data: Record<string, JsonValue>, 
/**
 * Its version.
 */
version: number, } | { "type": "fileContent", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * Which file.
 */
path: string, 
/**
 * The piece, where it is text.
 */
chunk?: string, 
/**
 * The bytes of the binary message that follows, where it is not.
 */
bytes?: number, 
/**
 * The size of the whole file.
 */
size: number, 
/**
 * Whether this was the last piece.
 */
done: boolean, } | { "type": "fileWritten", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * Where it is, from the session's folder on.
 */
path: string, 
/**
 * Its name.
 */
name: string, 
/**
 * What it is.
 */
kind: FileKind, 
/**
 * Bytes of a file.
 */
size: number, 
/**
 * When it was last changed.
 */
modified?: string, } | { "type": "files", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * Which folder.
 */
path: string, 
/**
 * What is in it, by name.
 */
entries: Array<AppletFile>, 
/**
 * Whether there is more than that.
 */
more: boolean, } | { "type": "fileStat", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * Where it is, from the session's folder on.
 */
path: string, 
/**
 * Its name.
 */
name: string, 
/**
 * What it is.
 */
kind: FileKind, 
/**
 * Bytes of a file.
 */
size: number, 
/**
 * When it was last changed.
 */
modified?: string, } | { "type": "subscribed", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * Which.
 */
path: string, } | { "type": "unsubscribed", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * Which.
 */
path: string, } | { "type": "fileChanged", 
/**
 * Which.
 */
path: string, 
/**
 * How.
 */
event: FileEvent, } | { "type": "consentAsked", 
/**
 * The message that waits for it.
 */
id: JsonValue, } | { "type": "invokeStarted", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * Names the turn.
 */
streamId: string, 
/**
 * The session it is in.
 */
sessionId: string, } | { "type": "stream", 
/**
 * The message that it answers.
 */
id: JsonValue, 
/**
 * The piece.
 */
delta: string, } | { "type": "invokeComplete", 
/**
 * The message that it answers.
 */
id: JsonValue, 
/**
 * What it said.
 */
result: string, 
/**
 * Why it did not finish well.
 */
error?: string, } | { "type": "stopped", 
/**
 * The answer to this message.
 */
id: JsonValue, 
/**
 * Whether a turn was running.
 */
stopped: boolean, } | { "type": "messageStarted", 
/**
 * What.
 */
prompt: string, 
/**
 * Who said it.
 */
source: SourceKind, 
/**
 * Which applet.
 */
appletSlug?: string, 
/**
 * Names the turn.
 */
streamId: string, 
/**
 * Whether the chat shows it.
 */
showInChat: boolean, 
/**
 * Its number in the session.
 */
seq: number, } | { "type": "streamReady", 
/**
 * Names the turn.
 */
streamId: string, 
/**
 * Its number in the session.
 */
seq: number, } | { "type": "messageDone", 
/**
 * Names the turn.
 */
streamId: string, 
/**
 * How it ended.
 */
outcome: Outcome, 
/**
 * Its number in the session.
 */
seq: number, } | { "type": "reload" } | { "type": "error", 
/**
 * Which message.
 */
id?: JsonValue, 
/**
 * A short machine-readable reason.
 */
code: string, 
/**
 * What to tell a person.
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
 * The answer to this message.
 */
id?: JsonValue, };

/**
 * A file or folder of a session's folder.
 */
export type AppletFile = { 
/**
 * Where it is, from the session's folder on.
 */
path: string, 
/**
 * Its name.
 */
name: string, 
/**
 * What it is.
 */
kind: FileKind, 
/**
 * Bytes of a file.
 */
size: number, 
/**
 * When it was last changed.
 */
modified?: string, };

/**
 * How bad a problem is.
 */
export type Severity = "error" | "warning";

/**
 * Something that is wrong with an app.
 */
export type Problem = { 
/**
 * The line of `APP.md`, from 1.
 */
line?: number, 
/**
 * How bad it is.
 */
severity: Severity, 
/**
 * What is wrong, and what to do.
 */
message: string, };

/**
 * How an event reaches an agent in the house.
 */
export type Delivery = "context" | "turn";

/**
 * Kinds of values.
 */
export type FieldKind = "string" | "number" | "boolean" | "array" | "object" | "date";

/**
 * What a field may hold.
 */
export type Field = { 
/**
 * What kind of value; absent: any.
 */
type?: FieldKind, 
/**
 * What it means.
 */
description?: string, 
/**
 * Whether it must be given.
 */
required: boolean, 
/**
 * What it is when it is not given.
 */
default?: unknown, 
/**
 * The only values it may have.
 */
enum?: unknown[], 
/**
 * The fields of an object.
 */
properties: { [key in string]: Field }, 
/**
 * What the items of an array are.
 */
items?: Field, };

/**
 * The fields of an app's context.
 */
export type ContextFields = { 
/**
 * What it works on.
 */
data: { [key in string]: Field }, 
/**
 * How it looks and works.
 */
config: { [key in string]: Field }, };

/**
 * The address that opens an app in this browser.
 */
export type AppAddress = { 
/**
 * It is good for a minute.
 */
url: string, };

/**
 * Where to go in an app.
 */
export type EnterApp = { 
/**
 * The path in the app, with its query.
 */
path: string, };

/**
 * An app.
 */
export type AppInfo = { 
/**
 * Its name.
 */
name: string, 
/**
 * What people call it.
 */
title: string, 
/**
 * What stands for it: a character or two such as an emoji, or a picture as a `data:` URL.
 */
icon?: string, 
/**
 * What it is for.
 */
description: string, 
/**
 * Which version of it this is.
 */
version: string, 
/**
 * What kind of app it is.
 */
category?: string, 
/**
 * Words to find it by.
 */
tags: Array<string>, 
/**
 * When an agent should think of it.
 */
triggers: Array<string>, 
/**
 * What it gives.
 */
provides: Array<string>, 
/**
 * Whether agents find it.
 */
discoverable: boolean, 
/**
 * Whether agents may open it.
 */
launchable: boolean, 
/**
 * `builtin`, `named` or `folder`.
 */
origin: string, 
/**
 * Where it is without an agent.
 */
url: string, 
/**
 * What is wrong with it.
 */
problems: Array<Problem>, 
/**
 * What it tells its agent.
 */
events: Array<AppEventInfo>, 
/**
 * How its events reach an agent in the house.
 */
delivery: Delivery, };

/**
 * An event that an app emits.
 */
export type AppEventInfo = { 
/**
 * Its name.
 */
name: string, 
/**
 * When it is emitted.
 */
description?: string, };

/**
 * A folder whose apps are not loaded until it is trusted.
 */
export type UntrustedFolder = { 
/**
 * Its path.
 */
folder: string, 
/**
 * How many apps are in it.
 */
apps: number, };

/**
 * Whether the apps of a folder are loaded.
 */
export type TrustFolder = { 
/**
 * Its path.
 */
folder: string, 
/**
 * Whether they are.
 */
trusted: boolean, };

/**
 * The apps there are.
 */
export type AppList = { 
/**
 * By name, or the best first where a sentence was given.
 */
apps: Array<AppInfo>, 
/**
 * Folders beside which Gangway was started, and whose apps are not loaded.
 */
untrusted: Array<UntrustedFolder>, };

/**
 * All about an app.
 */
export type AppDetails = { 
/**
 * What it can be launched with.
 */
context: ContextFields, 
/**
 * What it says about itself, Markdown.
 */
about: string, 
/**
 * What the person said that it may always do.
 */
grants: Array<string>, 
/**
 * Its name.
 */
name: string, 
/**
 * What people call it.
 */
title: string, 
/**
 * What stands for it: a character or two such as an emoji, or a picture as a `data:` URL.
 */
icon?: string, 
/**
 * What it is for.
 */
description: string, 
/**
 * Which version of it this is.
 */
version: string, 
/**
 * What kind of app it is.
 */
category?: string, 
/**
 * Words to find it by.
 */
tags: Array<string>, 
/**
 * When an agent should think of it.
 */
triggers: Array<string>, 
/**
 * What it gives.
 */
provides: Array<string>, 
/**
 * Whether agents find it.
 */
discoverable: boolean, 
/**
 * Whether agents may open it.
 */
launchable: boolean, 
/**
 * `builtin`, `named` or `folder`.
 */
origin: string, 
/**
 * Where it is without an agent.
 */
url: string, 
/**
 * What is wrong with it.
 */
problems: Array<Problem>, 
/**
 * What it tells its agent.
 */
events: Array<AppEventInfo>, 
/**
 * How its events reach an agent in the house.
 */
delivery: Delivery, };

/**
 * Who an app is opened for: a name, or more than that.
 */
export type LaunchAgent = string | { 
/**
 * What it calls itself.
 */
name: string, 
/**
 * Its version, such as 1.0.0.
 */
version?: string, 
/**
 * What it can do.
 */
capabilities: Array<string>, };

/**
 * What to open an app with.
 */
export type LaunchApp = { 
/**
 * The agent; the one that takes the session's turns when absent.
 */
agent?: LaunchAgent, 
/**
 * What the app is given.
 */
data: Record<string, JsonValue>, 
/**
 * How it is set up.
 */
config: Record<string, JsonValue>, 
/**
 * The session; a new one when absent.
 */
session?: string, 
/**
 * The origin of a page that holds the app in a frame.
 */
embedOrigin?: string, 
/**
 * Whether its pages load anew when its files change.
 */
reload: boolean, };

/**
 * An app that was opened.
 */
export type LaunchedApp = { 
/**
 * The launch.
 */
launchId: string, 
/**
 * Its address; good for one browser.
 */
url: string, 
/**
 * When the address ends.
 */
expiresAt: string, 
/**
 * The session whose log holds what app and agent say.
 */
sessionId: string, 
/**
 * What might not be as it was meant.
 */
warnings: Array<string>, };

/**
 * A launch.
 */
export type LaunchInfo = { 
/**
 * The launch.
 */
launchId: string, 
/**
 * The app.
 */
app: string, 
/**
 * The session whose log holds what app and agent say.
 */
sessionId: string, 
/**
 * What the agent calls itself.
 */
agent: string, 
/**
 * When it was opened.
 */
createdAt: string, 
/**
 * When its addresses end.
 */
expiresAt: string, 
/**
 * Pages that are connected.
 */
open: number, 
/**
 * Whether an agent has it: one in the house, or one that is connected.
 */
attached: boolean, };

/**
 * Another address for a launch.
 */
export type OpenLaunch = { 
/**
 * The origin of a page that holds the app in a frame.
 */
embedOrigin?: string, };

/**
 * An address of a launch.
 */
export type OpenedLaunch = { 
/**
 * The address; good for one browser.
 */
url: string, 
/**
 * When it ends.
 */
expiresAt: string, };

/**
 * Something to tell an app.
 */
export type TellApp = { 
/**
 * What kind of thing: small letters, digits and hyphens.
 */
event: string, 
/**
 * More about it.
 */
payload: JsonValue, };

/**
 * It is on its way.
 */
export type ToldApp = { 
/**
 * Its number in the log.
 */
seq: number, };

/**
 * Why something was not done.
 */
export type AppFault = { 
/**
 * The code that the app sees, such as `E-AGT-004`.
 */
code: string | null, 
/**
 * What happened.
 */
message: string | null, };

/**
 * What a page of an app says.
 */
export type PageSays = { "type": "weblet-event", 
/**
 * A name of the page's own, the same when it is sent again.
 */
id: string, 
/**
 * What kind of thing.
 */
event: string, 
/**
 * More about it.
 */
payload: JsonValue, } | { "type": "weblet-request", 
/**
 * A name of the page's own, the same when it is sent again.
 */
requestId: string, 
/**
 * What is to be done.
 */
action: string, 
/**
 * With what.
 */
params: JsonValue, } | { "type": "weblet-cancel", 
/**
 * The `id` of an event, or the `requestId` of a request.
 */
id: string, } | { "type": "ping", };

/**
 * What a page of an app is told.
 */
export type PageTold = { "type": "welcome", 
/**
 * The number to resume from.
 */
seq: number, } | { "type": "resync", 
/**
 * The number to resume from.
 */
seq: number, } | { "type": "weblet-ack", 
/**
 * What the page called it.
 */
id: string, } | { "type": "weblet-nack", 
/**
 * What the page called it.
 */
id: string, 
/**
 * Why.
 */
error: AppFault, } | { "type": "weblet-response", 
/**
 * What the page called it.
 */
requestId: string, 
/**
 * Whether it was done.
 */
success: boolean, 
/**
 * What came of it.
 */
result?: JsonValue, 
/**
 * Why it was not done.
 */
error?: AppFault, } | { "type": "agent-event", 
/**
 * What kind of thing.
 */
event: string, 
/**
 * More about it.
 */
payload: JsonValue, 
/**
 * Its number in the log.
 */
seq: number, } | { "type": "reload" } | { "type": "error", 
/**
 * What was wrong.
 */
error: string, 
/**
 * Its name, where it had one.
 */
id?: string, } | { "type": "pong" } | { "type": "closing", 
/**
 * A word for machines.
 */
reason: string, 
/**
 * What to do about it.
 */
message: string, };

/**
 * What an agent says about an app that was opened for it.
 */
export type AgentSays = { "type": "weblet-ack", 
/**
 * What the page called it.
 */
id: string, } | { "type": "weblet-response", 
/**
 * What the page called it.
 */
requestId: string, 
/**
 * Whether it was done.
 */
success: boolean, 
/**
 * What came of it.
 */
result: JsonValue, 
/**
 * Why it was not done.
 */
error: AppFault | null, } | { "type": "agent-event", 
/**
 * What kind of thing.
 */
event: string, 
/**
 * More about it.
 */
payload: JsonValue, 
/**
 * A name of the agent's own, for the answer.
 */
id: string | null, } | { "type": "ping", };

/**
 * What an agent is told about an app that was opened for it.
 */
export type AgentTold = { "type": "welcome", 
/**
 * The launch.
 */
launchId: string, 
/**
 * The app.
 */
app: string, 
/**
 * The session whose log holds all this.
 */
sessionId: string, 
/**
 * The number of the newest thing in it.
 */
seq: number, } | { "type": "weblet-event", 
/**
 * What the page calls it.
 */
id: string, 
/**
 * What kind of thing.
 */
event: string, 
/**
 * More about it.
 */
payload: JsonValue, 
/**
 * When, in milliseconds since 1970.
 */
timestamp: number, 
/**
 * The app.
 */
weblet: string, 
/**
 * Its number in the log.
 */
seq: number, } | { "type": "weblet-request", 
/**
 * What the page calls it.
 */
requestId: string, 
/**
 * What is to be done.
 */
action: string, 
/**
 * With what.
 */
params: JsonValue, 
/**
 * When, in milliseconds since 1970.
 */
timestamp: number, 
/**
 * The app.
 */
weblet: string, 
/**
 * Its number in the log.
 */
seq: number, } | { "type": "sent", 
/**
 * What the agent called it.
 */
id?: string, 
/**
 * Its number in the log.
 */
seq: number, } | { "type": "error", 
/**
 * What was wrong.
 */
error: string, 
/**
 * Its name, where it had one.
 */
id?: string, } | { "type": "pong" } | { "type": "closing", 
/**
 * A word for machines.
 */
reason: string, 
/**
 * What to do about it.
 */
message: string, };
