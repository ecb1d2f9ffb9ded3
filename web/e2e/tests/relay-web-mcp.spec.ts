// A page whose tools are the browser's own kind.
import { launch } from "../context.js";
import { contextIn, expect, test } from "../fixtures.js";
import { Peer } from "../relay.js";

const LAMP = {
  "APP.md": "---\nname: lamp\ndescription: A lamp.\n---\nA page for tests.\n",
  "index.html": `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Lamp</title><script type="module" src="lamp.js"></script></head>
  <body><h1>Lamp</h1><p id="lamp">dark</p></body>
</html>`,
  "lamp.js": `import { createHost } from "./__gangway/host.js";
const lamp = document.getElementById("lamp");
await document.modelContext?.registerTool({
  name: "switch_lamp",
  description: "Switches the lamp.",
  inputSchema: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
  execute: ({ on }) => {
    lamp.textContent = on ? "bright" : "dark";
    return { now: lamp.textContent };
  },
});
window.host = createHost({ session: "lamp" });
`,
};

test.use({
  settings: { apps: { lamp: LAMP } },
  context: contextIn("--enable-features=WebMCP"),
});

interface Offered {
  name: string;
  parameters: Record<string, unknown>;
}

test("the tools of a page are offered with one line", async ({
  page,
  server,
}) => {
  const { url } = await launch(server, "lamp");
  await page.goto(url);
  await page.waitForFunction(
    () => (window as { host?: { status: string } }).host?.status === "live",
  );
  const agent = await Peer.agent(server, "lamp");
  const { payload } = await agent.ask("snapshot.get", {});
  expect(payload["uiSpec"]).toEqual({ title: "Lamp" });
  const [offered] = payload["toolSchema"] as Offered[];
  expect(offered).toMatchObject({
    name: "switch_lamp",
    parameters: { on: { type: "boolean" } },
  });
  const answer = await agent.ask("tool.call", {
    toolName: "switch_lamp",
    params: { on: true },
    reason: "It is dark.",
  });
  expect(answer).toMatchObject({
    type: "tool.result",
    payload: { ok: true, result: { now: "bright" } },
  });
  await expect(page.locator("#lamp")).toHaveText("bright");
  expect(await agent.refused("switch_lamp", { on: "yes" })).toBe(
    "INVALID_PARAMS",
  );
  expect(await agent.refused("switch_lamp", {})).toBe("INVALID_PARAMS");
});
