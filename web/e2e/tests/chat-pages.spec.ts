// The pages of a chat: the person sees which are open, connects a site that is open in another tab, and disconnects it.
import type { Page } from "@playwright/test";
import { probe } from "../context.js";
import { say, settled } from "../fixtures.js";
import { AUDIT, look } from "../looks.js";
import { expect, test } from "../site-fixtures.js";
import { request } from "../sites.js";

const ADDER: Record<string, string> = {
  "meta.json": JSON.stringify({ slug: "adder", name: "Adder" }),
  "content.html": "<h1>Adder</h1>",
  "script.js": `registerTool({ name: "add" }, ({ a, b }) => a + b);`,
};

test.use({
  settings: {
    applets: { adder: ADDER },
    apps: { probe: probe() },
    defaultAgent: "mate",
    scripts: {
      mate: { description: "Answers.", turns: [{ steps: [{ say: "Aye." }] }] },
    },
  },
});

/** A chat with an applet beside it; gives back its session. */
async function chat(page: Page, url: string): Promise<string> {
  await page.goto(`${url}/?applet=adder`);
  await expect(
    page.frameLocator("iframe").getByRole("heading", { name: "Adder" }),
  ).toBeVisible();
  await say(page, "Hello there");
  await settled(page);
  return /\/sessions\/([^/?]+)/.exec(page.url())?.[1] ?? "";
}

/** A site that offers a tool, and that the person has let in. */
async function openSite(page: Page, origin: string): Promise<void> {
  await page.goto(origin);
  await page.evaluate(async () => {
    await document.modelContext?.registerTool({
      ...{ name: "fish", description: "Finds fish" },
      execute: () => "cod",
    });
  });
  await request(page, ["mcp:tools.list"], "Allow once");
}

const dialog = (page: Page) =>
  page.getByRole("dialog", { name: "Pages of this chat" });
const list = (page: Page, name: string) =>
  dialog(page).getByRole("list", { name, exact: true });

test("the pages of a chat are listed with their tools, and an open site is connected and disconnected by keyboard", async ({
  page,
  context,
  server,
  site,
}) => {
  const session = await chat(page, server.url);
  const other = await context.newPage();
  await page.bringToFront();
  await page.getByRole("button", { name: "Pages of this chat" }).press("Enter");
  const own = list(page, "Pages of this chat").getByRole("listitem");
  await expect(own.first()).toContainText("Adder");
  await expect(dialog(page)).toContainText("you are asked before a call");
  await expect(list(page, "Open sites")).toContainText("No other site");
  await own.first().getByText("1 tool").press("Enter");
  await expect(own.first().getByText("add", { exact: true })).toBeVisible();

  // It appears while the dialog is open.
  await openSite(other, site.origin);
  await page.bringToFront();
  const connect = dialog(page).getByRole("button", {
    name: `Connect ${site.origin}`,
  });
  await connect.focus();
  await page.keyboard.press("Enter");
  const disconnect = dialog(page).getByRole("button", {
    name: `Disconnect ${site.origin}`,
  });
  await expect(disconnect).toBeFocused();
  await expect(dialog(page).getByRole("status")).toHaveText(
    `${site.origin} is connected.`,
  );
  await expect(list(page, "Open sites")).toContainText("No other site");
  const pages = async () => {
    const answer = await server.fetch("/api/pages");
    const { pages } = (await answer.json()) as {
      pages: { kind: string; sessionId: string | null; tools: string[] }[];
    };
    return pages.find(({ kind }) => kind === "site");
  };
  expect(await pages()).toMatchObject({ sessionId: session });
  await expect.poll(async () => (await pages())?.tools).toEqual(["fish"]);

  await page.keyboard.press("Enter");
  await expect(connect).toBeFocused();
  expect(await pages()).toMatchObject({ sessionId: null });
  await page.keyboard.press("Escape");
  await expect(dialog(page)).toBeHidden();
});

test("a site of another chat is moved, and one that was closed meanwhile says so", async ({
  page,
  context,
  server,
  site,
}) => {
  const made = await server.post("/api/sessions");
  const { sessionId } = (await made.json()) as { sessionId: string };
  const other = await context.newPage();
  await openSite(other, site.origin);
  await page.bringToFront();
  const session = await chat(page, server.url);
  await page.getByRole("button", { name: "Pages of this chat" }).click();
  const row = list(page, "Open sites")
    .getByRole("listitem")
    .filter({ hasText: site.origin });
  await expect(row.getByRole("button")).toHaveText("Connect");
  const answer = await server.fetch("/api/pages");
  const { pages } = (await answer.json()) as {
    pages: { pageId: string; kind: string }[];
  };
  const id = pages.find(({ kind }) => kind === "site")?.pageId ?? "";
  const put = (to: string | null) =>
    server.fetch(`/api/pages/${id}/session`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ sessionId: to }),
    });
  expect((await put(sessionId)).status).toBe(204);
  await expect(row.getByRole("button")).toHaveText("Move here");
  await row.getByRole("button").click();
  await expect(list(page, "Pages of this chat")).toContainText(site.origin);
  const log = await server.fetch(`/api/sessions/${session}/export`);
  expect(await log.text()).toContain(site.origin);

  // Nobody reads the list again before the click.
  const gone = { status: 404, body: "" };
  await page.route("**/api/pages/*/session", (route) =>
    route.fulfill({
      ...gone,
      contentType: "application/json",
      body: JSON.stringify({
        ...{ status: "error", error_code: "page_not_found" },
        ...{ message: "page not found", retryable: false },
      }),
    }),
  );
  await dialog(page)
    .getByRole("button", { name: `Disconnect ${site.origin}` })
    .click();
  await expect(dialog(page).getByRole("alert")).toBeVisible();
});

test(
  "the pages of a chat look right",
  AUDIT,
  async ({ page, context, server, site }) => {
    await page.goto(server.url);
    await say(page, "Hello there");
    await settled(page);
    await page.getByRole("button", { name: "Pages of this chat" }).click();
    await expect(list(page, "Open sites")).toBeVisible();
    await look(page, "chat-pages-empty");
    const other = await context.newPage();
    await openSite(other, site.origin);
    await page.bringToFront();
    await expect(list(page, "Open sites")).toContainText(site.origin);
    await look(page, "chat-pages");
  },
);
