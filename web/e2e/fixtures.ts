// What every test gets: a server of its own, and a watch over what the page does.
import { test as base, expect, type Page } from "@playwright/test";
import { Server, type ServerSettings } from "./server.js";

interface Fixtures {
  settings: ServerSettings;
  server: Server;
  /** Addresses outside the server that some page asked for. */
  strangers: string[];
  /** Errors that pages reported, violations of the page's policy among them. */
  complaints: string[];
}

export const test = base.extend<Fixtures>({
  settings: [{}, { option: true }],

  server: async ({ settings }, use) => {
    const server = await Server.start(settings);
    await use(server);
    await server.stop();
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

/** The Tools page, logged in, so that it may change servers. */
export async function openTools(page: Page, server: Server): Promise<void> {
  await page.goto(server.url);
  const status = await page.evaluate(async (key) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ key });
    const answer = await fetch("/api/login", { method: "POST", headers, body });
    return answer.status;
  }, server.key);
  expect(status).toBeLessThan(300);
  await page.goto(`${server.url}/tools`);
}

/** A part of a page beside the chat. */
export function panel(page: Page, name: string) {
  return page.getByRole("region", { name, exact: true });
}

/** The row of a server of tools. */
export function serverRow(page: Page, id: string) {
  return panel(page, "Servers")
    .getByRole("listitem")
    .filter({ has: page.getByText(id, { exact: true }) });
}
