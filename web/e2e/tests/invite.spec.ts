// External agents in a chat: the person invites one with a command, sees it, allows its calls, and revokes it.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { expect, say, settled, test } from "../fixtures.js";
import { AUDIT, expectNothingSerious } from "../looks.js";
import { Peer } from "../relay.js";

const run = promisify(execFile);

const ADDER: Record<string, string> = {
  "meta.json": JSON.stringify({ slug: "adder", name: "Adder" }),
  "content.html": "<h1>Adder</h1><output id=sum></output>",
  "script.js": `
    registerTool(
      { name: "add", parameters: { a: { type: "number" }, b: { type: "number" } } },
      ({ a, b }) => {
        document.getElementById("sum").textContent = String(a + b);
        return { sum: a + b };
      },
    );`,
};

test.use({ settings: { applets: { adder: ADDER } } });

/** Creates an invitation, by keyboard, and returns its command. */
async function invite(page: Page, language: string): Promise<string> {
  await page.getByRole("button", { name: "Invite an agent" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Invite an agent" });
  const name = dialog.getByRole("textbox", { name: "Name" });
  await expect(name).toBeFocused();
  await page.keyboard.type("Calculating helper");
  await page.keyboard.press("Enter");
  await dialog.getByRole("radio", { name: language }).check();
  const command = await dialog.locator(".command code").innerText();
  return command.replaceAll(/\s+/g, " ").trim();
}

for (const [language, title] of [
  ["Python", "the command in Python"],
  ["JavaScript", "the command in JavaScript"],
] as const) {
  test(`${title} runs as it was copied, and uses a page of the chat`, async ({
    page,
    server,
  }) => {
    await page.goto(`${server.url}/?applet=adder`);
    const frame = page.frameLocator("iframe");
    await expect(frame.getByRole("heading", { name: "Adder" })).toBeVisible();
    await say(page, "Somebody will help us");
    await settled(page);
    const command = await invite(page, language);
    const request = `'page-adder/add {"a": 2, "b": 3}'`;
    const ready = command.replace("REQUEST", request);
    expect(ready).not.toBe(command);
    const running = run("bash", ["-c", ready]);
    const dialog = page.getByRole("dialog", { name: "Invite an agent" });
    await expect(dialog.getByRole("listitem")).toContainText("Connected");
    // The request is shown over the dialog.
    await page.getByRole("button", { name: "Allow once" }).click();
    expect((await running).stdout).toMatch(/page-adder\/add: \{"sum": ?5\}/);
    await expect(frame.locator("#sum")).toHaveText("5");
    const call = page.locator(".pageCall");
    await expect(call).toContainText("Calculating helper");
    await expect(call).toContainText("page-adder/add");
  });
}

test("an agent's message is in the chat, and a revoked one is disconnected", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Hello there");
  await settled(page);
  const command = await invite(page, "Rust");
  const [, sessionId, token] =
    /GANGWAY_SESSION=(\S+) GANGWAY_KEY=(\S+)/.exec(command) ?? [];
  const agent = await Peer.connect(server);
  await agent.ask("relay.join", { role: "agent", sessionId, token });
  const text = "<b>I am here</b>";
  agent.tell("agent.message", { text });
  const dialog = page.getByRole("dialog", { name: "Invite an agent" });
  await expect(dialog.getByRole("listitem")).toContainText("Connected");
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(dialog.getByRole("listitem")).toHaveCount(0);
  await expect(dialog.getByRole("textbox", { name: "Name" })).toBeVisible();
  expect((await agent.take("error")).payload["message"]).toContain("revoked");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  const said = page.locator(".pageMessage");
  await expect(said).toContainText("Calculating helper");
  await expect(said).toContainText(text);
  await page.reload();
  await expect(page.locator(".pageMessage")).toContainText(text);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(
    `the dialog fits a phone in ${colorScheme}, and axe finds nothing serious`,
    AUDIT,
    async ({ page, server }, info) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 320, height: 740 });
      await page.goto(server.url);
      await say(page, "Hello there");
      await settled(page);
      await invite(page, "Python");
      const over = await page
        .getByRole("dialog", { name: "Invite an agent" })
        .evaluate((el) => el.scrollWidth - el.clientWidth);
      expect(over).toBe(0);
      await expectNothingSerious(page, colorScheme);
      await page.screenshot({ path: info.outputPath("invite.png") });
    },
  );
}
