// Apps as others write them: for a server that only serves files, with keys of the wider format; and what app pages report.
import type { Page } from "@playwright/test";
import { launch, OUTSIDE, probe } from "../context.js";
import { expect, panel, test } from "../fixtures.js";

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>`;

/** An app for a server of its own. */
function wide(name: string, icon: string): Record<string, string> {
  return {
    "APP.md": `---
name: ${name}
title: ${name}
description: Written for a server.
runtime: node
entry: server.js
icon: ${icon}
display: standalone
storage: local
i18n: { default: en }
capabilities: [camera]
author: { name: A }
agent: { launchable: true }
---
`,
    "server.js": `require("node:http").createServer((req, res) =>
      require("node:fs").createReadStream("public" + req.url).pipe(res)).listen(80);`,
    "icon.svg": PICTURE,
    "public/index.html": `<!doctype html><title>Wide</title><h1>Wide</h1><script src="/start.js"></script>`,
    "public/start.js": `document.querySelector("h1").textContent = "Started " + typeof __AGENT_CONTEXT__;`,
  };
}

test.use({
  settings: {
    apps: {
      drawn: wide("drawn", "icon.svg"),
      lettered: wide("lettered", "🐟"),
      probe: probe("probe", { csp: "default-src 'self'" }),
    },
  },
});

test("an app with a server that only serves files is in the gallery with its icon and no warning, and is launched like any other", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/applets`);
  const card = (name: string) =>
    panel(page, "Apps").getByRole("listitem").filter({ hasText: name });
  await expect(card("lettered").locator(".icon")).toHaveText("🐟");
  const drawn = card("drawn").locator("img.icon");
  await expect(drawn).toBeVisible();
  expect(
    await drawn.evaluate((node) => (node as HTMLImageElement).naturalWidth),
  ).toBe(8);
  for (const name of ["drawn", "lettered"]) {
    await expect(card(name)).not.toContainText("Warning");
  }
  await card("drawn")
    .getByRole("button", { name: /^Launch/ })
    .click();
  const app = page.frameLocator("iframe");
  await expect(
    app.getByRole("heading", { name: "Started object" }),
  ).toBeVisible();
});

test("no app page reports an error to the console, in a tab of its own or beside the chat", async ({
  page,
  context,
  server,
}) => {
  const errors: string[] = [];
  context.on("console", (message) => {
    if (message.type() !== "error") return;
    errors.push(`${message.location().url}: ${message.text()}`);
  });
  const list = await server.fetch("/api/apps");
  const { apps } = (await list.json()) as {
    apps: { name: string; url: string; launchable: boolean }[];
  };
  expect(apps.length).toBeGreaterThan(6);
  const [own, beside] = [await context.newPage(), await context.newPage()];
  // All ways to open an app at once, since a page counts as quiet after half a second.
  for (const { name, url, launchable } of apps) {
    const opening = [open(page, url)];
    if (launchable) {
      const { url: launched } = await launch(server, name, { agent: OUTSIDE });
      opening.push(open(own, launched));
      opening.push(open(beside, `${server.url}/?app=${name}`, true));
    }
    await Promise.all(opening);
  }
  expect(errors).toEqual([]);
});

/** Opens a page, and waits until it loads nothing more. */
async function open(page: Page, url: string, framed = false): Promise<void> {
  await page.goto(url);
  if (framed) await expect(page.locator("iframe")).toBeVisible();
  await page.waitForLoadState("networkidle");
}
