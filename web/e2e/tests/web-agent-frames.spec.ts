// Pages in frames of another site: they ask only where the page around them delegates it, and the person sees both.
import type { Frame, Page } from "@playwright/test";
import { expect, test } from "../site-fixtures.js";
import { asked } from "../sites.js";

function frameOf(page: Page, name: string): Frame {
  const frame = page.frame({ name });
  if (!frame) throw new Error(`there is no frame ${name}`);
  return frame;
}

/** The code and words of the error that a call ends with. */
async function refusal(frame: Frame, call: string): Promise<string> {
  return frame.evaluate(async (call) => {
    try {
      await (0, eval)(call);
      return "none";
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code} ${message}`;
    }
  }, call);
}

const ask = 'agent.requestPermissions({ scopes: ["model:list"] })';

test("a framed page asks where its embedder delegates, the window names both, and other frames of it use but do not ask", async ({
  page,
  context,
  site,
}) => {
  await page.goto(`${site.origin}/embeds`);
  for (const name of ["not", "elsewhere"]) {
    const said = await refusal(frameOf(page, name), ask);
    expect(said).toContain("ERR_PERMISSION_DENIED");
    expect(said).toContain("data-gangway-delegate");
  }
  const delegated = frameOf(page, "delegated");
  const permit = await asked(context, () =>
    delegated.evaluate((call) => {
      (window as { answer?: unknown }).answer = (0, eval)(call) as unknown;
    }, ask),
  );
  await expect(permit.locator(".origin")).toHaveText(site.other);
  await expect(permit.locator(".embedder code")).toHaveText(site.origin);
  await permit.getByRole("button", { name: "Allow once" }).click();
  expect(await delegated.evaluate("window.answer")).toMatchObject({
    granted: true,
  });
  // The page around it was allowed nothing by that.
  expect(await refusal(page.mainFrame(), "ai.providers.list()")).toContain(
    "ERR_SCOPE_REQUIRED",
  );
});

test("a frame of the same origin asks as its page does", async ({
  page,
  context,
  site,
}) => {
  await page.goto(`${site.origin}/embeds`);
  const same = frameOf(page, "same");
  const permit = await asked(context, () =>
    same.evaluate((call) => {
      (window as { answer?: unknown }).answer = (0, eval)(call) as unknown;
    }, ask),
  );
  await expect(permit.locator(".origin")).toHaveText(site.origin);
  await expect(permit.locator(".embedder")).toHaveCount(0);
  await permit.getByRole("button", { name: "Deny" }).click();
});

test("a page elsewhere cannot delegate by a message, and a frame that went elsewhere is not delegated to", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/embeds`);
  // The frame shows another origin than the one in its address.
  const delegated = frameOf(page, "delegated");
  const elsewhere = site.origin.replace("127.0.0.1", "else.localhost");
  await delegated.goto(`${elsewhere}/plain-agent`);
  const said = await refusal(delegated, ask);
  expect(said).toContain("ERR_PERMISSION_DENIED");
  // A made-up delegation from the page around it.
  const not = frameOf(page, "not");
  await page.evaluate((to) => {
    addEventListener("message", ({ data, source }) => {
      if ((data as { gangway?: string }).gangway !== "delegate") return;
      const made = { gangway: "delegation", token: "0".repeat(64) };
      (source as Window).postMessage(made, to);
    });
  }, site.other);
  expect(await refusal(not, ask)).toContain("ERR_PERMISSION_DENIED");
});
