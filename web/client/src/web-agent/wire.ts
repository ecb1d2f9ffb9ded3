// What travels between the page's script, the broker frame and the server.
import type {
  BrokerClientMessage,
  Numbered,
  refused,
  SiteServerMessage,
  welcome,
} from "../generated/wire.js";
import type { ApiError } from "./errors.js";

/** The page's greeting, with one port. */
export interface Greeting {
  gangway: "hello";
  v: 1;
  tab: string;
}

/** A page as its script sees it. */
export interface PageText {
  html: string;
  url: string;
  title: string;
}

/** From the page's script to the broker. Values are JSON as text: that is how they are measured. */
export type PageToBroker =
  | { type: "call"; id: number; method: string; params: string }
  | { type: "abort"; id: number }
  | { type: "tools"; tools: string }
  | { type: "tool_result"; call: number; result?: string; error?: ApiError }
  | ({ type: "read"; id: number } & PageText);

/** From the broker to the page's script. */
export type BrokerToPage =
  | { type: "ready" }
  | { type: "refused"; error: ApiError }
  | { type: "lost"; error: ApiError }
  | { type: "result"; id: number; result: unknown }
  | { type: "error"; id: number; error: ApiError }
  | Exclude<SiteServerMessage, { type: "result" | "error" | "token" }>;

/** From the broker to the server, and from there in the order of its numbers. */
export type { BrokerClientMessage, Numbered };

/** From the server to the broker. */
export type BrokerServerMessage = welcome | refused | Numbered;

/** The most that one call may carry, in bytes of JSON. */
export const CALL_SIZE = 1 << 20;
/** The most of a page that is read, in characters. */
export const PAGE_SIZE = 5_000_000;
/** Calls that may be open at once. */
export const MAX_CALLS = 256;

/** Whether text has more bytes on the wire than it may. */
export function isTooLong(
  text: string,
  Encoder = TextEncoder,
  most = CALL_SIZE,
): boolean {
  // No character takes more than three bytes for each of its units.
  if (text.length * 3 <= most) return false;
  return text.length > most || new Encoder().encode(text).length > most;
}
