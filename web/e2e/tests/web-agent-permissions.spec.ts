// Asking the person: the window that no page can touch, its answers, the queue, and how they are taken back.
import type { Page } from "@playwright/test";
import { EVERYTHING } from "../server.js";
import { expect, test } from "../site-fixtures.js";
import { asked, codeOf, meet, request, toolsThere, valueOf } from "../sites.js";

const ask = (scopes: string, more = "") =>
  `window.answer = agent.requestPermissions({ scopes: ${scopes}${more} })`;

test.describe("with tools", () => {
  test.use({ settings: { tools: { everything: { command: EVERYTHING } } } });

  test("the window says who asks, why, what it could do and with which tools; what is unchecked is not allowed", async ({
    page,
    context,
    site,
    server,
  }) => {
    await toolsThere(server);
    await page.goto(site.origin);
    const permit = await asked(context, () =>
      page.evaluate(
        (call) => {
          (0, eval)(call);
        },
        ask(
          '["mcp:tools.call", "model:prompt"]',
          ', reason: "To price fish", tools: ["everything/echo", "everything/get-sum", "no/such"]',
        ),
      ),
    );
    const origin = permit.locator(".origin");
    await expect(origin).toHaveText(site.origin);
    expect(
      await origin.evaluate((node) => getComputedStyle(node).fontFamily),
    ).toContain("monospace");
    await expect(permit.getByText("To price fish")).toBeVisible();
    const cards = permit
      .getByRole("list", { name: "Requested permissions" })
      .getByRole("listitem");
    await expect(cards).toHaveCount(2);
    await expect(cards.filter({ hasText: "Use your tools" })).toContainText(
      "High risk",
    );
    const prompt = cards.filter({ hasText: "Use your model" });
    await expect(prompt).toContainText("Medium risk");
    await expect(prompt).toContainText("May cost money");
    const tools = permit.getByRole("group", { name: "Tools it may use" });
    await expect(tools.getByRole("checkbox")).toHaveCount(2);
    await tools.getByRole("checkbox", { name: /get-sum/ }).uncheck();
    const names = permit.locator(".choices button");
    await expect(names).toHaveText(["Allow once", "Always allow", "Deny"]);
    await permit.getByRole("button", { name: "Always allow" }).click();
    expect(await valueOf(page, "window.answer")).toEqual({
      granted: true,
      scopes: {
        "mcp:tools.call": "granted-always",
        "model:prompt": "granted-always",
      },
      allowedTools: ["everything/echo"],
    });
    const sum =
      'agent.tools.call({ tool: "everything/get-sum", args: { a: 1, b: 2 } })';
    expect(await codeOf(page, sum)).toBe("ERR_TOOL_NOT_ALLOWED");
    const echo =
      'agent.tools.call({ tool: "everything/echo", args: { message: "fish" } })';
    expect(JSON.stringify(await valueOf(page, echo))).toContain("fish");
    // Another origin was allowed nothing.
    await page.goto(site.other);
    expect(await codeOf(page, echo)).toBe("ERR_SCOPE_REQUIRED");
  });

  test("more than a handful of tools are not checked, and a choice of none allows none", async ({
    page,
    context,
    site,
    server,
  }) => {
    await toolsThere(server);
    await page.goto(site.origin);
    const permit = await asked(context, () =>
      page.evaluate((call) => {
        (0, eval)(call);
      }, ask('["mcp:tools.call"]')),
    );
    const all = permit.getByRole("button", { name: "Select all", exact: true });
    await all.click();
    await permit
      .getByRole("button", { name: "Deselect all", exact: true })
      .click();
    await expect(all).toBeVisible();
    await permit.getByRole("button", { name: "Allow once" }).click();
    expect(await valueOf(page, "window.answer")).toMatchObject({
      granted: true,
      allowedTools: [],
    });
    const echo =
      'agent.tools.call({ tool: "everything/echo", args: { message: "x" } })';
    expect(await codeOf(page, echo)).toBe("ERR_TOOL_NOT_ALLOWED");
  });
});

test("only missing scopes are requested, and granted ones are not", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  expect(await request(page, ["model:prompt"], "Allow once")).toEqual({
    granted: true,
    scopes: { "model:prompt": "granted-once" },
  });
  expect(
    await valueOf(
      page,
      'agent.requestPermissions({ scopes: ["model:prompt"] })',
    ),
  ).toMatchObject({ granted: true });
  const permit = await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["model:prompt", "model:list"]')),
  );
  await expect(permit.getByText("List your models")).toBeVisible();
  await expect(permit.getByText("Use your model")).toHaveCount(0);
  await permit.getByRole("button", { name: "Always allow" }).click();
  const { origin, scopes } = await valueOf<{
    origin: string;
    scopes: Record<string, string>;
  }>(page, "window.answer.then(() => agent.permissions.list())");
  expect(origin).toBe(site.origin);
  expect(Object.keys(scopes)).toHaveLength(11);
  expect(scopes).toMatchObject({
    "model:prompt": "granted-once",
    "model:list": "granted-always",
    "chat:open": "not-granted",
  });
});

test("a denied scope is ERR_PERMISSION_DENIED and not asked for again, until it is cleared", async ({
  page,
  context,
  site,
  server,
}) => {
  await page.goto(site.origin);
  await meet(page);
  expect(await request(page, ["model:list"], "Deny")).toEqual({
    granted: false,
    scopes: { "model:list": "denied" },
  });
  expect(await codeOf(page, "ai.providers.list()")).toBe(
    "ERR_PERMISSION_DENIED",
  );
  const opened: Page[] = [];
  context.on("page", (window) => opened.push(window));
  expect(
    await valueOf(page, 'agent.requestPermissions({ scopes: ["model:list"] })'),
  ).toMatchObject({ granted: false });
  expect(opened).toEqual([]);
  const own = await context.newPage();
  await own.goto(`${server.url}/permissions`);
  await own.getByRole("button", { name: `Remove ${site.origin}` }).click();
  await own.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(
    own.getByText("No site has been allowed or denied anything."),
  ).toBeVisible();
  expect(await request(page, ["model:list"], "Allow once")).toMatchObject({
    granted: true,
  });
});

test("closing the window, or pressing Escape in it, leaves the page without an answer: not-granted", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  for (const close of ["close", "Escape"]) {
    const permit = await asked(context, () =>
      page.evaluate((call) => {
        (0, eval)(call);
      }, ask('["chat:open"]')),
    );
    if (close === "close") await permit.close();
    // The window may be gone before the key is up again.
    else await permit.keyboard.press("Escape").catch(() => undefined);
    expect(await valueOf(page, "window.answer")).toEqual({
      granted: false,
      scopes: { "chat:open": "not-granted" },
    });
  }
});

test("a question is seen in every tab of Gangway and can be answered there; its window goes", async ({
  page,
  context,
  site,
  server,
}) => {
  const own = await context.newPage();
  await own.goto(server.url);
  await page.goto(site.origin);
  await meet(page);
  const permit = await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["model:list"]')),
  );
  await expect(
    own.getByText(`${site.origin} requests access to Gangway.`),
  ).toBeVisible();
  await own.getByRole("button", { name: "Review" }).click();
  await own
    .getByRole("dialog")
    .getByRole("button", { name: "Always allow" })
    .click();
  expect(await valueOf(page, "window.answer")).toMatchObject({ granted: true });
  await expect(own.getByText("requests access to Gangway")).toHaveCount(0);
  await expect.poll(() => permit.isClosed()).toBe(true);
});

test("questions of one site come one at a time", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  await meet(page);
  const permit = await asked(context, () =>
    page.evaluate(() => {
      const first = window.agent?.requestPermissions({
        scopes: ["model:list"],
      });
      Object.assign(window, { first });
    }),
  );
  await page.evaluate((call) => {
    (0, eval)(call);
  }, ask('["model:prompt"]'));
  await expect(permit.getByText("List your models")).toBeVisible();
  await expect(permit.getByText("Use your model")).toHaveCount(0);
  const next = await asked(context, () =>
    permit.getByRole("button", { name: "Always allow" }).click(),
  );
  await expect(next.getByText("Use your model")).toBeVisible();
  await next.getByRole("button", { name: "Deny" }).click();
  expect(await valueOf(page, "window.first")).toMatchObject({ granted: true });
  expect(await valueOf(page, "window.answer")).toMatchObject({
    granted: false,
  });
});

test("a revoke on the Permissions page ends what is running, at once", async ({
  page,
  context,
  site,
  server,
  thinker,
}) => {
  await page.goto(site.origin);
  await request(page, ["model:prompt"], "Always allow");
  await page.evaluate(() => {
    const events: string[] = [];
    const run = async () => {
      const session = await window.ai?.createTextSession();
      for await (const event of session?.promptStreaming("endless") ?? []) {
        events.push(
          event.type === "error" ? (event.error?.code ?? "") : event.type,
        );
      }
      return events.at(-1);
    };
    Object.assign(window, { events, ended: run() });
  });
  await expect
    .poll(() => valueOf<number>(page, "events.length"))
    .toBeGreaterThan(2);
  const own = await context.newPage();
  await own.goto(`${server.url}/permissions`);
  await own.getByRole("button", { name: "Edit" }).click();
  await own.getByLabel(/Use your model/).selectOption("Denied");
  expect(await valueOf(page, "ended")).toBe("ERR_PERMISSION_DENIED");
  await expect.poll(() => thinker.left).toBe(1);
  expect(await codeOf(page, "ai.createTextSession()")).toBe(
    "ERR_PERMISSION_DENIED",
  );
  const log = own.getByRole("list", { name: "Audit log", exact: true });
  await expect(log).toContainText("Decision");
  await expect(log).toContainText(site.origin);
});

test("reloading the page in the middle of a question takes it back", async ({
  page,
  context,
  site,
  server,
}) => {
  const own = await context.newPage();
  await own.goto(server.url);
  await page.goto(site.origin);
  await meet(page);
  await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["model:list"]')),
  );
  await expect(own.getByText("requests access to Gangway")).toBeVisible();
  await page.reload();
  await expect(own.getByText("requests access to Gangway")).toHaveCount(0);
});

test("the Permissions page shows what a site used of its model budget, and changes it", async ({
  page,
  context,
  site,
  server,
}) => {
  await page.goto(site.origin);
  await request(page, ["model:prompt"], "Always allow");
  const ask = 'ai.createTextSession().then((s) => s.prompt("herring"))';
  expect(await valueOf(page, ask)).toBe("Heard: herring");
  const own = await context.newPage();
  await own.goto(`${server.url}/permissions`);
  await own.getByRole("button", { name: "Edit" }).click();
  await expect(
    own.getByText(/^[1-9]\d* of 200,000 tokens used today/),
  ).toBeVisible();
  const tokens = own.getByRole("spinbutton", { name: "Tokens per day" });
  await tokens.fill("1");
  await tokens.press("Enter");
  await expect(own.getByText(/of 1 tokens? used today/)).toBeVisible();
  expect(await codeOf(page, ask)).toBe("ERR_BUDGET_EXCEEDED");
  await tokens.fill("5000");
  await tokens.press("Enter");
  await expect(own.getByText(/of 5,000 tokens used today/)).toBeVisible();
  expect(await valueOf(page, ask)).toBe("Heard: herring");
  await expect(
    own.getByRole("spinbutton", { name: "Concurrent calls" }),
  ).toHaveValue("4");
});
