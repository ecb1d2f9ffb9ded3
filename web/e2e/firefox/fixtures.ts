// What every test in Firefox gets: a server of its own, one Firefox for all of them, and tabs that share nothing.
import { expect, test as base } from "@playwright/test";
import type { Browser } from "puppeteer-core";
import type { Tab } from "../context.js";
import { Server, type ServerSettings } from "../server.js";
import { findFirefox, NO_FIREFOX, startFirefox, tabOf } from "./browser.js";

interface Fixtures {
  settings: ServerSettings;
  server: Server;
  /** Opens a tab; those of one test share their cookies. */
  newTab: () => Promise<Tab>;
  /** Errors that nobody caught in those tabs. */
  complaints: string[];
}

export const test = base.extend<Fixtures, { firefox: Browser }>({
  firefox: [
    // eslint-disable-next-line no-empty-pattern -- Playwright wants a pattern
    async ({}, use) => {
      const firefox = await startFirefox();
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

  newTab: async ({ firefox, complaints }, use) => {
    const context = await firefox.createBrowserContext();
    await use(async () => {
      const page = await context.newPage();
      page.on("pageerror", (error) => complaints.push(String(error)));
      return tabOf(page);
    });
    await context.close();
  },
});

test.skip(findFirefox() === null, NO_FIREFOX);

export { expect };
