// A server that asks for a key.
import { answers, expect, say, settled, test } from "../fixtures.js";

test.use({ settings: { hosts: ["ship.example"] } });

test("a server with keys asks for one and then goes on", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  const key = page.getByLabel("API key");
  await expect(key).toBeFocused();
  await key.fill("not the key");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toContainText("not right");
  await page.screenshot({ path: "results/login.png" });

  await key.fill(server.key);
  await key.press("Enter");
  await expect(page.getByText("Welcome aboard")).toBeVisible();
  await say(page, "Hello");
  await settled(page);
  await expect(answers(page)).not.toHaveText("");
  await page.reload();
  await expect(answers(page)).toHaveCount(1);
  expect(await page.evaluate(() => document.cookie)).toBe("");
});

test("a person who logged in can log out", async ({ page, server }) => {
  await page.goto(server.url);
  const key = page.getByLabel("API key");
  await key.fill(server.key);
  await key.press("Enter");
  await expect(page.getByText("Welcome aboard")).toBeVisible();
  await page.reload();
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(key).toBeFocused();
  await page.reload();
  await expect(key).toBeVisible();
});
