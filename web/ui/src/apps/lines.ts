// What apps did in a session, as lines of the chat.
import type { AppEntry, AppEvent } from "@gangway/client";

/** Whether an entry of a conversation is about an app. */
export function isAppEntry(entry: { role: string }): entry is AppEntry {
  return entry.role === "app";
}

/** What became of what apps said, by the launch and the name that the page gave it. */
export interface Outcomes {
  requests: ReadonlyMap<string, "done" | "refused">;
  /** Who took an event: external agents acknowledge it, built-in agents get it at once. */
  takers: ReadonlyMap<string, string>;
}

const keyOf = (launchId: string, id: string) => `${launchId} ${id}`;

/** What became of the events and requests among these entries. */
export function outcomesIn(entries: readonly { role: string }[]): Outcomes {
  const requests = new Map<string, "done" | "refused">();
  const takers = new Map<string, string>();
  for (const entry of entries) {
    if (!isAppEntry(entry)) continue;
    const { launchId, news } = entry;
    if (news.what === "answer") {
      const how = news.code === null ? "done" : "refused";
      requests.set(keyOf(launchId, news.requestId), how);
    } else if (news.what === "taken") {
      takers.set(keyOf(launchId, news.id), news.by);
    }
  }
  return { requests, takers };
}

/** Whether an entry has no line of its own: an answer and a taking stand at what they are about. */
export function isSilent(entry: { role: string }): boolean {
  return isAppEntry(entry) && ["answer", "taken"].includes(entry.news.what);
}

export interface Line {
  words: string;
  detail: unknown;
  refused: boolean;
  /** Who took it, once an external agent has. */
  taker?: string | undefined;
}

/** A description of an entry; empty for hidden ones. */
export function lineOf(
  entry: AppEntry,
  title: string,
  { requests, takers }: Outcomes,
): Line | null {
  const { launchId, news } = entry;
  const line = (words: string, detail: unknown, refused = false): Line => ({
    words,
    detail,
    refused,
  });
  switch (news.what) {
    case "launched":
      return line(`${news.agent} launched ${title}`, undefined);
    case "event":
      return {
        ...line(`${title} sent ${news.event}`, news.payload),
        taker: takers.get(keyOf(launchId, news.id)),
      };
    case "told":
      return line(`The agent sent ${news.event} to ${title}`, news.payload);
    case "request": {
      const state = requests.get(keyOf(launchId, news.requestId)) ?? "waiting";
      const how = {
        waiting: "requested",
        done: "requested and got",
        refused: "requested and was denied",
      }[state];
      const notice = news.action === "notify" && noticeIn(news.params);
      if (notice) return line(`${title}: ${notice}`, undefined);
      const words = `${title} ${how} ${news.action}`;
      return line(words, news.params, state === "refused");
    }
    default:
      return null;
  }
}

/** What an app wants the person to know. */
function noticeIn(params: unknown): string | null {
  const { message } = (params ?? {}) as { message?: unknown };
  return typeof message === "string" && message.trim() !== "" ? message : null;
}

/** What the log says about it. */
export function newsWords(
  news: AppEvent,
  title: string,
): { what: string; detail: unknown } {
  switch (news.what) {
    case "launched":
      return { what: `${news.agent} launched ${title}`, detail: undefined };
    case "event": {
      const odd = news.declared ? "" : ", not declared in its manifest";
      return {
        what: `${title} sent ${news.event}${odd}`,
        detail: news.payload,
      };
    }
    case "taken":
      return {
        what: `${news.by} acknowledged an event of ${title}`,
        detail: news.id,
      };
    case "request":
      return { what: `${title} requested ${news.action}`, detail: news.params };
    case "begun":
      return {
        what: `Request of ${title} started`,
        detail: news.requestId,
      };
    case "answer": {
      const { by, code, error, result } = news;
      return code === null
        ? { what: `${by} answered the request of ${title}`, detail: result }
        : { what: `${by} denied the request of ${title}`, detail: error };
    }
    case "told":
      return { what: `${news.event} sent to ${title}`, detail: news.payload };
  }
}
