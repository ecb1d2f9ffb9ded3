// The context of a launched page: what it lets through, what it refuses, and when it gives up. Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  AgentDeniedError,
  AgentError,
  AgentTimeoutError,
} from "../src/context/agent.js";
import {
  BOOT,
  DATA,
  launch,
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

test("TS-AGT-001: the context is there as soon as the script ran, with the agent, data and config", () => {
  const { context, window } = launch();
  expect(context.agent).toEqual(BOOT.agent);
  expect(context.data).toEqual(DATA);
  expect(context.config).toEqual(BOOT.config);
  const property = Object.getOwnPropertyDescriptor(window, "__AGENT_CONTEXT__");
  expect(property).toMatchObject({ writable: false, configurable: false });
  expect(Object.keys(context)).toEqual(
    ["agent", "data", "config", "emit", "request"].concat(
      "on",
      "off",
      "registerTool",
    ),
  );
});

test("TS-AGT-003: everything in the context is frozen, functions too", () => {
  const { context, window } = launch();
  const data = context.data as { list: { deep: number[] }[]; foo?: string };
  expect(() => (data.foo = "bar")).toThrow(TypeError);
  expect(() => data.list[0]?.deep.push(2)).toThrow(TypeError);
  expect(() => context.agent.capabilities.push("x")).toThrow(TypeError);
  expect(() => Object.assign(context.emit, { x: 1 })).toThrow(TypeError);
  expect(() => Object.assign(context, { emit: null })).toThrow(TypeError);
  expect(() => (window.__AGENT_CONTEXT__ = context)).toThrow(TypeError);
  expect(() => delete window.__AGENT_CONTEXT__).toThrow(TypeError);
  expect(() => Object.setPrototypeOf(context, {}) as unknown).toThrow(
    TypeError,
  );
  const getter = Object.getOwnPropertyDescriptor(context, "data")?.get;
  expect(Object.isFrozen(getter)).toBe(true);
});

test("no key of the data is special", () => {
  const { context } = launch({}, '{"__proto__":{"polluted":true}}');
  expect(Object.getPrototypeOf(context.data)).toBe(Object.prototype);
  expect(Object.keys(context.data)).toEqual(["__proto__"]);
});

test("TS-AGT-004: emit is kept when the server acknowledges its id", async () => {
  const { context } = launch();
  PageSocket.last().open();
  const done = context.emit("user-action", { clicked: "save" });
  const sent = last();
  expect(sent).toMatchObject({
    type: "weblet-event",
    event: "user-action",
    payload: { clicked: "save" },
    weblet: "budget-dashboard",
    timestamp: Date.now(),
  });
  expect(sent.id).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  PageSocket.last().say({ type: "weblet-ack", id: "someone-else" });
  PageSocket.last().say({ type: "weblet-ack", id: sent.id });
  expect(await done).toBeUndefined();
  expect(vi.getTimerCount()).toBe(1);
});

test.each([
  "Invalid Name!",
  "",
  "9lives",
  "-a",
  "a_b",
  "A",
  "a\n",
  7,
  null,
  Symbol("x"),
])(
  "TS-AGT-005: the name %s is refused with E-AGT-001, and nothing is sent",
  async (name) => {
    const { context } = launch();
    PageSocket.last().open();
    const error = await refusal(context.emit(name as string, {}));
    expect(error).toBeInstanceOf(AgentError);
    expect(error.code).toBe("E-AGT-001");
    expect(error.message).toMatch(
      /^Invalid event name: [^]*\. Use lowercase with hyphens\.$/,
    );
    expect(PageSocket.last().sent).toEqual([]);
  },
);

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const deep: unknown[] = [];
for (let at = 0, now = deep; at < 100_000; at += 1) {
  const next: unknown[] = [];
  now.push(next);
  now = next;
}

test.each([
  ["a function", () => 1],
  ["a nested function", { a: [{ b: () => 1 }] }],
  ["a symbol", Symbol("x")],
  ["a nested symbol", { a: Symbol("x") }],
  ["a BigInt", 1n],
  ["a nested BigInt", [[1n]]],
  ["a cycle", cyclic],
  ["undefined in a list", [undefined]],
  [
    "a getter that throws",
    {
      get a(): never {
        throw new Error("no");
      },
    },
  ],
  ["a payload that is too deep to walk", deep],
])("%s is refused with E-AGT-002, in emit and in request", async (_, value) => {
  const { context } = launch();
  PageSocket.last().open();
  for (const asked of [context.emit("x", value), context.request("x", value)]) {
    const error = await refusal(asked);
    expect(error.code).toBe("E-AGT-002");
    expect(error.message).toBe("Event payload must be JSON-serializable");
  }
  expect(PageSocket.last().sent).toEqual([]);
});

test("no payload at all, dates and absent fields are fine", () => {
  const { context } = launch();
  PageSocket.last().open();
  void context.emit("x");
  expect(last()).not.toHaveProperty("payload");
  void context.request("y", undefined);
  expect(last()).not.toHaveProperty("params");
  void context.emit("z", { at: new Date(0), gone: undefined });
  expect(last()["payload"]).toEqual({ at: "1970-01-01T00:00:00.000Z" });
});

test("a message of more than a mebibyte is refused before it is sent", async () => {
  const { context } = launch();
  PageSocket.last().open();
  // Two bytes each.
  const error = await refusal(context.emit("x", "ä".repeat(600_000)));
  expect(error).toMatchObject({
    code: "E-AGT-002",
    details: { reason: "too large" },
  });
  expect(PageSocket.last().sent).toEqual([]);
});

test("TS-AGT-006: request is kept with the result", async () => {
  const { context } = launch();
  PageSocket.last().open();
  const done = context.request<{ sent: boolean }>("send-email", {
    to: "a@b.com",
  });
  const { requestId } = last();
  expect(last()).toMatchObject({
    type: "weblet-request",
    action: "send-email",
    params: { to: "a@b.com" },
  });
  PageSocket.last().say({
    type: "weblet-response",
    requestId,
    success: true,
    result: { sent: true },
  });
  expect((await done).sent).toBe(true);
});

test("TS-AGT-007: a denied request is an AgentDeniedError with the reason", async () => {
  const { context } = launch();
  PageSocket.last().open();
  const done = context.request("send-email");
  PageSocket.last().say({
    type: "weblet-response",
    requestId: last().requestId,
    success: false,
    error: { code: "E-AGT-004", message: "Ada said no." },
  });
  const error = await refusal(done);
  expect(error).toBeInstanceOf(AgentDeniedError);
  expect(error).toMatchObject({ name: "AgentDeniedError" });
  expect(error).toBeInstanceOf(AgentError);
  expect(error).not.toBeInstanceOf(AgentTimeoutError);
  expect(error).toMatchObject({
    code: "E-AGT-004",
    message: "Agent denied request: send-email - Ada said no.",
    details: { action: "send-email", reason: "Ada said no." },
  });
});

test("an unknown action is E-AGT-006, and a refused event what the server says", async () => {
  const { context } = launch();
  PageSocket.last().open();
  const asked = context.request("fly");
  PageSocket.last().say({
    type: "weblet-response",
    requestId: last().requestId,
    success: false,
    error: { code: "E-AGT-006", message: "?" },
  });
  expect(await refusal(asked)).toMatchObject({
    code: "E-AGT-006",
    message: "Agent does not support action: fly",
  });
  const told = context.emit("x");
  const error = { code: "E-AGT-002", message: "Too deep." };
  PageSocket.last().say({ type: "weblet-nack", id: last().id, error });
  expect(await refusal(told)).toMatchObject(error);
  expect(await refusal(context.request(""))).toMatchObject({
    code: "E-AGT-006",
  });
});

test("TS-AGT-008: every handler gets the payload, once, whatever another one does", () => {
  const { context, reports } = launch();
  PageSocket.last().open();
  const calls: unknown[] = [];
  const handler = (payload: unknown) => calls.push(payload);
  context.on("theme-changed", () => {
    throw new Error("mine");
  });
  context.on("theme-changed", handler);
  context.on("theme-changed", handler);
  context.on("other", handler);
  const event = "theme-changed";
  PageSocket.last().say({ type: "agent-event", event, payload: 1, seq: 1 });
  expect(calls).toEqual([1]);
  expect(reports.map(String)).toEqual(["Error: mine"]);
  for (const odd of ["__proto__", "constructor", "toString"]) {
    PageSocket.last().say({ type: "agent-event", event: odd, payload: 2 });
  }
  expect(calls).toEqual([1]);
  expect(() => context.on("x", null as never)).toThrow(TypeError);
});

test("TS-AGT-009: a handler that was taken off is not called, by off or by what on gave back", () => {
  const { context } = launch();
  PageSocket.last().open();
  const calls: string[] = [];
  const first = () => calls.push("first");
  const third = () => calls.push("third");
  context.on("x", first);
  const stop = context.on("x", () => {
    calls.push("second");
    context.off("x", third);
  });
  context.on("x", third);
  const say = (seq: number) =>
    PageSocket.last().say({ type: "agent-event", event: "x", seq });
  say(1);
  expect(calls).toEqual(["first", "second"]);
  context.off("x", first);
  context.off("x", first);
  context.off("never", first);
  stop();
  stop();
  say(2);
  expect(calls).toEqual(["first", "second"]);
});

test("emit gives up after 30 s with E-AGT-003, to the millisecond, and a late answer changes nothing", async () => {
  const { context } = launch();
  PageSocket.last().open();
  let settled = false;
  const done = refusal(context.emit("x")).finally(() => (settled = true));
  const { id } = last();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(settled).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  const error = await done;
  expect(error).toBeInstanceOf(AgentTimeoutError);
  expect(error).toMatchObject({
    code: "E-AGT-003",
    message: "Agent did not acknowledge event within 30s",
  });
  PageSocket.last().say({ type: "weblet-ack", id });
});

test("TS-AGT-012: request gives up after 60 s with E-AGT-005", async () => {
  const { context } = launch();
  PageSocket.last().open();
  let settled = false;
  const done = refusal(context.request("slow-action", {})).finally(
    () => (settled = true),
  );
  await vi.advanceTimersByTimeAsync(59_999);
  expect(settled).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  const error = await done;
  expect(error).toBeInstanceOf(AgentTimeoutError);
  expect(error).toMatchObject({
    code: "E-AGT-005",
    message: "Agent did not respond within 60s",
  });
});

test("tools are offered once the channel is open, again after a reconnect, and called in the page", async () => {
  const { context } = launch();
  const unregister = context.registerTool(
    { name: "add", readOnly: true },
    (args) => ({ got: args }),
  );
  PageSocket.last().open();
  expect(last()).toMatchObject({
    type: "weblet-tools",
    tools: [{ name: "add", readOnly: true }],
  });
  const call = { type: "tool-call", call: 7, name: "add", arguments: { n: 1 } };
  PageSocket.last().say(call);
  await vi.advanceTimersByTimeAsync(0);
  expect(last()).toMatchObject({
    ...{ type: "weblet-tool-result", call: 7, success: true },
    result: { got: { n: 1 } },
  });
  unregister();
  await vi.advanceTimersByTimeAsync(0);
  expect(last()).toMatchObject({ type: "weblet-tools", tools: [] });
});
