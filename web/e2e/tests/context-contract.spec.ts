// The scenarios of the contract between apps and agents, each by its id.
import {
  Agent,
  call,
  direct,
  launch,
  openProbe,
  openWithAgent,
  OUTSIDE,
  probe,
  visit,
} from "../context.js";
import { expect, test } from "../fixtures.js";

test.use({ settings: { apps: { probe: probe() } } });

test("TS-AGT-001: the context is there for the first script of the page", async ({
  page,
  server,
}) => {
  const data = { note: "hello", list: [1, { two: 2 }] };
  const config = { theme: "dark" };
  await openProbe(page, server, {
    data,
    config,
  });
  const seen = await page.evaluate(() => {
    const context = window.__AGENT_CONTEXT__;
    return {
      first: window.firstSaw,
      agent: context?.agent,
      data: context?.data,
      config: context?.config,
    };
  });
  // What Gangway does for every agent is among what it can do.
  const capabilities = [
    ...OUTSIDE.capabilities,
    ...["save-file", "open-url", "notify", "prompt", "call-tool"],
  ];
  const agent = { ...OUTSIDE, capabilities };
  expect(seen).toEqual({ first: "object", agent, data, config });
  expect(seen.agent?.version).toMatch(/^\d+\.\d+\.\d+/);
});

test("TS-AGT-002: a page that was opened directly has no context, nor any script of ours", async ({
  page,
  server,
}) => {
  await visit(page, direct(server, "probe"));
  const seen = await page.evaluate(() => ({
    first: window.firstSaw,
    there: "__AGENT_CONTEXT__" in window,
    scripts: [...document.scripts].map(({ src }) => new URL(src).pathname),
  }));
  expect(seen).toEqual({
    first: "undefined",
    there: false,
    scripts: ["/first.js"],
  });
});

test("TS-AGT-003: nothing of the context can be changed, strictly or sloppily", async ({
  page,
  server,
}) => {
  const data = { deep: { list: [{ a: 1 }] } };
  await openProbe(page, server, { data });
  const { strict, kept } = await page.evaluate(() => {
    "use strict";
    type Loose = Record<string, Record<string, unknown>>;
    const context = window.__AGENT_CONTEXT__ as unknown as Loose;
    const before = JSON.stringify(context);
    const whole = window as unknown as Record<string, unknown>;
    const { data, emit } = context as Record<"data" | "emit", Loose[string]>;
    const { list } = data["deep"] as { list: Loose[string][] };
    const tries: (() => unknown)[] = [
      () => (data["foo"] = "bar"),
      () => list.push({}),
      () => Object.assign(list[0] ?? {}, { a: 2 }),
      () => Object.assign(context, { emit: null }),
      () => (emit["x"] = 1),
      () => (whole["__AGENT_CONTEXT__"] = {}),
      () => delete whole["__AGENT_CONTEXT__"],
      () => Object.defineProperty(whole, "__AGENT_CONTEXT__", { value: 1 }),
      () => Reflect.defineProperty(context, "x", { value: 1 }) || list.pop(),
      () => Object.setPrototypeOf(context, {}) as unknown,
    ];
    const strict = tries.map((attempt) => {
      try {
        attempt();
        return "did it";
      } catch (error) {
        return (error as Error).name;
      }
    });
    // A plain script is sloppy: nothing happens, and nothing is said.
    const sloppy = document.createElement("script");
    sloppy.textContent = `
      __AGENT_CONTEXT__.data.foo = 1; __AGENT_CONTEXT__.emit = null;
      window.__AGENT_CONTEXT__ = 7; delete window.__AGENT_CONTEXT__;`;
    document.head.append(sloppy);
    return { strict, kept: JSON.stringify(context) === before };
  });
  expect(strict).toEqual(strict.map(() => "TypeError"));
  expect(kept).toBe(true);
  expect(await page.evaluate(() => typeof window.__AGENT_CONTEXT__)).toBe(
    "object",
  );
});

test("TS-AGT-004: an event reaches the agent, and emit is kept once it has taken it", async ({
  page,
  server,
}) => {
  const agent = await openWithAgent(page, server);
  const done = call(page, "emit", "user-action", { clicked: "save" });
  const event = await agent.next("weblet-event", "user-action");
  expect(event).toMatchObject({
    payload: { clicked: "save" },
    weblet: "probe",
  });
  expect(typeof event["timestamp"]).toBe("number");
  agent.say({ type: "weblet-ack", id: event["id"] });
  expect(await done).toEqual({});
  const received = agent.received;
  expect(received.filter(({ type }) => type === "weblet-event")).toHaveLength(
    1,
  );
});

test("TS-AGT-005: a name off the pattern is refused with E-AGT-001", async ({
  page,
  server,
}) => {
  await openProbe(page, server);
  for (const name of ["Invalid Name!", "", "9a", "a_b", "é"]) {
    expect(await call(page, "emit", name, {})).toMatchObject({
      code: "E-AGT-001",
      message: `Invalid event name: ${name}. Use lowercase with hyphens.`,
    });
  }
});

test("payloads that are no JSON are refused with E-AGT-002", async ({
  page,
  server,
}) => {
  await openProbe(page, server);
  const codes = await page.evaluate(async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const bad = [() => 1, { a: [() => 1] }, 1n, [1n], cyclic, Symbol("x")];
    const found: unknown[] = [];
    for (const payload of [...bad, [undefined]]) {
      await window.__AGENT_CONTEXT__
        ?.emit("x", payload)
        .catch((error: unknown) =>
          found.push((error as { code: string }).code),
        );
    }
    return found;
  });
  expect(codes).toEqual(Array(7).fill("E-AGT-002"));
});

test("TS-AGT-006: a request is kept with what the agent answers", async ({
  page,
  server,
}) => {
  const agent = await openWithAgent(page, server);
  const done = call(page, "request", "send-email", { to: "a@b.com" });
  const result = { sent: true, messageId: "msg-456" };
  const asked = await agent.answer("send-email", { result });
  expect(asked).toMatchObject({ params: { to: "a@b.com" }, weblet: "probe" });
  expect(await done).toEqual({ value: result });
});

test("TS-AGT-007: a request that the agent denies is an AgentDeniedError", async ({
  page,
  server,
}) => {
  const agent = await openWithAgent(page, server);
  const done = call(page, "request", "send-email", {});
  const error = { code: "E-AGT-004", message: "Not today." };
  await agent.answer("send-email", { error });
  const ended = await done;
  expect(ended.code).toBe("E-AGT-004");
  expect(ended.message).toMatch(/^Agent denied request: send-email/);
  expect(ended.details).toMatchObject({ reason: "Not today." });
  expect(ended.kinds?.sort()).toEqual(["AgentDeniedError", "AgentError"]);
});

test("an unknown action is E-AGT-006", async ({ page, server }) => {
  await openProbe(page, server, { agent: "demo" });
  expect(await call(page, "request", "fly-to-the-moon", {})).toMatchObject({
    code: "E-AGT-006",
    message: "Agent does not support action: fly-to-the-moon",
  });
});

test("TS-AGT-008: what the agent says reaches every handler with its payload", async ({
  page,
  server,
}) => {
  const { launchId } = await openProbe(page, server);
  await page.evaluate(() => {
    const context = window.__AGENT_CONTEXT__;
    context?.on("theme-changed", (payload) => window.received?.push(payload));
    context?.on("theme-changed", () => window.received?.push("second"));
  });
  const agent = await Agent.attach(server, launchId);
  agent.tell("theme-changed", { theme: "dark" });
  await expect
    .poll(() => page.evaluate(() => window.received))
    .toEqual([{ theme: "dark" }, "second"]);
});

test("TS-AGT-009: a handler that was taken off is not called", async ({
  page,
  server,
}) => {
  const { launchId } = await openProbe(page, server);
  await page.evaluate(() => {
    const context = window.__AGENT_CONTEXT__;
    const handler = () => window.received?.push("off");
    context?.on("theme-changed", handler);
    context?.off("theme-changed", handler);
    context?.on("theme-changed", () => window.received?.push("stopped"))();
    context?.on("theme-changed", () => window.received?.push("still here"));
  });
  const agent = await Agent.attach(server, launchId);
  agent.tell("theme-changed", {});
  await expect
    .poll(() => page.evaluate(() => window.received))
    .toEqual(["still here"]);
});

test("TS-AGT-010: the library's functions do no harm without an agent", async ({
  page,
  server,
}) => {
  await visit(page, direct(server, "probe"));
  const results = await page.evaluate(async () => {
    const library = "/__gangway/agent.js";
    const agent = (await import(
      library
    )) as typeof import("@gangway/client/agent");
    return [
      await agent.emitToAgent("event", {}),
      agent.isAgentLaunched(),
      agent.getAgentContext(),
      await agent.requestAgentAction("x", {}, () => "fallback"),
    ];
  });
  expect(results).toEqual([false, false, null, "fallback"]);
});

test("TS-AGT-011: data come from the agent, or are the default", async ({
  page,
  server,
}) => {
  const data = { theme: "dark" };
  await openProbe(page, server, { data });
  const found = await page.evaluate(async () => {
    const library = "/__gangway/agent.js";
    const { getAgentData } = (await import(
      library
    )) as typeof import("@gangway/client/agent");
    return [getAgentData("theme", "light"), getAgentData("missing", "default")];
  });
  expect(found).toEqual(["dark", "default"]);
});

test("TS-AGT-012, P20: an unanswered request ends after 60 seconds with E-AGT-005", async ({
  page,
  server,
}) => {
  const { url, launchId } = await launch(server, "probe", { agent: OUTSIDE });
  await page.clock.install();
  await page.goto(url);
  const agent = await Agent.attach(server, launchId);
  let ended = false;
  const done = call(page, "request", "slow-action", {}).finally(
    () => (ended = true),
  );
  await agent.next("weblet-request", "slow-action");
  await page.clock.runFor(59_000);
  expect(ended).toBe(false);
  await page.clock.runFor(2_000);
  expect(await done).toMatchObject({
    code: "E-AGT-005",
    message: "Agent did not respond within 60s",
    kinds: expect.arrayContaining(["AgentTimeoutError"]),
  });
});

test("P20: an unacknowledged event ends after 30 seconds with E-AGT-003, by the real clock", async ({
  page,
  server,
}) => {
  await openProbe(page, server);
  const began = Date.now();
  const ended = await call(page, "emit", "user-action", {});
  const took = Date.now() - began;
  expect(ended).toMatchObject({
    code: "E-AGT-003",
    message: "Agent did not acknowledge event within 30s",
  });
  expect(took).toBeGreaterThanOrEqual(29_900);
  expect(took).toBeLessThan(33_000);
});

test("an agent of Gangway's own takes events at once", async ({
  page,
  server,
}) => {
  await openProbe(page, server, { agent: "demo" });
  expect(await call(page, "emit", "user-action", { a: 1 })).toEqual({});
});
