// The agent of a chat asks before it calls a tool that may change something.
import { answers, expect, panel, say, settled, test } from "../fixtures.js";
import { EVERYTHING } from "../server.js";
import { Thinker, toolsThere } from "../sites.js";

const thinker = new Thinker();

test.beforeAll(async () => {
  await thinker.start();
});
test.afterAll(() => thinker.stop());

test.use({
  // eslint-disable-next-line no-empty-pattern
  settings: async ({}, use) => {
    await use({
      defaultAgent: "builtin",
      ...thinker.settings,
      tools: { everything: { command: EVERYTHING } },
    });
  },
});

test("a call waits for the person, and what they chose is shown and forgotten on the Tools page", async ({
  page,
  server,
}) => {
  await toolsThere(server);
  await page.goto(server.url);
  await say(page, "call logging {}");
  const question = page.getByRole("region", {
    name: "Question from the agent",
  });
  await expect(question).toContainText(
    "May the agent call everything/toggle-simulated-logging with {}?",
  );
  await page.screenshot({ path: "results/approval-question.png" });
  await question.getByRole("button", { name: "Deny" }).press("Enter");
  await settled(page);
  await expect(answers(page).last()).toContainText("the person denied");

  await say(page, "call logging {}");
  await question.last().getByRole("button", { name: "Always allow" }).click();
  await settled(page);
  await expect(answers(page).last()).toContainText("Started simulated");
  await say(page, "call logging {}");
  await settled(page);
  await expect(answers(page).last()).toContainText("Stopped simulated");
  await expect(question).toHaveCount(2);

  await page.goto(`${server.url}/tools`);
  const approval = panel(page, "Approvals");
  await expect(approval).toContainText("Ask before changes");
  const chosen = approval.getByRole("list", {
    name: "Tools always or never allowed",
  });
  await expect(chosen).toContainText("everything/toggle-simulated-logging");
  await approval.scrollIntoViewIfNeeded();
  await page.screenshot({ path: "results/approval-tools.png" });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await approval.scrollIntoViewIfNeeded();
  await page.screenshot({ path: "results/approval-tools-phone.png" });
  await chosen.getByRole("button", { name: "Reset" }).press("Enter");
  await expect(chosen).toHaveCount(0);
  await expect(page.getByRole("heading", { name: "Approvals" })).toBeFocused();
});
