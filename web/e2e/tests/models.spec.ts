// The Models page against a real server, with model providers of the test's own.
import { expect, test as base } from "../fixtures.js";
import { AUDIT, expectNothingSerious } from "../looks.js";
import { FakeOllama, FakeOpenAi } from "../providers.js";

const test = base.extend<{ ollama: FakeOllama; work: FakeOpenAi }>({
  // eslint-disable-next-line no-empty-pattern
  ollama: async ({}, use) => {
    const ollama = await new FakeOllama().start();
    await use(ollama);
    await ollama.stop();
  },

  // eslint-disable-next-line no-empty-pattern
  work: async ({}, use) => {
    const work = await new FakeOpenAi().start();
    await use(work);
    await work.stop();
  },

  settings: async ({ ollama, work }, use) => {
    await use({
      defaultAgent: "builtin",
      providers: {
        ollama: { type: "ollama", base_url: ollama.url },
        work: { type: "openai", base_url: `${work.url}/v1`, key: "WORK_KEY" },
      },
    });
  },
});

test("the page lists who can answer, and in short who cannot", async ({
  page,
  server,
  ollama,
}) => {
  await page.goto(`${server.url}/models`);
  const found = page.getByRole("region", { name: "Providers" });
  const card = found.getByRole("listitem").filter({ hasText: ollama.url });
  await expect(card).toContainText("2 models");
  await expect(card).toContainText("supports tools");
  await expect(card).toContainText("default");
  const work = found.getByRole("listitem").filter({ hasText: "work" });
  await expect(work).toContainText("401");
  await work.getByRole("button", { name: /^Add API key/ }).click();
  await expect(
    page.getByLabel("API key for work", { exact: true }),
  ).toBeFocused();
  await expect(page).toHaveTitle("Models – Gangway");
});

test("looking again finds what has gone", async ({ page, server, ollama }) => {
  await page.goto(`${server.url}/models`);
  const found = page.getByRole("region", { name: "Providers" });
  await expect(found).toContainText("2 models");
  await ollama.stop();
  const again = found.getByRole("button", { name: "Refresh" });
  await again.click();
  await expect(found).not.toContainText("2 models");
  await expect(again).toBeFocused();
  await expect(
    page.getByRole("heading", { name: "No model is available yet" }),
  ).toBeVisible();
});

test("a chosen default is shown and stored", async ({ page, server }) => {
  await page.goto(`${server.url}/models`);
  const panel = page.getByRole("region", { name: "Default model" });
  await expect(panel).toContainText("Automatic: using");
  const choice = panel.getByLabel("Answer chats with");
  await choice.selectOption("ollama/large:70b");
  await expect(panel.getByRole("status")).toContainText(
    /Using large:70b on .*/,
  );
  await page.reload();
  await expect(choice).toHaveValue("ollama/large:70b");
  // A new chat says what will answer it.
  await page.getByRole("link", { name: "Back to chat" }).click();
  await expect(page.getByRole("link", { name: "large:70b" })).toBeVisible();
  await page.getByRole("link", { name: "large:70b" }).click();
  await choice.selectOption({ label: "Automatic" });
  await expect(panel.getByRole("status")).toContainText("Automatic: using");
  await page.reload();
  await expect(choice).toHaveValue("");
});

test("a saved key reaches the provider and is never shown again", async ({
  page,
  server,
  work,
}) => {
  await page.goto(`${server.url}/models`);
  const field = page.getByLabel("API key for work", { exact: true });
  await expect(field).toHaveAttribute("type", "password");
  await expect(field).toHaveAttribute("autocomplete", "off");
  await field.fill(work.key);
  await field.press("Enter");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  await expect(field).toHaveValue("");
  await page.getByRole("button", { name: "Refresh" }).click();
  const found = page.getByRole("region", { name: "Providers" });
  await expect(
    found.getByRole("listitem").filter({ hasText: work.url }),
  ).toContainText("1 model");
  expect(work.asked.at(-1)?.authorization).toBe(`Bearer ${work.key}`);

  await page.getByLabel("Model", { exact: true }).selectOption("work/clever-1");
  await page.getByLabel("Prompt").fill("ahoy");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("group", { name: "Answer" })).toHaveText(
    "Work received: ahoy",
  );

  const everywhere = async () =>
    page.evaluate(async (token) => {
      const headers = { authorization: `Bearer ${token}` };
      const answers = await Promise.all(
        ["/api/providers", "/api/models", "/api/models/activity"].map(
          async (path) => (await fetch(path, { headers })).text(),
        ),
      );
      const stored = (storage: Storage) =>
        Array.from({ length: storage.length }, (_, n) =>
          storage.getItem(storage.key(n) ?? ""),
        );
      const values = [...document.querySelectorAll("input")].map(
        ({ value }) => value,
      );
      return [
        ...answers,
        ...values,
        document.documentElement.outerHTML,
        ...stored(localStorage),
        ...stored(sessionStorage),
        location.href,
      ].join("\n");
    }, server.token);
  expect(await everywhere()).not.toContain(work.key);
  await page.reload();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  await expect(field).toHaveValue("");
  expect(await everywhere()).not.toContain(work.key);

  await page.getByRole("button", { name: "Remove API key for work" }).click();
  const sure = page.getByRole("dialog", { name: "Remove this API key?" });
  await sure.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Remove API key for work" }).click();
  await sure.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("Saved", { exact: true })).toBeHidden();
  await expect(page.getByRole("heading", { name: "API keys" })).toBeFocused();
});

test("a model can be tried, with figures afterwards", async ({
  page,
  server,
  ollama,
}) => {
  await page.goto(`${server.url}/models`);
  const box = page.getByRole("region", { name: "Try it" });
  await expect(box.getByLabel("Model")).toHaveValue("");
  await box.getByLabel("Model").selectOption("ollama/tiny:1b");
  await box.getByLabel("Prompt").fill("ahoy there");
  await box.getByLabel("Prompt").press("Enter");
  const answer = box.getByRole("group", { name: "Answer" });
  await expect(answer).toHaveText("tiny:1b received: ahoy there");
  await expect(answer.locator("strong")).toHaveText("tiny:1b");
  await expect(box.locator(".result")).toHaveText(
    /^4 tokens · .*tokens per second · first token after .* s$/,
  );
  const chat = ollama.asked.findLast(({ path }) => path === "/api/chat");
  expect(JSON.parse(chat?.body ?? "")).toMatchObject({ model: "tiny:1b" });
});

test("an answer can be stopped, and its provider is left alone", async ({
  page,
  server,
  ollama,
}) => {
  await page.goto(`${server.url}/models`);
  const box = page.getByRole("region", { name: "Try it" });
  await box.getByLabel("Prompt").fill("endless");
  await box.getByRole("button", { name: "Send" }).click();
  await expect(box.getByRole("group", { name: "Answer" })).toContainText(
    "on and on",
  );
  await box.getByRole("button", { name: "Stop" }).click();
  await expect(box.locator(".result")).toContainText("stopped");
  await expect(box.getByRole("button", { name: "Send" })).toBeFocused();
  await expect.poll(() => ollama.leftAlone).toBe(true);
});

test("an answer that fails says why in the provider's words", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/models`);
  const box = page.getByRole("region", { name: "Try it" });
  await box.getByLabel("Prompt").fill("fail, please");
  await box.getByRole("button", { name: "Send" }).click();
  await expect(box.getByRole("alert")).toContainText("the cat sat on the GPU");
  await expect(box.getByRole("group", { name: "Answer" })).toHaveText(
    "Half an",
  );
});

test("the page and the chat lead to each other, and back goes back", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  const message = page.getByRole("textbox", { name: "Message" });
  await message.fill("half a thought");
  const link = page.getByRole("link", { name: "Models", exact: true });
  await link.click();
  const heading = page.getByRole("heading", { name: "Models", level: 1 });
  await expect(heading).toBeFocused();
  await expect(link).toHaveAttribute("aria-current", "page");
  await page.goBack();
  await expect(message).toHaveValue("half a thought");
  await page.goForward();
  await expect(heading).toBeVisible();
  await page.getByRole("link", { name: "Back to chat" }).click();
  await expect(message).toHaveValue("half a thought");
});

test("the page shows when the server is gone, and continues when it is back", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/models`);
  await expect(page.getByText("2 models")).toBeVisible();
  await server.kill();
  await expect(page.getByText("Gangway is not responding")).toBeVisible();
  await expect(page.getByText("2 models")).toBeVisible();
  await server.launch();
  await expect(page.getByText("Gangway is not responding")).toBeHidden();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(
    `the page fits a phone in ${colorScheme}, and axe finds nothing serious`,
    AUDIT,
    async ({ page, server }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 360, height: 740 });
      await page.goto(`${server.url}/models`);
      await page.getByRole("button", { name: "Send" }).click();
      await expect(page.locator(".result")).toBeVisible();
      const overflow = await page
        .locator(".scroller")
        .evaluate((el) => el.scrollWidth - el.clientWidth);
      expect(overflow).toBe(0);
      const outside = await page.evaluate(() => {
        const { scrollWidth, scrollHeight, clientWidth, clientHeight } =
          document.documentElement;
        return [scrollWidth - clientWidth, scrollHeight - clientHeight];
      });
      expect(outside).toEqual([0, 0]);
      await expectNothingSerious(page, colorScheme);
      await page.getByRole("button", { name: "Show chats" }).click();
      await page.getByRole("link", { name: "Models", exact: true }).click();
      await expect(page.getByRole("dialog", { name: "Chats" })).toBeHidden();
    },
  );
}

test.describe("without any provider", () => {
  test.use({ settings: { defaultAgent: "builtin" } });

  test("the page says what would be enough", async ({ page, server }) => {
    await page.goto(`${server.url}/models`);
    const card = page.getByRole("region", {
      name: "No model is available yet",
    });
    await expect(card).toContainText("Ollama");
    await expect(page.getByRole("region", { name: "Try it" })).toBeHidden();
  });
});
