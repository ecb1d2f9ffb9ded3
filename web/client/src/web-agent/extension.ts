// What a browser extension makes window.ai and window.agent of: the script of a page, the broker beside it, and how the page is read.
export { Backoff } from "../backoff.js";
export { serve, type Leave, type Read, type TabCall } from "./broker-serve.js";
export { BrokerSocket, type Connection } from "./broker-socket.js";
export {
  AgentApiError,
  errorFrom,
  type ApiError,
  type ErrorCode,
} from "./errors.js";
export { declaredServers, everyOf, ownHtml } from "./own-page.js";
export { EXTENSION, installIn } from "./page.js";
export { readable } from "./readable.js";
export { isTooLong } from "./wire.js";
