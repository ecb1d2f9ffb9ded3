// What every test in Firefox gets: a server of its own, one Firefox for all tests of a worker, and tabs that share nothing.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test as base, type TestInfo } from "@playwright/test";
import type { Browser, Page, Target } from "puppeteer-core";
import type { Tab } from "../context.js";
import { Server, type ServerSettings } from "../server.js";
import { findFirefox, NO_FIREFOX, startFirefox, tabOf } from "./browser.js";

interface Fixtures {
  settings: ServerSettings;
  server: Server;
  /** Opens a tab; those of one test share what they keep, the login too. */
  newTab: () => Promise<Tab>;
  /** Uncaught errors in all pages. */
  complaints: string[];
  /** Writes down what the pages show, if the test failed. Playwright's traces do not cover this Firefox. */
  leaveEvidence: () => Promise<void>;
}

interface WorkerFixtures {
  /** The home folder of the person whose Firefox it is. */
  home: string;
  firefox: Browser;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  home: [
    // eslint-disable-next-line no-empty-pattern -- Playwright wants a pattern
    async ({}, use) => {
      const home = await mkdtemp(join(tmpdir(), "gangway-home-"));
      await use(home);
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
    { scope: "worker" },
  ],

  firefox: [
    async ({ home }, use) => {
      const firefox = await startFirefox({
        home,
        // Downloads are where a test finds them.
        prefs: {
          "browser.download.folderList": 2,
          "browser.download.dir": join(home, "Downloads"),
        },
      });
      await use(firefox);
      await firefox.close();
    },
    { scope: "worker", timeout: 90_000 },
  ],

  settings: [{}, { option: true }],

  server: async ({ settings }, use) => {
    const server = await Server.start(settings);
    await use(server);
    await server.stop();
  },

  // eslint-disable-next-line no-empty-pattern -- Playwright wants a pattern
  complaints: async ({}, use) => {
    const complaints: string[] = [];
    await use(complaints);
    expect(complaints, "errors on the page").toEqual([]);
  },

  leaveEvidence: async ({ firefox }, use, testInfo) => {
    const log: string[] = [];
    const watch = async (target: Target) => {
      const page = await target.page().catch(() => null);
      page?.on("console", (message) =>
        log.push(`${message.type()}: ${message.text()}`),
      );
      page?.on("pageerror", (error) => log.push(`uncaught: ${String(error)}`));
    };
    const opened = (target: Target) => void watch(target);
    firefox.on("targetcreated", opened);
    await use(async () => {
      if (testInfo.status === testInfo.expectedStatus) return;
      await writeFile(testInfo.outputPath("console.txt"), log.join("\n"));
      for (const [index, page] of (await firefox.pages()).entries()) {
        await picture(page, testInfo, index);
      }
    });
    firefox.off("targetcreated", opened);
  },

  newTab: async ({ firefox, server, complaints, leaveEvidence }, use) => {
    const context = await firefox.createBrowserContext();
    await logIn(await context.newPage(), server);
    await use(async () => {
      const page = await context.newPage();
      page.on("pageerror", (error) => complaints.push(String(error)));
      return tabOf(page);
    });
    await leaveEvidence();
    await context.close();
  },
});

/** Logs the browser of this page in. */
async function logIn(page: Page, server: Server): Promise<void> {
  await page.goto(`${server.url}/healthz`);
  await page.evaluate(
    (token) => localStorage.setItem("gangway.login", token),
    await server.logIn(),
  );
  await page.close();
}

/** A page as it is now: a screenshot and its HTML. */
async function picture(
  page: Page,
  testInfo: TestInfo,
  index: number,
): Promise<void> {
  const path = (ending: string) =>
    testInfo.outputPath(`page-${index}.${ending}`) as `${string}.png`;
  try {
    await page.screenshot({ path: path("png") });
    await writeFile(path("html"), await page.content());
  } catch {
    // A page that is closing has nothing to show.
  }
}

test.skip(findFirefox() === null, NO_FIREFOX);

export { expect };
