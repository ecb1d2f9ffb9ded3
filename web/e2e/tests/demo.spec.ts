// The demo: an MCP client, an external agent, the scripted agent, an app, an applet and a site in one session, which is replayed.
import type { Page } from "@playwright/test";
import { expect, test as base } from "../fixtures.js";
import { pictures } from "../looks.js";

const test = base.extend({
  // The site of the demo is on another origin of this computer.
  strangers: async ({ strangers }, use) => {
    await use(strangers);
    const others = strangers.filter(
      (url) => new URL(url).hostname !== "localhost",
    );
    strangers.splice(0, Infinity, ...others);
  },
});

const CONSENT = "Allow the packing list to save its file.";
const panel = (page: Page) => page.getByRole("region", { name: "Demo" });
const status = (page: Page) => panel(page).getByRole("status");
const allow = (page: Page) =>
  page
    .getByRole("region", { name: "Question from the agent" })
    .getByRole("button", { name: "Allow this page in this chat" });
const list = (page: Page) =>
  page.frameLocator('iframe[title="App Packing list"]');
const notebook = (page: Page) =>
  page.frameLocator('iframe[title="Applet Notebook"]');

/** A picture for the film in the README, which `scripts/demo-film.sh` makes. */
async function film(page: Page, name: string): Promise<void> {
  // Nothing looks as if the mouse were over it.
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `results/demo-film/${name}.png` });
}

/** From the home page to the question about the agent's calls of the packing list. */
async function start(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole("button", { name: "Start the demo" }).click();
  await expect(allow(page)).toBeEnabled({ timeout: 60_000 });
}

/** From there to the question about the file. */
async function allowAgent(page: Page): Promise<void> {
  await allow(page).click();
  await expect(status(page)).toHaveText(CONSENT, { timeout: 60_000 });
}

async function begin(page: Page, url: string): Promise<void> {
  await start(page, url);
  await allowAgent(page);
}

/** Puts the dialog that opens by itself away; the banner leads back to it. */
async function later(page: Page): Promise<void> {
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
}

test("the demo joins every kind of agent and page in one session, which is replayed", async ({
  page,
  context,
  server,
}) => {
  await page.goto(server.url);
  await expect(
    page.getByRole("button", { name: "Start the demo" }),
  ).toBeInViewport();
  await film(page, "01-home");
  await start(page, server.url);
  await expect(list(page).locator("#count")).toHaveText("1 of 3 packed");
  await film(page, "02-approval");
  await allowAgent(page);
  await expect(list(page).locator("#count")).toHaveText("3 of 3 packed");
  await expect(list(page).locator("#calls")).toContainText(
    "Showers are forecast at the pier.",
  );
  await expect(
    notebook(page).getByText("No notes in this folder yet."),
  ).toBeVisible();
  await pictures(page, "demo-consent");
  await later(page);
  await film(page, "03-agents");
  await page.getByRole("button", { name: "Review" }).click();
  const once = page.getByRole("button", { name: "Allow once", exact: true });
  await expect(once).toBeEnabled();
  await film(page, "04-consent");
  await once.click();
  // The file appears in the applet by itself.
  await expect(notebook(page).locator("#preview")).toContainText(
    "Boarding pass",
  );
  await film(page, "05-file");

  const opened = context.waitForEvent("page");
  await panel(page).getByRole("link", { name: "Open the site" }).click();
  const site = await opened;
  await expect(site.getByRole("status")).toHaveText("Ready.");
  await film(site, "06-site");
  const asked = site.waitForEvent("popup");
  await site.getByRole("button", { name: "Check my packing list" }).click();
  const popup = await asked;
  const permit = popup.getByRole("button", { name: "Allow once", exact: true });
  await expect(permit).toBeEnabled();
  await film(popup, "07-permission");
  await permit.click();
  await expect(site.getByRole("status")).toHaveText(
    "3 of 3 packed. Welcome aboard!",
  );
  await expect(site.getByRole("listitem")).toHaveCount(3);
  await film(site, "08-result");

  await page.bringToFront();
  await expect(status(page)).toContainText("replay it");
  await panel(page)
    .getByRole("button", { name: /steps$/ })
    .click();
  await film(page, "09-done");
  await pictures(page, "demo-done");
  // Nothing temporary is left.
  const keys = (await (await server.fetch("/api/keys")).json()) as object;
  expect(keys).toEqual({ keys: [] });
  const granted = await server.fetch("/api/permissions");
  expect(JSON.stringify(await granted.json())).not.toContain(
    new URL(site.url()).origin,
  );

  await panel(page).getByRole("link", { name: "Replay it" }).click();
  const timeline = page.getByRole("listbox", { name: "Timeline" });
  await expect(timeline).toContainText("Chat created");
  const session = /replay\/([^/?]+)/.exec(page.url())?.[1] ?? "";
  const exported = await server.fetch(`/api/sessions/${session}/export`);
  const lines = (await exported.text()).trim().split("\n").slice(1);
  expectInOrder(lines, [
    /"launched".*MCP client/,
    /packing-list.*"opened"/,
    /"called".*page-packing-list\/add_item.*Boarding pass.*MCP client/,
    /"called".*\/pack".*Rain jacket.*harbour-agent/,
    /"user\.message".*Pack the charger/,
    /"tool\.execution_start".*page-packing-list\/read_list/,
    /"tool\.execution_start".*\/pack".*Charger/,
    /"called".*\/pack".*Boarding pass.*harbour-agent/,
    /"applet\.open".*notebook/,
    /"request".*save-file.*\[x\] Boarding pass/,
    /"answer".*"saved":true/,
    /"site".*"opened"/,
    /"ask\.opened".*"site".*"permission".*mcp:tools\.call/,
    /"ask\.closed".*"once"/,
    /"called".*page-packing-list\/read_list.*"page","origin"/,
    /"returned".*Boarding pass/,
  ]);

  // The list as it was at the end, and before anybody used it.
  await page.getByRole("tab", { name: "State" }).click();
  await page.keyboard.press("End");
  const replayed = page.frameLocator(
    'iframe[title="packing-list at this step"]',
  );
  await expect(replayed.locator("#count")).toHaveText("3 of 3 packed");
  await page.getByRole("searchbox", { name: "Search steps" }).fill("add_item");
  await expect(page.getByText(/steps? found/)).toBeVisible();
  await timeline.press("Home");
  await expect(replayed.locator("#count")).toHaveText("0 of 2 packed");
});

/** Each pattern matches a line after the one before. */
function expectInOrder(lines: string[], patterns: RegExp[]): void {
  let at = 0;
  for (const pattern of patterns) {
    const found = lines.findIndex(
      (line, index) => index >= at && pattern.test(line),
    );
    expect(found, `${String(pattern)} from line ${at}`).toBeGreaterThan(-1);
    at = found + 1;
  }
}

test("a denied file ends the demo well, and leaves no key", async ({
  page,
  server,
}) => {
  await begin(page, server.url);
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(status(page)).toContainText("was not saved");
  await expect(
    panel(page).getByRole("link", { name: "Replay it" }),
  ).toBeVisible();
  expect(await (await server.fetch("/api/keys")).json()).toEqual({ keys: [] });
  await panel(page).getByRole("button", { name: "Close" }).click();
  await expect(panel(page)).toBeHidden();
});

test("a packing list that is closed ends the demo, and another one can be started", async ({
  page,
  server,
}) => {
  await begin(page, server.url);
  const second = await server.post("/api/demo");
  expect(second.status).toBe(409);
  await later(page);
  await page.getByRole("button", { name: "Close Packing list" }).click();
  await expect(status(page)).toContainText("The packing list was closed");
  await page.keyboard.press("Control+Shift+O");
  await page.getByRole("button", { name: "Start the demo" }).click();
  await expect(list(page).getByRole("heading", { level: 1 })).toBeVisible();
  await panel(page).getByRole("button", { name: "End demo" }).click();
  await expect(status(page)).toHaveText("You ended the demo.");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 800 } });

  test("the agent's question shows on the tab of the chat", async ({
    page,
    server,
  }) => {
    await page.goto(server.url);
    await page.getByRole("button", { name: "Start the demo" }).click();
    const chat = page.getByRole("tab", { name: "Chat request waiting" });
    await chat.click({ timeout: 60_000 });
    await page.getByRole("button", { name: "Deny", exact: true }).click();
    await expect(page.getByRole("tab", { name: "Chat" })).toBeVisible();
  });
});
