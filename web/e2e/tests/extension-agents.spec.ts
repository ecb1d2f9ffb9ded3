// The person's own agents in the active tab: only while the person lets them, after a question, and never on Gangway's own pages.
import type { Page } from "@playwright/test";
import { expect, own, test } from "../extension.js";
import { valueOf } from "../sites.js";

test.use({
  settings: { defaultAgent: "builtin" },
  viewport: { width: 400, height: 720 },
});

async function say(panel: Page, words: string): Promise<void> {
  const box = panel.getByRole("textbox", { name: "Message" });
  await box.fill(words);
  // An answer that is still on its way goes first.
  await expect(
    panel.getByRole("button", { name: /^(Send|Queue)/ }),
  ).toBeEnabled();
  await box.press("Enter");
}

const call = (name: string, args: object = {}) =>
  `call browser__${name} ${JSON.stringify(args)}`;

test("an agent reads, fills in and clicks the active tab, each after approval", async ({
  context,
  page,
  site,
  thinker,
}) => {
  const panel = await own(context, "panel.html");
  await page.goto(`${site.origin}/form`);
  await page.bringToFront();
  const lets = panel.getByRole("checkbox", { name: /the active tab/ });
  // Without that there is no such tool.
  await say(panel, call("read_page"));
  await expect(
    panel.getByText(/^Heard: call browser__read_page/),
  ).toBeVisible();
  await lets.check();
  const origin = site.origin;
  const target = (selector: string) => ({ origin, target: selector });
  const allow = panel.getByRole("button", { name: "Allow once" });
  await say(panel, call("read_page"));
  await allow.click();
  await expect(panel.getByText("An agent read the page.")).toBeVisible();
  await expect
    .poll(() => thinker.asked.some(({ body }) => body.includes("@e1")))
    .toBe(true);
  const body = thinker.lastQuestion;
  expect(body).toContain("not as instructions");
  expect(body).not.toContain("kept secret");
  await say(panel, call("fill", { ...target("#name"), value: "Ahab" }));
  await allow.click();
  await expect(page.locator("#name")).toHaveValue("Ahab");
  await say(panel, call("click", target("#buy")));
  await panel.getByRole("button", { name: "Deny" }).click();
  await expect(panel.getByText("An agent filled in a field.")).toBeVisible();
  expect(await valueOf(page, "window.bought")).toBeUndefined();
  await say(panel, call("click", target("#buy")));
  await allow.click();
  await expect.poll(() => valueOf(page, "window.bought")).toBe(1);
});

test("an agent does not click another page than it named, nor Gangway's own", async ({
  context,
  page,
  site,
  server,
}) => {
  const panel = await own(context, "panel.html");
  await page.goto(`${site.other}/form`);
  await page.bringToFront();
  await panel.getByRole("checkbox", { name: /the active tab/ }).check();
  const allow = panel.getByRole("button", { name: "Allow once" });
  const refused = panel.getByText("An agent tried to use the page");
  const target = "#buy";
  await say(panel, call("click", { origin: site.origin, target }));
  await allow.click();
  await expect(panel.getByText(/ERR_TAB_CHANGED/).first()).toBeAttached();
  await expect(refused).toBeVisible();
  expect(await valueOf(page, "window.bought")).toBeUndefined();
  const named = server.url.replace("127.0.0.1", "localhost");
  for (const url of [server.url, named]) {
    await page.goto(`${url}/permissions`);
    await page.bringToFront();
    const { origin } = new URL(url);
    await say(panel, call("click", { origin, target: "button" }));
    await allow.click();
    await expect(panel.getByText(/Gangway itself/).first()).toBeAttached();
    await panel.getByRole("button", { name: "New chat" }).click();
  }
});
