// Tools that pages offer are called in a real browser, by a client at /mcp.
import { launch, probe } from "../context.js";
import { expect, test } from "../fixtures.js";
import type { Server } from "../server.js";

const ADDER: Record<string, string> = {
  "meta.json": JSON.stringify({ slug: "adder", name: "Adder" }),
  "content.html": "<h1>Adder</h1><output id=sum></output>",
  "script.js": `
    registerTool(
      { name: "add", parameters: { a: { type: "number" }, b: { type: "number" } } },
      ({ a, b }) => {
        document.getElementById("sum").textContent = String(a + b);
        return { sum: a + b };
      },
    );`,
};

test.use({
  settings: { apps: { probe: probe() }, applets: { adder: ADDER } },
});

interface Answer {
  result?: {
    isError?: boolean;
    structuredContent?: unknown;
    content?: { text?: string }[];
  };
  error?: { message: string };
}

/** Calls a tool, as an agent elsewhere does; gives back its data, or what went wrong. */
async function call(
  server: Server,
  name: string,
  input: unknown,
): Promise<unknown> {
  const post = (method: string, params: unknown, session = "") =>
    server.fetch("/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session ? { "mcp-session-id": session } : {}),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const hello = await post("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  const session = hello.headers.get("mcp-session-id") ?? "";
  await hello.text();
  const called = { name, arguments: input };
  const text = await (await post("tools/call", called, session)).text();
  const json = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  const { result, error } = JSON.parse(json) as Answer;
  if (error) return error.message;
  if (result?.isError) return result.content?.[0]?.text;
  return result?.structuredContent;
}

test("an app's tool runs in its page, and ends when the page is reloaded", async ({
  page,
  server,
}) => {
  const { url } = await launch(server, "probe");
  await page.goto(url);
  const register = () =>
    page.evaluate(() => {
      const context = window.__AGENT_CONTEXT__;
      context?.registerTool(
        { name: "add", parameters: { a: { type: "number" } } },
        ({ a }) => ({ sum: Number(a) + 1 }),
      );
      context?.registerTool({ name: "hang" }, () => {
        document.title = "hanging";
        return new Promise(() => 0);
      });
    });
  await register();
  await expect
    .poll(() => call(server, "page-probe__add", { a: 1 }))
    .toEqual({ sum: 2 });
  expect(await call(server, "page-probe__add", { a: "1" })).toContain("/a");
  const hanging = call(server, "page-probe__hang", {});
  await expect(page).toHaveTitle("hanging");
  await page.reload();
  expect(await hanging).toContain("the page was closed");
  expect(await call(server, "page-probe__add", { a: 1 })).toContain("no tool");
  await register();
  await expect
    .poll(() => call(server, "page-probe__add", { a: 2 }))
    .toEqual({ sum: 3 });
});

test("an applet's tool runs in its frame", async ({ page, server }) => {
  await page.goto(`${server.url}/?applet=adder`);
  const frame = page.frameLocator("iframe");
  await expect(frame.getByRole("heading", { name: "Adder" })).toBeVisible();
  await expect
    .poll(() => call(server, "page-adder__add", { a: 2, b: 3 }))
    .toEqual({ sum: 5 });
  await expect(frame.locator("#sum")).toHaveText("5");
});
