// What a person sees before any model is connected.
import { answers, expect, say, settled, test } from "../fixtures.js";

test.use({ settings: { defaultAgent: "builtin" } });

test("without a model the page says how to get one", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  const card = page.getByRole("region", { name: "No model connected" });
  await expect(card).toContainText("gangway models pull");
  await expect(card).toContainText("Ollama");
  await expect(card).toContainText("OPENAI_API_KEY");
  await expect(card).toContainText("config.yaml");
  await card.getByRole("link", { name: "Connect a model" }).click();
  await expect(page).toHaveURL(/\/models$/);
  await expect(
    page.getByRole("heading", { name: "Models", level: 1 }),
  ).toBeFocused();
});

test("a prompt that found no model goes to the demo agent by one click", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Hello");
  const demo = page.getByRole("button", { name: "Try the demo agent" });
  await expect(demo).toHaveCount(1);
  await demo.click();
  await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
  await settled(page);
  await expect(answers(page)).not.toHaveText("");
  await expect(page.locator(".message.user")).toHaveText([/Hello/, /Hello/]);
  await expect(page.getByRole("combobox", { name: "Agent" })).toHaveValue(
    "demo",
  );
});

test("an earlier turn without a model names settings as code", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Hello");
  await settled(page);
  await say(page, "Hello again");
  const alert = page.getByRole("alert");
  await expect(alert.locator("code").first()).toBeVisible();
  await expect(alert).not.toContainText("`");
});

test("a new chat can start with the demo agent", async ({ page, server }) => {
  await page.goto(server.url);
  await page.getByRole("button", { name: "Try the demo agent" }).click();
  await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
  await expect(page.getByRole("button", { name: /long story/ })).toBeVisible();
  await say(page, "Hello");
  await settled(page);
  await expect(answers(page)).not.toHaveText("");
  // The choice holds for the next chat too, also after a reload.
  await page.goto(server.url);
  await expect(page.getByRole("combobox", { name: "Agent" })).toHaveValue(
    "demo",
  );
});
