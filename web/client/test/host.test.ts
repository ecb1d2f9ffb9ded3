// @vitest-environment jsdom
// What agents ask of a page, and what it answers.
import { expect, test, vi } from "vitest";
import { tool, type Snapshot } from "../src/host/index.js";
import { relayAddress } from "../src/host/wire.js";
import { freshPage, page, settle, start } from "./driven-page.js";

freshPage();

test("it joins as a host and sends snapshots", async () => {
  const socket = start();
  expect(socket.url).toBe("ws://host:1/agent/ws");
  expect(page.host.status).toBe("connecting");
  socket.open();
  await settle();
  expect(page.host.status).toBe("live");
  expect(page.host.agents).toBe(1);
  expect(socket.sent[0]).toMatchObject({
    v: "mvp-0.2",
    type: "relay.join",
    payload: { role: "host", sessionId: "box", presence: true },
  });
  expect(socket.of("state.updated")).toMatchObject([
    { payload: { source: "stage", uiSpec: { stage: "one", count: 0 } } },
  ]);
});

test("a launched page sends its launch, only to its own server", () => {
  history.replaceState(null, "", "/?launch=l.secret&x=1");
  const own = location.origin.replace("http", "ws");
  expect(relayAddress(undefined)).toBe(`${own}/agent/ws?launch=l.secret`);
  expect(relayAddress("https://other")).toBe("wss://other/agent/ws");
  history.replaceState(null, "", "/");
  expect(relayAddress(undefined)).toBe(`${own}/agent/ws`);
});

test("a snapshot has what agents may read, and the tools with their parameters", async () => {
  const socket = start().open({ studySession: "s-20260213-001" });
  socket.say("snapshot.get", {}, { id: "q1" });
  await settle();
  const { type, payload } = socket.answer("q1") ?? {};
  expect(type).toBe("snapshot.state");
  expect(Object.keys(payload ?? {}).sort()).toEqual([
    "messageHistory",
    "meta",
    "sessionId",
    "toolSchema",
    "uiSpec",
  ]);
  expect(payload).toMatchObject({
    sessionId: "s-20260213-001",
    uiSpec: { stage: "one" },
  });
  expect((payload?.["toolSchema"] as unknown[])[0]).toEqual({
    name: "add",
    description: "Adds to the count.",
    parameters: {
      by: { type: "integer", description: "How many.", minimum: 1 },
      how: { type: "string", enum: ["fast", "slow"], optional: true },
    },
  });
});

test("a call is answered with the state after it, and all agents get an update", async () => {
  const socket = start().open();
  const calls: unknown[] = [];
  page.host.on("call", (call) => calls.push(call));
  await settle();
  socket.call("c1", "add", { by: 2 }, "Two are wanted.");
  await settle();
  expect(socket.answer("c1")).toMatchObject({
    type: "tool.result",
    payload: { ok: true, toolName: "add", result: 2, uiSpec: { count: 2 } },
  });
  expect(socket.of("state.updated").at(-1)).toMatchObject({
    payload: { source: "agent", uiSpec: { count: 2 } },
  });
  expect(calls).toEqual([
    {
      ...{ toolName: "add", params: { by: 2 }, reason: "Two are wanted." },
      ok: true,
    },
  ]);
});

test.each([
  ["add", {}, "why", "INVALID_PARAMS", "by is missing"],
  ["add", { by: "2" }, "why", "INVALID_PARAMS", "by must be an integer"],
  ["add", { by: 1.5 }, "why", "INVALID_PARAMS", "by must be an integer"],
  ["add", { by: 0 }, "why", "INVALID_PARAMS", "by must be at least 1"],
  ["add", { by: 1, how: "x" }, "why", "INVALID_PARAMS", "one of fast, slow"],
  ["add", { by: 1, x: 1 }, "why", "INVALID_PARAMS", "x is unknown"],
  ["add", [1], "why", "INVALID_PARAMS", "must be an object"],
  ["add", { by: 1 }, undefined, "INVALID_PARAMS", "reason is missing"],
  ["add", { by: 1 }, "  ", "INVALID_PARAMS", "reason is missing"],
  ["add", { by: 1 }, "x".repeat(2001), "INVALID_PARAMS", "2000"],
  ["toString", {}, "why", "UNKNOWN_TOOL", "Available tools: add, fail"],
  ["", {}, "why", "INVALID_PARAMS", "toolName is missing"],
  ["fail", {}, "why", "TOOL_EXECUTION_FAILED", "out of order"],
  ["refuse", {}, "why", "INVALID_PARAMS", "not that one"],
])("%s(%j) because %j is %s: %s", async (name, params, reason, code, words) => {
  const socket = start().open();
  const payload = { toolName: name, params, reason };
  socket.say("tool.call", payload, { id: "c1" });
  await settle();
  const answer = socket.answer("c1");
  expect(answer).toMatchObject({ type: "error", payload: { code } });
  expect(answer?.payload["message"]).toContain(words);
  expect(page.count).toBe(0);
});

test("before there is anything to show, calls are refused and the snapshot is empty", async () => {
  page.shown = { uiSpec: null };
  const socket = start().open();
  socket.call("c1", "add", { by: 1 });
  socket.say("snapshot.get", {}, { id: "q1" });
  await settle();
  expect(socket.answer("c1")?.payload["code"]).toBe("NO_ACTIVE_SPEC");
  expect(socket.answer("q1")?.payload["uiSpec"]).toBeNull();
  expect(socket.of("state.updated")).toEqual([]);
});

test("changes of the user during a call are sent separately, those of the call are not", async () => {
  const mixed = tool({
    description: "Changes something, while the person does too.",
    parameters: {},
    async run() {
      page.host.update();
      page.host.update("stage");
      await Promise.resolve();
      page.count += 1;
      page.host.update("user");
      await new Promise((resolve) => setTimeout(resolve, 1000));
    },
  });
  const socket = start({ tools: { mixed } }).open();
  await settle();
  socket.call("c1", "mixed", {});
  await vi.advanceTimersByTimeAsync(1000);
  const sources = socket.of("state.updated").map(({ payload }) => payload);
  expect(sources.map(({ source }) => source)).toEqual([
    "stage",
    "user",
    "agent",
  ]);
});

test("calls are run one after the other", async () => {
  const steps: string[] = [];
  const slow = tool({
    description: "Takes a while.",
    parameters: { name: { type: "string" } },
    async run({ name }) {
      steps.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      steps.push(`${name} ends`);
    },
  });
  const socket = start({ tools: { slow } }).open();
  socket.call("a", "slow", { name: "a" });
  socket.call("b", "slow", { name: "b" });
  await vi.advanceTimersByTimeAsync(2000);
  expect(steps).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});

test("a call that never ends is given up, and the next one runs", async () => {
  const socket = start({ toolSeconds: 3 }).open();
  // The browser's own clock is not moved by the test.
  const stop = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(stop.signal);
  socket.call("c1", "hang");
  socket.call("c2", "add", { by: 1 });
  await settle();
  expect(socket.answer("c2")).toBeUndefined();
  stop.abort();
  await settle();
  expect(socket.answer("c1")?.payload["code"]).toBe("TOOL_EXECUTION_FAILED");
  expect(socket.answer("c2")?.payload["ok"]).toBe(true);
});

test("an agent that floods is refused, and what waits is bounded", async () => {
  const socket = start().open();
  socket.call("first", "hang");
  for (let at = 0; at < 200; at += 1) socket.call(`c${at}`, "add", { by: 1 });
  await settle();
  const refused = socket.of("error");
  expect(refused.length).toBe(200 - 63);
  expect(refused[0]?.payload["message"]).toContain("64 are already waiting");
});

test("what the page keeps for itself never leaves, at any depth", async () => {
  page.shown = {
    uiSpec: { a: { backendData: { secret: 1 } }, list: [{ backendData: 2 }] },
    messageHistory: [],
    backendData: { secret: 3 },
  } as Snapshot;
  const socket = start().open();
  socket.say("snapshot.get", {}, { id: "q1" });
  await settle();
  expect(JSON.stringify(socket.sent)).not.toContain("backendData");
  expect(JSON.stringify(socket.sent)).not.toContain("secret");
});

test("updates do not grow with the conversation", async () => {
  const history: Snapshot["messageHistory"] & object = [];
  const entries = history as unknown as object[];
  page.shown = { uiSpec: { stage: "one" }, messageHistory: history };
  const socket = start().open();
  await settle();
  const sizes: number[] = [];
  for (let step = 1; step <= 1000; step += 1) {
    entries.push({
      ...{ id: `m${step}`, type: "agent", timestamp: "2026-02-13T10:22:17Z" },
      text: "Chosen because it is the earliest.",
      uiSpec: { whole: "x".repeat(5000) },
    });
    page.host.update("agent");
    await settle();
    sizes.push(socket.sizes.at(-1) ?? 0);
  }
  const [tenth = 0, last = 0] = [sizes[9], sizes[999]];
  expect(last / tenth).toBeLessThan(1.2);
  const { payload } = socket.of("state.updated").at(-1) ?? {};
  expect(payload?.["meta"]).toEqual({ historyTotal: 1000 });
  socket.say("snapshot.get", {}, { id: "q1" });
  await settle();
  expect(socket.answer("q1")?.payload["messageHistory"]).toHaveLength(50);
});

test("many changes in one go are one update, and a slow reader gets the newest only", async () => {
  const socket = start().open();
  await settle();
  const before = socket.of("state.updated").length;
  for (let at = 0; at < 10; at += 1) page.host.update();
  await settle();
  expect(socket.of("state.updated")).toHaveLength(before + 1);
  socket.bufferedAmount = 2 << 20;
  for (let at = 0; at < 10; at += 1) {
    page.count = at;
    page.host.update();
    await settle();
  }
  expect(socket.of("state.updated")).toHaveLength(before + 1);
  socket.bufferedAmount = 0;
  await vi.advanceTimersByTimeAsync(200);
  expect(socket.of("state.updated").at(-1)?.payload["uiSpec"]).toEqual({
    ...{ stage: "one", count: 9 },
  });
});
