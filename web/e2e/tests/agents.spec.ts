// The Agents page, for operators.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "../embed-fixtures.js";
import { panel } from "../fixtures.js";
import { AUDIT, expectNothingSerious } from "../looks.js";
import { box, createAgent, embed, saidBy, stateLine } from "../remote.js";

test("agents are listed as they are, stopped after a question, and stay below with their reason", async ({
  page,
  server,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(server.url);
  await page.getByRole("link", { name: "Agents" }).first().click();
  await expect(page).toHaveURL(`${server.url}/agents`);
  const list = panel(page, "Agents");
  await expect(list).toContainText("No agents are running. Create one here");
  const { tmux_session_name } = await createAgent(server);
  const row = list.getByRole("listitem").first();
  await expect(row).toContainText("shop · clerk");
  await expect(row).toContainText("Done");
  await row.getByRole("button", { name: "Copy attach command" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(tmux_session_name);
  await row.getByRole("button", { name: "Stop shop · clerk" }).click();
  const dialog = page.getByRole("dialog", { name: "Stop this agent?" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(row).toContainText("Done");
  await row.getByRole("button", { name: "Stop shop · clerk" }).click();
  await dialog.getByRole("button", { name: "Stop" }).click();
  const ended = list.getByRole("list", { name: "Ended agents" });
  await expect(ended.getByRole("listitem")).toContainText(
    "it was stopped by the operator",
  );
  await expect(list.getByRole("heading", { name: "Agents" })).toBeFocused();
});

test("an agent is created with a snippet that works, and its chat opens here too", async ({
  page,
  server,
  shop,
}) => {
  await page.goto(`${server.url}/agents`);
  const form = panel(page, "Create an agent");
  await form.getByLabel("First prompt").fill("Hello from the page");
  await form.getByLabel("Files").check();
  await form.getByRole("button", { name: "Create" }).click();
  const made = form.getByRole("group", { name: "New agent" });
  await expect(made).toBeFocused();
  await expect(made).toContainText("the token is shown only once");
  const snippet = await made.locator("pre").last().innerText();
  const row = panel(page, "Agents").getByRole("listitem").first();
  await expect(row).toContainText("with Files");
  await made.getByRole("button", { name: "Done" }).click();
  await expect(form.getByLabel("First prompt")).toHaveValue("");
  expect(await page.content()).not.toContain("token=");
  await row.getByRole("link", { name: "Open chat with shop · clerk" }).click();
  await expect(page).toHaveURL(/\/sessions\//);
  await expect(saidBy(page)).toContainText("Hello from the page");
  // In somebody's page.
  shop.own = snippet;
  await page.goto(`${shop.origin}/own`);
  const chat = page.frameLocator("#chat iframe");
  await expect(saidBy(chat)).toContainText("Hello from the page");
  await expect(
    chat.getByRole("button", { name: "Attach files" }),
  ).toBeVisible();
  await box(chat).fill("and from the shop");
  await box(chat).press("Enter");
  await expect(saidBy(chat).last()).toHaveText("Heard: and from the shop");
  await expect(stateLine(chat)).toHaveText("Done");
});

test("an agent is handed over to a fresh context from the page, with a summary from its next message on", async ({
  page,
  server,
  shop,
  clerk,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(`${server.url}/agents`);
  const row = panel(page, "Agents").getByRole("listitem").first();
  await expect(row).toContainText("Done");
  await row
    .getByRole("button", { name: "Compact the context of shop · clerk" })
    .click();
  await expect(row.getByRole("status")).toHaveText(
    "The next message starts a new context with a summary of the conversation.",
  );
  clerk.says = "They said good morning.";
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await box(chat).fill("And now?");
  await box(chat).press("Enter");
  await expect(chat.getByRole("log")).toContainText(
    "continues in a fresh one, with a summary",
  );
  await expect(saidBy(chat)).toHaveCount(2);
  await expect(stateLine(chat)).toHaveText("Done");
  expect(clerk.received.at(-2)).toContain("Good morning");
  const last = clerk.lastQuestion;
  expect(last).toContain("They said good morning.");
  expect(last).not.toContain("Good morning");
  // The person sees all that was said.
  await expect(chat.getByRole("log")).toContainText("Good morning");
});

test.describe("with a program for terminals", () => {
  test.use({
    settings: {
      remote: { backends: { cat: { terminal: ["cat"] } } },
      projects: { shop: { backend: "cat" } },
    },
  });

  test("there is nothing to hand over, and no button", async ({
    page,
    server,
  }) => {
    await createAgent(server);
    await page.goto(`${server.url}/agents`);
    const row = panel(page, "Agents").getByRole("listitem").first();
    await expect(row.getByRole("button", { name: /^Stop/ })).toBeVisible();
    await expect(row.getByRole("button", { name: /^Compact/ })).toHaveCount(0);
  });
});

test.describe("without projects and personas", () => {
  test.use({ settings: { projects: {}, personas: {} } });

  test("the page says what to do, and adds and removes them", async ({
    page,
    server,
  }) => {
    await page.goto(`${server.url}/agents`);
    await expect(panel(page, "Agents")).toContainText("gangway project add");
    await expect(panel(page, "Create an agent")).toContainText(
      "needs a project and a persona",
    );
    const folder = join(server.projectFolder("."), "..", "clerk");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "skill.md"), "Be kind.");
    const personas = panel(page, "Personas");
    await personas.getByLabel("Slug").fill("clerk");
    await personas.getByLabel("Folder").fill(folder);
    await personas.getByRole("button", { name: "Add" }).click();
    await expect(personas.getByRole("listitem")).toContainText("clerk");
    const projects = panel(page, "Projects");
    await projects.getByLabel("Name").fill("not/a name");
    await projects.getByLabel("Folder").fill(folder);
    await projects.getByRole("button", { name: "Add" }).click();
    await expect(projects.getByRole("alert")).toBeVisible();
    await projects.getByLabel("Name").fill("harbour");
    await projects.getByRole("button", { name: "Add" }).click();
    await expect(projects.getByRole("listitem")).toContainText("harbour");
    await expect(
      panel(page, "Create an agent").getByLabel("First prompt"),
    ).toBeVisible();
    await personas.getByRole("button", { name: "Disable clerk" }).click();
    await expect(personas.getByRole("listitem")).toContainText("Disabled");
    await expect(panel(page, "Create an agent")).toContainText(
      "needs a project and a persona",
    );
    await projects
      .getByRole("button", { name: "Remove project harbour" })
      .click();
    const dialog = page.getByRole("dialog", { name: "Remove this project?" });
    await dialog.getByRole("button", { name: "Remove" }).click();
    await expect(projects).toContainText("No projects yet");
  });
});

for (const colorScheme of ["light", "dark"] as const) {
  test(
    `the page fits a phone in ${colorScheme}, and axe finds nothing serious`,
    AUDIT,
    async ({ page, server }) => {
      await createAgent(server);
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 320, height: 740 });
      await page.goto(`${server.url}/agents`);
      await expect(panel(page, "Agents").getByRole("listitem")).toContainText(
        "shop · clerk",
      );
      await panel(page, "Create an agent").getByLabel("First prompt").fill("x");
      const over = await page
        .locator(".scroller")
        .evaluate((el) => el.scrollWidth - el.clientWidth);
      expect(over).toBe(0);
      await expectNothingSerious(page, colorScheme);
    },
  );
}
