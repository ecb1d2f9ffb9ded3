// What every test gets: a server of its own, and a watch over what the page does.
import {
  test as base,
  expect,
  type BrowserContext,
  type Page,
} from "@playwright/test";
import { Browsers } from "./browsers.js";
import { Server, type ServerSettings } from "./server.js";

interface Fixtures {
  settings: ServerSettings;
  server: Server;
  /** Whether the browser of the test is logged in. */
  loggedIn: boolean;
  /** Addresses outside the server that some page asked for. */
  strangers: string[];
  /** Errors that pages reported, violations of the page's policy among them. */
  complaints: string[];
}

interface WorkerFixtures {
  browsers: Browsers;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  browsers: [
    // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
    async ({}, use) => {
      const browsers = new Browsers();
      await use(browsers);
      await browsers.close();
    },
    { scope: "worker" },
  ],

  settings: [{}, { option: true }],

  server: async ({ settings }, use) => {
    const server = await Server.start(settings);
    await use(server);
    await server.stop();
  },

  loggedIn: [true, { option: true }],

  context: async ({ context, server, loggedIn }, use) => {
    if (loggedIn) await logIn(context, server);
    await use(context);
  },

  strangers: [
    async ({ context, server }, use) => {
      const strangers: string[] = [];
      context.on("request", (request) => {
        const url = new URL(request.url());
        const own = isOurs(url, new URL(server.url));
        const local = ["data:", "blob:"].includes(url.protocol);
        if (!own && !local) strangers.push(url.href);
      });
      await use(strangers);
      expect(strangers, "requests to other hosts").toEqual([]);
    },
    { auto: true },
  ],

  complaints: [
    async ({ context }, use) => {
      const complaints: string[] = [];
      context.on("weberror", (error) => complaints.push(String(error.error())));
      context.on("console", (message) => {
        const text = message.text();
        if (/Content Security Policy/i.test(text)) complaints.push(text);
      });
      await use(complaints);
      expect(complaints, "errors on the page").toEqual([]);
    },
    { auto: true },
  ],
});

/** The context of tests that need Chromium itself, started with these arguments. */
export function contextIn(...args: string[]) {
  return async (
    { browsers, server, loggedIn }: Fixtures & WorkerFixtures,
    use: (context: BrowserContext) => Promise<void>,
  ) => {
    const browser = await browsers.chromium(args);
    const context = await browser.newContext();
    if (loggedIn) await logIn(context, server);
    await use(context);
    await context.close();
  };
}

/** Logs a browser in: its pages find the token that a login leaves, until they log out. */
export async function logIn(
  context: BrowserContext,
  server: Server,
): Promise<void> {
  const login = { origin: server.url, token: await server.logIn() };
  await context.addInitScript(({ origin, token }) => {
    // Not `location.origin`, which a sandboxed frame has too.
    if (self.origin !== origin) return;
    try {
      if (localStorage.getItem("e2e.login") === token) return;
      localStorage.setItem("e2e.login", token);
      localStorage.setItem("gangway.login", token);
    } catch {
      // A frame whose storage the browser blocks has no login either.
    }
  }, login);
}

/** The server, under any of its names: apps have host names of their own. */
function isOurs(url: URL, server: URL): boolean {
  const { hostname, port } = url;
  const local =
    hostname === server.hostname || /(^|\.)localhost$/.test(hostname);
  return local && port === server.port;
}

export { expect };

/** Writes into the message box and sends with Enter. */
export async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill(text);
  await box.press("Enter");
}

/** The answers of the agent, oldest first. */
export function answers(page: Page) {
  return page.locator(".message.assistant .markdown");
}

/** Waits until no answer is being written. */
export async function settled(page: Page): Promise<void> {
  // An answer may be written word by word, on a machine that has other things to do.
  const send = page.getByRole("button", { name: "Send" });
  await expect(send).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("log")).toHaveAttribute("aria-busy", "false");
}

/** A part of a page beside the chat. */
export function panel(page: Page, name: string) {
  return page.getByRole("region", { name, exact: true });
}

/** The row of an MCP server. */
export function serverRow(page: Page, id: string) {
  return panel(page, "MCP servers")
    .getByRole("listitem")
    .filter({ has: page.getByText(id, { exact: true }) });
}
