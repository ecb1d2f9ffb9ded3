// The replay in Firefox: steps, filter, search, the page of an app, and a file that opens without a server.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { launch } from "../context.js";
import type { Script } from "../scripts.js";
import { pageAt } from "./browser.js";
import { expect, test } from "./fixtures.js";

const mate: Script = {
  description: "Looks things up.",
  turns: [
    {
      steps: [
        {
          tool: {
            name: "tables/search",
            arguments: { people: 2 },
            result: [{ at: "18:30" }],
          },
        },
        { tool: { name: "calendar/read", error: "The calendar is locked." } },
        { say: "There is a table." },
      ],
    },
  ],
};

test.use({ settings: { defaultAgent: "mate", scripts: { mate } } });

const WAIT = { timeout: 60_000 };
const TIMELINE = '[role="listbox"][aria-label="Timeline"]';

const textOf = (page: Page, selector: string) =>
  page
    .evaluate(
      (wanted) => document.querySelector(wanted)?.textContent ?? "",
      selector,
    )
    .then((text) => text.trim().replaceAll(/\s+/g, " "));

const current = (page: Page) => () =>
  textOf(page, `${TIMELINE} [aria-selected="true"]`);
const press = (page: Page, name: string, role: string) =>
  page.locator(`::-p-aria([name="${name}"][role="${role}"])`).click();

test("a replay is stepped through, filtered, searched and saved as a file that opens anywhere", async ({
  firefox,
  home,
  server,
  newTab,
}) => {
  const made = await launch(server, "movie-booking");
  const { sessionId } = made;
  const booking = await newTab();
  await booking.goto(made.url);
  const heading = () => document.getElementById("stage-title")?.textContent;
  await expect
    .poll(() => booking.evaluate(heading, null), WAIT)
    .toBe("Which movie?");
  const log = async () =>
    (await server.fetch(`/api/sessions/${sessionId}/export`)).text();
  await expect.poll(log, WAIT).toContain("state.updated");
  await booking.close();
  await server.post(`/api/sessions/${sessionId}/messages`, {
    prompt: "A table",
  });
  await expect.poll(log, WAIT).toContain('"type":"done"');

  const tab = await newTab();
  const address = `${server.url}/replay/${sessionId}`;
  await tab.goto(address);
  const page = await pageAt(firefox, (href) => href.startsWith(address));
  await expect.poll(current(page), WAIT).toContain("Chat created");

  // Steps, by the keys.
  await page.keyboard.press("ArrowRight");
  await expect.poll(current(page)).toContain("launched movie-booking");
  await page.keyboard.press("End");
  await expect.poll(current(page)).toContain("Turn ended");

  // The page of the app, as it reported itself.
  await press(page, "State", "tab");
  const frame = async () => {
    const element = await page.$('iframe[title="movie-booking at this step"]');
    return (await element?.contentFrame())?.evaluate(heading);
  };
  await expect.poll(frame, WAIT).toBe("Which movie?");
  await expect
    .poll(() => textOf(page, "#pane"))
    .toContain("the state that it reported last");

  // What failed alone, then everything, then a word.
  const steps = () => page.$$eval('[role="option"]', ({ length }) => length);
  await press(page, "Filter", "button");
  await press(page, "Only what failed", "checkbox");
  await expect.poll(steps).toBe(1);
  expect(await textOf(page, TIMELINE)).toContain("The calendar is locked.");
  await press(page, "Show everything", "button");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("18:30");
  await expect.poll(steps).toBe(1);
  expect(await textOf(page, TIMELINE)).toContain("Tool result: tables/search");
  await page.keyboard.press("Escape");
  await expect.poll(steps).toBeGreaterThan(1);

  await press(page, "Export", "button");
  const path = join(home, "Downloads", `${sessionId}.html`);
  const saved = () => readFile(path, "utf8").catch(() => "");
  await expect.poll(saved, WAIT).toMatch(/<\/html>\s*$/);

  const file = await newTab();
  await file.goto(`file://${path}`);
  const offline = await pageAt(firefox, (href) => href.startsWith("file:"));
  await expect.poll(current(offline), WAIT).toContain("Chat created");
  await offline.keyboard.press("End");
  await expect.poll(current(offline)).toContain("Turn ended");
  await press(offline, "State", "tab");
  await expect
    .poll(() => textOf(offline, "#pane"))
    .toContain("but not the page itself");
  expect(await offline.$$("iframe")).toHaveLength(0);
  await file.close();

  await tab.goto(`${server.url}/replay`);
  const input = await page.waitForSelector('input[type="file"]', WAIT);
  await input?.uploadFile(path);
  await expect.poll(current(page), WAIT).toContain("Chat created");
  expect(await page.$$("iframe")).toHaveLength(0);
});
