// What apps did in a session, as lines of the chat.
import type { AppEntry, AppNews } from "@gangway/client";

/** Whether an entry of a conversation is about an app. */
export function isAppEntry(entry: { role: string }): entry is AppEntry {
  return entry.role === "app";
}

/** How a request ended, by the launch and the request's id. */
export type Answers = ReadonlyMap<string, "done" | "refused">;

const keyOf = (launchId: string, requestId: string) =>
  `${launchId} ${requestId}`;

/** What became of the requests among these entries. */
export function answersIn(entries: readonly { role: string }[]): Answers {
  const found = new Map<string, "done" | "refused">();
  for (const entry of entries) {
    if (!isAppEntry(entry) || entry.news.what !== "answer") continue;
    const { requestId, code } = entry.news;
    const key = keyOf(entry.launchId, requestId);
    found.set(key, code === null ? "done" : "refused");
  }
  return found;
}

export interface Line {
  words: string;
  detail: unknown;
  refused: boolean;
}

/** An entry in plain words; an answer has none of its own, its request says it. */
export function lineOf(
  entry: AppEntry,
  title: string,
  answers: Answers,
): Line | null {
  const { launchId, news } = entry;
  const line = (words: string, detail: unknown, refused = false) => ({
    words,
    detail,
    refused,
  });
  switch (news.what) {
    case "launched":
      return line(`${news.agent} launched ${title}`, undefined);
    case "event":
      return line(`${title} said ${news.event}`, news.payload);
    case "told":
      return line(`The agent told ${title}: ${news.event}`, news.payload);
    case "request": {
      const state = answers.get(keyOf(launchId, news.requestId)) ?? "waiting";
      const how = {
        waiting: "asks for",
        done: "was given",
        refused: "was refused",
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
  news: AppNews,
  title: string,
): { what: string; detail: unknown } {
  switch (news.what) {
    case "launched":
      return { what: `${news.agent} launched ${title}`, detail: undefined };
    case "event": {
      const odd = news.declared ? "" : ", which its manifest does not name";
      return {
        what: `${title} says ${news.event}${odd}`,
        detail: news.payload,
      };
    }
    case "taken":
      return { what: `${news.by} took an event of ${title}`, detail: news.id };
    case "request":
      return { what: `${title} asks for ${news.action}`, detail: news.params };
    case "answer": {
      const { by, code, error, result } = news;
      return code === null
        ? { what: `${by} did what ${title} asked for`, detail: result }
        : { what: `${by} refused what ${title} asked for`, detail: error };
    }
    case "told":
      return { what: `${title} was told ${news.event}`, detail: news.payload };
  }
}
