// The state of applets, apps and the session after any event: folded once, with a keyframe every so often.
import { fields, words } from "./actors.js";
import { reportOf } from "./app-logs.js";
import type { Recorded } from "./read.js";

export interface Section {
  readonly kind: "session" | "applet" | "app" | "relay" | "site" | "consents";
  readonly name: string;
  /** Its number, where changes of it are counted. */
  version: number | null;
  readonly values: Map<string, unknown>;
}

/** By a name that no other section has. */
export type State = ReadonlyMap<string, Section>;

// Events that are applied again to go back; more when copying the state takes longer than that.
const KEYFRAME_EVERY = 500;

export class StateFold {
  readonly #events: readonly Recorded[];
  /** The numbers of the events that change something. */
  readonly #changes: number[] = [];
  readonly #keyframes: { changes: number; state: Map<string, Section> }[] = [
    { changes: 0, state: new Map() },
  ];
  readonly #now = new Map<string, Section>();
  #size = 0;

  constructor(events: readonly Recorded[]) {
    this.#events = events;
  }

  /** Takes the event with this index, the next one. */
  add(index: number): void {
    const event = this.#events[index];
    if (!event || !change(this.#now, event)) return;
    this.#changes.push(index);
    const since = this.#changes.length - (this.#keyframes.at(-1)?.changes ?? 0);
    if (since < Math.max(KEYFRAME_EVERY, this.#size)) return;
    const state = copy(this.#now);
    this.#size = [...state.values()].reduce(
      (sum, { values }) => sum + values.size,
      0,
    );
    this.#keyframes.push({ changes: this.#changes.length, state });
  }

  /** The state after the event with this index. */
  after(index: number): State {
    const count = above(this.#changes, index);
    const keyframe =
      this.#keyframes[
        above(
          this.#keyframes.map(({ changes }) => changes),
          count,
        ) - 1
      ];
    const state = copy(keyframe?.state ?? new Map());
    for (let at = keyframe?.changes ?? 0; at < count; at += 1) {
      const event = this.#events[this.#changes[at] ?? -1];
      if (event) change(state, event);
    }
    return state;
  }
}

/** How many numbers of a sorted list are at most this. */
export function above(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function copy(state: ReadonlyMap<string, Section>): Map<string, Section> {
  const copied = new Map<string, Section>();
  for (const [key, section] of state) {
    copied.set(key, { ...section, values: new Map(section.values) });
  }
  return copied;
}

/** Applies an event; false if it changes nothing. */
function change(state: Map<string, Section>, event: Recorded): boolean {
  const section = (kind: Section["kind"], name: string, id = name): Section => {
    const key = `${kind}:${id}`;
    const known = state.get(key);
    if (known) return known;
    const made: Section = { kind, name, version: null, values: new Map() };
    state.set(key, made);
    return made;
  };
  switch (event.type) {
    case "session.created":
    case "session.changed": {
      const { values } = section("session", "Session");
      for (const key of ["title", "agent", "model"]) {
        values.set(key, event[key] ?? null);
      }
      return true;
    }
    case "assistant.turn_start":
      section("session", "Session").values.set("running", event["agent"]);
      return true;
    case "session.context": {
      const { values } = section("session", "Session");
      values.set("context", { used: event["used"], window: event["window"] });
      return true;
    }
    case "done": {
      const { values } = section("session", "Session");
      values.delete("running");
      const { inputTokens, outputTokens } = fields(event["usage"]);
      add(values, "inputTokens", inputTokens);
      add(values, "outputTokens", outputTokens);
      return true;
    }
    case "applet.state": {
      const applet = section("applet", words(event["applet"]));
      applet.version = Number(event["version"]) || null;
      for (const [key, value] of Object.entries(fields(event["patch"]))) {
        if (value === null) applet.values.delete(key);
        else applet.values.set(key, value);
      }
      return true;
    }
    case "applet.leave":
      section("consents", "Consents").values.set(
        words(event["applet"]),
        event["speak"],
      );
      return true;
    case "app":
      return changeApp(
        section("app", words(event["app"]), words(event["launchId"])).values,
        event,
      );
    case "tool.execution_complete": {
      // The result of a page at the relay has its state.
      const server = words(event["tool"]).split("/")[0] ?? "";
      const page = state.get(`relay:${server.replace(/^page-/, "")}`);
      return page !== undefined && setReport(page.values, event["result"]);
    }
    case "page": {
      const kind = event["pageKind"];
      if (kind !== "relay" && kind !== "site") return false;
      return changePage(section(kind, words(event["name"])).values, event);
    }
    default:
      return false;
  }
}

/** What a page at the relay reports, or a site that is connected to the session. */
function changePage(values: Map<string, unknown>, event: Recorded): boolean {
  const news = fields(event["news"]);
  switch (news["what"]) {
    case "opened":
      values.set("open", true);
      return true;
    case "left":
      values.set("open", false);
      return true;
    case "offered":
      values.set("tools", news["tools"]);
      return true;
    case "returned":
      return setReport(values, news["result"]);
    default:
      return setReport(values, news["payload"]);
  }
}

function setReport(values: Map<string, unknown>, report: unknown): boolean {
  const reported = reportOf(report);
  for (const name of ["uiSpec", "messageHistory"]) {
    const value = reported?.[name];
    if (value !== undefined) values.set(name, value);
  }
  return reported !== null;
}

/** The log holds what an app and its agent told each other, not what the app keeps to itself. */
function changeApp(values: Map<string, unknown>, event: Recorded): boolean {
  const news = fields(event["news"]);
  const { what, requestId, payload } = news;
  switch (what) {
    case "launched":
      values.set("agent", news["agent"]);
      return true;
    case "event":
      values.set("last event of the app", { event: news["event"], payload });
      return true;
    case "told":
      values.set("last event for the app", { event: news["event"], payload });
      return true;
    case "request":
      values.set(`request ${words(requestId)}`, {
        action: news["action"],
        params: news["params"],
      });
      return true;
    case "answer":
      values.delete(`request ${words(requestId)}`);
      return true;
    default:
      return false;
  }
}

function add(values: Map<string, unknown>, key: string, more: unknown): void {
  if (typeof more !== "number") return;
  values.set(key, Number(values.get(key) ?? 0) + more);
}
