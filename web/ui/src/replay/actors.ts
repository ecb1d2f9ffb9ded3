// Who acted in an event, what kind of event it is, and which other event it belongs to. A kind that is unknown here is an event all the same.
import type { Recorded } from "./read.js";

export const ACTORS = {
  person: "Person",
  agent: "Agent",
  external: "External agent",
  applet: "Applet",
  app: "App",
  page: "Page",
  site: "Site",
  tool: "Tool",
  gangway: "Gangway",
} as const;
export type Actor = keyof typeof ACTORS;

export const KINDS = {
  message: "Messages",
  tool: "Tool calls",
  ask: "Permissions and questions",
  state: "State changes",
  page: "Pages and apps",
  turn: "Session and turns",
  other: "Other",
} as const;
export type Kind = keyof typeof KINDS;

export type Fields = Partial<Record<string, unknown>>;

/** The fields of an object; of anything else, none. */
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value : {};
}

export function words(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const SOURCES = new Map<unknown, Actor>([
  ["person", "person"],
  ["applet", "applet"],
  ["agent", "external"],
  ["page", "site"],
]);

const ASKERS = new Map<unknown, Actor>([
  ["site", "site"],
  ["server", "tool"],
  ["app", "app"],
  ["applet", "applet"],
  ["agent", "external"],
]);

const BY_TYPE = new Map<string, [Actor, Kind]>([
  ["session.created", ["gangway", "turn"]],
  ["session.changed", ["gangway", "turn"]],
  ["session.notice", ["gangway", "turn"]],
  ["session.context", ["agent", "turn"]],
  ["session.error", ["agent", "turn"]],
  ["session.question", ["agent", "ask"]],
  ["session.answer", ["person", "ask"]],
  ["user.message", ["person", "message"]],
  ["assistant.turn_start", ["agent", "turn"]],
  ["assistant.message_delta", ["agent", "message"]],
  ["assistant.message", ["agent", "message"]],
  ["tool.execution_start", ["agent", "tool"]],
  ["tool.execution_complete", ["tool", "tool"]],
  ["applet.state", ["applet", "state"]],
  ["applet.asks", ["applet", "ask"]],
  ["applet.leave", ["person", "ask"]],
  ["ask.opened", ["gangway", "ask"]],
  ["ask.closed", ["person", "ask"]],
  ["applet.open", ["agent", "page"]],
  ["page.reload", ["gangway", "page"]],
  ["done", ["agent", "turn"]],
]);

/** What answers of Gangway to requests of apps have as their agent. */
const OWN = "gangway";

const BY_NEWS = new Map<string, [Actor, Kind]>([
  ["launched", ["agent", "page"]],
  ["event", ["app", "page"]],
  ["taken", ["agent", "page"]],
  ["request", ["app", "ask"]],
  ["begun", ["gangway", "ask"]],
  ["answer", ["gangway", "ask"]],
  ["told", ["agent", "page"]],
]);

const BY_PAGE = new Map<string, [Actor, Kind]>([
  ["called", ["external", "tool"]],
  ["returned", ["page", "tool"]],
  ["message", ["page", "message"]],
]);

// Kinds that this page does not know yet, by what they begin with.
const BY_GROUP = new Map<string, [Actor, Kind]>([
  ["page", ["page", "page"]],
  ["tool", ["agent", "tool"]],
  ["applet", ["applet", "page"]],
  ["app", ["app", "page"]],
]);

/** Who acted, and in what kind of event. */
export function classOf(event: Recorded): [Actor, Kind] {
  const news = fields(event["news"]);
  const what = words(news["what"]);
  const own = new Map([
    ["app", BY_NEWS],
    ["page", BY_PAGE],
  ]).get(event.type);
  const known =
    own?.get(what) ??
    BY_TYPE.get(event.type) ??
    BY_GROUP.get(event.type.split(/[._]/)[0] ?? "");
  const { by } = news;
  // An agent at a page of the relay is named, not described, and so is Gangway where it answers an app.
  const named = by === OWN ? {} : { kind: "agent" };
  const source = fields(
    event["source"] ?? news["source"] ?? (typeof by === "string" ? named : by),
  );
  const [actor, kind] = known ?? ["gangway", "other"];
  if (event.type === "ask.closed" && event["by"] === null) {
    return ["gangway", kind];
  }
  const asker = ASKERS.get(fields(event["asker"])["kind"]);
  if (asker) return [asker, kind];
  return [SOURCES.get(source["kind"]) ?? actor, kind];
}

/** Whether something went wrong in this event. */
export function isBad(event: Recorded): boolean {
  switch (event.type) {
    case "session.error":
      return true;
    case "done":
      return event["outcome"] !== "completed";
    case "app":
    case "page": {
      const { code, error } = fields(event["news"]);
      return words(code) !== "" || words(error) !== "";
    }
    default:
      return event["success"] === false || words(event["error"]) !== "";
  }
}

/** What two events have in common of which one answers the other, and whether this one begins it, where that is known. */
export function pairOf(
  event: Recorded,
): { key: string; begins: boolean | null } | null {
  const pair = (name: string, id: unknown, begins: boolean | null) =>
    typeof id === "string" && id !== ""
      ? { key: `${name}:${id}`, begins }
      : null;
  switch (event.type) {
    case "assistant.turn_start":
      return pair("turn", event["streamId"], true);
    case "done":
      return pair("turn", event["streamId"], false);
    case "tool.execution_start":
      return pair("call", event["toolCallId"], true);
    case "tool.execution_complete":
      return pair("call", event["toolCallId"], false);
    case "session.question":
      return pair("question", event["questionId"], true);
    case "session.answer":
      return pair("question", event["questionId"], false);
    case "applet.asks":
      return pair("asks", event["applet"], true);
    case "applet.leave":
      return pair("asks", event["applet"], false);
    case "ask.opened":
      return pair("ask", event["askId"], true);
    case "ask.closed":
      return pair("ask", event["askId"], false);
    case "page": {
      const { what, callId } = fields(event["news"]);
      return pair("page", callId, what === "called");
    }
    case "app": {
      const { what, requestId } = fields(event["news"]);
      const name = `request ${words(event["launchId"])}`;
      if (what === "request") return pair(name, requestId, true);
      return what === "answer" ? pair(name, requestId, false) : null;
    }
    default:
      if (BY_TYPE.has(event.type)) return null;
      return pair("other", event["callId"] ?? event["toolCallId"], null);
  }
}
