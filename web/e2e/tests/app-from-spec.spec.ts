// A weblet that was written from the specification of the agent context alone, in from-spec/app, runs unchanged.
import type { LaunchBody } from "@gangway/client";
import type { Page } from "@playwright/test";
import { Agent, direct, launch, visit } from "../context.js";
import { expect, test } from "../fixtures.js";
import { readAll } from "../from-spec/files.js";
import type { Server } from "../server.js";

const CLAUDE = {
  name: "claude",
  version: "1.0.0",
  capabilities: ["text", "code", "file-access"],
};

const DATA = {
  expenses: [
    { id: "e1", label: "Herring", amount: 7 },
    { id: "e2", label: "Yacht", amount: 700_000 },
  ],
  date_range: { start: "2024-01-01", end: "2024-12-31" },
};

async function open(
  page: Page,
  server: Server,
  body: LaunchBody = {},
): Promise<Agent> {
  await server.writeApp("expense-review", await readAll("app"));
  const { url, launchId } = await launch(server, "expense-review", {
    agent: CLAUDE,
    data: DATA,
    config: { theme: "dark" },
    ...body,
  });
  await page.goto(url);
  await expect(page.locator("#toolbar")).not.toBeEmpty();
  return Agent.attach(server, launchId);
}

const press = (page: Page, name: string) =>
  page.getByRole("button", { name }).click();

const last = (page: Page) => page.locator("#log li").last();

async function emit(page: Page, name: string, payload = "none") {
  await page.getByLabel("Event").fill(name);
  await page.getByLabel("Payload").selectOption(payload);
  await press(page, "Emit");
}

async function ask(page: Page, action: string) {
  await page.getByLabel("Action").fill(action);
  await press(page, "Request");
}

test("FR-CTX-001 to 006, TS-AGT-001, 003, 011: the context is there for the first script, with agent, data and config, and frozen", async ({
  page,
  server,
}) => {
  await open(page, server);
  expect(await page.evaluate("seenByFirstScript")).toBe("object");
  expect(await page.evaluate("sloppy")).toBe("ignored");
  await expect(page.locator("#toolbar")).toContainText(
    "claude 1.0.0 text code file-access",
  );
  await expect(page.locator("#expenses")).toContainText("Yacht 700000");
  await expect(page.locator("#range")).toHaveText("2024-01-01 to 2024-12-31");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  // The default of APP.md.
  await expect(page.locator("body")).toHaveAttribute("data-chart", "bar");
  await expect(page.locator("#upload")).toBeHidden();
  await expect(page.locator("#frozen")).toHaveText(
    Array.from({ length: 8 }, () => "TypeError").join(" "),
  );
});

test("FR-EMIT-001 to 004, TS-AGT-004: an event reaches the agent, and its promise is kept once the agent acknowledged it", async ({
  page,
  server,
}) => {
  const agent = await open(page, server);
  await press(page, "Flag Yacht");
  const event = await agent.next("weblet-event", "expense-flagged");
  expect(event).toMatchObject({
    type: "weblet-event",
    event: "expense-flagged",
    payload: { expense_id: "e2", reason: "unusual" },
    weblet: "expense-review",
  });
  expect(Math.abs(Date.now() - Number(event["timestamp"]))).toBeLessThan(
    60_000,
  );
  await expect(page.locator("#log li")).toHaveCount(0);
  await agent.take("expense-flagged");
  await expect(last(page)).toHaveText("flagged: true");
  // A name that APP.md does not list is an event too, and a payload is optional.
  await emit(page, "z9-");
  await agent.take("z9-");
  await expect(last(page)).toHaveText("emitted: true");
});

test("FR-EMIT-002, 003, TS-AGT-005, E-AGT-001, E-AGT-002: wrong names and payloads are refused", async ({
  page,
  server,
}) => {
  const agent = await open(page, server);
  for (const name of ["Invalid Name!", "camelCase", "1st", "under_score"]) {
    await emit(page, name);
    await expect(last(page)).toHaveText(
      `emitted: AgentError E-AGT-001 Invalid event name: ${name}. Use lowercase with hyphens.`,
    );
  }
  for (const payload of ["circular", "bigint"]) {
    await emit(page, "report-generated", payload);
    await expect(page.locator("#log")).toContainText("E-AGT-002");
    await expect(last(page)).toHaveText(
      "emitted: AgentError E-AGT-002 Event payload must be JSON-serializable",
    );
  }
  await emit(page, "report-generated", "json");
  const { payload } = await agent.take("report-generated");
  expect(payload).toEqual({ format: "pdf", data: { total: 7 } });
  const events = agent.received.filter(({ type }) => type === "weblet-event");
  expect(events).toHaveLength(1);
});

test("FR-REQ-001 to 003, TS-AGT-006, TS-AGT-007, E-AGT-004, E-AGT-006: requests are answered, denied, or not known", async ({
  page,
  server,
}) => {
  const agent = await open(page, server);
  await press(page, "Send report");
  const request = await agent.answer("send-email", {
    result: { sent: true, messageId: "msg-456" },
  });
  expect(request).toMatchObject({
    type: "weblet-request",
    action: "send-email",
    params: { to: "user@example.com", subject: "Report", body: "All well." },
    requestId: expect.stringMatching(/./),
    timestamp: expect.any(Number),
  });
  await expect(last(page)).toHaveText(
    'report: {"sent":true,"messageId":"msg-456"}',
  );

  await ask(page, "open-vault");
  await agent.answer("open-vault", {
    error: { code: "E-AGT-004", message: "Agent denied request: open-vault" },
  });
  await expect(last(page)).toHaveText(
    "answered: AgentDeniedError E-AGT-004 Agent denied request: open-vault",
  );
  await ask(page, "fly");
  await agent.answer("fly", {
    error: { code: "E-AGT-006", message: "Agent does not support action: fly" },
  });
  await expect(last(page)).toHaveText(
    "answered: AgentError E-AGT-006 Agent does not support action: fly",
  );
});

test("FR-SUB-001 to 004, TS-AGT-008, TS-AGT-009: what the agent sends reaches every handler, and none that was taken off", async ({
  page,
  server,
}) => {
  const agent = await open(page, server);
  const theme = page.locator("html");
  agent.tell("config-updated", { theme: "light" });
  await expect(last(page)).toHaveText('config-updated: {"theme":"light"}');
  await expect(theme).toHaveAttribute("data-theme", "light");
  await press(page, "Mute");
  agent.tell("config-updated", { theme: "dark" });
  await expect(last(page)).toHaveText('config-updated: {"theme":"dark"}');
  await expect(theme).toHaveAttribute("data-theme", "light");
});

test("FR-EMIT-005, FR-REQ-004, TS-AGT-012, E-AGT-003, E-AGT-005: unanswered events and requests time out after 30 and 60 seconds", async ({
  page,
  server,
}) => {
  await page.clock.install();
  const agent = await open(page, server);
  await press(page, "Flag Herring");
  await ask(page, "slow-action");
  await agent.next("weblet-event", "expense-flagged");
  await agent.next("weblet-request", "slow-action");
  await page.clock.runFor(29_000);
  await expect(page.locator("#log li")).toHaveCount(0);
  await page.clock.runFor(2_000);
  await expect(last(page)).toHaveText(
    "flagged: AgentTimeoutError E-AGT-003 Agent did not acknowledge event within 30s",
  );
  await page.clock.runFor(28_000);
  await expect(page.locator("#log li")).toHaveCount(1);
  await page.clock.runFor(2_000);
  await expect(last(page)).toHaveText(
    "answered: AgentTimeoutError E-AGT-005 Agent did not respond within 60s",
  );
});

test("FR-DEGRADE-001 to 003, TS-AGT-002, TS-AGT-010: opened alone there is no context, and the app does without", async ({
  page,
  server,
}) => {
  await server.writeApp("expense-review", await readAll("app"));
  await visit(page, direct(server, "expense-review"));
  await expect(page.locator("#toolbar")).toHaveText("standalone");
  expect(await page.evaluate("seenByFirstScript")).toBe("undefined");
  await expect(page.locator("#upload")).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await emit(page, "report-generated", "json");
  await expect(last(page)).toHaveText("emitted: false");
  await press(page, "Send report");
  await expect(last(page)).toHaveText('report: "sent from the page"');
});

test("an agent finds the app in the gallery and launches it beside the chat, where the person allows what it asks for", async ({
  page,
  server,
}) => {
  await server.writeApp("expense-review", await readAll("app"));
  await page.goto(`${server.url}/applets`);
  await page
    .getByRole("button", { name: "Launch expense-review with agent" })
    .click();
  const app = page.frameLocator('iframe[title="App expense-review"]');
  await expect(app.locator("#toolbar")).toHaveText(/^\S+ \d+\.\d+\.\d+/);
  await app.getByRole("button", { name: "Save report" }).click();
  const dialog = page.getByRole("dialog", { name: "Request from " });
  await dialog.getByRole("button", { name: "Allow once" }).click();
  await expect(app.locator("#log li").last()).toContainText("report.txt");
  await app.getByLabel("Event").fill("report-generated");
  await app.getByRole("button", { name: "Emit" }).click();
  await expect(app.locator("#log li").last()).toHaveText("emitted: true");
});
