// What a page or program may import from this library.
export { GangwayError, type GangwayErrorOptions } from "./errors.js";
export type { ApiKey } from "./key.js";
export { Http, type HttpOptions, type RequestOptions } from "./http.js";
export { Sessions, type PageOptions } from "./sessions.js";
export { Applets } from "./applets.js";
export { Models } from "./models.js";
export { Tools, type CatalogOptions } from "./tools.js";
export { Asks, type WatchOptions } from "./asks.js";
export { Demo } from "./demo.js";
export { Pages } from "./pages.js";
export { Permissions, type AuditOptions } from "./permissions.js";
export { Study } from "./study.js";
export { closePanel, enterPanel, parentIn } from "./panel.js";
export {
  chatOnce,
  streamChat,
  type ChatAnswer,
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  type ChatUsage,
} from "./chat.js";
export { RemoteAgents } from "./remote-agents.js";
export { RemoteAgent, type RemoteAgentOptions } from "./embed/agent.js";
export { AgentFeed, type AgentFeedOptions } from "./embed/feed.js";
export type { UploadOptions } from "./embed/upload.js";
export type * from "./embed/messages.js";
export {
  endLogin,
  endLogins,
  listAgents,
  listLogins,
  logIn,
  logOut,
} from "./server.js";
export {
  SessionFeed,
  type FeedState,
  type SessionFeedOptions,
} from "./feed.js";
export { entryKey, fold, prepend, type Conversation } from "./fold.js";
export { turnsOf, type Turn } from "./turns.js";
export {
  AppletChannel,
  type InvokeOptions,
  type InvokeStarted,
  type Unsubscribe,
} from "./applet/channel.js";
export { connect, type ConnectOptions } from "./applet/connect.js";
export { AppletHost, SANDBOX, type AppletHostOptions } from "./applet/host.js";
export { RecordedLink, type RecordedApplet } from "./applet/recorded-link.js";
export type {
  AppletEvents,
  FileChange,
  FileList,
  FileStat,
  State,
} from "./applet/wire.js";
export {
  APP_SANDBOX,
  mountApp,
  type MountedApp,
  type MountOptions,
} from "./context/mount.js";
export {
  RecordedApp,
  type RecordedAppOptions,
  type RecordedMessage,
} from "./context/recorded-app.js";
export { Apps, type AppEntry, type AppFrame, type LaunchBody } from "./apps.js";
export type { LiveState } from "./live.js";
export { same } from "./same.js";
export { isLocal } from "./web-agent/reach.js";
export type * from "./generated/wire.js";
