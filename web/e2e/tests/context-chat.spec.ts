// Apps in the chat: the gallery, the side panel, and what they did as lines.
import { Agent, call, launch, OUTSIDE, probe } from "../context.js";
import { expect, panel, test } from "../fixtures.js";

test.use({
  settings: {
    apps: {
      probe: probe(),
      broken: { "APP.md": "---\nname: broken\n---\n", "index.html": "" },
    },
  },
});

test("the gallery shows apps, and what is wrong with those that cannot be opened", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/applets`);
  const apps = panel(page, "Apps");
  for (const title of ["Budget dashboard", "Golf solitaire", "Form builder"]) {
    await expect(apps.getByRole("heading", { name: title })).toBeVisible();
    await expect(
      apps.getByRole("link", { name: `Open ${title} in a new tab` }),
    ).toHaveAttribute("href", /^http:\/\/[a-z-]+\.localhost:\d+\//);
  }
  const broken = apps.getByRole("listitem").filter({ hasText: "broken" });
  await expect(broken).toContainText("description");
  await expect(broken.getByRole("button")).toHaveCount(0);
});

test("an app without an agent opens in a tab of its own", async ({
  page,
  context,
  server,
}) => {
  await page.goto(`${server.url}/applets`);
  const coming = context.waitForEvent("page");
  await page
    .getByRole("link", { name: "Open Golf solitaire in a new tab" })
    .click();
  const tab = await coming;
  await expect(
    tab.getByRole("heading", { name: "Golf solitaire" }),
  ).toBeVisible();
  expect(await tab.evaluate(() => "__AGENT_CONTEXT__" in window)).toBe(false);
  expect(await tab.evaluate(() => window.opener as unknown)).toBeNull();
});

test("a launched app opens beside the chat, and the chat shows its events", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/applets`);
  await page
    .getByRole("button", { name: "Launch Golf solitaire with agent" })
    .click();
  await expect(page).toHaveURL(/\/sessions\/[^/]+\?app=card-game&launch=l-/);
  const frame = page.frameLocator('iframe[title="App Golf solitaire"]');
  await expect(frame.getByLabel("Level")).toHaveValue("medium");
  const log = page.getByRole("log");
  await expect(
    log.getByRole("group", { name: "Golf solitaire launched" }),
  ).toBeVisible();
  await expect(log.getByText(/Golf solitaire sent game-started/)).toBeVisible();
  await page.screenshot({ path: "results/launched-beside-light.png" });

  // A frame that loads itself anew is the same browser, also to an origin of its own.
  const app = page.frames().find((one) => one.url().includes("card-game"));
  await app?.evaluate(() => {
    document.body.textContent = "";
    location.reload();
  });
  await expect(frame.getByLabel("Level")).toHaveValue("medium");
  await expect(log.getByText(/sent game-started/)).toHaveCount(2);

  await page.getByRole("button", { name: "Close Golf solitaire" }).click();
  await expect(page.locator("iframe")).toHaveCount(0);
  await page.getByRole("button", { name: "Open Golf solitaire" }).click();
  await expect(frame.getByLabel("Level")).toBeVisible();

  await page.reload();
  await expect(frame.getByLabel("Level")).toBeVisible();
  await expect(log.getByText(/sent game-started/).first()).toBeVisible();
  await page.getByRole("button", { name: "Show all events" }).click();
  await expect(page.getByText(/launched Golf solitaire/)).toBeVisible();
});

test("what an app and an outside agent say to each other stands in the chat", async ({
  page,
  context,
  server,
}) => {
  const launched = await launch(server, "probe", { agent: OUTSIDE });
  await page.goto(`${server.url}/sessions/${launched.sessionId}`);
  const tab = await context.newPage();
  await tab.goto(launched.url);
  const agent = await Agent.attach(server, launched.launchId);
  const done = call(tab, "request", "send-email", { to: "ada" });
  await expect(page.getByText(/probe requested send-email/)).toBeVisible();
  const error = { code: "E-AGT-004", message: "No." };
  await agent.answer("send-email", { error });
  await done;
  await expect(
    page.getByText(/probe requested and was denied send-email/),
  ).toBeVisible();
  agent.tell("ping-page", { n: 1 });
  await expect(
    page.getByText(/The agent sent ping-page to probe/),
  ).toBeVisible();
  const emitted = call(tab, "emit", "user-action", { n: 1 });
  const line = page.getByText(/probe sent user-action/);
  await expect(line).toBeVisible();
  await expect(line).not.toContainText("taken");
  await agent.take("user-action");
  await emitted;
  await expect(line).toContainText("acknowledged by tester");
});

test("the panel's launch opens in a tab of its own too", async ({
  page,
  context,
  server,
}) => {
  await page.goto(`${server.url}/?app=form-builder`);
  await expect(page.locator('iframe[title="App Form builder"]')).toBeVisible();
  const coming = context.waitForEvent("page");
  await page
    .getByRole("button", { name: "Open Form builder in a new tab" })
    .click();
  const tab = await coming;
  await tab.waitForURL(/form-builder\.localhost/);
  await expect
    .poll(() => tab.evaluate(() => typeof window.__AGENT_CONTEXT__))
    .toBe("object");
});

test("an unknown app is reported", async ({ page, server }) => {
  await page.goto(`${server.url}/?app=nothing-here`);
  await expect(page.getByText("could not be launched")).toBeVisible();
});
