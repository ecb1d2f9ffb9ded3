// Personas, hand-overs and waiting agents on the Agents page.
import { expect, test } from "../embed-fixtures.js";
import { panel } from "../fixtures.js";
import { LOOKS, expectNothingSerious, pictures } from "../looks.js";
import {
  ASKING,
  box,
  createAgent,
  embed,
  saidBy,
  stateLine,
} from "../remote.js";

test(
  "a persona is written, edited and removed in the browser",
  LOOKS,
  async ({ page, server, clerk }) => {
    await page.goto(`${server.url}/agents`);
    const personas = panel(page, "Personas");
    await personas.getByRole("button", { name: "New persona" }).click();
    const form = personas.getByRole("form", { name: "New persona" });
    await form.getByLabel("Slug").fill("not a slug");
    await form.getByLabel("Skill").fill("You know every bike.");
    await form.getByRole("button", { name: "Create" }).click();
    await expect(form.getByRole("alert")).toContainText("lowercase letters");
    await form.getByLabel("Slug").fill("guide");
    await form.getByRole("button", { name: "Create" }).click();
    await expect(form).toHaveCount(0);
    await expect(
      personas.getByRole("button", { name: "New persona" }),
    ).toBeFocused();
    const row = personas.getByRole("listitem").filter({ hasText: "guide" });
    await expect(row).toBeVisible();
    const edit = row.getByRole("button", { name: "Edit persona guide" });
    await edit.click();
    const editor = row.getByRole("form", { name: "Edit persona guide" });
    await expect(editor.getByLabel("Skill")).toHaveValue(
      "You know every bike.",
    );
    await editor.getByLabel("Skill").fill("You know every red bike.");
    await editor.getByLabel("Experience").fill("You sold one.");
    await pictures(page, "persona-editor", (theme) =>
      expectNothingSerious(page, theme),
    );
    await editor.getByRole("button", { name: "Save" }).click();
    await expect(editor).toHaveCount(0);
    await expect(edit).toBeFocused();
    await expect(row).toContainText("with experience");
    // An agent of it has both texts.
    const before = clerk.received.length;
    await createAgent(server, { persona_slug: "guide" });
    await expect.poll(() => clerk.received.length).toBeGreaterThan(before);
    await row.getByRole("button", { name: "Disable guide" }).click();
    await expect(row).toContainText("Disabled");
    await row.getByRole("button", { name: "Remove persona guide" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove this persona?" });
    await expect(dialog).toContainText("Its files are deleted");
    await dialog.getByRole("button", { name: "Remove" }).click();
    await expect(row).toHaveCount(0);
  },
);

test("a conflicting change is rejected, and can be repeated", async ({
  page,
  server,
  complaints,
}) => {
  const put = (text: object) =>
    server.fetch("/api/personas/guide/text", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(text),
    });
  const first = await put({ skill: "One." });
  const { version } = (await first.json()) as { version: string };
  await page.goto(`${server.url}/agents`);
  const personas = panel(page, "Personas");
  const edit = personas.getByRole("button", { name: "Edit persona guide" });
  await edit.click();
  const editor = personas.getByRole("form", { name: "Edit persona guide" });
  await expect(editor.getByLabel("Skill")).toHaveValue("One.");
  await put({ skill: "Two.", version });
  await editor.getByLabel("Skill").fill("Mine.");
  await editor.getByRole("button", { name: "Save" }).click();
  await expect(editor.getByRole("alert")).toContainText("changed meanwhile");
  await editor.getByRole("button", { name: "Reload" }).click();
  await expect(editor.getByLabel("Skill")).toHaveValue("Two.");
  await editor.getByLabel("Skill").fill("Mine.");
  await editor.getByRole("button", { name: "Save" }).click();
  await expect(editor).toHaveCount(0);
  // The browser's own words about the refusal.
  expect(complaints.every((text) => text.includes("409"))).toBe(true);
  complaints.length = 0;
});

test("a persona of config.yaml can be read, and says that it is not changed here", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/agents`);
  const personas = panel(page, "Personas");
  await personas.getByRole("button", { name: "View persona clerk" }).click();
  const view = personas.getByRole("form", { name: "Persona clerk" });
  await expect(view).toContainText("defined in config.yaml");
  await expect(view.getByLabel("Skill")).toHaveValue(
    "You are a clerk. Be kind.",
  );
  await expect(view.getByLabel("Skill")).toHaveAttribute("readonly");
  await expect(view.getByRole("button", { name: "Save" })).toHaveCount(0);
  await view.getByRole("button", { name: "Close" }).click();
  await expect(view).toHaveCount(0);
});

test("a full window is warned of and handed over, and the visitor keeps chatting in the same frame", async ({
  page,
  server,
  shop,
  clerk,
}) => {
  // The model reads 1,000 tokens for each message, of 8,192 that it can.
  const { embed_url: url } = await createAgent(server, {
    feature_flags: { context_usage: true },
  });
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await expect(stateLine(chat)).toHaveText("Done");
  const log = chat.getByRole("log");
  const say = async (text: string) => {
    await box(chat).fill(text);
    await box(chat).press("Enter");
    await expect(saidBy(chat).last()).toHaveText(`Heard: ${text}`);
    await expect(stateLine(chat)).toHaveText("Done");
  };
  for (const text of ["one", "two"]) await say(text);
  await expect(log).not.toContainText("The context window");
  await say("three");
  await expect(log).toContainText("The context window is 97 % full");
  await say("four");
  await expect(log).toContainText("continues in a fresh one, with a summary");
  expect(clerk.received.at(-2)).toContain("Summarize this conversation");
  await expect(
    chat.getByRole("meter", { name: "Context used" }),
  ).toHaveAttribute("aria-valuenow", "4024");
});

test.describe("with an agent that asks", () => {
  test.use({
    settings: {
      remote: { backends: { asking: ASKING } },
      projects: { shop: { backend: "asking" } },
    },
  });

  test(
    "a page shows how many agents wait, notifies the user when hidden, and links to the chat",
    LOOKS,
    async ({ page, server, context }) => {
      await context.grantPermissions(["notifications"]);
      await page.addInitScript(() => {
        const shown: { title: string; click: () => void }[] = [];
        class Fake {
          static permission = "granted";
          static requestPermission = () => Promise.resolve("granted");
          onclick: (() => void) | null = null;
          constructor(title: string) {
            shown.push({ title, click: () => this.onclick?.() });
          }
          close() {
            // Nothing is on the screen.
          }
        }
        Object.assign(window, { Notification: Fake, shown });
        document.hasFocus = () => false;
      });
      await page.goto(`${server.url}/agents`);
      const notify = page.getByLabel("Notify me when an agent is waiting");
      await notify.check();
      await page.reload();
      await expect(notify).toBeChecked();
      await createAgent(server);
      await expect(page).toHaveTitle("(1) Agents – Gangway");
      await expect(
        page.getByRole("link", { name: "Agents 1 waiting for you" }),
      ).toBeVisible();
      const shown = () =>
        page.evaluate(() =>
          (window as unknown as { shown: { title: string }[] }).shown.map(
            ({ title }) => title,
          ),
        );
      await expect.poll(shown).toEqual(["shop · clerk is waiting for you"]);
      await pictures(page, "agents-waiting");
      await page.evaluate(() =>
        (
          window as unknown as { shown: { click: () => void }[] }
        ).shown[0]?.click(),
      );
      await expect(page).toHaveURL(/\/sessions\//);
      await page.getByRole("button", { name: "No", exact: true }).click();
      await expect(page).not.toHaveTitle(/^\(1\)/, { timeout: 15_000 });
      expect(await shown()).toHaveLength(1);
    },
  );
});
