// The codes that need something to go wrong elsewhere: tools that are gone, slow or too many, servers that are lost. Where a page waits, its clock is moved.
import type { RunEvent } from "@gangway/client/web-agent";
import type { Page } from "@playwright/test";
import { expect, test } from "../site-fixtures.js";
import { asked, codeOf, meet, request, valueOf } from "../sites.js";

/** Gives the page a tool that never ends, and one that does. */
async function ownTools(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const context = document.modelContext;
    const description = "A tool of this page";
    await context?.registerTool({
      ...{ name: "never", description },
      execute: () => new Promise(() => undefined),
    });
    await context?.registerTool({
      ...{ name: "fish", description },
      execute: () => "cod",
    });
  });
}

test("a tool that does not exist is ERR_TOOL_NOT_FOUND, for those who may call", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  const call = 'agent.tools.call({ tool: "page/none" })';
  expect(await codeOf(page, call)).toBe("ERR_SCOPE_REQUIRED");
  await request(page, ["mcp:tools.call"], "Allow once");
  expect(await codeOf(page, call)).toBe("ERR_TOOL_NOT_FOUND");
});

test.describe("with tool calls of at most a second", () => {
  test.use({ settings: { toolSeconds: 1 } });

  test("a tool that takes longer is ERR_TOOL_TIMEOUT", async ({
    page,
    site,
  }) => {
    await page.goto(site.origin);
    await request(page, ["mcp:tools.call"], "Allow once");
    await ownTools(page);
    const call = 'agent.tools.call({ tool: "page/never" })';
    expect(await codeOf(page, call)).toBe("ERR_TOOL_TIMEOUT");
  });
});

test("what takes a page too long is ERR_TIMEOUT, and the question goes", async ({
  page,
  context,
  site,
  server,
}) => {
  await page.clock.install();
  await page.goto(site.origin);
  await meet(page);
  const own = await context.newPage();
  await own.goto(server.url);
  const permit = await asked(context, () =>
    page.evaluate(() => {
      const late = window.agent
        ?.requestPermissions({ scopes: ["model:list"] })
        .catch((error: unknown) => (error as { code: string }).code);
      Object.assign(window, { late });
    }),
  );
  await expect(own.getByText("requests access to Gangway")).toBeVisible();
  await page.clock.fastForward(120_000);
  expect(await valueOf(page, "late")).toBe("ERR_TIMEOUT");
  await expect.poll(() => permit.isClosed()).toBe(true);
  await expect(own.getByText("requests access to Gangway")).toHaveCount(0);
});

test("more tool calls than a run may make are ERR_BUDGET_EXCEEDED, and there is a final all the same", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  await request(page, ["model:tools"], "Allow once");
  await ownTools(page);
  const events = await page.evaluate(async () => {
    const events: unknown[] = [];
    const task = "call fish {} twice";
    const run = window.agent?.run({ task, maxToolCalls: 1 });
    for await (const event of run ?? []) events.push(event);
    return JSON.parse(JSON.stringify(events)) as RunEvent[];
  });
  const errors = events.map((event) =>
    event.type === "tool_result" ? event.error?.code : undefined,
  );
  expect(errors).toContain("ERR_BUDGET_EXCEEDED");
  expect(JSON.stringify(events)).toContain("cod");
  expect(events.at(-1)?.type).toBe("final");
});

test("a site's MCP server that is lost is ERR_SERVER_UNAVAILABLE", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  await request(
    page,
    ["mcp:servers.register", "mcp:tools.list", "mcp:tools.call"],
    "Allow once",
  );
  const permit = await asked(context, () =>
    page.evaluate(() => {
      const server = { url: "/mcp", name: "Shop" };
      Object.assign(window, { registered: window.agent?.mcp.register(server) });
    }),
  );
  await permit.getByRole("button", { name: "Allow once" }).click();
  const { serverId } = await valueOf<{ serverId: string }>(page, "registered");
  const call = `agent.tools.call({ tool: "${serverId}/price", args: {} })`;
  await expect.poll(() => codeOf(page, call)).toBe("kept");
  site.broken = true;
  await expect.poll(() => codeOf(page, call)).toBe("ERR_SERVER_UNAVAILABLE");
});

test("a Gangway that is gone for 30 seconds is ERR_SERVER_UNAVAILABLE, which can be retried; one that comes back is used again", async ({
  page,
  site,
  server,
}) => {
  await page.clock.install();
  await page.goto(site.origin);
  await request(page, ["model:prompt"], "Always allow");
  await page.evaluate(() => {
    const run = async () => {
      const session = await window.ai?.createTextSession();
      let last: unknown;
      for await (const event of session?.promptStreaming("endless") ?? []) {
        Object.assign(window, { began: true });
        last = event;
      }
      return JSON.parse(JSON.stringify(last)) as unknown;
    };
    Object.assign(window, { ended: run() });
  });
  await page.waitForFunction("window.began");
  await server.kill();
  await page.clock.runFor(31_000);
  expect(await valueOf(page, "ended")).toMatchObject({
    type: "error",
    error: { code: "ERR_SERVER_UNAVAILABLE", details: { retryable: true } },
  });
  await server.launch();
  expect(await valueOf(page, "agent.chat.canOpen()")).toBe("readily");
});
