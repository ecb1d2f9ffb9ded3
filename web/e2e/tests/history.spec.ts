// Chats that are longer than what a page loads at first.
import { expect, say, settled, test } from "../fixtures.js";
import { always, type Step } from "../scripts.js";

const calls = Array.from({ length: 300 }, (_, index): Step => ({
  tool: { name: "numbers/next", arguments: { index }, result: index },
}));

test.use({
  settings: { defaultAgent: "busy", scripts: { busy: always(...calls) } },
});

test("earlier messages are loaded without moving what is in view", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Count");
  await settled(page);
  await expect(page.locator("details.tool")).toHaveCount(300);

  await page.reload();
  const tools = page.locator("details.tool");
  await expect(tools.last()).toContainText('{"index":299}');
  await expect(page.locator(".message.user")).toHaveCount(0);
  const earlier = page.getByRole("button", { name: "Show earlier messages" });
  await earlier.scrollIntoViewIfNeeded();
  const first = page.locator("details.tool", {
    hasText: (await tools.first().locator(".brief").textContent()) ?? "",
  });
  const before = await first.boundingBox();
  await earlier.click();
  await expect(page.locator(".message.user")).toContainText("Count");
  await expect(tools).toHaveCount(300);
  await expect(earlier).toHaveCount(0);
  await expect(first).toBeInViewport();
  const after = await first.boundingBox();
  expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(80);
  await expect(page.locator("details.tool.running")).toHaveCount(0);
});
