// Pages that do what they should not: each gets its code, and nobody else is harmed.
import { EVERYTHING } from "../server.js";
import { expect, test } from "../site-fixtures.js";
import { asked, codeOf, request, toolsThere, valueOf } from "../sites.js";

test("a page of an opaque origin gets nothing", async ({ page, site }) => {
  await page.goto(`${site.origin}/sandbox`);
  const frame = page.frames()[1];
  if (!frame) throw new Error("there is no frame");
  await frame.waitForLoadState();
  const code = await frame.evaluate(() =>
    window.agent
      ?.requestPermissions({ scopes: ["chat:open"] })
      .catch((error: unknown) => (error as { code: string }).code),
  );
  expect(code).toBe("ERR_PERMISSION_DENIED");
});

test("a page cannot speak for another origin, not by its own broker frame nor by a socket", async ({
  page,
  site,
  server,
}) => {
  await page.goto(site.other);
  await request(page, ["model:list"], "Always allow");
  await page.goto(site.origin);
  const received = await page.evaluate(
    async ([gangway, victim]) => {
      const frame = document.createElement("iframe");
      frame.src = `${gangway}/broker`;
      document.body.append(frame);
      await new Promise((resolve) => (frame.onload = resolve));
      const { port1, port2 } = new MessageChannel();
      const received: { type: string; error?: { code: string } }[] = [];
      port1.onmessage = ({ data }) =>
        received.push(data as (typeof received)[0]);
      const hello = {
        gangway: "hello",
        v: 1,
        tab: "ab".repeat(16),
        origin: victim,
      };
      frame.contentWindow?.postMessage(hello, gangway ?? "", [port2]);
      port1.postMessage({
        type: "hello",
        v: 1,
        origin: victim,
        tab: "ab".repeat(16),
      });
      port1.postMessage({
        type: "call",
        id: 1,
        method: "providers.list",
        params: "{}",
        origin: victim,
      });
      while (
        !received.some(({ type }) => type === "error" || type === "result")
      ) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return received;
    },
    [server.url, site.other],
  );
  expect(received.at(-1)).toMatchObject({
    type: "error",
    error: { code: "ERR_SCOPE_REQUIRED" },
  });
  const socket = await page.evaluate(
    (url) =>
      new Promise((resolve) => {
        const socket = new WebSocket(url);
        socket.onopen = () => resolve("open");
        socket.onerror = () => resolve("refused");
      }),
    `${server.url.replace("http", "ws")}/ws/web-agent`,
  );
  expect(socket).toBe("refused");
});

test("a page that floods prompts is ERR_RATE_LIMITED, with one window open", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  const permit = await asked(context, () =>
    page.evaluate(() => {
      const first = window.agent?.requestPermissions({ scopes: ["chat:open"] });
      Object.assign(window, { first });
    }),
  );
  await page.evaluate(() => {
    const scopes = [
      ...(["model:prompt", "model:list", "model:tools"] as const),
      ...(["mcp:tools.list", "mcp:tools.call"] as const),
      ...(["mcp:servers.register", "browser:activeTab.read"] as const),
    ];
    // No two are the same, so that none can wait for the answer to another.
    const codes: string[] = [];
    Object.assign(window, { codes });
    for (let at = 1; at <= 100; at += 1) {
      window.agent
        ?.requestPermissions({
          scopes: scopes.filter((_, bit) => (at >> bit) & 1),
        })
        .then(
          () => codes.push("kept"),
          (error: unknown) => codes.push((error as { code: string }).code),
        );
    }
  });
  const codes = () => valueOf<string[]>(page, "codes");
  await expect
    .poll(async () => (await codes()).length)
    .toBeGreaterThanOrEqual(90);
  expect(new Set(await codes())).toEqual(new Set(["ERR_RATE_LIMITED"]));
  const permits = context
    .pages()
    .filter((one) => one.url().includes("/permit"));
  expect(permits).toHaveLength(1);
  await permit.getByRole("button", { name: "Deny" }).click();
});

test("unknown scopes are not granted, calls before permission and wrong arguments are refused where they are made", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  const scopes = 'agent.requestPermissions({ scopes: ["root:everything"] })';
  expect(await valueOf(page, scopes)).toEqual({
    granted: false,
    scopes: { "root:everything": "not-granted" },
  });
  expect(await codeOf(page, "agent.requestPermissions()")).toBe(
    "ERR_INVALID_ARGUMENT",
  );
  for (const call of [
    "agent.tools.list()",
    'agent.tools.call({ tool: "everything/echo" })',
    "ai.createTextSession()",
    "ai.providers.list()",
    "agent.browser.activeTab.readability()",
  ]) {
    expect(await codeOf(page, call), call).toBe("ERR_SCOPE_REQUIRED");
  }
});

test("500 sessions at once are too many", async ({ page, site }) => {
  await page.goto(site.origin);
  await request(page, ["model:prompt"], "Allow once");
  const codes = await page.evaluate(async () => {
    const { ai } = window;
    if (!ai) throw new Error("there is no window.ai");
    const made = Array.from({ length: 500 }, () =>
      ai.createTextSession().then(
        () => "kept",
        (error: unknown) => (error as { code: string }).code,
      ),
    );
    return Promise.all(made);
  });
  const kept = codes.filter((code) => code === "kept").length;
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThanOrEqual(50);
  expect(new Set(codes)).toEqual(new Set(["kept", "ERR_RATE_LIMITED"]));
});

test("addresses of the network, of clouds and of Gangway itself are no servers of a site of this machine", async ({
  page,
  site,
  server,
}) => {
  await page.goto(site.origin);
  await request(page, ["mcp:servers.register"], "Allow once");
  for (const url of [
    "http://169.254.169.254/",
    "http://10.0.0.1/mcp",
    `${server.url}/mcp`,
    "file:///etc/passwd",
  ]) {
    const answer = await valueOf(
      page,
      `agent.mcp.register({ url: ${JSON.stringify(url)}, name: "x" })`,
    );
    expect(answer, url).toMatchObject({
      success: false,
      error: { code: "INVALID_URL" },
    });
  }
});

test("a redirect to such an address is not followed", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  await request(page, ["mcp:servers.register"], "Allow once");
  const permit = await asked(context, () =>
    page.evaluate(() => {
      const registered = window.agent?.mcp.register({
        url: "/redirect",
        name: "x",
      });
      Object.assign(window, { registered });
    }),
  );
  await permit.getByRole("button", { name: "Allow once" }).click();
  expect(await valueOf(page, "registered")).toMatchObject({
    success: false,
    error: { code: "CONNECTION_FAILED" },
  });
});

test.describe("with tools", () => {
  test.use({ settings: { tools: { everything: { command: EVERYTHING } } } });

  test("arguments of 10 MB are rejected, and the connection keeps working", async ({
    page,
    site,
    server,
  }) => {
    await toolsThere(server);
    await page.goto(site.origin);
    await request(page, ["mcp:tools.call"], "Allow once");
    const big = `agent.tools.call({ tool: "everything/echo", args: { message: "x".repeat(10 << 20) } })`;
    expect(await codeOf(page, big)).toBe("ERR_TOOL_FAILED");
    const small = `agent.tools.call({ tool: "everything/echo", args: { message: "x" } })`;
    expect(await codeOf(page, small)).toBe("kept");
    expect(
      await codeOf(page, 'agent.tools.call({ tool: "everything/none" })'),
    ).toBe("ERR_TOOL_NOT_ALLOWED");
  });
});

test("a page that reloads in the middle of a run ends it", async ({
  page,
  site,
  thinker,
}) => {
  await page.goto(site.origin);
  await request(page, ["model:tools"], "Always allow");
  await page
    .evaluate(async () => {
      for await (const { type } of window.agent?.run({ task: "endless" }) ??
        []) {
        if (type !== "token") continue;
        location.reload();
        await new Promise(() => undefined);
      }
    })
    .catch(() => undefined);
  await expect.poll(() => thinker.left).toBe(1);
});

test("what a page patches harms itself alone: what window.agent holds cannot be changed", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  const changed = await page.evaluate(() => {
    const { agent } = window;
    if (!agent) return "there is none";
    const took = [
      Reflect.set(agent, "run", null),
      Reflect.set(agent.chat, "open", null),
      Reflect.deleteProperty(agent, "tools"),
    ];
    return took.includes(true);
  });
  expect(changed).toBe(false);
  await page.evaluate(() => {
    JSON.stringify = () => '{"scopes":["model:prompt"]}';
    MessagePort.prototype.postMessage = () => undefined;
  });
  expect(await valueOf(page, "agent.chat.canOpen()")).toBe("readily");
});
