// How frames become a conversation.
import { expect, test } from "vitest";
import { fold, prepend, type Conversation } from "../src/fold.js";
import type { FeedFrame, JsonValue, PageEntry } from "../src/generated/wire.js";
import {
  AT,
  delta,
  done,
  message,
  session,
  snapshot,
  turnStart,
  user,
} from "./frames.js";

function after(...frames: FeedFrame[]): Conversation {
  const result = frames.reduce<Conversation | null>(fold, null);
  if (!result) throw new Error("no snapshot among the frames");
  return result;
}

test("deltas build one streaming entry and the whole message replaces it", () => {
  const streaming = after(
    snapshot(),
    user(1, "Hi"),
    turnStart(2),
    delta(3, "Hel"),
    delta(4, "lo"),
  );
  expect(streaming.entries[1]).toMatchObject({
    seq: 3,
    content: "Hello",
    streaming: true,
  });
  expect(streaming.running).toBe("t1");
  expect(streaming.queued).toEqual([]);

  const whole = [message(5, "Hello!"), done(6)].reduce<Conversation | null>(
    fold,
    streaming,
  );
  expect(whole?.entries).toHaveLength(2);
  expect(whole?.entries[1]).toMatchObject({
    content: "Hello!",
    streaming: false,
    partial: false,
  });
  expect(whole?.running).toBeNull();
  expect(whole?.seq).toBe(6);
});

test("a frame that was seen before changes nothing", () => {
  const once = after(snapshot(), user(1, "Hi"), delta(2, "a"));
  expect(fold(once, delta(2, "a"))).toBe(once);
  expect(fold(once, user(1, "Hi"))).toBe(once);
});

test("folding never changes the conversation it was given", () => {
  const before = after(snapshot(), user(1, "Hi"), delta(2, "a"));
  const copy = structuredClone(before);
  fold(before, delta(3, "b"));
  fold(before, done(4, "failed"));
  expect(before).toEqual(copy);
});

test("frames before the first snapshot are ignored", () => {
  expect(fold(null, delta(1, "a"))).toBeNull();
});

test("a snapshot replaces everything, also when its number is lower", () => {
  const long = after(snapshot(), user(1, "Hi"), delta(2, "a"), done(9));
  const resync: FeedFrame = {
    type: "resync",
    reason: "unknown_seq",
    snapshot: {
      session,
      seq: 3,
      entries: [],
      older: true,
      running: "t7",
      queued: ["t8"],
      context: null,
    },
  };
  expect(fold(long, resync)).toEqual({
    session,
    seq: 3,
    entries: [],
    older: true,
    running: "t7",
    queued: ["t8"],
    context: null,
  });
});

test("a prompt is queued until its turn starts", () => {
  const waiting = after(
    snapshot(),
    user(1, "one", "t1"),
    turnStart(2, "t1"),
    user(3, "two", "t2"),
  );
  expect(waiting.queued).toEqual(["t2"]);
  const next = [
    done(4, "completed", "t1"),
    turnStart(5, "t2"),
  ].reduce<Conversation | null>(fold, waiting);
  expect(next?.queued).toEqual([]);
  expect(next?.running).toBe("t2");
});

test("a queued prompt that is dropped leaves the queue and says how it ended", () => {
  const result = after(
    snapshot(),
    user(1, "one", "t1"),
    turnStart(2, "t1"),
    user(3, "two", "t2"),
    done(4, "stopped", "t2"),
  );
  expect(result.queued).toEqual([]);
  expect(result.running).toBe("t1");
  expect(result.entries.at(-1)).toEqual({
    role: "end",
    seq: 4,
    at: AT,
    streamId: "t2",
    hidden: false,
    outcome: "stopped",
  });
});

test("an answer fills its question", () => {
  const result = after(
    snapshot(),
    {
      type: "session.question",
      seq: 1,
      at: AT,
      streamId: "t1",
      questionId: "q1",
      question: "Which?",
      options: ["A", "B"],
    },
    {
      type: "session.answer",
      seq: 2,
      at: AT,
      streamId: "t1",
      questionId: "q1",
      answer: "B",
    },
  );
  expect(result.entries).toEqual([
    {
      role: "question",
      seq: 1,
      at: AT,
      streamId: "t1",
      hidden: false,
      questionId: "q1",
      question: "Which?",
      options: ["A", "B"],
      answer: "B",
    },
  ]);
});

test("a tool's result lands in the entry of its call", () => {
  const result = after(
    snapshot(),
    {
      type: "tool.execution_start",
      seq: 1,
      at: AT,
      streamId: "t1",
      toolCallId: "c1",
      tool: "files/read",
      arguments: { path: "a" },
    },
    {
      type: "tool.execution_complete",
      seq: 2,
      at: AT,
      streamId: "t1",
      toolCallId: "c1",
      tool: "files/read",
      success: false,
      result: null,
      error: "no such file",
    },
  );
  expect(result.entries).toEqual([
    {
      role: "tool",
      seq: 1,
      at: AT,
      streamId: "t1",
      hidden: false,
      toolCallId: "c1",
      tool: "files/read",
      arguments: { path: "a" },
      state: "failed",
      result: null,
      error: "no such file",
    },
  ]);
});

test("a turn that was cut off leaves nothing in motion", () => {
  const result = after(
    snapshot(),
    user(1, "Hi"),
    turnStart(2),
    delta(3, "Hel"),
    done(4, "interrupted"),
  );
  expect(result.entries.slice(1)).toMatchObject([
    { role: "assistant", content: "Hel", streaming: false, partial: true },
    { role: "end", outcome: "interrupted" },
  ]);
});

test("a turn that failed with an error needs no other end", () => {
  const error: FeedFrame = {
    type: "session.error",
    seq: 3,
    at: AT,
    streamId: "t1",
    code: "model_failed",
    message: "It went away.",
    retryable: true,
  };
  const known = after(snapshot(), user(1, "Hi"), turnStart(2), error);
  expect(fold(known, done(4, "failed"))?.entries.at(-1)?.role).toBe("error");
  const silent = after(snapshot(), user(1, "Hi"), turnStart(2));
  expect(fold(silent, done(4, "failed"))?.entries.at(-1)?.role).toBe("end");
});

test("a change of the session shows in the conversation", () => {
  const result = after(snapshot(), {
    type: "session.changed",
    seq: 1,
    at: AT,
    title: "Trip",
    model: "small",
    agent: "builtin",
  });
  const changes = { title: "Trip", model: "small", agent: "builtin" };
  expect(result.session).toEqual({ ...session, ...changes, updatedAt: AT });
});

test("an older page is prepended without duplicates", () => {
  const now = after(snapshot({ older: true }), user(5, "five", "t5"));
  const page = after(snapshot(), user(4, "four", "t4"), user(5, "five", "t5"));
  const both = prepend(now, {
    sessionId: "s1",
    entries: [...page.entries],
    older: false,
  });
  expect(both.entries.map((entry) => entry.seq)).toEqual([4, 5]);
  expect(both.older).toBe(false);
});

test("everything of a turn that was sent hidden is hidden, and nothing of the next", () => {
  const { entries } = after(
    snapshot(),
    user(1, "Sum up", "t1", false),
    turnStart(2),
    delta(3, "Wor"),
    message(4, "Working"),
    {
      type: "tool.execution_start",
      seq: 5,
      at: AT,
      streamId: "t1",
      toolCallId: "c1",
      tool: "a/b",
      arguments: {},
    },
    done(6, "stopped"),
    user(7, "Hi", "t2"),
  );
  expect(entries.map(({ role, hidden }) => [role, hidden])).toEqual([
    ["user", true],
    ["assistant", true],
    ["tool", true],
    ["end", true],
    ["user", false],
  ]);
});

test("consent requests of applets do not change messages", () => {
  const before = after(snapshot(), user(1, "Hi"));
  const asks = { type: "applet.asks", applet: "notes", prompt: "Hm?" } as const;
  const leave = {
    type: "applet.leave",
    applet: "notes",
    speak: "allowed",
  } as const;
  const now = after(
    snapshot(),
    user(1, "Hi"),
    { ...asks, seq: 2, at: AT },
    { ...leave, seq: 3, at: AT },
  );
  expect(now).toEqual({ ...before, seq: 3 });
});

test("context usage is the last reported value", () => {
  const told = (seq: number, used: number, window: number | null) =>
    ({
      ...{ type: "session.context", seq, at: AT, streamId: "t1" },
      ...{ used, window },
    }) as FeedFrame;
  const one = after(snapshot({ context: { used: 1, window: 8 } }));
  expect(one.context).toEqual({ used: 1, window: 8 });
  const two = after(snapshot(), told(1, 500, 8192), told(2, 700, null));
  expect(two.context).toEqual({ used: 700, window: null });
});

test("a call of a page's tool by somebody else is an entry with its result, and who opened is none", () => {
  const page = { pageId: "p-1", pageKind: "app", name: "todo" } as const;
  const frame = (seq: number, news: PageEntry): FeedFrame => ({
    ...{ type: "page", seq, at: AT, ...page, news },
  });
  const by = { kind: "agent", name: "claude" } as const;
  const tool = "page-todo/add";
  const called = after(
    snapshot(),
    frame(1, { what: "opened", origin: "app:todo", title: "Todo" }),
    frame(2, { what: "offered", tools: ["add"] }),
    frame(3, { what: "called", callId: "c", tool, arguments: {}, by }),
  );
  expect(called.entries).toMatchObject([
    { role: "pageCall", seq: 3, tool, by, state: "running", result: null },
  ]);
  const ended = { error: null, code: null, result: { id: 1 } };
  const done = fold(
    called,
    frame(4, { what: "returned", callId: "c", ...ended }),
  );
  expect(done?.entries).toMatchObject([
    { role: "pageCall", seq: 3, state: "done", result: { id: 1 } },
  ]);
});

test("messages on the relay are entries if people read them", () => {
  const page = { pageId: "p-1", pageKind: "relay", name: "shop" } as const;
  const frame = (
    seq: number,
    kind: string,
    payload: JsonValue,
    by: string | null,
  ): FeedFrame => ({
    ...{ type: "page", seq, at: AT, ...page },
    news: { what: "message", kind, payload, by },
  });
  const heard = after(
    snapshot(),
    frame(1, "relay.joined", { role: "agent" }, "helper"),
    frame(2, "agent.message", { text: "Hello" }, "helper"),
    frame(3, "state.updated", { uiSpec: {}, text: "no message" }, null),
    frame(4, "user.message", { text: "Hello too" }, null),
    frame(5, "agent.message", { text: 7 }, "helper"),
    frame(6, "agent.message", null, "helper"),
  );
  expect(heard.entries).toMatchObject([
    { role: "pageMessage", seq: 2, content: "Hello", by: "helper" },
    { role: "pageMessage", seq: 4, content: "Hello too", by: null },
  ]);
});
