// Keyboard only, phone width, and what a screen reader would stumble over.
import { answers, expect, say, settled, test } from "../fixtures.js";
import { AUDIT, expectNothingSerious } from "../looks.js";
import { ANSWER_WITH_CODE } from "../scripts.js";

test.use({
  settings: {
    defaultAgent: "writer",
    scripts: {
      writer: {
        description: "Writes, asks and fails.",
        turns: [
          {
            when: "ask",
            steps: [{ ask: { question: "Which?", options: ["A", "B"] } }],
          },
          {
            when: "fail",
            steps: [
              { tool: { name: "web/get", arguments: { url: "x" }, result: 1 } },
              { error: { code: "model_failed", message: "It went away." } },
            ],
          },
          { steps: [{ say: ANSWER_WITH_CODE }] },
        ],
      },
    },
  },
});

for (const colorScheme of ["light", "dark"] as const) {
  test(
    `axe finds nothing serious in ${colorScheme}`,
    AUDIT,
    async ({ page, server }) => {
      test.slow();
      await page.emulateMedia({ colorScheme });
      await page.goto(server.url);
      await expectNothingSerious(page, "empty");
      await say(page, "write");
      await settled(page);
      await expect(page.locator(".hljs-keyword").first()).toBeVisible();
      await say(page, "fail");
      await expect(page.getByRole("alert")).toBeVisible();
      await page.locator("details.tool summary").click();
      await say(page, "ask");
      await expect(
        page.getByRole("button", { name: "A", exact: true }),
      ).toBeVisible();
      await expectNothingSerious(page, "answers");
      await page.getByRole("button", { name: "Help and shortcuts" }).click();
      await expectNothingSerious(page, "help");
    },
  );
}

test("everything can be done with the keyboard", async ({ page, server }) => {
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("aria-label") ?? element?.textContent.trim();
    });
  const tabTo = async (wanted: RegExp) => {
    for (let step = 0; step < 30; step += 1) {
      await page.keyboard.press("Tab");
      if (wanted.test((await focused()) ?? "")) return;
    }
    throw new Error(`Tab never reached ${wanted}`);
  };

  await page.goto(server.url);
  await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
  await page.keyboard.type("ask me");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("now");
  await page.keyboard.press("Enter");
  await expect(page.locator(".message.user p")).toHaveText("ask me\nnow");

  await expect(
    page.getByRole("button", { name: "B", exact: true }),
  ).toBeVisible();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  for (let step = 0; step < 10 && (await focused()) !== "B"; step += 1) {
    await page.keyboard.press("Shift+Tab");
  }
  expect(await focused()).toBe("B");
  const ring = await page.evaluate(
    () =>
      getComputedStyle(document.activeElement ?? document.body).outlineStyle,
  );
  expect(ring).toBe("solid");
  await page.keyboard.press("Enter");
  await settled(page);

  await page.keyboard.press("Control+Shift+O");
  await expect(page.getByText("Welcome aboard")).toBeVisible();
  await page.keyboard.press("Control+/");
  await expect(
    page.getByRole("dialog", { name: "Keyboard shortcuts" }),
  ).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(
    page.getByRole("dialog", { name: "Keyboard shortcuts" }),
  ).toBeHidden();

  await tabTo(/^Rename ask me/);
  await page.keyboard.press("Enter");
  await page.keyboard.type("Renamed");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("link", { name: "Renamed" })).toBeVisible();
  await page.keyboard.press("Shift+Escape");
  await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
});

test("Enter that ends a composition does not send", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("にほんご");
  await box.dispatchEvent("keydown", { key: "Enter", isComposing: true });
  await box.dispatchEvent("keydown", { key: "Enter", keyCode: 229 });
  await expect(box).toHaveValue("にほんご");
  await expect(page.locator(".message.user")).toHaveCount(0);
});

test("phone width has no horizontal overflow and a drawer", async ({
  page,
  server,
}) => {
  const overflow = () =>
    page.evaluate(() => {
      const root = document.documentElement;
      return root.scrollWidth - root.clientWidth;
    });
  await page.setViewportSize({ width: 360, height: 640 });
  await page.goto(server.url);
  expect(await overflow()).toBe(0);
  await say(page, `write ${"averylongword".repeat(20)}`);
  await settled(page);
  await expect(answers(page)).toContainText("Keep a backup");
  expect(await overflow()).toBe(0);
  const scroller = page.locator(".scroller");
  expect(await scroller.evaluate((el) => el.scrollWidth - el.clientWidth)).toBe(
    0,
  );

  await page.getByRole("button", { name: "Show chats" }).click();
  const drawer = page.getByRole("dialog", { name: "Chats" });
  await expect(
    drawer.getByRole("navigation", { name: "Chats" }).getByRole("link"),
  ).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(drawer).toBeHidden();
});

test("a chosen theme is kept and shown from the first paint", async ({
  page,
  server,
}) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(server.url);
  const theme = page.getByRole("button", { name: /Theme/ });
  await theme.click();
  await theme.click();
  await expect(theme).toHaveAccessibleName("Theme: dark");
  await page.reload({ waitUntil: "commit" });
  await page.waitForSelector("body", { state: "attached" });
  expect(
    await page.evaluate(() => document.documentElement.dataset["theme"]),
  ).toBe("dark");
});
