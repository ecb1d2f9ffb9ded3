// Questions: who gets a window at once, who waits for one, and where the others are answered.
import { badge, expect, own, test } from "../extension.js";
import type { Server } from "../server.js";
import { asked, valueOf } from "../sites.js";

async function questions(server: Server): Promise<number> {
  const answer = await server.fetch("/api/asks");
  const { asks } = (await answer.json()) as { asks: unknown[] };
  return asks.length;
}

test("without a click only the page itself gets a window; what its frames ask is on the badge, in the popup and in the side panel", async ({
  page,
  site,
  context,
  server,
}) => {
  const permit = await asked(context, () => page.goto(`${site.origin}/asks`));
  await expect(permit.getByText(site.origin, { exact: true })).toBeVisible();
  await expect.poll(() => questions(server)).toBe(4);
  await permit.getByRole("button", { name: "Allow once" }).click();
  expect(await valueOf(page, "answer")).toMatchObject({ granted: true });
  expect(await badge(context)).toBe("?");
  const panel = await own(context, "panel.html");
  await expect(panel.getByText("2 more requests")).toBeVisible();
  const popup = await own(context, "popup.html");
  await expect(popup.getByText("and 2 more requests")).toBeVisible();
  const windows = () =>
    context.pages().filter((page) => page.url().includes("permit.html"));
  expect(windows()).toEqual([]);
  const button = popup.getByRole("button", { name: "Review request" });
  const other = await asked(context, () => button.click());
  await expect(other.getByText(/^http:\/\/[abc]\.localhost/)).toBeVisible();
  await other.getByRole("button", { name: "Deny" }).click();
  await expect.poll(() => questions(server)).toBe(2);
});

test("a tab asks one question at a time: after a click the next window comes when the one before is closed", async ({
  page,
  site,
  context,
  server,
}) => {
  const first = await asked(context, () => page.goto(`${site.origin}/asks`));
  for (const name of ["d", "e"]) {
    const before = await questions(server);
    const frame = page.frameLocator(`[name=${name}]`);
    await frame.getByRole("button", { name: "Ask" }).click();
    await expect.poll(() => questions(server)).toBe(before + 1);
  }
  const second = await asked(context, () => first.close());
  await expect(second.getByText(/^http:\/\/d\.localhost/)).toBeVisible();
  const deny = second.getByRole("button", { name: "Deny" });
  const third = await asked(context, () => deny.click());
  await expect(third.getByText(/^http:\/\/e\.localhost/)).toBeVisible();
});

test("a window that is closed early is no answer within two seconds, and the next request is not blocked", async ({
  page,
  site,
  context,
}) => {
  await page.goto(`${site.origin}/plain`);
  const ask = (scope: string) =>
    asked(context, () =>
      page.evaluate(
        `window.answer = agent.requestPermissions({ scopes: ["${scope}"] }); 0`,
      ),
    );
  const permit = await ask("chat:open");
  const closed = Date.now();
  await permit.close();
  expect(await valueOf(page, "answer")).toMatchObject({
    scopes: { "chat:open": "not-granted" },
  });
  expect(Date.now() - closed).toBeLessThan(2_000);
  const next = await ask("model:list");
  await next.getByRole("button", { name: "Allow once" }).click();
  expect(await valueOf(page, "answer")).toMatchObject({ granted: true });
});

test("the window of a page that was reloaded closes, and the page can ask again", async ({
  page,
  site,
  context,
}) => {
  await page.goto(`${site.origin}/plain`);
  const ask = () =>
    asked(context, () =>
      page.evaluate(
        `window.answer = agent.requestPermissions({ scopes: ["model:list"] }); 0`,
      ),
    );
  const stale = await ask();
  await page.reload();
  await expect.poll(() => stale.isClosed()).toBe(true);
  const permit = await ask();
  await permit.getByRole("button", { name: "Allow once" }).click();
  expect(await valueOf(page, "answer")).toMatchObject({ granted: true });
});
