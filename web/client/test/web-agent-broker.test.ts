// The broker frame: whom it listens to, what it passes on, and how a visit outlives its connection. Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { broker, HELLO, TAB, visited } from "./broker-frame.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("only one greeting is accepted, from the parent page, with one port", async () => {
  const made = await broker();
  for (const wrong of [
    { source: {} },
    { source: made.window },
    { ports: [] },
    { ports: [made.port, made.port] },
    { data: null },
    { data: "hello" },
    { data: { ...HELLO, v: 2 } },
    { data: { ...HELLO, tab: "../x" } },
    { data: { gangway: "other" } },
  ]) {
    made.post(wrong);
    expect(made.port.onmessage).toBeNull();
  }
  made.post({});
  expect(made.told).toEqual([{ type: "ready" }]);
  made.post({});
  expect(made.told).toHaveLength(1);
});

test.each(["null", "file://", "data:text/html,x"])(
  "a page of the origin %s is refused, and nothing is connected",
  async (origin) => {
    const made = await broker();
    made.post({ origin });
    expect(made.told).toMatchObject([
      { type: "refused", error: { code: "ERR_PERMISSION_DENIED" } },
    ]);
    made.call(1);
    expect(made.sockets).toEqual([]);
  },
);

test("the origin is the browser's word, and comes first; calls wait for the welcome", async () => {
  const made = await broker();
  made.post({ data: { ...HELLO, origin: "https://bank.example" } });
  expect(made.sockets).toEqual([]);
  made.call(1, "tools.call", { tool: "a/b", args: {} });
  expect(made.socket.url).toBe("ws://localhost:3000/ws/web-agent");
  made.socket.onopen?.();
  const hello = { type: "hello", v: 1, origin: "https://shop.example" };
  expect(made.socket.sent).toEqual([
    { ...hello, tab: TAB, ancestors: ["null"] },
  ]);
  made.socket.say({ type: "welcome", visit: "v1", resumed: false });
  expect(made.socket.sent[1]).toEqual({
    ...{ type: "call", id: 1, method: "tools.call" },
    params: { tool: "a/b", args: {} },
  });
});

test("a page cannot say what only the broker says", async () => {
  const made = await visited();
  const { sent } = made.socket;
  const before = sent.length;
  for (const message of [
    null,
    "hello",
    { type: "hello", v: 1, origin: "https://bank.example", tab: TAB },
    { type: "ack", n: 1_000_000 },
    { type: "bye" },
    { type: "call", id: -1, method: "x", params: "{}" },
    { type: "call", id: 1.5, method: "x", params: "{}" },
    { type: "abort", id: 99 },
    { type: "tools", tools: "not json" },
    { type: "tool_result", call: {}, result: "1" },
  ]) {
    made.say(message);
  }
  expect(sent.length).toBe(before);
  // Text that would be two messages, or other fields of one, is a value like any other.
  const params = '{},"type":"hello","origin":"https://bank.example"';
  made.say({ type: "call", id: 2, method: "x", params });
  expect(sent.length).toBe(before);
  expect(made.told).toMatchObject([{ type: "error", id: 2 }]);
  made.say({ type: "call", id: 3, method: "x", params: "{}", origin: "o" });
  expect(sent.at(-1)).toEqual({ type: "call", id: 3, method: "x", params: {} });
});

test("what the server says is passed on without its number; tokens are not", async () => {
  const made = await visited();
  made.socket.say({ n: 1, type: "token", token: "secret" });
  made.socket.say({ n: 2, type: "event", id: 1, event: { type: "status" } });
  made.socket.say({ n: 3, type: "result", id: 1, result: [] });
  expect(made.told).toEqual([
    { type: "event", id: 1, event: { type: "status" } },
    { type: "result", id: 1, result: [] },
  ]);
  // It is the next visit that says the token.
  made.socket.onclose?.({ code: 1006 });
  vi.advanceTimersByTime(250);
  made.socket.onopen?.();
  expect(made.socket.sent[0]).toMatchObject({ token: "secret" });
});

test("a broken connection is resumed: received messages are acknowledged, open calls repeated, and nothing is duplicated", async () => {
  const made = await visited();
  made.call(2);
  made.socket.say({ n: 1, type: "result", id: 1, result: "a" });
  made.socket.onclose?.({ code: 1006 });
  made.call(3);
  expect(made.sockets).toHaveLength(1);
  vi.advanceTimersByTime(250);
  made.socket.welcome("v1", true);
  expect(made.socket.sent).toMatchObject([
    { type: "hello", visit: "v1", seen: 1 },
    { type: "call", id: 2 },
    { type: "call", id: 3 },
  ]);
  expect(made.socket.sent).toHaveLength(3);
  made.socket.say({ n: 1, type: "result", id: 1, result: "a" });
  made.socket.say({ n: 2, type: "result", id: 2, result: "b" });
  expect(made.told.map((message) => message["result"])).toEqual(["a", "b"]);
});

test("the wait before the next connection has jitter", async () => {
  const made = await broker();
  made.window.Math.random = () => 0;
  made.post({});
  made.call(1);
  made.socket.welcome();
  made.socket.onclose?.({ code: 1006 });
  vi.advanceTimersByTime(124);
  expect(made.sockets).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(made.sockets).toHaveLength(2);
});

test("a gap in the numbers makes a new connection instead of a hole", async () => {
  const made = await visited();
  made.socket.say({ n: 2, type: "result", id: 1, result: "b" });
  expect(made.told).toEqual([]);
  expect(made.sockets[0]?.closed).toBe(true);
  vi.advanceTimersByTime(250);
  expect(made.sockets).toHaveLength(2);
});

test("a visit that cannot be resumed fails open calls, and new calls work", async () => {
  const made = await visited();
  made.socket.onclose?.({ code: 1006 });
  vi.advanceTimersByTime(250);
  made.socket.welcome("v2", false);
  expect(made.told).toMatchObject([
    { type: "lost", error: { code: "ERR_SERVER_UNAVAILABLE" } },
  ]);
  expect(made.socket.sent).toHaveLength(1);
  made.call(2);
  made.socket.say({ n: 1, type: "result", id: 2, result: "x" });
  expect(made.told.at(-1)).toEqual({ type: "result", id: 2, result: "x" });
});

test("after 30 seconds without a server everything open fails; the next call looks again", async () => {
  const made = await visited();
  made.socket.onclose?.({ code: 1006 });
  for (let at = 0; at < 29; at += 1) {
    vi.advanceTimersByTime(1_000);
    if (!made.socket.closed) made.socket.onclose?.({ code: 1006 });
  }
  expect(made.told).toEqual([]);
  const tries = made.sockets.length;
  expect(tries).toBeGreaterThan(5);
  expect(tries).toBeLessThan(15);
  vi.advanceTimersByTime(1_000);
  expect(made.told).toMatchObject([{ type: "lost" }]);
  vi.advanceTimersByTime(60_000);
  const idle = made.sockets.length;
  made.call(2);
  expect(made.sockets).toHaveLength(idle + 1);
  made.socket.welcome("v2");
  expect(made.socket.sent[0]).not.toHaveProperty("visit");
});

test("ends of calls and results of tools go out again until the server must have them", async () => {
  const made = await visited();
  made.call(2);
  made.say({ type: "abort", id: 1 });
  made.say({ type: "abort", id: 2 });
  const ended = { code: "ERR_ABORTED", message: "ended" };
  made.socket.say({ n: 1, type: "error", id: 2, error: ended });
  made.say({ type: "tool_result", call: 1, result: '"cod"' });
  made.say({ type: "tool_result", call: 2, result: '"cancelled"' });
  made.socket.say({ n: 2, type: "tool_cancel", call: 2 });
  const resume = () => {
    made.socket.onclose?.({ code: 1006 });
    made.say({ type: "tool_result", call: 3, error: { message: "no fish" } });
    // Connections that do not last are waited for longer each time.
    vi.advanceTimersByTime(1_000);
    made.socket.welcome("v1", true);
    return made.socket.sent.slice(1);
  };
  const again = [
    { type: "abort", id: 1 },
    { type: "tool_result", call: 1, result: "cod" },
    { type: "tool_result", call: 3, error: { message: "no fish" } },
  ];
  expect(resume()).toMatchObject(again);
  expect(resume()).toMatchObject(again);
  // The server waits for at most this many at once: it has older ones.
  for (let call = 4; call < 20; call += 1) {
    made.say({ type: "tool_result", call, result: "1" });
  }
  made.socket.say({ n: 3, type: "error", id: 1, error: ended });
  const calls = resume().map(({ call }) => call);
  expect(calls).toEqual([...Array.from({ length: 15 }, (_, at) => at + 5), 3]);
});

test("a server that refuses is not asked again", async () => {
  const made = await visited();
  const error = { code: "ERR_RATE_LIMITED", message: "too many visits" };
  made.socket.say({ type: "refused", error });
  expect(made.told).toEqual([{ type: "refused", error }]);
  made.call(2);
  vi.advanceTimersByTime(60_000);
  expect(made.sockets).toHaveLength(1);
});

test("it acknowledges messages after 64 of them, or a second", async () => {
  const made = await visited();
  const acks = () =>
    made.socket.sent.filter(({ type }) => type === "ack").map(({ n }) => n);
  for (let n = 1; n <= 65; n += 1) {
    made.socket.say({ n, type: "event", id: 1, event: {} });
  }
  expect(acks()).toEqual([64]);
  vi.advanceTimersByTime(1_000);
  expect(acks()).toEqual([64, 65]);
});

test("257 open calls, a flood, a large call and a server that does not keep up are answered, not sent", async () => {
  const made = await visited();
  for (let id = 2; id <= 256; id += 1) made.call(id);
  const { sent } = made.socket;
  const before = sent.length;
  made.call(257);
  expect(made.told).toMatchObject([
    { type: "error", id: 257, error: { code: "ERR_RATE_LIMITED" } },
  ]);
  made.say({ type: "abort", id: 2 });
  made.say({ type: "abort", id: 2 });
  expect(sent.slice(before)).toEqual([{ type: "abort", id: 2 }]);
  made.call(258, "tools.call", "x".repeat(2 << 20));
  expect(made.told.at(-1)).toMatchObject({ error: { code: "ERR_INTERNAL" } });
  made.socket.bufferedAmount = 17 << 20;
  made.call(259);
  expect(made.told.at(-1)).toMatchObject({
    error: { code: "ERR_RATE_LIMITED" },
  });
  made.socket.bufferedAmount = 0;
  for (let id = 3; id <= 256; id += 1) made.say({ type: "abort", id });
  made.told.length = 0;
  for (let id = 300; id < 2_500; id += 1) {
    made.call(id);
    made.say({ type: "abort", id });
  }
  expect(made.told.length).toBeGreaterThan(0);
  expect(made.told[0]).toMatchObject({ error: { code: "ERR_RATE_LIMITED" } });
});

test("calls that are open together carry no more than 16 MiB, also those that the page gave up", async () => {
  const made = await visited();
  const large = "x".repeat(1_000_000);
  for (let id = 2; id <= 20; id += 1) made.call(id, "tools.call", large);
  const refused = made.told.map(({ type, id, error }) => [
    ...[type, id, (error as { code: string }).code],
  ]);
  expect(refused).toEqual(
    [18, 19, 20].map((id) => ["error", id, "ERR_RATE_LIMITED"]),
  );
  made.say({ type: "abort", id: 2 });
  made.call(21, "tools.call", large);
  expect(made.told.at(-1)).toMatchObject({ type: "error", id: 21 });
  made.socket.say({ n: 1, type: "error", id: 2, error: { code: "x" } });
  made.told.length = 0;
  made.call(22, "tools.call", large);
  // A number that is in use is no way around it.
  for (let time = 0; time < 20; time += 1) made.call(22, "x", large);
  expect(made.told).toEqual([]);
  const calls = made.socket.sent.filter(({ type }) => type === "call");
  expect(calls).toHaveLength(18);
});

test("a page that calls without a pause is sent at the server's pace, in order", async () => {
  const made = await visited();
  const calls = () => made.socket.sent.filter(({ type }) => type === "call");
  for (let id = 2; id <= 200; id += 1) {
    made.call(id);
    made.say({ type: "abort", id });
  }
  const first = calls().length;
  expect(first).toBeLessThan(200);
  vi.advanceTimersByTime(1_000);
  expect(calls()).toHaveLength(200);
  expect(calls().map(({ id }) => id)).toEqual(
    Array.from({ length: 200 }, (_, at) => at + 1),
  );
});

test("a closed page says goodbye; one in the back/forward cache resumes its visit", async () => {
  const made = await visited();
  const go = (type: string, persisted: boolean) => {
    const event = new made.window.Event(type);
    made.window.dispatchEvent(Object.assign(event, { persisted }));
  };
  go("pagehide", true);
  expect(made.socket.closed).toBe(true);
  expect(made.socket.sent.at(-1)).toMatchObject({ type: "call" });
  go("pageshow", true);
  made.socket.welcome("v1", true);
  expect(made.socket.sent[0]).toMatchObject({ visit: "v1", seen: 0 });
  go("pagehide", false);
  expect(made.socket.sent.at(-1)).toEqual({ type: "bye" });
  expect(made.socket.closed).toBe(true);
});
