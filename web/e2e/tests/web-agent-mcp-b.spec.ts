// Pages with @mcp-b/global, which stands in for the browser's own place for page tools, before or after our script.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "../site-fixtures.js";
import { request, valueOf } from "../sites.js";

const entry = createRequire(import.meta.url).resolve("@mcp-b/global");
const library = join(dirname(entry), "index.iife.js");

const TOOL = `document.modelContext.registerTool({
  name: "add",
  description: "Adds.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
  },
  execute: async (given) => ({
    content: [{ type: "text", text: typeof given + ":" + (given.a + given.b) }],
  }),
})`;

for (const place of ["before", "after"]) {
  test(`a tool of a page with @mcp-b/global ${place} our script gets its arguments as an object, and every call is answered`, async ({
    page,
    site,
  }) => {
    const code = await readFile(library, "utf8");
    if (place === "before") await page.addInitScript(code);
    await page.goto(site.origin);
    if (place === "after") await page.addScriptTag({ content: code });
    await valueOf(page, `${TOOL}.then(() => true)`);
    await request(page, ["mcp:tools.call"], "Allow once");
    for (const b of [1, 2, 3]) {
      const call = `agent.tools.call({ tool: "page/add", args: { a: 1, b: ${b} } })`;
      const answer = await valueOf<unknown>(page, call);
      expect(JSON.stringify(answer)).toContain(`object:${1 + b}`);
    }
  });
}
