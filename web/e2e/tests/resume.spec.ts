// Reloads, second tabs and a server that dies: nothing is lost, nothing comes twice.
import { answers, expect, say, settled, test } from "../fixtures.js";
import { always, COUNTED } from "../scripts.js";

test.use({
  settings: {
    defaultAgent: "slow",
    scripts: { slow: always({ say: COUNTED, every_ms: 60 }) },
  },
});

test("a reload in the middle of an answer misses no token", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Count");
  await expect(answers(page)).toContainText("word10");
  await page.reload();
  await expect(answers(page)).toContainText("word30");
  await page.reload();
  await settled(page);
  await expect(answers(page)).toHaveText(COUNTED);
  await expect(page.locator(".message.user")).toHaveCount(1);
});

test("two tabs show the same conversation live", async ({
  page,
  context,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Count");
  await expect(page).toHaveURL(/\/sessions\//);
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(answers(other)).toContainText("word20");
  await expect(other.getByRole("button", { name: "Stop" })).toBeVisible();
  await settled(page);
  await settled(other);
  await expect(answers(page)).toHaveText(COUNTED);
  await expect(answers(other)).toHaveText(COUNTED);

  await say(other, "Again");
  await expect(page.locator(".message.user").nth(1)).toContainText("Again");
});

test("a killed server comes back and the page shows the interrupted turn", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Count");
  await expect(answers(page)).toContainText("word20");
  await server.kill();
  await expect(page.getByText("Reconnecting…")).toBeVisible();

  await server.launch();
  await expect(page.getByText("Reconnecting…")).toHaveCount(0);
  const note = page.getByText("The server stopped before");
  await expect(note).toBeVisible();
  const text = await answers(page).innerText();
  expect(COUNTED.startsWith(text.trim())).toBe(true);

  await page.getByRole("button", { name: "Retry" }).click();
  await settled(page);
  await expect(answers(page).last()).toHaveText(COUNTED);
});

test("a send that found no server is no longer a problem once it is back", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Count");
  await expect(answers(page)).toContainText("word5");
  await server.kill();
  await expect(page.getByText("Reconnecting…")).toBeVisible();
  await say(page, "One more");
  await expect(page.getByText("Something went wrong")).toBeVisible();
  await expect(page.getByText("Sent after this answer")).toHaveCount(0);

  await server.launch();
  await expect(page.getByText("Reconnecting…")).toHaveCount(0);
  await expect(page.getByText("Something went wrong")).toHaveCount(0);
  const box = page.getByRole("textbox", { name: "Message" });
  await expect(box).toHaveValue("One more");
});

test("a draft survives a reload", async ({ page, server }) => {
  await page.goto(server.url);
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Half a thought");
  await page.reload();
  await expect(box).toHaveValue("Half a thought");
  await box.press("Enter");
  await expect(page.locator(".message.user")).toContainText("Half a thought");
  await expect(box).toHaveValue("");
  await page.reload();
  await expect(box).toHaveValue("");
});
