// gangway.js as a page uses it: how it greets, what each method says and gives. Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PermissionScope } from "../src/web-agent/api.js";
import { all, Page, refusal, SERVER, settle } from "./web-agent-page.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("nothing is loaded before the first call; then a hidden frame is greeted with one port, at Gangway's origin only", async () => {
  const page = await Page.open();
  expect(page.window.document.querySelector("iframe")).toBeNull();
  void page.agent.tools.list();
  expect(page.frame.src).toBe(`${SERVER}/broker`);
  expect(page.frame.style.display).toBe("none");
  expect(page.greeting).toBeNull();
  page.greet();
  expect(page.greeting).toMatchObject({
    origin: SERVER,
    data: {
      gangway: "hello",
      v: 1,
      tab: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    },
    ports: [page.window.channels[0]?.port2],
  });
});

test("the pages of a tab say the same tab, and one without storage a fresh one", async () => {
  const tabs: unknown[] = [];
  for (const before of [undefined, undefined, broken]) {
    const page = await Page.open({ ...(before && { before }) });
    void page.agent.tools.list();
    page.greet();
    tabs.push((page.greeting?.data as { tab: string }).tab);
    page.window.close();
  }
  expect(new Set(tabs).size).toBe(3);

  const page = await Page.open();
  page.window.sessionStorage.setItem("gangway-tab", "ab".repeat(16));
  void page.agent.tools.list();
  page.greet();
  expect(page.greeting?.data).toMatchObject({ tab: "ab".repeat(16) });

  function broken(window: object): void {
    Object.defineProperty(window, "sessionStorage", {
      get: () => {
        throw new Error("SecurityError");
      },
    });
  }
});

test("each method sends its name and parameters, and gives what was answered", async () => {
  const page = await Page.open();
  const { agent, ai } = page;
  const scopes: PermissionScope[] = ["model:prompt", "mcp:tools.call"];
  const calls: [() => Promise<unknown>, string, object][] = [
    [
      () =>
        agent.requestPermissions({ scopes, reason: "Fish", tools: ["a/b"] }),
      "permissions.request",
      { scopes, reason: "Fish", tools: ["a/b"] },
    ],
    [() => agent.permissions.list(), "permissions.list", {}],
    [() => agent.tools.list(), "tools.list", {}],
    [
      () => agent.tools.call({ tool: "a/b", args: { c: 1 } }),
      "tools.call",
      { tool: "a/b", args: { c: 1 } },
    ],
    [
      () => agent.tools.call({ tool: "a/b" }),
      "tools.call",
      { tool: "a/b", args: {} },
    ],
    [
      () => agent.mcp.register({ url: "/mcp", name: "Shop", tools: ["x"] }),
      "mcp.register",
      { url: "https://shop.example/mcp", name: "Shop", tools: ["x"] },
    ],
    [
      () => agent.mcp.unregister("shop"),
      "mcp.unregister",
      { serverId: "shop" },
    ],
    [() => agent.chat.canOpen(), "chat.canOpen", {}],
    [() => agent.chat.close("c1"), "chat.close", { chatId: "c1" }],
    [() => ai.providers.list(), "providers.list", {}],
  ];
  let id = 0;
  for (const [call, method, params] of calls) {
    const answer = call();
    await settle();
    id += 1;
    expect(page.last()).toEqual({ type: "call", id, method, params });
    page.result([id]);
    expect(await answer).toEqual([id]);
  }
});

test("errors are Error objects with code, message and details, also when written as JSON", async () => {
  const page = await Page.open();
  const answer = page.agent.tools.list();
  const error = {
    code: "ERR_SCOPE_REQUIRED",
    message: "no",
    details: { a: 1 },
  };
  page.hear({ type: "error", id: 1, error });
  const refused = await refusal(answer);
  expect(refused).toBeInstanceOf(page.window.Error);
  expect(refused).toMatchObject({ name: "AgentApiError", ...error });
  expect(JSON.parse(JSON.stringify(refused))).toEqual(error);
});

const INVALID = { name: "TypeError", code: "ERR_INVALID_ARGUMENT" };

test("an unknown scope is left to the server, which does not grant it", async () => {
  const page = await Page.open();
  const scopes = ["model:prompt", "web:fetch"] as PermissionScope[];
  const answer = page.agent.requestPermissions({ scopes });
  expect(page.last().params).toEqual({ scopes });
  page.result({ granted: false, scopes: { "web:fetch": "not-granted" } });
  expect((await answer).granted).toBe(false);
});

test("wrong arguments are TypeErrors with a code, and nothing is sent", async () => {
  const page = await Page.open();
  const agent = page.agent as unknown as Record<string, never> & {
    requestPermissions: (request?: unknown) => Promise<unknown>;
    tools: { call: (call?: unknown) => Promise<unknown> };
    run: (options?: unknown) => unknown;
  };
  for (const request of [undefined, {}, { scopes: [] }, { scopes: "x" }, 7]) {
    const refused = await refusal(agent.requestPermissions(request));
    expect(refused).toMatchObject(INVALID);
  }
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  for (const call of [
    undefined,
    {},
    { tool: "" },
    { tool: "a/b", args: cycle },
  ]) {
    expect(await refusal(agent.tools.call(call))).toMatchObject(INVALID);
  }
  for (const options of [
    undefined,
    {},
    { task: 7 },
    { task: "x", signal: 1 },
    ...[-1, 51, 1.5, "5"].map((maxToolCalls) => ({ task: "x", maxToolCalls })),
  ]) {
    expect(() => agent.run(options)).toThrow(
      expect.objectContaining(INVALID) as Error,
    );
  }
  expect(page.window.channels).toEqual([]);
});

test("arguments of 10 MB are refused where they are", async () => {
  const page = await Page.open();
  const args = { text: "x".repeat(10 << 20) };
  const refused = await refusal(page.agent.tools.call({ tool: "a/b", args }));
  expect(refused).toMatchObject({
    code: "ERR_TOOL_FAILED",
    message: "The call is 10.0 MB; the limit is 1 MB.",
  });
  const events = await all(page.agent.run({ task: args.text }));
  expect(events).toMatchObject([
    { type: "error", error: { code: "ERR_INTERNAL" } },
  ]);
});

test.each([
  ["tools.list", 30, (page: Page) => page.agent.tools.list()],
  [
    "permissions.request",
    120,
    (page: Page) => page.agent.requestPermissions({ scopes: ["chat:open"] }),
  ],
  ["tools.call", 60, (page: Page) => page.agent.tools.call({ tool: "a/b" })],
  ["chat.open", 120, (page: Page) => page.agent.chat.open()],
  [
    "mcp.register",
    120,
    (page: Page) => page.agent.mcp.register({ url: "/m", name: "M" }),
  ],
])(
  "%s waits %i seconds, then is ERR_TIMEOUT and the server is told",
  async (method, seconds, call) => {
    const page = await Page.open();
    const answer = refusal(call(page));
    await settle();
    page.greet();
    vi.advanceTimersByTime(seconds * 1000 - 1);
    expect(page.aborts).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await answer).toMatchObject({
      code: "ERR_TIMEOUT",
      message: `${method} timed out after ${seconds} seconds.`,
    });
    expect(page.aborts).toEqual([1]);
    // What comes too late changes nothing.
    page.result("late", 1);
  },
);

test("a signal ends a call immediately and notifies the server once", async () => {
  const page = await Page.open();
  const stop = new page.window.AbortController();
  const { signal } = stop;
  const answer = refusal(page.agent.tools.call({ tool: "a/b", signal }));
  stop.abort();
  stop.abort();
  expect(await answer).toMatchObject({ code: "ERR_ABORTED" });
  expect(page.aborts).toEqual([1]);
  const again = refusal(page.agent.tools.call({ tool: "a/b", signal }));
  expect(await again).toMatchObject({ code: "ERR_ABORTED" });
  expect(page.said).toHaveLength(2);
});

test("257 calls at once are one too many", async () => {
  const page = await Page.open();
  const calls = Array.from({ length: 256 }, () => page.agent.tools.list());
  const more = refusal(page.agent.tools.list());
  expect(await more).toMatchObject({
    code: "ERR_RATE_LIMITED",
  });
  page.result([], 1);
  expect(await calls[0]).toEqual([]);
  void page.agent.tools.list();
  expect(page.last().id).toBe(257);
});

test("every call of a rejected page fails, without reconnecting", async () => {
  const page = await Page.open();
  const answer = refusal(page.agent.tools.list());
  page.hear({
    type: "refused",
    error: { code: "ERR_PERMISSION_DENIED", message: "no origin" },
  });
  expect(await answer).toMatchObject({ code: "ERR_PERMISSION_DENIED" });
  expect(page.window.document.querySelector("iframe")).toBeNull();
  const again = await refusal(page.agent.tools.list());
  expect(again).toMatchObject({ code: "ERR_PERMISSION_DENIED" });
  expect(page.window.channels).toHaveLength(1);
});

test("a page of a site with too many visits may try again later", async () => {
  const page = await Page.open();
  const answer = refusal(page.agent.tools.list());
  const error = { code: "ERR_RATE_LIMITED", message: "too many visits" };
  page.hear({ type: "refused", error });
  expect(await answer).toMatchObject(error);
  const again = page.agent.tools.list();
  page.result([]);
  expect(await again).toEqual([]);
  expect(page.window.channels).toHaveLength(2);
});

test("a page without an origin of its own is refused without a frame", async () => {
  const page = await Page.open({
    before: (window) => {
      Object.defineProperty(window, "origin", { value: "null" });
    },
  });
  const refused = await refusal(page.agent.tools.list());
  expect(refused).toMatchObject({ code: "ERR_PERMISSION_DENIED" });
  expect(page.window.channels).toEqual([]);
});

test("a lost connection fails open calls; the next call works", async () => {
  const page = await Page.open();
  const answer = refusal(page.agent.tools.list());
  page.greet();
  page.hear({ type: "lost", error: { code: "ERR_INTERNAL", message: "lost" } });
  expect(await answer).toMatchObject({ code: "ERR_INTERNAL", message: "lost" });
  const next = page.agent.tools.list();
  page.result(["x"]);
  expect(await next).toEqual(["x"]);
});

test("a page that rewrites itself gets a new frame", async () => {
  const page = await Page.open();
  const answer = refusal(page.agent.tools.list());
  page.frame.remove();
  const next = page.agent.tools.list();
  expect(await answer).toMatchObject({ code: "ERR_SERVER_UNAVAILABLE" });
  page.result([]);
  expect(await next).toEqual([]);
  expect(page.window.channels).toHaveLength(2);
});

test.each([
  ["denied", "local_network_blocked", /local network access.*extension/],
  [
    "prompt",
    "not_running",
    /No Gangway is reachable at http:\/\/localhost:3000/,
  ],
])(
  "a frame that never answers is ERR_NOT_INSTALLED: the permission is %s, the reason %s",
  async (state, reason, message) => {
    const page = await Page.open({
      before: (window) => {
        const query = ({ name }: { name: string }) =>
          name === "loopback-network"
            ? Promise.resolve({ state })
            : Promise.reject(new TypeError("no such name"));
        Object.assign(window, { isSecureContext: true });
        Object.defineProperty(window.navigator, "permissions", {
          value: { query },
        });
      },
    });
    const answer = refusal(page.agent.tools.list());
    vi.advanceTimersByTime(15_000);
    expect(await answer).toMatchObject({
      code: "ERR_NOT_INSTALLED",
      message: expect.stringMatching(message) as string,
      details: { reason, server: SERVER },
    });
    // The next call looks again.
    void page.agent.tools.list();
    expect(page.window.channels).toHaveLength(2);
  },
);

test("a page that patches what it likes changes nothing of how calls are made", async () => {
  const page = await Page.open();
  page.window.eval(`
    const broken = () => { throw new Error("patched"); };
    JSON.stringify = JSON.parse = broken;
    MessagePort.prototype.postMessage = broken;
    EventTarget.prototype.addEventListener = broken;
    Node.prototype.appendChild = broken;
    document.createElement = broken;
    window.setTimeout = window.Promise = window.MessageChannel = broken;
    Array.prototype.push = Array.prototype.shift = broken;
  `);
  const answer = page.agent.tools.call({ tool: "a/b", args: { c: 1 } });
  expect(page.last()).toMatchObject({
    params: { tool: "a/b", args: { c: 1 } },
  });
  page.hear({ type: "result", id: 1, result: "fine" });
  expect(await answer).toBe("fine");
});
