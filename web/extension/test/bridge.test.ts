// The connection to the bridge: requests, streams, pages, and what is done when it dies. Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { BridgeState } from "../src/bridge.js";
import { FakeHost, HELLO, settled } from "./fake-bridge.js";

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, "error").mockReturnValue();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("nothing is started before something is asked; then it is greeted first", () => {
  const host = new FakeHost();
  expect(host.ports).toEqual([]);
  void host.bridge.request("list_servers");
  expect(host.port.sent).toMatchObject([
    { type: "hello", protocol: 1, extension: { browser: "chromium" } },
    { type: "list_servers" },
  ]);
});

test("responses arrive in any order, once, at their requester", async () => {
  const host = new FakeHost();
  const first = host.bridge.request("llm_detect");
  const second = host.bridge.request("mcp_call_tool", { tool: "a/b" });
  expect(host.port.last("mcp_call_tool")).toMatchObject({ tool: "a/b" });
  host.answer("mcp_call_tool", { result: 2 });
  host.answer("llm_detect", { result: 1 });
  host.answer("llm_detect", { result: 3 });
  expect(await first).toEqual({ result: 1 });
  expect(await second).toEqual({ result: 2 });
});

test("fields cannot pretend to be another request", () => {
  const host = new FakeHost();
  void host.bridge.request("list_servers", { type: "x", request_id: "r0" });
  expect(host.port.sent[1]).toEqual({
    ...{ type: "list_servers", request_id: "r1" },
  });
});

test("an error of the bridge is thrown with its code and status", async () => {
  const host = new FakeHost();
  const asked = host.bridge.request("remove_server", { server_id: "x" });
  const error = { code: "server_not_found", message: "none", status: 404 };
  host.fail("remove_server", error);
  await expect(asked).rejects.toMatchObject(error);
});

test("an id that was refused because it is in use leaves the first request alone", async () => {
  const host = new FakeHost();
  const asked = host.bridge.request("llm_detect");
  const { request_id } = host.port.last("llm_detect");
  const error = { code: "duplicate_request", message: "in use" };
  host.port.say({ type: "error", request_id, refused: true, error });
  host.answer("llm_detect", 1);
  expect(await asked).toBe(1);
});

test("a stream gives its events until its result, and can be cancelled", async () => {
  const host = new FakeHost();
  const events: unknown[] = [];
  const stream = host.bridge.stream("llm_chat", { body: {} }, (event) =>
    events.push(event),
  );
  const { request_id } = host.port.last("llm_chat");
  for (const n of [1, 2]) {
    host.port.say({ type: "llm_chat_event", request_id, n, event: n });
  }
  stream.cancel();
  expect(host.port.last("cancel")).toMatchObject({ target: request_id });
  host.fail("llm_chat", { code: "cancelled", message: "cancelled" });
  await expect(stream.done).rejects.toMatchObject({ code: "cancelled" });
  expect(events).toEqual([1, 2]);
});

test("a reply in parts is one reply, and parts that make no sense end the port", async () => {
  const host = new FakeHost();
  const asked = host.bridge.request("mcp_list_tools");
  const { request_id } = host.port.last("mcp_list_tools");
  const whole = { type: "mcp_list_tools_result", request_id, result: "🐟" };
  const text = JSON.stringify(whole);
  const part = { type: "part", part: "p", count: 2 };
  host.port.say({ ...part, index: 1, data: text.slice(9) });
  host.port.say({ ...part, index: 0, data: text.slice(0, 9) });
  expect(await asked).toBe("🐟");
  const lost = host.bridge.request("mcp_list_tools");
  host.port.say({ ...part, part: "q", index: 5, data: "" });
  expect(host.port.closed).toBe(true);
  await expect(lost).rejects.toMatchObject({ code: "bridge_lost" });
});

test("frames of a page go both ways under its own name, until either side ends it", () => {
  const host = new FakeHost();
  const frames: string[] = [];
  const closed = vi.fn();
  const wish = {
    origin: "https://shop.example",
    tab: "0".repeat(32),
    ancestors: [],
  };
  const page = host.bridge.openPage(wish, {
    frame: (text) => frames.push(text),
    closed,
  });
  const { request_id: name } = host.port.last("page_open");
  expect(host.port.last("page_open")).toMatchObject(wish);
  page.send("out");
  expect(host.port.last("page_frame")).toEqual({
    ...{ type: "page_frame", page: name, frame: "out" },
  });
  host.port.say({ type: "page_frame", page: name, frame: "in" });
  host.port.say({ type: "page_frame", page: "v99", frame: "not mine" });
  expect(frames).toEqual(["in"]);
  host.answer("page_open", { code: 1006, reason: "" });
  expect(closed).toHaveBeenCalledWith(null);
  const sent = host.port.sent.length;
  page.send("late");
  page.close();
  expect(host.port.sent).toHaveLength(sent);
});

test("when the bridge dies, requests fail and pages close; who holds it gets it back", async () => {
  const host = new FakeHost();
  const states: BridgeState["state"][] = [];
  host.bridge.listen({ state: ({ state }) => states.push(state) });
  const release = host.bridge.hold();
  await host.welcome();
  const asked = host.bridge.request("llm_detect");
  const closed = vi.fn();
  const wish = {
    origin: "https://a.example",
    tab: "0".repeat(32),
    ancestors: [],
  };
  host.bridge.openPage(wish, { frame: vi.fn(), closed });
  host.die("Native host has exited.");
  await expect(asked).rejects.toMatchObject({ code: "bridge_lost" });
  expect(closed).toHaveBeenCalledWith(null);
  expect(host.ports).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(250);
  expect(host.ports).toHaveLength(2);
  await host.welcome();
  expect(states).toEqual(["starting", "up", "gone", "up"]);
  release();
});

test("a bridge that the browser does not know is reported as missing, and retried with backoff", async () => {
  const host = new FakeHost();
  const release = host.bridge.hold();
  const words = "Specified native messaging host not found.";
  host.die(words);
  const trouble = { missing: "manifest", words };
  expect(host.bridge.state).toMatchObject({ state: "missing", trouble });
  const before: number[] = [];
  for (const wait of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    before.push(host.ports.length);
    await vi.advanceTimersByTimeAsync(wait);
    expect(host.ports).toHaveLength(before.length + 1);
    host.die(words);
  }
  host.bridge.retry();
  expect(host.ports).toHaveLength(before.length + 2);
  await host.welcome();
  expect(host.bridge.state).toMatchObject({ state: "up", hello: HELLO });
  release();
});

test("the wait before a bridge is looked for again has jitter", async () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  const host = new FakeHost();
  const release = host.bridge.hold();
  await host.welcome();
  host.die("Native host has exited.");
  await vi.advanceTimersByTimeAsync(124);
  expect(host.ports).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(host.ports).toHaveLength(2);
  release();
  random.mockRestore();
});

test("a greeting that is answered by an error says what is missing, and is tried again on the same port", async () => {
  const host = new FakeHost();
  const release = host.bridge.hold();
  host.fail("hello", { code: "server_gone", message: "start it" });
  await settled();
  const trouble = { missing: "server", words: "start it" };
  expect(host.bridge.state.trouble).toEqual(trouble);
  await vi.advanceTimersByTimeAsync(250);
  expect(host.ports).toHaveLength(1);
  await host.welcome();
  expect(host.bridge.state.state).toBe("up");
  release();
});

test("an unused bridge without a server is disconnected too", async () => {
  const host = new FakeHost();
  const wish = {
    origin: "https://a.example",
    tab: "0".repeat(32),
    ancestors: [],
  };
  const open = () =>
    host.bridge.openPage(wish, { frame: vi.fn(), closed: vi.fn() });
  const greetings = () =>
    host.port.sent.filter(({ type }) => type === "hello").length;
  const error = { code: "server_gone", message: "start it" };
  open();
  host.fail("hello", error);
  host.fail("page_open", error);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(greetings()).toBe(1);
  // A new subscriber has it requested again.
  open();
  expect(greetings()).toBe(2);
  host.fail("hello", error);
  host.fail("page_open", error);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(host.port.closed).toBe(true);
});

test("a server that stays unreachable is requested, so that the user sees the reason", async () => {
  const host = new FakeHost();
  const release = host.bridge.hold();
  await host.welcome();
  const status = { type: "status", about: "server", attached: "own" };
  host.port.say({ ...status, state: "gone", base_url: "" });
  host.fail("hello", { code: "server_gone", message: "config.yaml: line 3" });
  await settled();
  expect(host.bridge.state).toMatchObject({
    ...{ state: "missing", trouble: { words: "config.yaml: line 3" } },
  });
  release();
});

test("a new listener gets the open requests, and an empty list once the server is gone", async () => {
  const host = new FakeHost();
  const release = host.bridge.hold();
  await host.welcome();
  const frame = { type: "asks", asks: [{ id: "q" }] };
  host.port.say({ type: "status", about: "asks", frame });
  const received: unknown[] = [];
  host.bridge.listen({
    status: (status) => received.push((status as { frame: unknown }).frame),
  });
  expect(received).toEqual([frame]);
  host.die();
  expect(received.slice(1)).toEqual([{ type: "asks", asks: [] }]);
  release();
});

test("an unused bridge is disconnected after a minute, and not before", async () => {
  const host = new FakeHost();
  const asked = host.bridge.request("llm_detect");
  await host.welcome();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(host.port.closed).toBe(false);
  host.answer("llm_detect", null);
  await asked;
  await vi.advanceTimersByTimeAsync(59_000);
  expect(host.port.closed).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(host.port.closed).toBe(true);
  expect(host.bridge.state.state).toBe("off");
});

test("more requests than the bridge is to have are refused here", async () => {
  const host = new FakeHost();
  const all = Array.from({ length: 600 }, () =>
    host.bridge.request("llm_detect").catch((error: unknown) => error),
  );
  // One of those that wait is the greeting.
  expect(host.port.sent).toHaveLength(512);
  expect(await all[599]).toMatchObject({ code: "too_many_requests" });
});

test("what makes room can be said when there is none", async () => {
  const host = new FakeHost();
  const stream = host.bridge.stream("llm_chat", {}, vi.fn());
  const all = Array.from({ length: 600 }, () =>
    host.bridge.request("llm_detect").catch((error: unknown) => error),
  );
  expect(await all[599]).toMatchObject({ code: "too_many_requests" });
  stream.cancel();
  const { request_id } = host.port.last("llm_chat");
  expect(host.port.last("cancel")).toMatchObject({ target: request_id });
});

test("a message that the bridge could not read is not sent", async () => {
  const host = new FakeHost();
  const body = { prompt: "é".repeat(8 << 20) };
  const asked = host.bridge.request("chat_send_message", { body });
  await expect(asked).rejects.toMatchObject({ code: "too_large" });
  const other = host.bridge.request("llm_detect");
  host.answer("llm_detect", 1);
  expect(await other).toBe(1);
  expect(host.port.sent.map(({ type }) => type)).toEqual([
    ...["hello", "llm_detect"],
  ]);
});

test("a failing listener does not affect others", async () => {
  const host = new FakeHost();
  const wrong = () => {
    throw new Error("a port that is gone");
  };
  host.bridge.listen({ state: wrong, status: wrong });
  const states: BridgeState["state"][] = [];
  host.bridge.listen({ state: ({ state }) => states.push(state) });
  const wish = {
    origin: "https://a.example",
    tab: "0".repeat(32),
    ancestors: [],
  };
  host.bridge.openPage(wish, { frame: wrong, closed: wrong });
  const { request_id: page } = host.port.last("page_open");
  await host.welcome();
  host.port.say({ type: "page_frame", page, frame: "in" });
  expect(host.port.closed).toBe(false);
  host.die();
  expect(states).toEqual(["starting", "up", "gone", "off"]);
});

test("status of the server changes what is known, and that of requests is passed on", async () => {
  const host = new FakeHost();
  const received: unknown[] = [];
  host.bridge.listen({ status: (status) => received.push(status) });
  const release = host.bridge.hold();
  await host.welcome();
  const server = { type: "status", about: "server", attached: "own" };
  host.port.say({ ...server, state: "gone", base_url: "http://127.0.0.1:1" });
  expect(host.bridge.state.state).toBe("gone");
  host.port.say({ ...server, state: "up", base_url: "http://127.0.0.1:2" });
  expect(host.bridge.state.hello).toMatchObject({
    ...{ attached: "own", base_url: "http://127.0.0.1:2" },
  });
  const frame = { type: "changed" };
  host.port.say({ type: "status", about: "asks", frame });
  expect(received).toHaveLength(3);
  release();
});
