// The extension's own pages: the side panel, the popup, the chat that a page opened, and how they look.
import type { Page } from "@playwright/test";
import { BrowserPart } from "../browser-parts.js";
import {
  expect,
  killBridge,
  killWorker,
  openPopup,
  own,
  ROOT,
  test,
} from "../extension.js";
import { AUDIT, expectAccessible, expectNoOverflow } from "../looks.js";
import { EVERYTHING } from "../server.js";
import { asked, request, toolsThere, valueOf } from "../sites.js";

test.use({
  settings: {
    defaultAgent: "builtin",
    tools: { every: { command: EVERYTHING } },
  },
  // About what a side panel has.
  viewport: { width: 400, height: 720 },
});

const tab = (panel: Page, name: string) =>
  panel.getByRole("tab", { name, exact: true });

async function say(panel: Page, words: string): Promise<void> {
  const box = panel.getByRole("textbox", { name: "Message" });
  await box.fill(words);
  await box.press("Enter");
}

test("the side panel chats with the user's own model, and continues after the bridge and the worker died", async ({
  context,
  server,
}) => {
  const panel = await own(context, "panel.html");
  await say(panel, "ahoy");
  const log = panel.getByRole("log");
  await expect(log.getByText("Heard: ahoy")).toBeVisible();
  await panel.getByRole("textbox", { name: "Message" }).fill("a draft");
  // Looked for in every frame from before: it may be connected again soon.
  const disconnected = panel.waitForFunction(() =>
    document.body.innerText.includes("Gangway disconnected"),
  );
  await killBridge(server);
  await disconnected;
  await expect(panel.getByText("Gangway disconnected")).toBeHidden();
  await expect(panel.getByText("Reconnecting")).toBeHidden();
  await expect(panel.getByRole("textbox")).toHaveValue("a draft");
  await say(panel, "still there?");
  await expect(log.getByText("Heard: still there?")).toBeVisible();
  await killWorker(context);
  await say(panel, "and now?");
  await expect(log.getByText("Heard: and now?")).toBeVisible();
  // Another panel shows the same chat.
  await panel.reload();
  await expect(panel.getByRole("log").getByText("Heard: ahoy")).toBeVisible();
  await panel.getByRole("button", { name: "New chat" }).click();
  await expect(panel.getByText("Heard: ahoy")).toBeHidden();
  // It is among the earlier ones.
  const earlier = panel.getByRole("combobox", { name: "Earlier chats" });
  await expect(earlier.getByRole("option")).toHaveCount(2);
  await earlier.selectOption({ index: 1 });
  await expect(panel.getByRole("log").getByText("Heard: ahoy")).toBeVisible();
});

test("a click in the toolbar's popup opens the side panel beside the page, and the chat is there", async ({
  context,
  page,
  site,
}) => {
  await page.goto(`${site.origin}/plain`);
  await page.bringToFront();
  await openPopup(context);
  const popup = await BrowserPart.at(context, `${ROOT}/popup.html`);
  await popup.click(
    `[...document.querySelectorAll("button")].find((one) => one.innerText.includes("Open side panel"))`,
  );
  const panel = await BrowserPart.at(context, `${ROOT}/panel.html`);
  await panel.click(`document.querySelector("textarea")`);
  await panel.enter("ahoy");
  const shown = () => panel.value<string>("document.body.innerText");
  await expect.poll(shown).toContain("Heard: ahoy");
  // The popup leaves, and the page stays what the tab shows.
  const popupThere = () => BrowserPart.isThere(context, `${ROOT}/popup.html`);
  await expect.poll(popupThere).toBe(false);
  const front = await panel.value<string>(
    `chrome.tabs.query({ active: true, currentWindow: true }).then(([tab]) => tab.url)`,
  );
  expect(front).toBe(`${site.origin}/plain`);
});

test.describe("without a model", () => {
  test.use({ settings: { defaultAgent: "builtin", providers: {} } });

  test("the side panel reports it, and its link leads to the Models page", async ({
    context,
    server,
  }) => {
    const panel = await own(context, "panel.html");
    await expect(panel.getByText("No model connected")).toBeVisible();
    const link = panel.getByRole("link", { name: "Set up models" });
    const models = `${server.url}/models`;
    await expect(link).toHaveAttribute("href", models);
    const opening = context.waitForEvent("page");
    await link.click();
    await (await opening).waitForURL(models);
  });
});

test("a chat that is longer than a browser takes in one message is shown whole", async ({
  context,
  server,
}) => {
  const panel = await own(context, "panel.html");
  await say(panel, "ahoy");
  await expect(panel.getByText("Heard: ahoy")).toBeVisible();
  const root = "/api/sessions";
  const { sessions } = (await (await server.fetch(root)).json()) as {
    sessions: { sessionId: string }[];
  };
  for (const fish of ["herring", "salmon", "trout"]) {
    const prompt = `${fish} ${'"é'.repeat(90_000)}`;
    const path = `${root}/${sessions[0]?.sessionId}/messages`;
    const answer = await server.post(path, { prompt });
    expect(answer.status).toBe(202);
  }
  await expect(panel.getByText(/^Heard: trout/)).toBeAttached();
  await panel.reload();
  for (const words of [/^Heard: ahoy/, /^Heard: herring/, /^Heard: trout/]) {
    await expect(panel.getByText(words)).toBeAttached();
  }
});

test("the page in the current tab is read on request, and its text is attached to one message", async ({
  context,
  page,
  site,
  thinker,
}) => {
  const panel = await own(context, "panel.html");
  await page.goto(`${site.origin}/plain`);
  await page.bringToFront();
  await panel.getByRole("button", { name: "Attach this page" }).click();
  await expect(panel.getByText("A shop", { exact: true })).toBeVisible();
  await say(panel, "What fish is it?");
  await expect(panel.getByText(/^Heard: /)).toBeVisible();
  const body = thinker.lastQuestion;
  expect(body).toContain("The herring is a fish");
  // What was sent is shown by its name.
  const sent = panel.getByRole("log").locator(".user");
  await expect(sent).toContainText("What fish is it?");
  await expect(sent).toContainText("A shop");
  await expect(sent).not.toContainText("herring");
});

test("servers, tools, models and what this site may do are in the side panel, by keyboard too", async ({
  context,
  page,
  site,
  server,
}) => {
  await toolsThere(server);
  await page.goto(`${site.origin}/plain`);
  await request(page, ["model:list"], "Always allow");
  const panel = await own(context, "panel.html");
  await page.bringToFront();
  await tab(panel, "Chat").focus();
  await panel.keyboard.press("ArrowRight");
  await expect(tab(panel, "Servers")).toBeFocused();
  await expect(panel.getByText("ready")).toBeVisible();
  await panel.getByRole("button", { name: "Stop every" }).click();
  await expect(panel.getByText("stopped")).toBeVisible();
  await panel.getByRole("button", { name: "Start every" }).click();
  await expect(panel.getByText("ready")).toBeVisible();
  await panel.keyboard.press("Tab");
  await tab(panel, "Tools").click();
  await expect(panel.getByText("echo", { exact: true })).toBeVisible();
  await tab(panel, "Models").click();
  await expect(panel.getByText("deep-1").first()).toBeAttached();
  await tab(panel, "Site").click();
  const grant = panel.getByRole("combobox", { name: /model:list/ });
  await expect(grant).toHaveValue("until");
  await grant.selectOption("denied");
  await expect
    .poll(() => valueOf(page, `ai.providers.list().catch(({ code }) => code)`))
    .toBe("ERR_PERMISSION_DENIED");
  // A site is removed only after a second word.
  await panel.getByRole("button", { name: /^Remove/ }).click();
  const sure = panel.getByRole("dialog");
  await expect(sure.getByText("loses all permissions")).toBeVisible();
  await expect(grant).toHaveValue("denied");
  await sure.getByRole("button", { name: "Remove" }).click();
  await expect(grant).toHaveValue("not-granted");
});

test("a chat that a page opens is a window of the extension's own, and ends with it", async ({
  page,
  site,
  context,
}) => {
  await page.goto(`${site.origin}/plain`);
  await request(page, ["chat:open", "model:prompt"], "Allow once");
  const opening = context.waitForEvent("page");
  const opened = await valueOf<{ success: boolean; chatId: string }>(
    page,
    `agent.chat.open({ systemPrompt: "Sell fish." })`,
  );
  expect(opened).toEqual({ success: true, chatId: opened.chatId });
  const chat = await opening;
  await expect(chat.getByText(site.origin)).toBeVisible();
  await say(chat, "ahoy");
  await expect(chat.getByText("Heard: ahoy")).toBeVisible();
  expect(await page.locator("iframe").count()).toBe(0);
  await chat.close();
  await expect
    .poll(() => valueOf(page, `agent.chat.close("${opened.chatId}")`))
    .toMatchObject({ success: false });
});

test("the toolbar's popup shows the permissions of the site and its servers", async ({
  page,
  site,
  context,
}) => {
  // What it says twice is shown once.
  await page.goto(`${site.origin}/offers`);
  await page.bringToFront();
  const popup = await own(context, "popup.html");
  await page.bringToFront();
  await popup.reload();
  await expect(popup.getByText("connected", { exact: true })).toBeVisible();
  await expect(popup.getByText(`${site.origin}/mcp`)).toBeVisible();
  await expect(
    popup.getByText("Descriptions come from the site"),
  ).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`in ${colorScheme}`, AUDIT, () => {
    test.use({ colorScheme });

    test(`every page of the extension can be used by everyone (${colorScheme})`, async ({
      context,
      page,
      site,
      server,
    }) => {
      await toolsThere(server);
      await page.goto(`${site.origin}/plain`);
      const permit = await asked(context, () =>
        page.evaluate(() => {
          void window.agent?.requestPermissions({
            scopes: ["model:prompt", "mcp:tools.call"],
            tools: ["every/echo", "every/get-sum"],
            reason: "To answer questions about fish",
          });
        }),
      );
      await check(permit, `permit-${colorScheme}`);
      await permit.getByRole("button", { name: "Always allow" }).click();
      await page.bringToFront();
      const panel = await own(context, "panel.html");
      await page.bringToFront();
      await say(panel, "Tell me about **herring**");
      await expect(panel.getByText(/Heard/)).toBeVisible();
      await check(panel, `panel-chat-${colorScheme}`);
      for (const name of ["Servers", "Tools", "Models", "Site"]) {
        await tab(panel, name).click();
        await expect(panel.getByRole("tabpanel")).not.toContainText("Loading…");
        await check(panel, `panel-${name.toLowerCase()}-${colorScheme}`);
      }
      const popup = await own(context, "popup.html");
      await page.bringToFront();
      await popup.reload();
      await expect(popup.getByText("connected", { exact: true })).toBeVisible();
      await check(popup, `popup-${colorScheme}`);
      const install = await own(context, "install.html");
      await expect(install.getByText("Setup complete")).toBeVisible();
      await check(install, `install-${colorScheme}`);
    });
  });
}

test.describe("where something is missing", () => {
  test.use({ introduced: false });

  test("every page says what, and the command that helps, also in a narrow place", async ({
    context,
  }) => {
    for (const path of ["panel", "popup", "install"]) {
      const page = await own(context, `${path}.html`);
      await expect(
        page.getByText("gangway bridge install --browser chromium"),
      ).toBeVisible();
      await expect(
        page.getByRole("button", { name: "Copy command" }),
      ).toBeVisible();
      // A popup has the width of what is in it.
      await check(page, `${path}-missing`, path === "popup" ? 400 : 320);
    }
  });
});

test("a closed request or chat is reported where its window cannot close", async ({
  context,
}) => {
  await context.addInitScript(() => {
    window.close = () => undefined;
  });
  const permit = await own(context, "permit.html?ask=0123456789abcdef");
  await expect(permit.getByText("no longer open")).toBeVisible();
  await check(permit, "permit-gone", 320);
  const chat = await own(context, "chat.html?chat=nobody");
  await expect(chat.getByText("This chat is closed")).toBeVisible();
  await check(chat, "chat-gone", 320);
  const panel = await own(context, "panel.html");
  await expect(panel.getByText("Ask anything")).toBeVisible();
  await check(panel, "panel-empty", 320);
});

async function check(page: Page, name: string, width = 400): Promise<void> {
  await page.setViewportSize({ width, height: 720 });
  await expectNoOverflow(page);
  await page.screenshot({ path: `results/extension/${name}.png` });
  await expectAccessible(page, name);
}
