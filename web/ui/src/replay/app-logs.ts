// What a recording has about the pages of apps: what their agents sent them, which of their tools were called, what they reported.
import type { JsonValue, RecordedMessage } from "@gangway/client";
import { fields, words, type Fields } from "./actors.js";
import type { Recorded } from "./read.js";
import { above } from "./state.js";

/** One launch of an app, or an app that was opened without one. */
export interface AppLog {
  readonly app: string;
  readonly launchId: string | null;
  readonly messages: RecordedMessage[];
  /** The index of the event of each message. */
  readonly indexes: number[];
}

/** How many messages an app's page had by the event with this index. */
export function countAt({ indexes }: AppLog, index: number): number {
  return above(indexes, index);
}

export class AppLogs {
  readonly #byKey = new Map<string, AppLog>();
  /** The newest launch of each app. */
  readonly #newest = new Map<string, AppLog>();
  /** The apps of pages by the ids of the pages, and whether their own channel carries calls. */
  readonly #ofPage = new Map<string, { log: AppLog; calls: boolean }>();
  /** The pages behind the names of tool servers. */
  readonly #servers = new Map<string, string>();
  readonly #requests = new Map<string, { action: string; params: JsonValue }>();
  readonly #calls = new Map<
    string,
    { page: string; name: string; arguments: JsonValue }
  >();

  /** The log of a launch, or of a page at the relay: under the name that its section of the state has. */
  of(key: string): AppLog | null {
    return this.#byKey.get(key) ?? null;
  }

  /** Takes the event with this index, the next one. */
  add(event: Recorded, index: number): void {
    const news = fields(event["news"]);
    if (event.type === "app") this.#addApp(event, news, index);
    else if (event.type === "page") this.#addPage(event, news, index);
    else if (event.type === "tool.execution_start") {
      this.#call(words(event["toolCallId"]), event["tool"], event);
    } else if (event.type === "tool.execution_complete") {
      const done = event["success"] === true;
      this.#return(words(event["toolCallId"]), done, index, event["result"]);
    }
  }

  #addApp(event: Recorded, news: Fields, index: number): void {
    const launchId = words(event["launchId"]);
    const log = this.#log(`app:${launchId}`, words(event["app"]), launchId);
    const { what } = news;
    const name = words(news["event"]);
    const payload = json(news["payload"]);
    const request = `${launchId} ${words(news["requestId"])}`;
    if (what === "launched") this.#newest.set(log.app, log);
    else if (what === "told") {
      put(log, index, { type: "event", event: name, payload });
    } else if (what === "event") {
      put(log, index, { type: "emitted", event: name, payload });
    } else if (what === "request") {
      const action = words(news["action"]);
      this.#requests.set(request, { action, params: json(news["params"]) });
    } else if (what === "answer") {
      const asked = this.#requests.get(request);
      this.#requests.delete(request);
      const code = words(news["code"]);
      const message = words(news["error"]);
      const error = code === "" ? null : { code, message };
      const result = json(news["result"]);
      if (asked) put(log, index, { type: "answer", ...asked, result, error });
    }
  }

  #addPage(event: Recorded, news: Fields, index: number): void {
    const page = words(event["pageId"]);
    const [kind, name] = [words(event["pageKind"]), words(event["name"])];
    const callId = words(news["callId"]);
    switch (news["what"]) {
      case "opened": {
        const log = this.#opened(kind, name, words(news["origin"]));
        if (log) this.#ofPage.set(page, { log, calls: kind === "app" });
        break;
      }
      case "left":
        for (const [server, of] of this.#servers) {
          if (of === page) this.#servers.delete(server);
        }
        break;
      case "offered":
        this.#name(page, name);
        break;
      case "called":
        this.#call(callId, news["tool"], news, page);
        break;
      case "returned":
        this.#return(
          callId,
          words(news["error"]) === "",
          index,
          news["result"],
        );
        break;
      case "message":
        if (news["kind"] === "state.updated" && news["by"] == null) {
          this.#report(page, news["payload"], index);
        }
    }
  }

  /** A page at the relay is of an app if it came from the app's own host. */
  #opened(kind: string, name: string, origin: string): AppLog | null {
    if (kind === "app") return this.#newest.get(name) ?? null;
    if (kind !== "relay" || !/^[a-z][a-z0-9-]*$/.test(origin)) return null;
    return this.#newest.get(origin) ?? this.#log(`relay:${name}`, origin, null);
  }

  /** As the server names them: a number where another open page has the name. */
  #name(page: string, name: string): void {
    if ([...this.#servers.values()].includes(page)) return;
    const plain = `page-${name.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, 64)}`;
    let server = plain;
    for (let number = 2; this.#servers.has(server); number += 1) {
      server = `${plain}-${number}`;
    }
    this.#servers.set(server, page);
  }

  #call(id: string, tool: unknown, { arguments: args }: Fields, on?: string) {
    const [server = "", name = ""] = words(tool).split("/");
    const page = on ?? this.#servers.get(server) ?? "";
    if (this.#ofPage.has(page)) {
      this.#calls.set(id, { page, name, arguments: json(args) });
    }
  }

  /** A call that failed is not made again: it may not even have reached the page. */
  #return(id: string, done: boolean, index: number, result: unknown): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    const of = call && this.#ofPage.get(call.page);
    if (!of || !done) return;
    const { page, name, arguments: args } = call;
    if (of.calls) put(of.log, index, { type: "call", name, arguments: args });
    else this.#report(page, result, index);
  }

  #report(page: string, payload: unknown, index: number): void {
    const of = this.#ofPage.get(page);
    if (of && reportOf(payload)) {
      put(of.log, index, { type: "state", state: payload });
    }
  }

  #log(key: string, app: string, launchId: string | null): AppLog {
    const known = this.#byKey.get(key);
    if (known) return known;
    const log = { app, launchId, messages: [], indexes: [] };
    this.#byKey.set(key, log);
    return log;
  }
}

/** The state in a message of a page at the relay; null if it has none, or was too large for the log. */
export function reportOf(payload: unknown): Fields | null {
  const report = fields(payload);
  return report["uiSpec"] === undefined ? null : report;
}

function put(log: AppLog, index: number, message: RecordedMessage): void {
  log.messages.push(message);
  log.indexes.push(index);
}

function json(value: unknown): JsonValue {
  return (value ?? null) as JsonValue;
}
