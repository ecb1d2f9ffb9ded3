// Every method of window.ai and window.agent as a page of another origin calls it, on two origins.
import type { RunEvent, StreamToken } from "@gangway/client/web-agent";
import { EVERYTHING } from "../server.js";
import { expect, test } from "../site-fixtures.js";
import { asked, codeOf, request, toolsThere, valueOf } from "../sites.js";

/** Everything that an iterator on the page gives. */
const list = (iterator: string) => `(async () => {
  const events = [];
  for await (const event of ${iterator}) events.push(JSON.parse(JSON.stringify(event)));
  return events;
})()`;

for (const name of ["origin", "other"] as const) {
  test.describe(`on the ${name === "origin" ? "first" : "second"} origin`, () => {
    test("text sessions prompt, stream, abort and are destroyed", async ({
      page,
      site,
      thinker,
    }) => {
      await page.goto(site[name]);
      expect(await codeOf(page, "ai.createTextSession()")).toBe(
        "ERR_SCOPE_REQUIRED",
      );
      await request(page, ["model:prompt"], "Allow once");
      await page.evaluate(async () => {
        const session = await window.ai?.createTextSession({
          systemPrompt: "Speak of fish.",
          temperature: 0.5,
        });
        Object.assign(window, { session });
      });
      expect(await valueOf(page, 'session.prompt("herring")')).toBe(
        "Heard: herring",
      );
      const last = JSON.parse(thinker.lastQuestion) as {
        temperature: number;
      };
      expect(last.temperature).toBe(0.5);
      expect(thinker.lastQuestion).toContain("Speak of fish.");
      const events = await valueOf<StreamToken[]>(
        page,
        list('session.promptStreaming("cod")'),
      );
      expect(events.map(({ type }) => type)).toEqual([
        ...["token", "token", "token", "done"],
      ]);
      expect(events.map(({ token = "" }) => token).join("")).toBe("Heard: cod");
      // The session remembers.
      expect(thinker.lastQuestion).toContain("herring");

      const aborted = await page.evaluate(async () => {
        const { session } = window as unknown as {
          session: import("@gangway/client/web-agent").TextSession;
        };
        const stop = new AbortController();
        setTimeout(() => stop.abort(), 300);
        try {
          await session.prompt("endless", { signal: stop.signal });
        } catch (error) {
          return (error as { code: string }).code;
        }
        return "kept";
      });
      expect(aborted).toBe("ERR_ABORTED");
      await expect.poll(() => thinker.left).toBe(1);
      expect(await codeOf(page, 'session.prompt("fail")')).toBe(
        "ERR_MODEL_FAILED",
      );
      await valueOf(page, "session.destroy()");
      expect(await codeOf(page, 'session.prompt("x")')).toBe(
        "ERR_SESSION_NOT_FOUND",
      );
    });

    test("providers and runtimes are listed", async ({ page, site }) => {
      await page.goto(site[name]);
      expect(await codeOf(page, "ai.runtime.getBest()")).toBe(
        "ERR_SCOPE_REQUIRED",
      );
      await request(page, ["model:list"], "Allow once");
      const providers = await valueOf<{ id: string }[]>(
        page,
        "ai.providers.list()",
      );
      expect(providers.find(({ id }) => id === "thinker")).toMatchObject({
        available: true,
        runtime: "bridge",
      });
      expect(await valueOf(page, "ai.runtime.getBest()")).toBe("harbor");
      expect(await valueOf(page, "ai.runtime.getCapabilities()")).toMatchObject(
        {
          firefox: null,
          harbor: { available: true, bridgeConnected: true },
        },
      );
    });

    test("the page is read as text", async ({ page, site }) => {
      await page.goto(`${site[name]}/herring`);
      const read = "agent.browser.activeTab.readability()";
      expect(await codeOf(page, read)).toBe("ERR_SCOPE_REQUIRED");
      await request(page, ["browser:activeTab.read"], "Allow once");
      const text = await valueOf<Record<string, string>>(page, read);
      expect(text).toMatchObject({
        url: `${site[name]}/herring`,
        title: "A shop",
      });
      expect(text["text"]).toContain("The herring is a fish");
      expect(text["text"]).not.toMatch(/not text|Cart/);
    });
  });
}

test.describe("with tools", () => {
  test.use({ settings: { tools: { everything: { command: EVERYTHING } } } });

  test("tools are listed and called, and runs give every event", async ({
    page,
    site,
    server,
  }) => {
    await toolsThere(server);
    await page.goto(site.other);
    for (const call of [
      "agent.tools.list()",
      'agent.tools.call({ tool: "no/such" })',
    ]) {
      expect(await codeOf(page, call)).toBe("ERR_SCOPE_REQUIRED");
    }
    await request(
      page,
      ["mcp:tools.list", "mcp:tools.call", "model:tools"],
      "Allow once",
      { tools: ["everything/echo"] },
    );
    const tools = await valueOf<{ name: string }[]>(page, "agent.tools.list()");
    expect(tools.find(({ name }) => name === "everything/echo")).toMatchObject({
      serverId: "everything",
      inputSchema: { type: "object" },
    });
    const echo = `agent.tools.call({ tool: "everything/echo", args: { message: "fish" } })`;
    expect(JSON.stringify(await valueOf(page, echo))).toContain("Echo: fish");
    expect(
      await codeOf(
        page,
        'agent.tools.call({ tool: "everything/echo", args: { message: 7 } })',
      ),
    ).toBe("ERR_TOOL_FAILED");

    const events = await valueOf<RunEvent[]>(
      page,
      list(
        `agent.run({ task: 'call echo {"message":"cod"}', useAllTools: true })`,
      ),
    );
    const types = events.map(({ type }) => type);
    expect(types).toContain("status");
    expect(events.find(({ type }) => type === "tool_call")).toMatchObject({
      tool: "everything/echo",
      args: { message: "cod" },
    });
    const result = events.find(({ type }) => type === "tool_result");
    expect(JSON.stringify(result)).toContain("Echo: cod");
    expect(types).toContain("token");
    expect(events.at(-1)).toMatchObject({ type: "final" });

    // A tool that is there, and not among those that were allowed, is refused to a run as well.
    const refused = await valueOf<RunEvent[]>(
      page,
      list(
        `agent.run({ task: 'call get-sum {"a":1,"b":2}', useAllTools: true })`,
      ),
    );
    expect(JSON.stringify(refused)).not.toContain("The sum of");
  });
});

test("a run is aborted at once, and its model left alone", async ({
  page,
  site,
  thinker,
}) => {
  await page.goto(site.origin);
  const denied = await valueOf(page, list('agent.run({ task: "x" })'));
  expect(denied).toMatchObject([
    { type: "error", error: { code: "ERR_SCOPE_REQUIRED" } },
  ]);
  await request(page, ["model:tools"], "Allow once");
  const last = await page.evaluate(async () => {
    const stop = new AbortController();
    const { signal } = stop;
    let last: unknown;
    for await (const event of window.agent?.run({ task: "endless", signal }) ??
      []) {
      if (event.type === "token") {
        stop.abort();
        stop.abort();
      }
      last = JSON.parse(JSON.stringify(event));
    }
    return last;
  });
  expect(last).toMatchObject({
    type: "error",
    error: { code: "ERR_ABORTED" },
  });
  await expect.poll(() => thinker.left).toBe(1);
  // Breaking out of the loop does the same.
  await page.evaluate(async () => {
    for await (const { type } of window.agent?.run({ task: "endless" }) ?? []) {
      if (type === "token") break;
    }
  });
  await expect.poll(() => thinker.left).toBe(2);
});

test("a site's MCP server is discovered, registered by consent, seen by that site alone, and unregistered", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  expect(await valueOf(page, "agent.mcp.discover()")).toEqual([
    { url: `${site.origin}/mcp`, title: "Shop", tools: ["price"] },
  ]);
  const register = `agent.mcp.register({ url: "/mcp", name: "Fish shop" })`;
  expect(await codeOf(page, register)).toBe("ERR_SCOPE_REQUIRED");
  await request(
    page,
    ["mcp:servers.register", "mcp:tools.list", "mcp:tools.call"],
    "Allow once",
  );
  const permit = await asked(context, () =>
    page.evaluate((call) => {
      Object.assign(window, { registered: (0, eval)(call) as unknown });
    }, register),
  );
  await expect(permit.getByText(`${site.origin}/mcp`)).toBeVisible();
  const words = permit.getByRole("blockquote").filter({ hasText: "Fish shop" });
  await expect(words).toContainText("Text from the site");
  await permit.getByRole("button", { name: "Allow once" }).click();
  const { success, serverId } = await valueOf<{
    success: boolean;
    serverId: string;
  }>(page, "registered");
  expect(success).toBe(true);
  const call = `agent.tools.call({ tool: "${serverId}/price", args: { fish: "cod" } })`;
  await expect
    .poll(async () => JSON.stringify(await valueOf(page, "agent.tools.list()")))
    .toContain(`${serverId}/price`);
  expect(JSON.stringify(await valueOf(page, call))).toContain("cod costs 7");

  const other = await context.newPage();
  await other.goto(site.other);
  await request(other, ["mcp:tools.list", "mcp:tools.call"], "Allow once");
  expect(
    JSON.stringify(await valueOf(other, "agent.tools.list()")),
  ).not.toContain("price");
  expect(await codeOf(other, call)).not.toBe("kept");

  expect(
    await valueOf(page, `agent.mcp.unregister("${serverId}")`),
  ).toMatchObject({ success: true });
  expect(await codeOf(page, call)).not.toBe("kept");
});

test("a server that the person does not want is USER_DENIED", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  await request(page, ["mcp:servers.register"], "Allow once");
  const permit = await asked(context, () =>
    page.evaluate(() => {
      const registered = window.agent?.mcp.register({
        url: "/mcp",
        name: "Shop",
      });
      Object.assign(window, { registered });
    }),
  );
  await permit.getByRole("button", { name: "Deny" }).click();
  expect(await valueOf(page, "registered")).toMatchObject({
    success: false,
    error: { code: "USER_DENIED" },
  });
});

test("a chat opens beside the page in its colours, talks to the person's model, and is closed from both sides", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  expect(await valueOf(page, "agent.chat.canOpen()")).toBe("readily");
  expect(await valueOf(page, "agent.chat.open()")).toMatchObject({
    error: { code: "PERMISSION_REQUIRED" },
  });
  await request(page, ["chat:open"], "Allow once");
  const open = `agent.chat.open({ systemPrompt: "Sell fish.", style: { theme: "dark", accentColor: "#ff9900" } })`;
  const opened = await valueOf<{ success: boolean; chatId: string }>(
    page,
    open,
  );
  expect(opened).toEqual({ success: true, chatId: opened.chatId });
  expect(await valueOf(page, open)).toMatchObject({
    error: { code: "ALREADY_OPEN" },
  });
  const frame = page.frameLocator('iframe[title="Chat"]');
  await expect(frame.getByText(`Opened by ${site.origin}`)).toBeVisible();
  await expect(frame.locator("html")).toHaveAttribute("data-theme", "dark");
  await frame.getByRole("textbox", { name: "Message" }).fill("herring");
  await frame.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect(frame.getByText("Heard: herring")).toBeVisible();
  await frame.getByRole("textbox", { name: "Message" }).fill("and cod");
  for (const part of [
    frame.locator(".user", { hasText: "herring" }),
    frame.getByRole("button", { name: "Send" }),
  ]) {
    await expect(part).toHaveCSS("background-color", "rgb(255, 153, 0)");
    await expect(part).toHaveCSS("color", "rgb(0, 0, 0)");
  }
  expect(await frame.getByRole("link").count()).toBe(0);
  await frame.getByRole("button", { name: "Close chat" }).click();
  await expect(page.locator('iframe[title="Chat"]')).toHaveCount(0);

  const again = await valueOf<{ chatId: string }>(page, open);
  await expect(page.locator('iframe[title="Chat"]')).toHaveCount(1);
  expect(
    await valueOf(page, `agent.chat.close("${again.chatId}")`),
  ).toMatchObject({ success: true });
  await expect(page.locator('iframe[title="Chat"]')).toHaveCount(0);
});

test("a tool that the page implements is there for the agent that it runs", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  await request(page, ["model:tools", "mcp:tools.list"], "Allow once");
  const events = await page.evaluate(async () => {
    await document.modelContext?.registerTool({
      name: "stock",
      description: "How many fish there are",
      inputSchema: { type: "object", properties: { fish: { type: "string" } } },
      execute: ({ fish }) => ({ left: `3 ${String(fish)}` }),
    });
    const events: unknown[] = [];
    const run = window.agent?.run({ task: 'call stock {"fish":"cod"}' });
    for await (const event of run ?? []) events.push(event);
    return JSON.stringify(events);
  });
  expect(events).toContain("page/stock");
  expect(events).toContain("3 cod");
});

test("window.ai and window.agent are there for the first script after, and announced", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/early`);
  expect(await valueOf<string[]>(page, "events")).toEqual([
    ...["object", "object", "ready"],
  ]);
  // A page that has these names for something else goes on as before.
  await page.goto(`${site.origin}/names`);
  expect(await valueOf(page, "sum")).toBe(3);
});

test("a page that was built without the script finds Gangway by the loader", async ({
  page,
  site,
  server,
}) => {
  await page.goto(`${site.origin}/loader`);
  await page.waitForFunction("window.loadGangway");
  const url = JSON.stringify({ url: server.url });
  expect(
    await valueOf(
      page,
      `loadGangway(${url}).then(({ agent }) => agent.chat.canOpen())`,
    ),
  ).toBe("readily");
  await page.reload();
  await page.waitForFunction("window.loadGangway");
  const missing = `loadGangway({ url: "http://127.0.0.1:9876" }).catch(({ code, details }) => ({ code, details }))`;
  expect(await valueOf(page, missing)).toMatchObject({
    code: "ERR_NOT_INSTALLED",
    details: { reason: "not_running" },
  });
});
