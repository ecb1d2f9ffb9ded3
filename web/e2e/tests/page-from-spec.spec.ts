// A page that was written from the specification of window.ai and window.agent alone, in from-spec/page, runs unchanged:
// in a browser with the extension as it is, and without it by the one script that it includes.
import type { BrowserContext, Page } from "@playwright/test";
import { test as withExtension } from "../extension.js";
import { read } from "../from-spec/files.js";
import { EVERYTHING, type Server } from "../server.js";
import { expect, test as withScript } from "../site-fixtures.js";
import { asked, toolsThere, type Site } from "../sites.js";

const SETTINGS = { tools: { every: { command: EVERYTHING } } };

interface Parts {
  page: Page;
  context: BrowserContext;
  site: Site;
  server: Server;
}

async function open({ page, site, server }: Parts, script: boolean) {
  const text = await read("page/index.html");
  const include = `<head><script src="${server.url}/gangway.js"></script>`;
  site.own = {
    "/desk": script ? text.replace("<head>", include) : text,
    "/desk.js": await read("page/desk.js"),
  };
  await toolsThere(server);
  await page.goto(`${site.origin}/desk`);
  expect(await page.evaluate("firstSaw")).toEqual(["object", "object"]);
}

const press = (page: Page, name: string) =>
  page.getByRole("button", { name, exact: true }).click();

const line = (page: Page, name: string) =>
  page.locator("#log li").filter({ hasText: new RegExp(`^${name}: `) });

/** What a step of the page ended with. */
async function told<T = unknown>(page: Page, name: string): Promise<T> {
  await expect(line(page, name)).toHaveCount(1);
  const text = await line(page, name).innerText();
  return JSON.parse(text.slice(name.length + 2)) as T;
}

async function step<T = unknown>(page: Page, button: string, name: string) {
  await press(page, button);
  return told<T>(page, name);
}

/** The code of an error that is one, with a message. */
async function code(page: Page, name: string): Promise<string | undefined> {
  await expect(line(page, name)).toHaveCount(1);
  const text = await line(page, name).innerText();
  return /: true (\S+) string$/.exec(text)?.[1];
}

/** Presses a button of the page, and answers in the window that it opens. */
async function decide(
  { page, context }: Parts,
  button: string,
  answer: "Allow once" | "Always allow" | "Deny",
) {
  const permit = await asked(context, () => press(page, button));
  const all = permit.getByRole("button", { name: "Select all", exact: true });
  if (await all.isVisible()) await all.click();
  await permit.getByRole("button", { name: answer }).click();
}

async function permissions(parts: Parts) {
  const { page } = parts;
  await decide(parts, "List or ask", "Allow once");
  await expect(line(page, "refused")).toHaveText("refused: ERR_SCOPE_REQUIRED");
  await expect(line(page, "granted")).toHaveText("granted: true");
  await press(page, "List or ask");
  await expect(page.getByText("listed", { exact: true })).toBeVisible();

  await decide(parts, "Ask for all", "Always allow");
  expect(await told(page, "permissions")).toMatchObject({
    granted: true,
    scopes: {
      "model:prompt": "granted-always",
      "model:tools": "granted-always",
      "mcp:tools.list": "granted-once",
      "mcp:tools.call": "granted-always",
      "mcp:servers.register": "granted-always",
      "browser:activeTab.read": "granted-always",
      "chat:open": "granted-always",
    },
  });
}

interface Event {
  type: string;
  token?: string;
  error?: { code: string; message: string };
  [field: string]: unknown;
}

async function text({ page }: Parts) {
  expect(await step(page, "Prompt", "prompt")).toBe("Heard: Hello");
  const events = await step<Event[]>(page, "Stream", "stream");
  expect(events.at(-1)?.type).toBe("done");
  const tokens = events.slice(0, -1);
  expect(tokens.length).toBeGreaterThan(1);
  expect(tokens.every(({ type }) => type === "token")).toBe(true);
  expect(tokens.map(({ token }) => token).join("")).toBe(
    "Heard: Tell me a story",
  );
  const failed = await step<Event[]>(page, "Stream in vain", "failed stream");
  expect(failed.at(-1)).toMatchObject({
    type: "error",
    error: {
      code: "ERR_MODEL_FAILED",
      message: expect.stringMatching(/./),
    },
  });
  await press(page, "Prompt in vain");
  expect(await code(page, "failed prompt")).toBe("ERR_MODEL_FAILED");
  await press(page, "Destroy");
  expect(await code(page, "destroyed")).toBe("ERR_SESSION_NOT_FOUND");
}

async function tools({ page }: Parts) {
  expect(await step(page, "List tools", "tools")).toEqual([
    true,
    "string",
    "object",
  ]);
  await press(page, "Call tools");
  expect(JSON.stringify(await told(page, "echo"))).toContain("ahoy");
  // The person chose tools, and these are not among them.
  expect(await code(page, "no tool")).toBe("ERR_TOOL_NOT_ALLOWED");
  expect(await code(page, "no server")).toBe("ERR_TOOL_NOT_ALLOWED");
  expect(await code(page, "wrong arguments")).toBe("ERR_TOOL_FAILED");
}

const ANY_TEXT = expect.any(String);

/** What each event of a run has, by its type. */
const EVENTS: Record<string, Record<string, unknown>> = {
  status: { message: ANY_TEXT },
  tool_call: { tool: "every/echo", args: { message: "cod" } },
  tool_result: { tool: "every/echo", result: expect.anything() },
  token: { token: ANY_TEXT },
  final: { output: ANY_TEXT },
};

async function runs({ page }: Parts) {
  const events = await step<Event[]>(page, "Run", "run");
  for (const event of events)
    expect(event).toMatchObject(EVENTS[event.type] ?? { type: "known" });
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => /^tool/.test(type))).toEqual([
    "tool_call",
    "tool_result",
  ]);
  expect(types.at(-1)).toBe("final");
  const { output, citations } = events.at(-1) as Event;
  const tokens = events.filter(({ type }) => type === "token");
  expect(tokens.map(({ token }) => token).join("")).toBe(output);
  expect(citations).toContainEqual({
    source: "tool",
    ref: expect.stringContaining("every/echo"),
    excerpt: expect.stringContaining("cod"),
  });

  const failed = await step<Event[]>(page, "Run in vain", "failed run");
  expect(failed.at(-1)).toMatchObject({
    type: "error",
    error: { code: "ERR_MODEL_FAILED", message: ANY_TEXT },
  });
  expect(await step(page, "Run and abort", "aborted run")).toBe(true);
  const main = await step<[boolean, string]>(page, "Main", "main");
  expect(main).toEqual([true, "Heard: What tools are available?"]);
}

async function ownServer(parts: Parts) {
  const { page, site } = parts;
  expect(await step(page, "Read", "page")).toEqual([true, "Fish desk", true]);
  expect(await step(page, "Discover", "servers")).toEqual([
    {
      url: `${site.origin}/mcp`,
      title: "Shop",
      description: "Prices of fish",
      tools: ["price"],
    },
  ]);
  await decide(parts, "Register", "Allow once");
  expect(await told(page, "registered")).toEqual([true, "string"]);
  expect(JSON.stringify(await step(page, "Use the shop", "shop"))).toContain(
    "Herring costs 7",
  );
  expect(await step(page, "Unregister", "after unregister")).toBe(false);
}

async function providers(parts: Parts) {
  const { page } = parts;
  await decide(parts, "Providers", "Allow once");
  expect(await told(page, "providers")).toEqual({
    type: "openai",
    name: ANY_TEXT,
    available: true,
    isDefault: expect.any(Boolean),
    isTypeDefault: expect.any(Boolean),
    best: "harbor",
  });
  expect(await step(page, "Use a provider", "provider")).toBe("Heard: Hello");
  expect(await told(page, "provider run")).toMatchObject({
    type: "final",
    output: "Heard: Say ahoy",
  });
}

async function chat({ page }: Parts) {
  expect(await step(page, "Open chat", "chat")).toEqual([
    "readily",
    true,
    "string",
  ]);
  await press(page, "Close chat");
  await expect(page.getByText("chat closed")).toBeVisible();
}

const WHOLE =
  "a page from the specification prompts, streams, lists and calls tools, runs tasks, offers its own server and opens a chat";

async function whole(parts: Parts) {
  await permissions(parts);
  await text(parts);
  await tools(parts);
  await runs(parts);
  await ownServer(parts);
  await providers(parts);
  await chat(parts);
}

async function denied(parts: Parts) {
  const { page } = parts;
  await decide(parts, "List or ask", "Deny");
  await expect(line(page, "granted")).toHaveText("granted: false");
  await press(page, "List or ask");
  await expect(line(page, "refused").last()).toHaveText(
    "refused: ERR_PERMISSION_DENIED",
  );
  await press(page, "Call tools");
  expect(await code(page, "echo")).toBe("ERR_SCOPE_REQUIRED");
}

withScript.describe("with the script", () => {
  withScript.use({ settings: SETTINGS });

  withScript(WHOLE, async ({ page, context, site, server }) => {
    const parts = { page, context, site, server };
    await open(parts, true);
    await whole(parts);
  });

  withScript(
    "a page that is denied hears so by its code",
    async ({ page, context, site, server }) => {
      const parts = { page, context, site, server };
      await open(parts, true);
      await denied(parts);
    },
  );
});

withExtension.describe("with the extension", () => {
  withExtension.use({ settings: SETTINGS });

  withExtension(WHOLE, async ({ page, context, site, server }) => {
    const parts = { page, context, site, server };
    await open(parts, false);
    await whole(parts);
  });

  withExtension(
    "a page that is denied hears so by its code",
    async ({ page, context, site, server }) => {
      const parts = { page, context, site, server };
      await open(parts, false);
      await denied(parts);
    },
  );
});
