// The context of a launched page over time: connections that come and go, data that comes late, pages that leave. Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  FakeXhr,
  launch,
  launchFirst,
  PageSocket,
  refusal,
  type Sent,
} from "./launched-page.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function last(): Sent {
  const sent = PageSocket.last().sent.at(-1);
  if (!sent) throw new Error("nothing was sent");
  return sent;
}

test("the limits count from the call, connected or not", async () => {
  const { context } = launch();
  const done = refusal(context.emit("x"));
  await vi.advanceTimersByTimeAsync(30_000);
  expect((await done).code).toBe("E-AGT-003");
  // What was given up is not sent any more.
  PageSocket.last().open();
  expect(PageSocket.last().sent).toEqual([]);
});

test("what was sent and timed out is cancelled, also when that can only be said later", async () => {
  const { context } = launch();
  PageSocket.last().open();
  const event = refusal(context.emit("mail"));
  const { id } = last();
  const request = refusal(context.request("send-mail"));
  const { requestId } = last();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await event).toMatchObject({
    code: "E-AGT-003",
    name: "AgentTimeoutError",
  });
  expect(last()).toEqual({ type: "weblet-cancel", id });
  PageSocket.last().lose();
  const socket = PageSocket.last();
  await vi.advanceTimersByTimeAsync(30_000);
  expect((await request).code).toBe("E-AGT-005");
  expect(socket.sent).not.toContainEqual({
    type: "weblet-cancel",
    id: requestId,
  });
  PageSocket.last().open();
  expect(PageSocket.last().sent).toEqual([
    { type: "weblet-cancel", id: requestId },
  ]);
});

test("what was said before the connection is there goes out in order, and again after each loss, with the same ids", async () => {
  const { context } = launch();
  const first = context.emit("a");
  void context.request("b");
  expect(PageSocket.last().sent).toEqual([]);
  PageSocket.last().open();
  const sent = [...PageSocket.last().sent];
  expect(sent.map(({ type }) => type)).toEqual([
    "weblet-event",
    "weblet-request",
  ]);
  PageSocket.last().lose();
  await vi.advanceTimersByTimeAsync(250);
  expect(PageSocket.all).toHaveLength(2);
  PageSocket.last().open();
  expect(PageSocket.last().sent).toEqual(sent);
  PageSocket.last().say({ type: "weblet-ack", id: sent[0]?.id });
  await first;
  PageSocket.last().lose();
  await vi.advanceTimersByTimeAsync(8_000);
  PageSocket.last().open();
  expect(PageSocket.last().sent).toEqual([sent[1]]);
});

test("a new connection resumes after the last event, without duplicates", async () => {
  const { context } = launch();
  const calls: unknown[] = [];
  context.on("x", (payload) => calls.push(payload));
  expect(PageSocket.last().url).toMatch(/\?launch=T&page=[0-9a-f-]{36}$/);
  PageSocket.last().open(7);
  const say = (seq: number) =>
    PageSocket.last().say({
      type: "agent-event",
      event: "x",
      payload: seq,
      seq,
    });
  say(8);
  say(12);
  PageSocket.last().lose();
  await vi.advanceTimersByTimeAsync(8_000);
  expect(PageSocket.last().url).toMatch(/&since=12$/);
  PageSocket.last().open(14);
  say(12);
  say(14);
  expect(calls).toEqual([8, 12, 14]);
  PageSocket.last().say({ type: "resync", seq: 3 });
  say(4);
  expect(calls).toEqual([8, 12, 14, 4]);
});

test("waits between attempts grow to five seconds and no further", async () => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  launch();
  for (const wait of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    const before = PageSocket.all.length;
    PageSocket.last().lose();
    await vi.advanceTimersByTimeAsync(wait - 1);
    expect(PageSocket.all).toHaveLength(before);
    await vi.advanceTimersByTimeAsync(1);
    expect(PageSocket.all).toHaveLength(before + 1);
  }
});

test("a connection without a sign of life is given up", async () => {
  launch();
  PageSocket.last().open();
  await vi.advanceTimersByTimeAsync(25_000);
  PageSocket.last().say({ type: "pong" });
  await vi.advanceTimersByTimeAsync(49_000);
  expect(PageSocket.all).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(PageSocket.all).toHaveLength(2);
  expect(PageSocket.all[0]?.closed).toBe(true);
});

test("no more than 256 messages or 4 MiB wait; the next is refused at once", async () => {
  const { context } = launch();
  for (let at = 0; at < 256; at += 1) context.emit("x").catch(() => undefined);
  expect(await refusal(context.emit("x"))).toMatchObject({
    code: "E-AGT-003",
    details: { reason: "buffer full" },
  });
  const other = launch();
  const megabyte = "x".repeat(1_000_000);
  for (let at = 0; at < 4; at += 1) {
    other.context.emit("x", megabyte).catch(() => undefined);
  }
  expect(await refusal(other.context.request("x", megabyte))).toMatchObject({
    code: "E-AGT-005",
    details: { reason: "buffer full" },
  });
});

test("large data is asked for on first use, once, and is frozen", () => {
  FakeXhr.text = '{"list":[{"a":1}]}';
  const { context } = launch({ dataUrl: "/__gangway/data?launch=T" }, null);
  expect(FakeXhr.asked).toEqual([]);
  const { data } = context;
  expect(data).toEqual({ list: [{ a: 1 }] });
  expect(context.data).toBe(data);
  expect(FakeXhr.asked).toEqual([["GET", "/__gangway/data?launch=T", false]]);
  expect(Object.isFrozen((data as { list: unknown[] }).list[0])).toBe(true);
});

test("data that cannot be had is E-AGT-007, and is asked for again next time", () => {
  const { context } = launch({ dataUrl: "/d" }, null);
  FakeXhr.status = 410;
  expect(() => context.data).toThrow(/No agent context available/);
  FakeXhr.status = 200;
  expect(context.data).toBeDefined();
});

test("what a page does to the browser's own functions later changes nothing", async () => {
  const { context } = launch();
  const { parse, stringify } = JSON;
  const push = Array.prototype.push;
  const has = Map.prototype.get;
  const exec = RegExp.prototype.exec;
  const said: string[] = [];
  try {
    PageSocket.last().open();
    const done = context.emit("x", { a: 1 });
    const text = stringify({ type: "weblet-ack", id: last().id });
    const evil = () => {
      throw new Error("patched");
    };
    JSON.parse = JSON.stringify = evil as never;
    Array.prototype.push = Map.prototype.get = evil as never;
    RegExp.prototype.exec = evil;
    const send = PageSocket.prototype.send;
    PageSocket.prototype.send = evil;
    const event = new MessageEvent("message", { data: text });
    PageSocket.last().dispatchEvent(event);
    await done;
    context.emit("z").catch(() => undefined);
    PageSocket.prototype.send = send;
    context.on("y", () => (said[said.length] = "y"));
  } finally {
    Object.assign(JSON, { parse, stringify });
    Array.prototype.push = push;
    Map.prototype.get = has;
    RegExp.prototype.exec = exec;
  }
  PageSocket.last().say({ type: "agent-event", event: "y", seq: 1 });
  expect(said).toEqual(["y"]);
  expect(PageSocket.last().sent.map(({ event }) => event)).toEqual(["x", "z"]);
});

test("what the first script of a page says goes out first, though nothing is connected before it is done", async () => {
  const { context, later } = launchFirst();
  const told: unknown[] = [];
  const emitted = context.emit("first", { a: 1 });
  const stop = context.on("gone", () => told.push("gone"));
  context.on("x", (payload) => told.push(payload));
  stop();
  expect(await refusal(context.emit("Not a name"))).toMatchObject({
    code: "E-AGT-001",
  });
  expect(PageSocket.all).toHaveLength(0);
  later();
  void context.request("second");
  PageSocket.last().open();
  const { sent } = PageSocket.last();
  expect(sent.map(({ event, action }) => event ?? action)).toEqual([
    "first",
    "second",
  ]);
  PageSocket.last().say({ type: "agent-event", event: "gone", seq: 1 });
  PageSocket.last().say({
    ...{ type: "agent-event", event: "x", payload: 7, seq: 2 },
  });
  expect(told).toEqual([7]);
  PageSocket.last().say({ type: "weblet-ack", id: sent[0]?.id });
  expect(await emitted).toBeUndefined();
});

test("a page that says nothing is connected all the same, once", () => {
  const { later } = launchFirst();
  expect(PageSocket.all).toHaveLength(0);
  expect(vi.getTimerCount()).toBe(0);
  later();
  expect(PageSocket.all).toHaveLength(1);
});

test("what the first script does to the browser's own functions changes nothing either", async () => {
  const { context, later } = launchFirst();
  const kept = { ...Object.getOwnPropertyDescriptors(globalThis) };
  const { parse, stringify } = JSON;
  const { freeze, create, defineProperty, entries } = Object;
  const { exec } = RegExp.prototype;
  const { addEventListener } = EventTarget.prototype;
  const evil = () => {
    throw new Error("patched");
  };
  let failed: Promise<{ code: string }>;
  let listed: boolean;
  try {
    Object.assign(JSON, { parse: evil, stringify: evil });
    Object.assign(Object, { freeze: evil, create: evil, entries: evil });
    Object.assign(Object, { defineProperty: evil });
    RegExp.prototype.exec = evil;
    EventTarget.prototype.addEventListener = evil;
    for (const name of ["WebSocket", "Promise", "Error", "TextEncoder"]) {
      Reflect.set(globalThis, name, evil);
    }
    context.emit("x", { a: 1 }).catch(() => undefined);
    failed = refusal(context.emit("Not a name"));
    listed = context.data["list"] !== undefined;
    later();
  } finally {
    Object.assign(Object, { freeze, create, defineProperty, entries });
    Object.assign(JSON, { parse, stringify });
    RegExp.prototype.exec = exec;
    EventTarget.prototype.addEventListener = addEventListener;
    for (const name of ["WebSocket", "Promise", "Error", "TextEncoder"]) {
      Reflect.set(globalThis, name, kept[name]?.value);
    }
  }
  expect(listed).toBe(true);
  expect((await failed).code).toBe("E-AGT-001");
  expect(await failed).toBeInstanceOf(Error);
  PageSocket.last().open();
  expect(PageSocket.last().sent.map(({ event }) => event)).toEqual(["x"]);
});

test("frames that make no sense are no matter", () => {
  const { reports } = launch();
  const socket = PageSocket.last();
  socket.open();
  for (const data of ["", "{", "null", "7", "[]", new ArrayBuffer(2)]) {
    socket.dispatchEvent(new MessageEvent("message", { data }));
  }
  socket.say({ type: "weblet-ack" });
  socket.say({ type: "weblet-response", requestId: "__proto__" });
  socket.say({ type: "error", error: "x" });
  expect(reports).toEqual([]);
  expect(PageSocket.all).toHaveLength(1);
});

test("the page is reloaded only if that was requested", () => {
  const still = launch();
  PageSocket.last().say({ type: "reload" });
  expect(still.reloads()).toBe(0);
  const moving = launch({ reload: true });
  PageSocket.last().say({ type: "reload" });
  expect(moving.reloads()).toBe(1);
});

const expired = { type: "closing", reason: "expired" };
const deleted = { type: "closing", reason: "deleted" };

test.each([
  [
    "the code 4404",
    () => PageSocket.last().lose(4404),
    "This launch no longer exists",
  ],
  [
    "the code 4004",
    () => PageSocket.last().lose(4004),
    "This launch no longer exists",
  ],
  [
    "the code 4410",
    () => PageSocket.last().lose(4410),
    "This launch has ended",
  ],
  ["a word", () => PageSocket.last().say(expired), "This launch has ended"],
  [
    "a word too",
    () => PageSocket.last().say(deleted),
    "This launch no longer exists",
  ],
])(
  "a launch that is over, by %s, is not knocked at again, and whatever waits is refused at once",
  async (_, close, message) => {
    const { context, window } = launch();
    PageSocket.last().open();
    const emitted = refusal(context.emit("x"));
    const asked = refusal(context.request("y"));
    close();
    const details = { reason: "closed" };
    const emit = { code: "E-AGT-003", message, details };
    const request = { code: "E-AGT-005", message, details };
    expect(await emitted).toMatchObject(emit);
    expect(await asked).toMatchObject(request);
    expect(await refusal(context.emit("x"))).toMatchObject(emit);
    expect(await refusal(context.request("x"))).toMatchObject(request);
    PageSocket.last().lose();
    window.dispatchEvent(new Event("online"));
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(PageSocket.all).toHaveLength(1);
  },
);

test("a connection that is refused for a while is tried again", async () => {
  launch();
  for (const code of [1001, 1006, 1008, 1013, 4000, 4403]) {
    const before = PageSocket.all.length;
    PageSocket.last().lose(code);
    await vi.advanceTimersByTimeAsync(8_000);
    expect(PageSocket.all, String(code)).toHaveLength(before + 1);
  }
});

test("once the page is gone nothing runs any more", () => {
  const { context, window } = launch();
  const calls: unknown[] = [];
  context.on("x", (payload) => calls.push(payload));
  PageSocket.last().open();
  context.emit("x").catch(() => undefined);
  const leave = new Event("pagehide");
  window.dispatchEvent(Object.assign(leave, { persisted: false }));
  expect(vi.getTimerCount()).toBe(0);
  expect(PageSocket.last().closed).toBe(true);
  PageSocket.last().say({ type: "agent-event", event: "x", seq: 1 });
  expect(calls).toEqual([]);
});

test("a page restored by the browser reconnects and continues", () => {
  const { context, window } = launch();
  PageSocket.last().open(4);
  context.emit("x").catch(() => undefined);
  const persisted = { persisted: true };
  window.dispatchEvent(Object.assign(new Event("pagehide"), persisted));
  expect(PageSocket.all).toHaveLength(1);
  window.dispatchEvent(Object.assign(new Event("pageshow"), persisted));
  expect(PageSocket.last().url).toMatch(/&since=4$/);
  PageSocket.last().open();
  expect(PageSocket.last().sent).toHaveLength(1);
});
