// What an open chat keeps: one session, the turns it shows, and the log of everything.
import {
  Applets,
  Http,
  Sessions,
  type EventFrame,
  type FeedFrame,
} from "@gangway/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ChatState } from "../src/chat/chat.svelte.js";
import { EventLogState } from "../src/applets/event-log.svelte.js";

const AT = "2026-01-02T03:04:05Z";
const session = {
  sessionId: "s1",
  title: null,
  cwd: "/tmp",
  model: null,
  agent: "demo",
  state: "idle",
  createdAt: AT,
  updatedAt: AT,
} as const;

/** The server's end of each feed that was opened. */
let feeds: FakeSocket[] = [];
class FakeSocket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly since: string | null;
  closed = false;

  constructor(url: string) {
    this.since = new URL(url).searchParams.get("since");
    feeds.push(this);
  }

  close(): void {
    this.closed = true;
  }

  say(...frames: FeedFrame[]): void {
    this.onopen?.();
    for (const frame of frames) {
      this.onmessage?.({ data: JSON.stringify(frame) });
    }
  }
}

let created: number;
let http: Http;

beforeEach(() => {
  feeds = [];
  created = 0;
  vi.stubGlobal("WebSocket", FakeSocket);
  http = new Http({
    fetch: (input, init) => {
      const path = input as string;
      if (path === "/api/sessions" && init?.method === "POST") created += 1;
      if (path.endsWith("/applets")) {
        return Promise.resolve(Response.json({ applets: [] }));
      }
      return Promise.resolve(Response.json({ ...session, streamId: "t1" }));
    },
  });
});

afterEach(() => void vi.unstubAllGlobals());

function open(
  sessionId: string | null,
  seen: Partial<{ opened: string[]; reloaded: (string | null)[] }> = {},
): ChatState {
  return new ChatState(
    new Sessions(http),
    new Applets(http),
    {
      created: () => undefined,
      changed: () => undefined,
      deleted: () => undefined,
      choseAgent: () => undefined,
      opened: (applet) => seen.opened?.push(applet),
      reload: (applet) => seen.reloaded?.push(applet),
    },
    sessionId,
  );
}

function snapshot(): FeedFrame {
  return {
    type: "snapshot",
    snapshot: {
      session,
      seq: 0,
      entries: [],
      older: false,
      running: null,
      queued: [],
      context: null,
    },
  };
}

function user(seq: number, streamId: string, showInChat: boolean): EventFrame {
  return {
    ...{ type: "user.message", seq, at: AT, streamId, showInChat },
    ...{ prompt: `prompt ${seq}`, source: { kind: "applet", slug: "notes" } },
  };
}

function start(seq: number, streamId: string): EventFrame {
  const type = "assistant.turn_start";
  return { type, seq, at: AT, streamId, agent: "demo", model: null };
}

function delta(seq: number): EventFrame {
  const type = "assistant.message_delta";
  const [streamId, messageId] = ["t1", "m1"];
  return { type, seq, at: AT, streamId, messageId, delta: "a" };
}

test("an applet and a message that want a session at once get the same one", async () => {
  const chat = open(null);
  const all = [chat.begin(), chat.send("Hi"), chat.begin()];
  expect(await Promise.all(all)).toEqual([true, true, true]);
  expect(created).toBe(1);
  expect(feeds).toHaveLength(1);
  chat.dispose();
});

test("a chat is busy from a prompt until its turn has ended", async () => {
  const chat = open("s1");
  const [feed] = feeds;
  feed?.say(snapshot());
  await vi.waitFor(() => expect(chat.conversation).not.toBeNull());
  expect(chat.busy).toBe(false);
  await chat.send("Hi");
  expect(chat.sending).toBe(false);
  expect(chat.busy).toBe(true);
  feed?.say(user(1, "t1", true));
  await vi.waitFor(() => expect(chat.turns).toHaveLength(1));
  expect(chat.busy).toBe(true);
  feed?.say(start(2, "t1"));
  await vi.waitFor(() => expect(chat.running).toBe(true));
  expect(chat.busy).toBe(true);
  const end = { outcome: "completed", usage: null, idle: true } as const;
  feed?.say({ type: "done", seq: 3, at: AT, streamId: "t1", ...end });
  await vi.waitFor(() => expect(chat.busy).toBe(false));
  chat.dispose();
});

test("of a hidden turn the chat shows only a question that waits", async () => {
  const chat = open("s1");
  const [feed] = feeds;
  feed?.say(
    snapshot(),
    user(1, "t1", true),
    user(2, "t2", false),
    start(3, "t2"),
  );
  await vi.waitFor(() => expect(chat.turns).toHaveLength(1));
  expect(chat.turns[0]?.streamId).toBe("t1");
  expect(chat.background).toBe(true);
  expect(chat.running).toBe(true);
  const question = { questionId: "q1", question: "Which?", options: [] };
  const asked = { seq: 4, at: AT, streamId: "t2", ...question };
  feed?.say({ type: "session.question", ...asked });
  await vi.waitFor(() => expect(chat.turns).toHaveLength(2));
  expect(chat.turns[1]?.entries.map(({ role }) => role)).toEqual(["question"]);
  const answer = { questionId: "q1", answer: "A" };
  feed?.say({
    type: "session.answer",
    seq: 5,
    at: AT,
    streamId: "t2",
    ...answer,
  });
  await vi.waitFor(() => expect(chat.turns).toHaveLength(1));
  chat.dispose();
});

test("an applet is opened and reloaded on request of the session", () => {
  const seen = { opened: [], reloaded: [] };
  const chat = open("s1", seen);
  feeds[0]?.say(
    snapshot(),
    { type: "applet.open", seq: 1, at: AT, applet: "notes" },
    { type: "page.reload", seq: 2, at: AT, applet: "notes" },
  );
  expect(seen).toEqual({ opened: ["notes"], reloaded: ["notes"] });
  chat.dispose();
});

test("the log has every event except deltas, continues live, and is read page by page", async () => {
  const log = new EventLogState(new Sessions(http), "s1", 2_500);
  expect(feeds[0]?.since).toBe("1500");
  feeds[0]?.say(delta(1501), user(2500, "t1", false));
  await vi.waitFor(() => expect(log.events).toHaveLength(1));
  feeds[0]?.say(user(2501, "t2", true));
  await vi.waitFor(() => expect(log.events).toHaveLength(2));

  expect(log.older).toBe(true);
  const read = log.earlier();
  expect(feeds[1]?.since).toBe("500");
  // Only deltas: it reads on automatically.
  feeds[1]?.say(delta(501), delta(1500));
  await vi.waitFor(() => expect(feeds).toHaveLength(3));
  expect(feeds[2]?.since).toBe("0");
  feeds[2]?.say(user(1, "t0", true), user(499, "t0", true), delta(501));
  await read;
  expect(log.events.map(({ seq }) => seq)).toEqual([1, 499, 2500, 2501]);
  expect(log.older).toBe(false);
  expect(feeds.map(({ closed }) => closed)).toEqual([false, true, true]);
  log.dispose();
  expect(feeds[0]?.closed).toBe(true);
});

test("words that come before a question is painted answer it", async () => {
  const asked: string[] = [];
  http = new Http({
    fetch: (input) => {
      asked.push(input as string);
      return Promise.resolve(Response.json({ ...session, streamId: "t2" }));
    },
  });
  const chat = open("s1");
  const [feed] = feeds;
  const question: EventFrame = {
    ...{ type: "session.question", seq: 3, at: AT, streamId: "t1" },
    ...{ questionId: "q1", question: "Order?", options: ["Yes", "No"] },
  };
  feed?.say(snapshot(), user(1, "t1", true), start(2, "t1"), question);
  expect(chat.conversation).toBeNull();
  await chat.say("Yes");
  expect(asked.filter((path) => path.endsWith("/answers"))).toHaveLength(1);
  expect(asked.filter((path) => path.endsWith("/messages"))).toEqual([]);
  chat.dispose();
});
