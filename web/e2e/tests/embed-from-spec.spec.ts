// An application that embeds remote agents, written from their specification alone in from-spec/embed, runs unchanged:
// its server creates agents, its page has them in a frame and asks after them.
import type { Page } from "@playwright/test";
import { expect, test as base } from "../embed-fixtures.js";
import {
  Backend,
  type Agent,
  type Answer,
} from "../from-spec/embed/backend.js";
import { read } from "../from-spec/files.js";
import { ASKING } from "../remote.js";

const test = base.extend<{ backend: Backend }>({
  settings: { withKey: true },
  backend: async ({ server, shop }, use) => {
    shop.own = await read("embed/index.html");
    await use(new Backend(server.url, server.key));
  },
});

const WISH = {
  project_name: "shop",
  persona_slug: "clerk",
  initial_prompt: "Good morning",
};

async function create(
  backend: Backend,
  more: Record<string, unknown> = {},
): Promise<Agent> {
  const { status, body } = await backend.create({ ...WISH, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body as unknown as Agent;
}

/** The page of the application, from one of its origins. */
async function open(page: Page, origin: string, agent: Agent) {
  await page.goto("about:blank");
  const told = encodeURIComponent(JSON.stringify(agent));
  await page.goto(`${origin}/own#${told}`);
  return page.frameLocator("#assistant");
}

/** The same chat with parameters in its address. */
function addressed(agent: Agent, flags: Record<string, string>): Agent {
  const url = new URL(agent.embed_url);
  for (const [flag, value] of Object.entries(flags))
    url.searchParams.set(flag, value);
  return { ...agent, embed_url: url.href };
}

const last = (page: Page) => page.locator("#log li").last();

/** The envelope that every error has. */
function refusal(
  { status, body }: Answer,
  code: string,
  wanted: number,
  retryable: unknown = false,
) {
  expect(status).toBe(wanted);
  expect(body).toMatchObject({
    status: wanted,
    error_code: code,
    message: expect.stringMatching(/./),
    retryable,
  });
}

test("Remote Agent Creation, Session Token Authentication: an agent is ready when create answers, with a token that says nothing", async ({
  backend,
  clerk,
}) => {
  const agent = await create(backend);
  expect(agent).toMatchObject({
    agent_id: expect.stringMatching(/./),
    embed_url: expect.stringMatching(/^http/),
    session_token: expect.stringMatching(/^\S{32,}$/),
    project_name: "shop",
    persona_slug: "clerk",
    tmux_session_name: expect.stringContaining("shop"),
    status: "ready",
  });
  // The first message is with the agent when create answers; the model is asked a moment later.
  for (const sent of ["Good morning", "Be kind."]) {
    await expect
      .poll(() => clerk.asked.some(({ body }) => body.includes(sent)))
      .toBe(true);
  }

  const { session_token: token, ...others } = agent;
  const other = await create(backend);
  expect(other.session_token).not.toBe(token);
  const decoded = Buffer.from(token, "base64url").toString("latin1");
  for (const inside of [agent.agent_id, others.tmux_session_name, "shop"]) {
    expect(token).not.toContain(inside);
    expect(decoded).not.toContain(inside);
  }
});

test("Agent Liveness Check, Agent Shutdown: an agent is asked after, shut down, and said to have ended", async ({
  backend,
}) => {
  const { agent_id: id, session_token: token } = await create(backend);
  expect(await backend.alive(id, token)).toMatchObject({
    status: 200,
    body: { alive: true, state: expect.any(String) },
  });
  expect(await backend.shutdown(id, token)).toMatchObject({ status: 200 });
  await expect
    .poll(() => backend.alive(id, token))
    .toMatchObject({ status: 200, body: { alive: false } });
  const again = await backend.shutdown(id, token);
  expect(again.status).toBe(200);
  expect(JSON.stringify(again.body)).toMatch(/already/);
});

test("Standardised Error Responses: each has its code, its status and the same envelope", async ({
  backend,
}) => {
  const { agent_id: id, session_token: token } = await create(backend);
  const other = await create(backend);
  refusal(
    await backend.create({ ...WISH, project_name: "nowhere" }),
    "project_not_found",
    404,
  );
  refusal(
    await backend.create({ ...WISH, persona_slug: "nobody" }),
    "persona_not_found",
    404,
  );
  refusal(await backend.alive(id), "missing_token", 401);
  refusal(await backend.shutdown(id), "missing_token", 401);
  refusal(await backend.alive(id, "made-up"), "invalid_token", 401);
  refusal(await backend.alive(id, other.session_token), "invalid_token", 401);
  refusal(await backend.shutdown(other.agent_id, token), "invalid_token", 401);
  expect((await backend.alive(id, token)).body["alive"]).toBe(true);
});

test.describe("with an agent that never gets ready", () => {
  test.use({
    settings: {
      withKey: true,
      remote: {
        creation_timeout_seconds: 1,
        backends: {
          mute: { acp: [process.execPath, "-e", "setTimeout(() => {}, 1e6)"] },
        },
      },
      projects: { shop: { backend: "mute" } },
    },
  });

  test("Agent creation timeout, Configuration: create gives up after the configured time, with 408 that can be retried", async ({
    backend,
    server,
  }) => {
    refusal(await backend.create(WISH), "agent_creation_timeout", 408, true);
    const left = await server.fetch("/api/remote_agents");
    const { agents } = (await left.json()) as { agents: { alive: boolean }[] };
    expect(agents.filter(({ alive }) => alive)).toEqual([]);
  });
});

test.describe("with remote agents switched off", () => {
  test.use({ settings: { withKey: true, remote: { enabled: false } } });

  test("Configuration: without remote agents there is no create", async ({
    backend,
  }) => {
    refusal(
      await backend.create(WISH),
      "service_unavailable",
      503,
      expect.any(Boolean),
    );
  });
});

test("Scoped Embed View, CORS Configuration: a page of an allowed origin has the chat of the one agent in a frame, live, and asks after it", async ({
  page,
  shop,
  backend,
}) => {
  const streams: string[] = [];
  page.on("response", (response) => {
    const type = response.headers()["content-type"] ?? "";
    if (type.startsWith("text/event-stream")) streams.push(response.url());
  });
  const agent = await create(backend);
  const chat = await open(page, shop.origin, agent);
  const log = chat.getByRole("log");
  await expect(log).toContainText("Heard: Good morning");
  const box = chat.getByRole("textbox");
  await box.fill("What is fresh today?");
  await box.press("Enter");
  await expect(log).toContainText("Heard: What is fresh today?");
  // In real time, by a stream that is the agent's own.
  expect(streams.length).toBeGreaterThan(0);
  for (const url of streams) expect(url).toContain(agent.agent_id);
  for (const chrome of ["banner", "navigation", "link", "complementary"])
    await expect(chat.getByRole(chrome as "link")).toHaveCount(0);

  await page.getByRole("button", { name: "Alive?" }).click();
  await expect(last(page)).toContainText('"alive":true');
  await page.getByRole("button", { name: "Without a token" }).click();
  await expect(last(page)).toContainText(/^401 .*"missing_token"/);
  await page.getByRole("button", { name: "Shut down" }).click();
  await expect(last(page)).toContainText(/^200 /);
  await expect(async () => {
    await page.getByRole("button", { name: "Alive?" }).click();
    await expect(last(page)).toContainText('"alive":false', { timeout: 500 });
  }).toPass();
});

test("Scoped Embed View: the token in the address is checked", async ({
  page,
  shop,
  backend,
}) => {
  const agent = await create(backend);
  const other = await create(backend, { initial_prompt: "A secret" });
  const url = agent.embed_url.replace(agent.session_token, other.session_token);
  expect(url).not.toBe(agent.embed_url);
  const chat = await open(page, shop.origin, { ...agent, embed_url: url });
  await expect(chat.getByRole("alert")).toBeVisible();
  await expect(chat.locator("body")).not.toContainText("Good morning");
  await expect(chat.locator("body")).not.toContainText("A secret");
  await expect(chat.getByRole("textbox")).toHaveCount(0);
});

test("CORS Configuration: a page of another origin gets neither the frame nor an answer", async ({
  page,
  shop,
  backend,
  complaints,
}) => {
  const agent = await create(backend);
  const chat = await open(page, shop.stranger, agent);
  await page.getByRole("button", { name: "Alive?" }).click();
  await expect(last(page)).toHaveText("TypeError");
  await expect(chat.getByRole("textbox")).toHaveCount(0);
  const asked = await backend.create(WISH, { Origin: shop.stranger });
  expect(asked.origin).toBeNull();
  const allowed = await backend.create(WISH, { Origin: shop.origin });
  expect(allowed.origin).toBe(shop.origin);
  expect(complaints.splice(0).join()).toMatch(/frame-ancestors/);
});

const FLAGS = {
  file_upload: { role: "button", name: /attach|file/i },
  context_usage: { role: "meter", name: /context/i },
  voice_mic: { role: "button", name: /record|microphone|voice/i },
} as const;

test("Embed Feature Flags: none is in the frame by default, and an address alone brings none", async ({
  page,
  shop,
  backend,
}) => {
  const agent = await create(backend);
  const all = { file_upload: "true", context_usage: "true", voice_mic: "true" };
  for (const flags of [{}, all]) {
    const chat = await open(page, shop.origin, addressed(agent, flags));
    await expect(chat.getByRole("textbox")).toBeVisible();
    await expect(chat.getByRole("log")).toContainText("Heard");
    for (const { role, name } of Object.values(FLAGS))
      await expect(chat.getByRole(role, { name })).toHaveCount(0);
  }
});

for (const [flag, { role, name }] of Object.entries(FLAGS)) {
  test(`Embed Feature Flags: ${flag} is in the frame of an agent that was created with it, and an address decides within that`, async ({
    page,
    shop,
    backend,
  }) => {
    const agent = await create(backend, { feature_flags: { [flag]: true } });
    for (const [flags, count] of [
      [{}, 1],
      [{ [flag]: "true" }, 1],
      [{ [flag]: "false" }, 0],
    ] as const) {
      const chat = await open(page, shop.origin, addressed(agent, flags));
      await expect(chat.getByRole("log")).toContainText("Heard");
      await expect(chat.getByRole(role, { name })).toHaveCount(count);
    }
    const [other] = Object.keys(FLAGS).filter((key) => key !== flag);
    const wrong = await backend.create({
      ...WISH,
      feature_flags: { [other ?? ""]: "yes" },
    });
    refusal(wrong, "invalid_feature_flags", 400);
  });
}

test.describe("with an agent that asks", () => {
  test.use({
    settings: {
      withKey: true,
      remote: { backends: { asking: ASKING } },
      projects: { shop: { backend: "asking" } },
    },
  });

  test("Scoped Embed View: a question has its options, and what was chosen reaches the agent", async ({
    page,
    shop,
    backend,
  }) => {
    const agent = await create(backend);
    const chat = await open(page, shop.origin, agent);
    await expect
      .poll(
        async () =>
          (await backend.alive(agent.agent_id, agent.session_token)).body,
      )
      .toMatchObject({ alive: true, state: "awaiting_input" });
    await chat.getByRole("button", { name: "Yes, order it" }).click();
    await expect(chat.getByRole("log")).toContainText("You chose yes.");
  });
});
