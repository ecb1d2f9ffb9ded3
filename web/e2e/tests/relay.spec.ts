// The relay with the real app at one end: examples that book, crashes at each stage, and guests without manners.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { RelayTokens } from "@gangway/client";
import ts from "typescript";
import { expect, test } from "../fixtures.js";
import { frame, openBooking, Peer, settle, STAGES } from "../relay.js";
import type { Server } from "../server.js";

const run = promisify(execFile);
const example = (path: string) =>
  fileURLToPath(new URL(`../../../examples/${path}`, import.meta.url));
const WISHES = "two seats for a comedy on Saturday evening, near the front";

/** What an agent is told to join a session. */
async function environment(server: Server, session: string) {
  const answer = await server.post(`/api/relay/tokens/${session}`);
  const { agentToken } = (await answer.json()) as RelayTokens;
  return {
    ...process.env,
    GANGWAY_URL: server.url,
    GANGWAY_SESSION: session,
    GANGWAY_KEY: agentToken,
  };
}

/** Runs the example as newer versions of Node do by themselves. */
async function typescriptAgent(env: NodeJS.ProcessEnv, wish: string) {
  const folder = await mkdtemp(join(tmpdir(), "gangway-agent-"));
  try {
    const source = await readFile(example("typescript-agent/agent.ts"), "utf8");
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
      },
    });
    const script = join(folder, "agent.mjs");
    await writeFile(script, outputText);
    const args = ["--experimental-websocket", script, wish];
    return await run(process.execPath, args, { env });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test.describe("an agent to start from books", () => {
  test("in Python", async ({ page, server }) => {
    await openBooking(page, server, "python");
    const env = await environment(server, "python");
    const { stdout } = await run(
      "python3",
      [example("python-agent/agent.py"), WISHES],
      { env },
    );
    const code = /Booked: (\S+)/.exec(stdout)?.[1] ?? "nothing";
    await expect(page.locator(".code")).toHaveText(code);
    await expect(page.locator(".summary")).toContainText("Saturday");
  });

  test("in TypeScript", async ({ page, server }) => {
    await openBooking(page, server, "typescript");
    const env = await environment(server, "typescript");
    const { stdout } = await typescriptAgent(env, WISHES);
    const code = /Booked: (\S+)/.exec(stdout)?.[1] ?? "nothing";
    await expect(page.locator(".code")).toHaveText(code);
    await expect(page.locator(".summary")).toContainText("Saturday");
  });
});

test("an agent that joins later continues from there, and does not change a completed booking", async ({
  page,
  server,
}) => {
  await openBooking(page, server, "middle");
  const chosen = page.getByRole("radio").nth(2);
  await chosen.click();
  const movie = (await chosen.locator(".name").textContent()) ?? "?";
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("radio").first().click();
  const env = await environment(server, "middle");
  const { stdout } = await typescriptAgent(env, "three seats");
  const code = /Booked: (\S+)/.exec(stdout)?.[1] ?? "nothing";
  await expect(page.locator(".code")).toHaveText(code);
  await expect(page.locator(".summary")).toContainText(movie);
  await expect(page.locator(".summary")).toContainText("3 × Adult");
  const again = await typescriptAgent(env, "three seats");
  expect(again.stdout).toBe(`Already booked: ${code}\n`);
});

test("an agent on an unknown page uses the named tool, or lists the tools", async ({
  server,
}) => {
  const host = await Peer.connect(server);
  await host.join("host", "lamp");
  const env = await environment(server, "lamp");
  const lamp = {
    ...{ uiSpec: { title: "Lamp" }, messageHistory: [] },
    toolSchema: [
      {
        ...{ name: "switch", description: "Switches the lamp." },
        parameters: { on: { type: "boolean", description: "Whether." } },
      },
    ],
  };
  const answer = async (type: string, reply: string, more = {}) => {
    const { id = "" } = await host.take(type);
    host.tell(reply, { ...lamp, ...more }, { replyTo: id });
  };
  const used = typescriptAgent(env, 'switch {"on": true}');
  await answer("snapshot.get", "snapshot.state");
  await answer("tool.call", "tool.result", { ok: true, result: "bright" });
  expect((await used).stdout).toContain('switch: "bright"');
  const lost = typescriptAgent(env, WISHES).catch(
    (error: unknown) => error as { code: number; stdout: string },
  );
  await answer("snapshot.get", "snapshot.state");
  const ended = await lost;
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stdout).toContain("switch (on): Switches the lamp.");
  expect((await host.take("agent.message")).payload["text"]).toContain(
    "no booking",
  );
});

for (const stage of STAGES) {
  test(`a server that dies at ${stage} is found again by page and agent`, async ({
    page,
    server,
  }) => {
    await openBooking(page, server);
    const agent = await Peer.agent(server);
    for (const _stage of STAGES.slice(0, STAGES.indexOf(stage))) {
      await settle(agent);
    }
    const before = await agent.spec();
    expect(before.stage).toBe(stage);
    await server.kill();
    await expect(page.locator("#presence")).toContainText(
      "Connecting to agents",
    );
    await server.launch();
    await agent.reconnect();
    await agent.join("agent");
    await expect(page.locator("#presence")).toHaveText("1 agent connected");
    expect((await agent.spec()).state).toEqual(before.state);
    for (const _stage of STAGES.slice(STAGES.indexOf(stage)))
      await settle(agent);
    await expect(page.locator(".code")).toBeVisible();
  });
}

test("page and agent reconnect to a restarted server", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  await settle(agent);
  const before = await agent.spec();
  await server.end();
  await expect(page.locator("#presence")).toContainText("Connecting to agents");
  await server.launch();
  await agent.reconnect();
  await agent.join("agent");
  await expect(page.locator("#presence")).toHaveText("1 agent connected");
  expect((await agent.spec()).state).toEqual(before.state);
});

test("a newer page takes the older one's place, which can take it back", async ({
  page,
  context,
  server,
}) => {
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  const other = await context.newPage();
  await openBooking(other, server);
  await expect(page.locator("#status")).toContainText("replaced this one");
  await agent.use("select", {
    itemId: (await agent.spec()).items[0]?.id ?? "",
  });
  await expect(other.locator('[aria-checked="true"]')).toHaveCount(1);
  await expect(page.locator('[aria-checked="true"]')).toHaveCount(0);
  await page.getByRole("button", { name: "Use this page" }).click();
  await expect(page.locator("#presence")).toHaveText("1 agent connected");
  expect((await agent.spec()).state.selected).toBeUndefined();
});

test("two pages with different names do not affect each other", async ({
  page,
  context,
  server,
}) => {
  await openBooking(page, server, "one");
  const other = await context.newPage();
  await openBooking(other, server, "two");
  const agent = await Peer.agent(server, "two");
  await settle(agent);
  await expect(other.locator("#stage")).toHaveAttribute(
    "data-stage",
    "theater",
  );
  await expect(page.locator("#stage")).toHaveAttribute("data-stage", "movie");
  await expect(page.locator("#presence")).toContainText("agent of your chat");
});

test("each code of the protocol comes when it should", async ({
  page,
  server,
}) => {
  const agent = await Peer.connect(server);
  const codeOf = async (type: string, payload: Record<string, unknown>) => {
    const answer = await agent.ask(type, payload);
    expect(answer.type).toBe("error");
    return answer.payload["code"];
  };
  expect(await codeOf("snapshot.get", {})).toBe("SESSION_NOT_ACTIVE");
  expect(await codeOf("relay.join", { role: "cook" })).toBe("INVALID_MESSAGE");
  expect(
    await codeOf("relay.join", { role: "agent", sessionId: "../../x" }),
  ).toBe("INVALID_MESSAGE");
  await agent.join("agent");
  expect(await codeOf("snapshot.get", {})).toBe("SESSION_NOT_ACTIVE");
  await openBooking(page, server);
  expect(await codeOf("no.such.type", {})).toBe("INVALID_MESSAGE");
  expect(await codeOf("state.updated", { uiSpec: {} })).toBe("INVALID_MESSAGE");
  expect(await agent.refused("fly")).toBe("UNKNOWN_TOOL");
  expect(await agent.refused("select", {})).toBe("INVALID_PARAMS");
  expect(await agent.refused("next", {}, "")).toBe("INVALID_PARAMS");
  expect(await agent.refused("next", {}, 7)).toBe("INVALID_PARAMS");
  expect(
    await agent.refused("filter", { field: "x", operator: "eq", value: 1 }),
  ).toBe("INVALID_PARAMS");
  expect(await agent.refused("setQuantity", { typeId: "x", quantity: 1 })).toBe(
    "TOOL_EXECUTION_FAILED",
  );
  expect(await agent.refused("next")).toBe("TOOL_EXECUTION_FAILED");
  agent.raw("{");
  expect((await agent.take("error")).payload["code"]).toBe("INVALID_MESSAGE");
  agent.raw('{"v":"mvp-9","type":"snapshot.get","payload":{}}');
  expect((await agent.take("error")).payload["code"]).toBe("INVALID_MESSAGE");
});

test("what agents write is text, however it is written", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  const bad =
    '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
  const itemId = (await agent.spec()).items[0]?.id ?? "";
  await agent.use("postMessage", { text: bad }, bad);
  agent.tell("agent.message", { text: bad });
  await agent.use(
    "augment",
    { items: [{ itemId, value: bad.slice(0, 60) }] },
    bad,
  );
  await agent.use("filter", { field: "id", operator: "neq", value: bad }, bad);
  expect(await agent.refused("select", { itemId: bad })).toBe("INVALID_PARAMS");
  expect(await agent.refused(bad.slice(0, 40))).toBe("UNKNOWN_TOOL");
  expect(
    await agent.refused("sort", { field: "__proto__", order: "asc" }),
  ).toBe("INVALID_PARAMS");
  await expect(page.getByRole("log")).toContainText("<script>");
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  expect(await page.locator("img").count()).toBe(0);
});

test("an agent that floods does not affect others", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  const rude = await Peer.agent(server);
  const kind = await Peer.agent(server);
  const call = { toolName: "prev", params: {}, reason: "Again!" };
  const calls = Array.from({ length: 300 }, (_, at) =>
    frame("tool.call", call, { id: `f${at}` }),
  );
  rude.raw(...calls);
  await settle(kind);
  await expect(page.locator("#stage")).toHaveAttribute(
    "data-stage",
    /movie|theater/,
  );
  await page.locator("#choices button:enabled").first().click();
  await expect(page.locator('[aria-checked="true"]')).toHaveCount(1);
});

test("an unsolicited answer of a page is an error, and is not forwarded", async ({
  server,
}) => {
  const host = await Peer.connect(server);
  await host.join("host", "odd");
  const agent = await Peer.agent(server, "odd");
  host.tell("tool.result", { ok: true }, { replyTo: "made-up" });
  expect((await host.take("error")).payload["code"]).toBe("INVALID_MESSAGE");
  host.tell("state.updated", { source: "user", uiSpec: { a: 1 } });
  expect((await agent.take("state.updated")).payload["uiSpec"]).toEqual({
    a: 1,
  });
  const types = agent.received.map(({ type }) => type);
  expect(types).not.toContain("tool.result");
});
