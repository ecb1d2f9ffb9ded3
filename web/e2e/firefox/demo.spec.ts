// The demo in Firefox, from the button to the replay.
import type { Frame, Page } from "puppeteer-core";
import { pageAt } from "./browser.js";
import { expect, test } from "./fixtures.js";

const WAIT = { timeout: 60_000 };

const press = (page: Page, name: string, role = "button") =>
  page.locator(`::-p-aria([name="${name}"][role="${role}"])`).click();

/** Allows it once, as soon as the button is active. */
const allow = (page: Page) =>
  page
    .locator('::-p-aria([name="Allow once"][role="button"])')
    .filter((button) => button.ariaDisabled === "false")
    .click();

const textOf = (page: Page | Frame, selector: string) =>
  page
    .evaluate(
      (wanted) => document.querySelector(wanted)?.textContent ?? "",
      selector,
    )
    .then((text) => text.trim().replaceAll(/\s+/g, " "));

/** The frame with this title, once it is there. */
async function frameIn(page: Page, title: string): Promise<Frame> {
  const element = await page.waitForSelector(`iframe[title="${title}"]`, WAIT);
  const frame = await element?.contentFrame();
  if (!frame) throw new Error(`There is no frame ${title}.`);
  return frame;
}

const STATUS = 'section[aria-label="Demo"] [role="status"]';

test("the demo runs in Firefox from its button to its replay", async ({
  firefox,
  server,
  newTab,
}) => {
  const tab = await newTab();
  await tab.goto(server.url);
  const page = await pageAt(firefox, (href) => href.startsWith(server.url));
  await press(page, "Start the demo");
  await press(page, "Allow this page in this chat");
  await expect
    .poll(() => textOf(page, STATUS), WAIT)
    .toBe("Allow the packing list to save its file.");
  const list = await frameIn(page, "App Packing list");
  expect(await textOf(list, "#count")).toBe("3 of 3 packed");

  await allow(page);
  const notebook = await frameIn(page, "Applet Notebook");
  await expect
    .poll(() => textOf(notebook, "#preview"), WAIT)
    .toContain("Boarding pass");

  await expect
    .poll(() => textOf(page, STATUS), WAIT)
    .toContain("Open the site");
  const origin = await page.$eval(
    'section[aria-label="Demo"] a[target="_blank"]',
    (link) => link.origin,
  );
  await press(page, "Open the site", "link");
  const site = await pageAt(firefox, (href) => href.startsWith(origin));
  await press(site, "Check my packing list");
  const popup = await pageAt(firefox, (href) =>
    href.startsWith(`${server.url}/permit`),
  );
  await allow(popup);
  await expect
    .poll(() => textOf(site, "#status"), WAIT)
    .toBe("3 of 3 packed. Welcome aboard!");

  await page.bringToFront();
  await expect.poll(() => textOf(page, STATUS), WAIT).toContain("replay it");
  await press(page, "Replay it", "link");
  const timeline = '[role="listbox"][aria-label="Timeline"]';
  const selected = () => textOf(page, `${timeline} [aria-selected="true"]`);
  await expect.poll(selected, WAIT).toContain("Chat created");
  await page.keyboard.press("End");
  // The chat closed its pages when the replay took its place.
  await expect.poll(selected, WAIT).toMatch(/closed$/);
});
