// Chromium with the extension in it, as a person would have it: a profile, an introduction of Gangway, a server.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "@playwright/test";
import type { PersistentChromium } from "./browsers.js";
import { logIn } from "./fixtures.js";
import { expect, test as base } from "./site-fixtures.js";
import type { Server } from "./server.js";

/** What the key in the manifest comes to. */
export const ID = "njoboigjinompkfkjgolajikglchoefc";
export const ROOT = `chrome-extension://${ID}`;

/** Where `npm run build` in web/extension leaves the extension of a browser. */
export function extensionFor(browser: "chromium" | "firefox"): string {
  const path = new URL(`../extension/dist/${browser}`, import.meta.url);
  const folder = fileURLToPath(path);
  if (!existsSync(folder)) {
    throw new Error(`${folder} is not there: run make extension.`);
  }
  return folder;
}

interface Fixtures {
  /** False for a browser that was never told where Gangway is. */
  introduced: boolean;
  /** False where nobody started Gangway. */
  running: boolean;
  persistent: PersistentChromium;
  profile: string;
}

export const test = base.extend<Fixtures>({
  introduced: [true, { option: true }],
  running: [true, { option: true }],

  persistent: async ({ browsers, viewport, colorScheme }, use) =>
    use(await browsers.persistent({ viewport, colorScheme })),

  profile: async ({ persistent: { profile } }, use) => use(profile),

  // Every test gets a new installation of the extension, which knows nothing of the test before.
  context: async (
    { persistent, server, introduced, running, loggedIn },
    use,
  ) => {
    const { context, profile } = persistent;
    if (running && loggedIn) await logIn(context, server);
    if (!running) await server.retire();
    if (introduced) await introduce(server, profile);
    const devtools = await context.browser()?.newBrowserCDPSession();
    if (!devtools) throw new Error("Chromium has no developer tools.");
    const path = extensionFor("chromium");
    const { id } = await devtools.send("Extensions.loadUnpacked", { path });
    await ready(context, introduced);
    await use(context);
    const pages = context.pages();
    // A browser without any page would end.
    await context.newPage();
    await devtools.send("Extensions.uninstall", { id });
    for (const page of pages) await page.close();
    await devtools.detach();
    await rm(hostsIn(profile), { recursive: true, force: true });
  },

  page: async ({ context }, use) => {
    await use(await context.newPage());
  },
});

/** The extension shows how to set things up when it is installed, and finds out that they are. */
async function ready(
  context: BrowserContext,
  introduced: boolean,
): Promise<void> {
  const isSetup = (page: Page) => page.url().startsWith(ROOT);
  const setup =
    context.pages().find(isSetup) ??
    (await context.waitForEvent("page", (page) => isSetup(page)));
  const word = introduced ? "Setup complete" : "is not set up for this browser";
  await setup.getByText(word).waitFor();
  await setup.close();
}

/** Where the browser with this profile looks for programs that extensions may use. */
const hostsIn = (profile: string) => join(profile, "NativeMessagingHosts");

/** Tells the browser with this profile where Gangway is. */
export function introduce(server: Server, profile: string): Promise<void> {
  return server.introduce("chromium", hostsIn(profile));
}

/** The processes of the bridge to this server. */
export function bridges(server: Server): Promise<number[]> {
  return server.processes("bridge");
}

/** Ends the bridge as a crash would. */
export async function killBridge(server: Server): Promise<void> {
  const found = await bridges(server);
  expect(found.length).toBeGreaterThan(0);
  for (const pid of found) process.kill(pid, "SIGKILL");
}

/** Ends the extension's service worker as the browser does now and then. */
export async function killWorker(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${ROOT}/icons/16.png`);
  const devtools = await context.newCDPSession(page);
  await devtools.send("ServiceWorker.enable");
  await devtools.send("ServiceWorker.stopAllWorkers");
  await page.close();
}

interface ChromeParts {
  tabs: { query(asked: object): Promise<{ id: number }[]> };
  action: {
    getBadgeText(asked: object): Promise<string>;
    openPopup(): Promise<void>;
  };
}

/** What the toolbar says about the tab of the site. */
export async function badge(context: BrowserContext): Promise<string> {
  const [worker] = context.serviceWorkers();
  const text = await worker?.evaluate(async () => {
    const { tabs, action } = (globalThis as unknown as { chrome: ChromeParts })
      .chrome;
    const [tab] = await tabs.query({ url: "http://127.0.0.1/*" });
    return action.getBadgeText({ tabId: tab?.id ?? 0 });
  });
  return text ?? "";
}

/** Shows the popup of the toolbar's button. */
export async function openPopup(context: BrowserContext): Promise<void> {
  const worker =
    context.serviceWorkers()[0] ??
    (await context.waitForEvent("serviceworker"));
  await worker.evaluate(() =>
    (
      globalThis as unknown as { chrome: ChromeParts }
    ).chrome.action.openPopup(),
  );
}

/** One of the extension's own pages, in a tab. */
export async function own(
  context: BrowserContext,
  path: string,
): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${ROOT}/${path}`);
  return page;
}

export { expect };
