// What a page or program may import from this library.
export { GangwayError, type GangwayErrorOptions } from "./errors.js";
export { Http, type HttpOptions, type RequestOptions } from "./http.js";
export { Sessions, type PageOptions } from "./sessions.js";
export { Models } from "./models.js";
export { Tools, type CatalogOptions } from "./tools.js";
export {
  chatOnce,
  streamChat,
  type ChatAnswer,
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  type ChatUsage,
} from "./chat.js";
export { listAgents, logIn, logOut } from "./server.js";
export {
  SessionFeed,
  type FeedState,
  type SessionFeedOptions,
} from "./feed.js";
export { entryKey, fold, prepend, type Conversation } from "./fold.js";
export { turnsOf, type Turn } from "./turns.js";
export type * from "./generated/wire.js";
