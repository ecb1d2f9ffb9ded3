// An app beside the chat is another site than the chat: where the browser blocks the storage of such frames, it stores all the same.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { chromiumWith } from "../chromium.js";
import { probe } from "../context.js";
import { expect, logIn, test as base } from "../fixtures.js";

const test = base.extend({
  /** A browser in which a person blocked third-party cookies, and with them the storage of frames. */
  context: async ({ server }, use) => {
    const profile = await mkdtemp(join(tmpdir(), "gangway-profile-"));
    await mkdir(join(profile, "Default"));
    await writeFile(
      join(profile, "Default", "Preferences"),
      JSON.stringify({ profile: { cookie_controls_mode: 1 } }),
    );
    const context = await chromium.launchPersistentContext(
      profile,
      chromiumWith(),
    );
    await logIn(context, server);
    await use(context);
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  },
});

test.use({
  settings: {
    apps: {
      notes: {
        ...probe("notes"),
        "index.html": `<!doctype html><title>Notes</title>
          <input id="note" aria-label="Note"><output id="blocked"></output>
          <script>
            note.value = localStorage.getItem("note") ?? "";
            note.oninput = () => localStorage.setItem("note", note.value);
            const { get } = Object.getOwnPropertyDescriptor(window, "localStorage");
            blocked.textContent = get ? "the browser's" : "lent";
          </script>`,
      },
    },
  },
});

test("an app beside the chat keeps what it stores where the browser blocks third-party storage", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/applets`);
  await page.getByRole("button", { name: "Launch notes with agent" }).click();
  const app = page.frameLocator('iframe[title="App notes"]');
  await expect(app.locator("#blocked")).toHaveText("lent");
  const kept = page.waitForResponse(
    (response) =>
      response.url().includes("/__gangway/storage") &&
      response.request().method() === "POST",
  );
  await app.getByLabel("Note").fill("buy herring");
  expect((await kept).ok()).toBe(true);
  await page.reload();
  await expect(app.getByLabel("Note")).toHaveValue("buy herring");
  // Another launch is the same app.
  await page.goto(`${server.url}/applets`);
  await page.getByRole("button", { name: "Launch notes with agent" }).click();
  await expect(app.getByLabel("Note")).toHaveValue("buy herring");
});
