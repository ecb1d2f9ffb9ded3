// What a tool answers that is no text, as the person sees it in the chat.
import { say, settled } from "../fixtures.js";
import { EVERYTHING } from "../server.js";
import { expect, test } from "../site-fixtures.js";
import { toolsThere } from "../sites.js";

test.use({
  settings: {
    defaultAgent: "builtin",
    tools: { every: { command: EVERYTHING } },
  },
});

test("a tool's picture is a picture in the chat, its links are links, and nothing is base64 text", async ({
  page,
  server,
}) => {
  await toolsThere(server);
  await page.goto(server.url);
  const log = page.getByRole("log");
  for (const wish of ["tiny-image {}", "resource-links {}"]) {
    await say(page, `call ${wish}`);
    await settled(page);
  }
  for (const details of await log.locator("details.tool").all()) {
    await details.locator("summary").click();
  }
  const picture = log.getByRole("img", { name: "Result: image/png" });
  await expect(picture).toBeVisible();
  expect(
    await picture.evaluate((node) => (node as HTMLImageElement).naturalWidth),
  ).toBeGreaterThan(0);
  await expect(log.getByText("demo://resource").first()).toBeVisible();
  expect(await log.innerText()).not.toMatch(/[A-Za-z0-9+/]{200}/);
});
