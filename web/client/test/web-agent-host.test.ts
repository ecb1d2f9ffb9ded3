// What gangway.js does in its page: brings questions to a window, shows chats, reads the page, and carries out its tools.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Page, refusal, SERVER, settle, type Win } from "./web-agent-page.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const blocked = (window: Win) => Object.assign(window, { open: () => null });

test("a question opens Gangway's window, once for two calls that wait for the same answer", async () => {
  const page = await Page.open();
  const ask = { type: "ask", ask: "q", url: "/permit?ask=q" };
  void page.agent.requestPermissions({ scopes: ["chat:open"] });
  void page.agent.requestPermissions({ scopes: ["chat:open"] });
  page.hear({ ...ask, id: 1 });
  page.hear({ ...ask, id: 2 });
  expect(page.opened).toEqual([`${SERVER}/permit?ask=q`]);
});

test("where the browser opens no window, a bar offers it until the call ends", async () => {
  const page = await Page.open();
  blocked(page.window);
  const root = () => page.window.document.documentElement;
  // The window's own open was taken at the start.
  const again = await Page.open({ before: blocked });
  const answer = again.agent.requestPermissions({ scopes: ["chat:open"] });
  again.hear({ type: "ask", id: 1, url: "/permit?ask=q" });
  const [shadow] = again.window.shadows;
  expect(shadow?.mode).toBe("closed");
  expect(shadow?.querySelector("[role=alert]")?.textContent).toBe(
    "This page requests access to Gangway.Review",
  );
  const host = shadow?.host as HTMLElement;
  expect(host.isConnected).toBe(true);
  // A click that the page makes itself is none.
  shadow?.querySelector("button")?.click();
  expect(host.isConnected).toBe(true);
  again.result({ granted: false, scopes: {} });
  await answer;
  expect(host.isConnected).toBe(false);
  expect(root().querySelector("iframe")).toBeNull();
});

test("a question in the middle of a short call gives the person their time", async () => {
  const page = await Page.open();
  const answer = refusal(page.agent.tools.list());
  page.greet();
  page.hear({ type: "ask", id: 1, url: "/permit?ask=q" });
  vi.advanceTimersByTime(119_999);
  expect(page.aborts).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(await answer).toMatchObject({ code: "ERR_TIMEOUT" });
});

test("a chat is a frame of Gangway's at the right; its address stays with the script", async () => {
  const page = await Page.open();
  const style = { theme: "dark", accentColor: "#ff9900" };
  const opened = page.agent.chat.open({ systemPrompt: "Sell", style });
  expect(page.last()).toMatchObject({
    method: "chat.open",
    params: { systemPrompt: "Sell", style },
  });
  page.result({ success: true, chatId: "c1", panel: "/panel#ticket" });
  expect(await opened).toEqual({ success: true, chatId: "c1" });
  const panel = () =>
    page.window.document.querySelector<HTMLIFrameElement>('[title="Chat"]');
  expect(panel()?.src).toBe(`${SERVER}/panel#ticket`);
  expect(panel()?.style).toMatchObject({ position: "fixed", width: "400px" });
  page.hear({ type: "chat", chatId: "c1", state: "closed" });
  expect(panel()).toBeNull();

  const again = page.agent.chat.open();
  page.result({ success: true, chatId: "c2", panel: "/panel#t2" });
  await again;
  expect(panel()).not.toBeNull();
  const closed = page.agent.chat.close("c2");
  page.result({ success: true });
  expect(await closed).toEqual({ success: true });
  expect(panel()).toBeNull();
});

test("a chat that was not allowed shows nothing", async () => {
  const page = await Page.open();
  const opened = page.agent.chat.open();
  const error = { code: "USER_DENIED", message: "no" };
  page.result({ success: false, error });
  expect(await opened).toEqual({ success: false, error });
  expect(page.window.document.querySelector('[title="Chat"]')).toBeNull();
});

test("servers are discovered in links, with everything said about them, resolved against the page", async () => {
  const page = await Page.open({
    html: `<!doctype html>
      <link rel="mcp-server" href="/mcp" title="Shop" data-tools="search, add_to_cart,"
        data-description="Fish" data-transport="sse" data-icon="fish.png">
      <link rel="alternate MCP-Server" href="https://other.example/mcp">
      <link rel="mcp-server" href="javascript:alert(1)" title="Evil">
      <link rel="mcp-server" title="No address">
      <link rel="mcp-server" href="https://shop.example/mcp" title="Shop again">
      <link rel="stylesheet" href="x.css">`,
  });
  expect(await page.agent.mcp.discover()).toEqual([
    {
      url: "https://shop.example/mcp",
      title: "Shop",
      tools: ["search", "add_to_cart"],
      description: "Fish",
      transport: "sse",
      icon: "https://shop.example/fish.png",
    },
    { url: "https://other.example/mcp", title: "" },
  ]);
  expect(page.window.channels).toEqual([]);
});

test("announced servers of a page are limited, and cannot imitate other hosts", async () => {
  const long = "x".repeat(1_000);
  const page = await Page.open({
    html: `<!doctype html><img name="querySelectorAll">
      <link rel="mcp-server" href="/a" title="${long}" data-description="${long}" data-tools="${"t,".repeat(300)}">
      <link rel="mcp-server" href="/${long}${long}${long}">
      <link rel="mcp-server" href="https://bank.example@evil.example/">`,
  });
  const [server, ...others] = await page.agent.mcp.discover();
  expect(others).toEqual([]);
  const { title, description, tools } = server ?? {};
  expect([title?.length, description?.length]).toEqual([500, 500]);
  expect(tools).toHaveLength(64);
});

test("the page is read only after Gangway said that it may be, and without its scripts", async () => {
  const page = await Page.open({
    html: "<!doctype html><title>Fish</title><script>secret()</script><style>p{}</style><p>Text",
  });
  const answer = page.agent.browser.activeTab.readability();
  await settle();
  expect(page.said).toEqual([
    { type: "call", id: 1, method: "tab.readability", params: {} },
  ]);
  page.result(null);
  await settle();
  const read = page.said[1] as unknown as { html: string };
  expect(read).toMatchObject({
    ...{ type: "read", id: 2, title: "Fish" },
    url: "https://shop.example/fish?a=1",
  });
  expect(read.html).toContain("<p>Text");
  expect(read.html).not.toMatch(/secret|p\{\}/);
  const text = { url: "u", title: "t", text: "x" };
  page.result(text, 2);
  expect(await answer).toEqual(text);

  const denied = refusal(page.agent.browser.activeTab.readability());
  await settle();
  page.error("ERR_SCOPE_REQUIRED");
  expect(await denied).toMatchObject({ code: "ERR_SCOPE_REQUIRED" });
});

const adder = {
  name: "add",
  description: "Adds",
  inputSchema: { type: "object", properties: { a: { type: "number" } } },
  execute: ({ a }: Record<string, unknown>) => ({ sum: Number(a) + 1 }),
};

test("a page's tools are announced before its first call, and again when they change", async () => {
  const page = await Page.open();
  const { AbortController } = page.window;
  const stop = new AbortController();
  const { signal } = stop;
  await page.modelContext.registerTool(adder, { signal });
  await settle();
  expect(page.window.channels).toEqual([]);
  void page.agent.tools.list();
  const { name, description, inputSchema } = adder;
  const told = [{ name, description, inputSchema }];
  expect(page.said.map(({ type }) => type)).toEqual(["tools", "call"]);
  expect(page.said[0]).toEqual({ type: "tools", tools: told });
  const changes = vi.fn();
  page.modelContext.ontoolchange = changes;
  stop.abort();
  await settle();
  expect(page.said.at(-1)).toEqual({ type: "tools", tools: [] });
  expect(changes).toHaveBeenCalledTimes(1);
});

test("a tool of the page is carried out and answers with its result, or with what went wrong", async () => {
  const page = await Page.open();
  const { modelContext } = page;
  await modelContext.registerTool(adder);
  await modelContext.registerTool({
    name: "fail",
    description: "Fails",
    execute: () => Promise.reject(new page.window.Error("boom")),
  });
  await modelContext.registerTool({
    name: "flood",
    description: "Answers with too much",
    execute: () => "x".repeat(2 << 20),
  });
  await settle();
  void page.agent.tools.list();
  const answer = async (call: number, name: string, args: unknown) => {
    page.hear({ type: "tool_call", call, name, args });
    await settle();
    await settle();
    return page.said.find((said) => said["call"] === call);
  };
  expect(await answer(1, "add", { a: 1 })).toEqual({
    ...{ type: "tool_result", call: 1 },
    result: { sum: 2 },
  });
  expect(await answer(2, "fail", {})).toMatchObject({
    error: { code: "ERR_TOOL_FAILED", message: "boom" },
  });
  expect(await answer(3, "none", {})).toMatchObject({
    error: { code: "ERR_TOOL_NOT_FOUND" },
  });
  expect(await answer(4, "flood", {})).toMatchObject({
    error: { code: "ERR_TOOL_FAILED" },
  });
});

test("a tool that is called off learns so, and its answer goes nowhere", async () => {
  const page = await Page.open();
  let stopped = false;
  let end = (_: unknown) => {};
  await page.modelContext.registerTool({
    ...{ name: "slow", description: "Slow" },
    execute: (_, { signal }) => {
      signal?.addEventListener("abort", () => (stopped = true));
      return new Promise((resolve) => (end = resolve));
    },
  });
  await settle();
  void page.agent.tools.list();
  page.hear({ type: "tool_call", call: 1, name: "slow", args: {} });
  await settle();
  page.hear({ type: "tool_cancel", call: 1 });
  expect(stopped).toBe(true);
  end("late");
  await settle();
  expect(page.said.some(({ type }) => type === "tool_result")).toBe(false);
});

test("wrong tools are refused as the browser's own context refuses them", async () => {
  const { modelContext: context, window } = await Page.open();
  await context.registerTool(adder);
  const names = async (tool: object) =>
    (await refusal(context.registerTool(tool as typeof adder))).name;
  expect(await names(adder)).toBe("InvalidStateError");
  expect(await names({ ...adder, name: "bad name" })).toBe("InvalidStateError");
  expect(await names({ name: "x", execute: adder.execute })).toBe("TypeError");
  expect(await names({ name: "x", description: "d" })).toBe("TypeError");
  for (let at = 1; at < 64; at += 1) {
    await context.registerTool({ ...adder, name: `t${at}` });
  }
  expect(await names({ ...adder, name: "more" })).toBe("InvalidStateError");
  const [tool] = await context.getTools();
  expect(tool).toMatchObject({ name: "add", origin: "https://shop.example" });
  if (!tool) throw new Error("no tool");
  expect(await context.executeTool(tool, { a: 4 })).toBe('{"sum":5}');
  expect(
    Object.getOwnPropertyDescriptor(window.document, "modelContext"),
  ).toMatchObject({ writable: false, configurable: true });
});

test("navigator.modelContext is the same, and tools can be added in the way of earlier drafts", async () => {
  const page = await Page.open();
  const { navigator, document } = page.window;
  const context = navigator.modelContext;
  expect(context).toBe(document.modelContext);
  const names = async () =>
    (await page.modelContext.getTools()).map(({ name }) => name);
  await context?.registerTool({ ...adder, name: "kept" });
  await context?.provideContext?.({ tools: [adder] });
  expect(await names()).toEqual(["kept", "add"]);
  await context?.provideContext?.({ tools: [{ ...adder, name: "other" }] });
  expect(await names()).toEqual(["kept", "other"]);
});

test("a tool gets its arguments as an object, whichever way they come", async () => {
  const page = await Page.open();
  const context = page.modelContext;
  await context.registerTool(adder);
  const [tool] = await context.getTools();
  if (!tool) throw new Error("no tool");
  expect(await context.executeTool(tool, '{"a":4}')).toBe('{"sum":5}');
  const wrong = await refusal(context.executeTool(tool, "4"));
  expect(wrong.name).toBe("TypeError");
});

test("a browser's own model context is used, but not the tools of its frames", async () => {
  const ran: unknown[] = [];
  const page = await Page.open({
    before: (window) => {
      const { name, description, inputSchema } = adder;
      const tool = { name, title: "", description, inputSchema, origin: "o" };
      const context = Object.assign(new window.EventTarget(), {
        getTools: () =>
          Promise.resolve([
            { ...tool, window },
            { ...tool, name: "frame", window: {} },
          ]),
        // Bound, so that it reads as a browser's own does.
        executeTool: ((found: object, input: object) => {
          ran.push(found, input);
          return Promise.resolve('{"sum":2}');
        }).bind(null),
      });
      Object.assign(window.document, { modelContext: context });
    },
  });
  await settle();
  void page.agent.tools.list();
  expect(page.said[0]).toMatchObject({ tools: [{ name: "add" }] });
  page.hear({ type: "tool_call", call: 1, name: "add", args: { a: 1 } });
  await settle();
  expect(ran[1]).toEqual({ a: 1 });
  expect(page.said.at(-1)).toMatchObject({ call: 1, result: { sum: 2 } });
});
