// An agent and a host page that were written from the specification of the external agent protocol alone, in from-spec/relay,
// run unchanged: the agent on the booking page, and both with each other.
import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { RelayTokens } from "@gangway/client";
import type { Page } from "@playwright/test";
import { expect, test as base } from "../embed-fixtures.js";
import { path, read } from "../from-spec/files.js";
import { openBooking, STAGES, type UiSpec } from "../relay.js";
import { Server } from "../server.js";

interface Packet {
  v: string;
  type: string;
  id?: string;
  replyTo?: string;
  payload: Record<string, unknown>;
}

/** What the agent prints, by what it calls it. */
interface Printed {
  early?: string;
  joined?: Packet;
  started?: Packet;
  snapshot?: Packet;
  probe?: Record<string, string>;
  booked?: string[];
  state?: UiSpec["state"];
  called?: Packet;
  ended?: Packet;
  received?: Packet;
}

/** The agent, as a process of its own. */
class Agent {
  readonly #child: ChildProcess;
  readonly printed: Printed[] = [];

  constructor(relay: string, session: string) {
    const args = ["--experimental-websocket", path("relay/agent.js")];
    this.#child = spawn(process.execPath, [...args, relay, session], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    if (!this.#child.stdout) throw new Error("nothing to read");
    createInterface({ input: this.#child.stdout }).on("line", (line) =>
      this.printed.push(JSON.parse(line) as Printed),
    );
  }

  tell(task: string): void {
    this.#child.stdin?.write(`${task}\n`);
  }

  /** What it says under this name, once it has said that. */
  async says<Key extends keyof Printed>(
    key: Key,
  ): Promise<NonNullable<Printed[Key]>> {
    let found: Printed | undefined;
    await expect
      .poll(() => (found = this.printed.find((said) => key in said)), {
        message: `the agent says ${key}`,
      })
      .toBeDefined();
    if (!found) throw new Error(`never said ${key}`);
    this.printed.splice(this.printed.indexOf(found), 1);
    return found[key] as NonNullable<Printed[Key]>;
  }

  do<Key extends keyof Printed>(task: string, key: Key) {
    this.tell(task);
    return this.says(key);
  }

  /** What it received without having asked, of one type. */
  received(type: string): Packet[] {
    return this.printed
      .flatMap(({ received = [] }) => received)
      .filter((packet) => packet.type === type);
  }

  stop(): void {
    this.#child.kill();
  }
}

/** The addresses of the relay for both roles: the protocol of the specification knows no keys, so that each has its own in it. */
async function addresses(server: Server, session: string) {
  const answer = await server.post(`/api/relay/tokens/${session}`);
  const { agentToken, hostToken } = (await answer.json()) as RelayTokens;
  const relay = `${server.url.replace("http", "ws")}/agent/ws`;
  return {
    host: `${relay}?token=${hostToken}`,
    agent: `${relay}?token=${agentToken}`,
  };
}

const test = base.extend<{
  startAgent: (relay: string, session: string) => Agent;
}>({
  server: async ({ shop }, use) => {
    const server = await Server.start({ allowedOrigins: [shop.origin] });
    await use(server);
    await server.stop();
  },

  // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
  startAgent: async ({}, use) => {
    const agents: Agent[] = [];
    await use((relay, session) => {
      const agent = new Agent(relay, session);
      agents.push(agent);
      return agent;
    });
    for (const agent of agents) agent.stop();
  },
});

test("4.0 to 5: the agent joins, books from the first stage to the last, receives messages of the user, and gets the error codes of the specification", async ({
  page,
  server,
  startAgent,
}) => {
  await openBooking(page, server, "default");
  const relay = await addresses(server, "default");
  const agent = startAgent(relay.agent, "default");
  expect(await agent.says("early")).toBe("SESSION_NOT_ACTIVE");
  expect(await agent.says("joined")).toMatchObject({
    v: "mvp-0.2",
    type: "relay.joined",
    replyTo: "req-002",
    payload: { role: "agent", sessionId: "default" },
  });
  const started = await agent.do("start", "started");
  expect(started.type).toBe("session.started");
  const study = started.payload["sessionId"] as string;
  expect(study).toMatch(/^s-\d{8}-\d{3}$/);

  const snapshot = await agent.do("snapshot", "snapshot");
  expect(snapshot).toMatchObject({
    type: "snapshot.state",
    payload: {
      sessionId: study,
      uiSpec: { stage: "movie" },
      messageHistory: expect.any(Array),
      toolSchema: expect.arrayContaining([
        expect.objectContaining({ name: "select" }),
      ]),
    },
  });
  expect(JSON.stringify(snapshot)).not.toContain("backendData");

  expect(await agent.do("probe", "probe")).toEqual({
    version: "INVALID_MESSAGE",
    type: "INVALID_MESSAGE",
    tool: "UNKNOWN_TOOL",
    params: "INVALID_PARAMS",
    item: "INVALID_PARAMS",
    reason: "INVALID_PARAMS",
  });

  await page.getByRole("textbox").last().fill("I prefer evening showtimes.");
  await page.keyboard.press("Enter");
  await expect
    .poll(() => agent.received("user.message"))
    .toMatchObject([
      { payload: { text: "I prefer evening showtimes.", stage: "movie" } },
    ]);

  agent.tell("book");
  expect(await agent.says("booked")).toEqual(STAGES);
  await expect(page.locator(".code")).toBeVisible();
  await expect(page.getByText("I settle movie next.")).toBeVisible();
  const updates = agent.received("state.updated");
  expect(updates.length).toBeGreaterThan(STAGES.length);
  for (const { payload } of updates) {
    expect(["user", "agent", "stage"]).toContain(payload["source"]);
    expect(payload["uiSpec"]).toMatchObject({
      stage: expect.any(String),
    });
    expect(payload["messageHistory"]).toBeInstanceOf(Array);
  }

  const ended = await agent.do("end", "ended");
  expect(ended).toMatchObject({
    type: "session.ended",
    payload: { sessionId: study, stateReset: true },
  });
  await expect(
    page.getByRole("heading", { name: "Which movie?" }),
  ).toBeVisible();
  await expectLog(server, ended, "This stage is settled.");
});

/** 6: one event a line, counted without a gap, with every required field. */
async function expectLog(
  server: Server,
  { payload }: Packet,
  reason: string,
): Promise<void> {
  const logFile = payload["logFile"] as string;
  const text = await readFile(join(server.data, logFile), "utf8");
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const [index, line] of lines.entries()) {
    expect(line).toMatchObject({
      sessionId: payload["sessionId"],
      direction: expect.stringMatching(/^(in|out|internal)$/),
      type: expect.any(String),
      payload: expect.any(Object),
    });
    expect(line["eventIndex"]).toBe(index + Number(lines[0]?.["eventIndex"]));
    const time = String(line["timestamp"]);
    expect(new Date(time).toISOString().slice(0, 19)).toBe(time.slice(0, 19));
  }
  const types = lines.map(({ type }) => type);
  for (const type of ["tool.call", "tool.result", "agent.message"])
    expect(types).toContain(type);
  expect(lines).toContainEqual(
    expect.objectContaining({
      direction: "in",
      type: "tool.call",
      payload: expect.objectContaining({
        toolName: "next",
        reason,
      }),
    }),
  );
}

test.describe("with a host from the specification", () => {
  const pressed = (page: Page, name: string) =>
    expect(page.getByRole("button", { name })).toHaveAttribute(
      "aria-pressed",
      "true",
    );

  test("4.1, 4.2: calls, messages, states and errors pass between host and agent, and a session is started and ended", async ({
    page,
    server,
    shop,
    startAgent,
  }) => {
    shop.own = await read("relay/host.html");
    const relay = await addresses(server, "ice");
    const query = new URLSearchParams({ relay: relay.host, session: "ice" });
    await page.goto(`${shop.origin}/own?${query}`);
    await expect(page.locator("#received")).toHaveText(
      "joined mvp-0.2 host ice",
    );
    const agent = startAgent(relay.agent, "ice");
    await agent.says("joined");
    const started = await agent.do("start", "started");
    expect(started.type).toBe("session.started");
    const study = started.payload["sessionId"];

    const { payload } = await agent.do("snapshot", "snapshot");
    expect(payload).toMatchObject({
      sessionId: study,
      uiSpec: { stage: "flavour", visibleItems: [{ id: "vanilla" }, {}] },
      messageHistory: [],
      toolSchema: [{ name: "select" }, { name: "next" }],
    });

    const call = (toolName: string, params: object = {}) =>
      agent.do(
        `call ${JSON.stringify({ toolName, params, reason: "It is good." })}`,
        "called",
      );
    expect(await call("select", { itemId: "herring" })).toMatchObject({
      type: "tool.result",
      payload: {
        ok: true,
        toolName: "select",
        uiSpec: { state: { selected: { id: "herring" } } },
        messageHistory: [{ type: "system", text: "select: It is good." }],
      },
    });
    await pressed(page, "herring");
    expect(await call("teleport")).toMatchObject({
      type: "error",
      payload: { code: "UNKNOWN_TOOL" },
    });
    expect(await call("select", { itemId: "tar" })).toMatchObject({
      type: "error",
      payload: {
        code: "INVALID_PARAMS",
        message: expect.any(String),
      },
    });
    expect(await call("next")).toMatchObject({
      payload: { uiSpec: { stage: "size" } },
    });
    expect(await call("next")).toMatchObject({
      type: "error",
      payload: { code: "TOOL_EXECUTION_FAILED" },
    });

    agent.tell("say I will choose a size next.");
    const timeline = page.locator("#timeline");
    await expect(timeline).toContainText("agent: I will choose a size next.");
    await page.getByLabel("Chat").fill("A large one.");
    await page.getByRole("button", { name: "Send" }).click();
    await expect
      .poll(() => agent.received("user.message"))
      .toMatchObject([{ payload: { text: "A large one.", stage: "size" } }]);
    await page.getByRole("button", { name: "large" }).click();
    await expect
      .poll(() => agent.received("state.updated").at(-1)?.payload)
      .toMatchObject({
        source: "user",
        uiSpec: { state: { selected: { id: "large" } } },
      });

    const ended = await agent.do("end", "ended");
    expect(ended).toMatchObject({
      type: "session.ended",
      payload: { sessionId: study, stateReset: true },
    });
    await expect(
      page.getByRole("heading", { name: "Which flavour?" }),
    ).toBeVisible();
    await expectLog(server, ended, "It is good.");
    await expect(page.locator("#received li")).toHaveCount(1);
  });
});
