// What a question shows in a window of the size in which it opens.
import type { Page } from "@playwright/test";
import { EVERYTHING } from "../server.js";
import { expect, test } from "../site-fixtures.js";
import { asked, toolsThere } from "../sites.js";

test.use({ settings: { tools: { everything: { command: EVERYTHING } } } });

const WINDOW = { width: 460, height: 640 };
const HINT = "There is more below.";

/** The window of a question for these scopes. */
async function question(
  page: Page,
  scopes: string[],
  tools?: string[],
): Promise<Page> {
  const wish = JSON.stringify({ scopes, tools, reason: "To price fish" });
  const permit = await asked(page.context(), () =>
    page.evaluate(`window.answer = agent.requestPermissions(${wish}); 0`),
  );
  await permit.setViewportSize(WINDOW);
  return permit;
}

/** What a decision depends on that is below what the window shows. */
function hidden(permit: Page): Promise<string[]> {
  return permit.evaluate(() => {
    const choices = document.querySelector(".choices");
    const fold = choices?.getBoundingClientRect().top ?? 0;
    // A long list of tools scrolls by itself; nothing in it is checked.
    const decisive =
      ".scopes > li, .tools.many, .tools:not(.many) > li, .lasts";
    return [...document.querySelectorAll(decisive)]
      .filter((node) => node.getBoundingClientRect().bottom > fold + 1)
      .map((node) => node.textContent.trim());
  });
}

/** Scrolls from the top to the bottom, and looks at each place to which somebody may scroll. */
async function scrolled(permit: Page): Promise<void> {
  const hint = permit.getByText(HINT);
  const bottom = () =>
    permit.evaluate(() => {
      const { scrollTop, clientHeight, scrollHeight } =
        document.documentElement;
      return scrollTop + clientHeight >= scrollHeight - 1;
    });
  for (let at = 0; !(await bottom()); at += 60) {
    await permit.evaluate((at) => scrollTo(0, at), at);
    await expect(async () => {
      const out = await hidden(permit);
      if (out.length > 0) expect(await hint.isVisible(), out[0]).toBe(true);
    }).toPass({ timeout: 5_000 });
    for (const name of ["Allow once", "Always allow", "Deny"]) {
      const button = permit.getByRole("button", { name, exact: true });
      await expect(button).toBeInViewport({ ratio: 1 });
    }
  }
  expect(await hidden(permit)).toEqual([]);
  await expect(hint).toBeHidden();
}

test("nothing decisive of a long question is below the fold without a hint, and its amount and its answers are always seen", async ({
  page,
  site,
  server,
}) => {
  await toolsThere(server);
  await page.goto(site.origin);
  const permit = await question(page, [
    ...["model:prompt", "model:list", "model:tools", "chat:open"],
    ...["mcp:tools.list", "mcp:tools.call", "mcp:servers.register"],
  ]);
  const amount = permit.getByText(/^Requests 7 permissions \(3 high-risk\)/);
  await expect(amount).toBeInViewport();
  await expect(permit.getByText(HINT)).toBeInViewport();
  await scrolled(permit);
});

test("a handful of tools, which are checked, is no list in which some are out of sight", async ({
  page,
  site,
  server,
}) => {
  await toolsThere(server);
  await page.goto(site.origin);
  const names = [
    "annotated-message",
    "env",
    "sum",
    "tiny-image",
    "resource-links",
  ];
  const tools = names.map((name) => `everything/get-${name}`);
  const permit = await question(page, ["mcp:tools.call"], tools);
  await expect(permit.getByRole("checkbox", { checked: true })).toHaveCount(5);
  const list = permit.locator(".tools");
  const room = await list.evaluate(
    (node) => node.scrollHeight - node.clientHeight,
  );
  expect(room).toBe(0);
  await scrolled(permit);
});

test("a short question is seen whole, without a hint", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  const permit = await question(page, ["model:prompt"]);
  await expect(permit.getByText("Requests 1 permission")).toBeInViewport();
  expect(await hidden(permit)).toEqual([]);
  await expect(permit.getByText(HINT)).toBeHidden();
});
