// A chat with a parrot beside it: the agent it talks to, and where its parts are on the page.
import type { Page } from "@playwright/test";
import { BROKEN, PARROT } from "./applets.js";
import { expect } from "./fixtures.js";
import type { Server } from "./server.js";

export const MATE = {
  defaultAgent: "mate",
  applets: { parrot: PARROT, broken: BROKEN },
  scripts: {
    mate: {
      description: "Answers applets.",
      turns: [
        { when: "eight", steps: [{ say: "Aye, eight of them." }] },
        { when: "gold", steps: [{ say: "Under the palm." }] },
        {
          when: "slow",
          steps: [{ say: "one two three four five six", every_ms: 700 }],
        },
        {
          when: "link",
          steps: [
            {
              say: "Use the [parrot](/?applet=parrot) or [log out](/api/x).",
            },
          ],
        },
        { steps: [{ say: "Hello." }] },
      ],
    },
  },
};

export function parrot(page: Page) {
  return page.frameLocator('iframe[title="Applet Parrot"]');
}

export function press(page: Page, name: string) {
  return parrot(page).getByRole("button", { name }).click();
}

export function result(page: Page) {
  return parrot(page).locator("#result");
}

/** The consent card of an applet. */
export function consent(page: Page) {
  return page.getByRole("group", { name: /wants to send/ });
}

export function decide(page: Page, words: string) {
  return consent(page).getByRole("button", { name: words }).click();
}

export function bubbles(page: Page) {
  return page.locator(".message.user.applet-invoked");
}

export function switchOf(page: Page) {
  return page.getByRole("switch", { name: "Parrot may send messages" });
}

export async function openParrot(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/?applet=parrot`);
  await expect(parrot(page).getByRole("button", { name: "Say" })).toBeVisible();
  await expect(page).toHaveURL(/\/sessions\/[^/]+\?applet=parrot$/);
}

/** Calls one of Gangway's own tools, as an agent elsewhere does. */
export async function callTool(server: Server, name: string, input: unknown) {
  const post = (id: number, method: string, params: unknown, session = "") =>
    server.fetch("/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session ? { "mcp-session-id": session } : {}),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
    });
  const hello = await post(1, "initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  const session = hello.headers.get("mcp-session-id") ?? "";
  await hello.text();
  const called = { name, arguments: input };
  const answer = await (await post(2, "tools/call", called, session)).text();
  expect(answer).not.toMatch(/"isError":true|"error":/);
}
