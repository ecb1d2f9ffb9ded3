// What a content script asks of the background beside its port, and what the two worlds of a page hand each other.
import type { ApiError } from "@gangway/client/extension";
import type {
  ActiveTabReadability,
  Screenshot,
} from "@gangway/client/web-agent";
import type { Action } from "./act.js";
import type { ScreenshotRequest } from "./screenshot.js";

/** The event that hands the isolated world its port, before any script of the page runs. */
export const HANDOVER = "gangway:port";

export type ContentRequest =
  /** The person is asked about this; whether they clicked here lately, and whether it is the document's first question. */
  | { type: "ask"; ask: string; clicked: boolean; first: boolean }
  /** The text of this document. */
  | { type: "read" }
  /** A screenshot of this document. */
  | ({ type: "screenshot" } & ScreenshotRequest)
  /** The page opened a chat. */
  | { type: "chat"; chatId: string; url: string }
  /** Another page is in the tab. */
  | { type: "fresh" }
  /** The number of MCP servers that the page offers. */
  | { type: "servers"; count: number };

/** What the popup asks of the background. */
export interface OwnPageRequest {
  type: "answer";
  ask: string;
}

/** What the popup asks of the content script of a page. */
export interface ListServers {
  type: "list-servers";
}

/** Actions that the side panel sends to the content script of the active tab. */
export interface ActHere {
  type: "act";
  action: Action;
  /** The page that is meant. */
  origin: string;
}

export type ActAnswer = { result: unknown } | { error: ApiError };

export type ShotAnswer = { shot: Screenshot } | { error: ApiError };

export type ReadAnswer = { text: ActiveTabReadability } | { error: string };
