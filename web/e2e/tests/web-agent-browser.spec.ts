// What the browser itself has: a model of its own, and a native place for a page's tools.
import type { StreamToken } from "@gangway/client/web-agent";
import { expect, test } from "../site-fixtures.js";
import { contextIn } from "../fixtures.js";
import { codeOf, request, valueOf } from "../sites.js";

// The place for tools is behind a switch as yet.
test.use({
  context: contextIn("--enable-features=WebMCP"),
});

/** A model as Chrome has it; none is installed where tests run. */
function ownModel(): void {
  class LanguageModel {
    static availability = () => Promise.resolve("available");
    static create = (options: { initialPrompts?: { content: string }[] }) =>
      Promise.resolve(new LanguageModel(options.initialPrompts?.[0]?.content));
    constructor(readonly system = "") {}
    prompt = (input: string) => Promise.resolve(`${this.system} ${input}`);
    promptStreaming = (input: string) =>
      new ReadableStream<string>({
        start: (to) => {
          for (const word of [this.system, " ", input]) to.enqueue(word);
          to.close();
        },
      });
    destroy() {}
  }
  Object.assign(window, { LanguageModel });
}

test("the browser's built-in model is a provider: it talks, while runs use the person's own", async ({
  page,
  site,
  thinker,
}) => {
  await page.addInitScript(ownModel);
  await page.goto(site.origin);
  const own =
    'ai.createTextSession({ provider: "chrome", systemPrompt: "Own:" })';
  // It needs leave like every other.
  expect(await codeOf(page, own)).toBe("ERR_SCOPE_REQUIRED");
  await request(
    page,
    ["model:prompt", "model:list", "model:tools"],
    "Allow once",
  );
  const providers = await valueOf<{ id: string }[]>(
    page,
    "ai.providers.list()",
  );
  expect(providers.find(({ id }) => id === "chrome")).toMatchObject({
    isNative: true,
    runtime: "chrome",
    available: true,
  });
  expect(await valueOf(page, "ai.runtime.getBest()")).toBe("harbor");
  const before = thinker.questions.length;
  expect(await valueOf(page, `(${own}).then((s) => s.prompt("cod"))`)).toBe(
    "Own: cod",
  );
  const tokens = await valueOf<StreamToken[]>(
    page,
    `(async () => {
      const session = await ${own};
      const events = [];
      for await (const event of session.promptStreaming("eel")) events.push(event);
      return JSON.parse(JSON.stringify(events));
    })()`,
  );
  expect(tokens.map(({ token = "" }) => token).join("")).toBe("Own: eel");
  expect(tokens.at(-1)?.type).toBe("done");
  expect(thinker.questions.length).toBe(before);
  const output = await valueOf<string>(
    page,
    `(async () => {
      for await (const event of agent.run({ task: "herring", provider: "thinker" }))
        if (event.type === "final") return event.output;
    })()`,
  );
  expect(output).toContain("herring");
  expect(thinker.questions.length).toBeGreaterThan(before);
});

test("a tool that is registered in the browser's own place is listed and called like any other", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  const native = await page.evaluate(() =>
    document.modelContext?.constructor.toString().includes("[native code]"),
  );
  expect(native).toBe(true);
  await request(page, ["mcp:tools.list", "mcp:tools.call"], "Allow once");
  await page.evaluate(async () => {
    await document.modelContext?.registerTool({
      name: "double",
      description: "Doubles a number",
      inputSchema: { type: "object", properties: { n: { type: "number" } } },
      execute: ({ n }) => ({
        content: [{ type: "text", text: String(2 * Number(n)) }],
      }),
    });
  });
  await expect
    .poll(() =>
      valueOf<string[]>(
        page,
        "agent.tools.list().then((all) => all.map((t) => t.name))",
      ),
    )
    .toContain("page/double");
  const result = await valueOf(
    page,
    'agent.tools.call({ tool: "page/double", args: { n: 21 } })',
  );
  expect(JSON.stringify(result)).toContain("42");
});

test("blocked local network access is reported, with what to do", async ({
  page,
  context,
  site,
  server,
}) => {
  const url = JSON.stringify({ url: server.url });
  const load = `loadGangway(${url}).then(() => "there", ({ code, message, details }) => ({ code, message, reason: details.reason }))`;
  await page.goto(`${site.origin}/public`);
  await page.waitForFunction("window.loadGangway");
  const told = await valueOf<{ message: string }>(page, load);
  expect(told).toMatchObject({
    code: "ERR_NOT_INSTALLED",
    reason: "local_network_blocked",
  });
  expect(told.message).toMatch(/local network access.*extension/);
  await context.grantPermissions(["local-network-access"]);
  await page.reload();
  await page.waitForFunction("window.loadGangway");
  expect(await valueOf(page, load)).toBe("there");
  expect(await valueOf(page, "agent.chat.canOpen()")).toBe("readily");
});
