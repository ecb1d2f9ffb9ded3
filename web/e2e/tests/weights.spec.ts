// How weights are fetched, as the page shows it. The server's answers are made up here: real weights come from the internet.
import type { WeightsList } from "@gangway/client";
import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures.js";

const SMALL = {
  name: "small-1b",
  title: "Small 1B Instruct",
  bytes: 800_000_000,
  license: "Apache-2.0",
  installed: false,
};

/** Answers for the weights; a test changes `list` as the server would. */
async function madeUp(page: Page, list: WeightsList) {
  const made = { list, asked: [] as string[] };
  await page.route(/\/api\/weights(\/.*)?$/, async (route) => {
    const request = route.request();
    const name = new URL(request.url()).pathname.slice("/api/weights".length);
    if (request.method() !== "GET") made.asked.push(request.method() + name);
    if (request.method() === "POST") {
      const pull = {
        ...{ name: SMALL.name, step: "fetching" as const },
        ...{ fetched: 0, total: SMALL.bytes },
      };
      made.list = { ...made.list, pulls: [pull] };
      await route.fulfill({ status: 202, json: pull });
    } else if (request.method() === "DELETE") {
      made.list = { weights: [], catalog: [SMALL], pulls: [] };
      await route.fulfill({ status: 204 });
    } else await route.fulfill({ json: made.list });
  });
  return made;
}

test("weights are fetched with progress, fail, resume and arrive", async ({
  page,
  server,
}) => {
  const made = await madeUp(page, {
    ...{ weights: [], catalog: [SMALL], pulls: [] },
  });
  await page.goto(`${server.url}/models`);
  const panel = page.getByRole("region", { name: "Local models" });
  await expect(panel).toContainText("800 MB · Apache-2.0");
  await panel
    .getByRole("button", { name: "Download Small 1B Instruct" })
    .click();
  const bar = panel.getByRole("progressbar", {
    name: "Downloading Small 1B Instruct",
  });
  await expect(bar).toBeVisible();
  await expect(panel.getByRole("button", { name: /^Download / })).toBeHidden();

  const pull = { name: SMALL.name, total: SMALL.bytes };
  const at = (step: "fetching" | "checking", fetched: number) => {
    made.list = { ...made.list, pulls: [{ ...pull, step, fetched }] };
  };
  at("fetching", 312_000_000);
  await expect(panel).toContainText("Downloading · 312 MB of 800 MB, 39 %");
  await expect(bar).toHaveJSProperty("value", 312_000_000);
  const said = (text: string) =>
    expect(panel.getByRole("status").filter({ hasText: text })).toBeAttached();
  await said("Small 1B Instruct: 25 % downloaded");

  const error = "The connection broke.";
  made.list = {
    ...made.list,
    pulls: [{ ...pull, step: "failed", fetched: 400_000_000, error }],
  };
  await expect(panel.getByRole("alert")).toContainText(error);
  await panel.getByRole("button", { name: /^Retry/ }).click();
  await expect(panel.getByRole("alert")).toBeHidden();
  at("checking", SMALL.bytes);
  await expect(panel).toContainText("Verifying · 800 MB of 800 MB, 100 %");

  made.list = {
    weights: [{ name: SMALL.name, bytes: SMALL.bytes, source: "example.com" }],
    catalog: [{ ...SMALL, installed: true }],
    pulls: [{ ...pull, step: "done", fetched: SMALL.bytes }],
  };
  await expect(bar).toBeHidden();
  const here = panel.getByRole("list", { name: "Models on this computer" });
  await expect(here).toContainText("800 MB · from example.com");
  await said("Small 1B Instruct is downloaded.");
  expect(made.asked).toEqual(["POST", "POST"]);
});

test("fetching can be cancelled", async ({ page, server }) => {
  const made = await madeUp(page, {
    weights: [],
    catalog: [SMALL],
    pulls: [
      { name: SMALL.name, step: "fetching", fetched: 1, total: SMALL.bytes },
    ],
  });
  await page.goto(`${server.url}/models`);
  await page.getByRole("button", { name: /^Cancel the download/ }).click();
  await expect(
    page.getByRole("button", { name: "Download Small 1B Instruct" }),
  ).toBeVisible();
  await expect(
    page.getByRole("heading", { name: "Local models" }),
  ).toBeFocused();
  expect(made.asked).toEqual(["DELETE/small-1b"]);
});

test("a failed download of a URL is dismissed, one of the catalog is not", async ({
  page,
  server,
}) => {
  const failed = {
    step: "failed" as const,
    fetched: 0,
    total: 0,
    error: "No.",
  };
  const made = await madeUp(page, {
    weights: [],
    catalog: [SMALL],
    pulls: [
      { name: SMALL.name, ...failed },
      { name: "mine", ...failed },
    ],
  });
  await page.goto(`${server.url}/models`);
  const dismiss = page.getByRole("button", { name: /^Dismiss the download/ });
  await expect(dismiss).toHaveCount(1);
  await dismiss.click();
  await expect(dismiss).toBeHidden();
  expect(made.asked).toEqual(["DELETE/mine"]);
});

test("weights are removed only after a second word", async ({
  page,
  server,
}) => {
  const made = await madeUp(page, {
    weights: [{ name: SMALL.name, bytes: SMALL.bytes }],
    catalog: [{ ...SMALL, installed: true }],
    pulls: [],
  });
  await page.goto(`${server.url}/models`);
  const remove = page.getByRole("button", { name: "Remove small-1b" });
  const sure = page.getByRole("dialog", { name: "Remove this model?" });
  await remove.click();
  await page.keyboard.press("Escape");
  await expect(sure).toBeHidden();
  await expect(remove).toBeFocused();
  expect(made.asked).toEqual([]);
  await remove.click();
  await sure.getByRole("button", { name: "Remove" }).click();
  await expect(sure).toBeHidden();
  await expect(remove).toBeHidden();
  expect(made.asked).toEqual(["DELETE/small-1b"]);
});
