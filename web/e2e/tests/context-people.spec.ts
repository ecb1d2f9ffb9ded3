// What an app may do beyond its page is the person's word, and it is asked for in the chat.
import type { Page } from "@playwright/test";
import { call, openWithAgent, OUTSIDE, probe } from "../context.js";
import { answers, expect, test } from "../fixtures.js";
import { expectAccessible } from "../looks.js";
import { consent, decide, bubbles } from "../parrot.js";
import { always } from "../scripts.js";

const title = "title: Harbour log";
const harbour = probe();

test.use({
  settings: {
    defaultAgent: "mate",
    scripts: { mate: always({ say: "Aye, noted." }) },
    apps: {
      probe: {
        ...harbour,
        "APP.md": (harbour["APP.md"] ?? "").replace(
          "name: probe",
          `name: probe\n${title}`,
        ),
      },
    },
  },
});

/** The app beside its chat, launched by an agent of the server's own. */
async function beside(page: Page, url: string): Promise<Page["mainFrame"]> {
  await page.goto(`${url}/?app=probe`);
  const frame = page.locator('iframe[title="App Harbour log"]');
  await expect(frame).toBeVisible();
  await expect(
    frame.contentFrame().getByRole("heading", { name: "Probe" }),
  ).toBeVisible();
  return () => {
    const found = page.frames().find((one) => one.parentFrame() !== null);
    if (!found) throw new Error("the app has no frame");
    return found;
  };
}

test("a file is saved once the person allowed it, and always means without asking again", async ({
  page,
  server,
}) => {
  const frame = await beside(page, server.url);
  const save = (filename: string) =>
    call(frame(), "request", "save-file", { filename, content: "a,b\n" });
  const dialog = page.getByRole("dialog", {
    name: "Request from Harbour log",
  });

  const refused = save("first.csv");
  await expect(dialog).toContainText(
    "The app Harbour log (probe) wants to save first.csv (4 bytes) in the folder of this session.",
  );
  await page.screenshot({ path: "results/launched-question-light.png" });
  await dialog.getByRole("button", { name: "Deny" }).click();
  expect(await refused).toMatchObject({
    code: "E-AGT-004",
    message: "Agent denied request: save-file - the person denied it",
    kinds: expect.arrayContaining(["AgentDeniedError"]),
  });
  await expect(
    page.getByText(/Harbour log requested and was denied save-file/),
  ).toBeVisible();

  const saved = save("second.csv");
  await expect(dialog).toContainText("second.csv");
  await expectAccessible(page, "dialog", { include: "dialog[open]" });
  await dialog.getByRole("button", { name: "Always allow" }).click();
  expect(await saved).toEqual({
    value: { saved: true, path: "second.csv", bytes: 4 },
  });
  await expect(dialog).toBeHidden();
  expect((await save("third.csv")).value).toMatchObject({ saved: true });
  await expect(
    page.getByText(/Harbour log requested and got save-file/),
  ).toHaveCount(2);
});

test("a page that an app wants to open is shown with its address, and opened in a tab of its own by the click that allows it", async ({
  page,
  context,
  server,
}) => {
  const frame = await beside(page, server.url);
  const url = `${server.url}/healthz?tide=high`;
  const open = () => call(frame(), "request", "open-url", { url });
  const dialog = page.getByRole("dialog", { name: "Request from Harbour log" });

  const refused = open();
  await expect(dialog).toContainText("wants to open this page:");
  await expect(dialog).toContainText(url);
  await expect(dialog.getByRole("button")).toHaveText(["Allow once", "Deny"]);
  await dialog.getByRole("button", { name: "Deny" }).click();
  expect(await refused).toMatchObject({ code: "E-AGT-004" });
  expect(context.pages()).toHaveLength(1);

  const opened = open();
  const opening = context.waitForEvent("page");
  await dialog.getByRole("button", { name: "Allow once" }).click();
  const other = await opening;
  await expect(other).toHaveURL(url);
  expect(await other.evaluate(() => window.opener as unknown)).toBeNull();
  expect((await opened).value).toEqual({ opened: true });
});

test("an app that wants to speak is shown with its title, and speaks once it may", async ({
  page,
  server,
}) => {
  const frame = await beside(page, server.url);
  const said = call(frame(), "request", "prompt", { text: "Who is in port?" });
  await expect(consent(page)).toContainText(
    "The app Harbour log wants to send this message to the agent:",
  );
  await expect(consent(page)).toContainText("Who is in port?");
  await page.screenshot({ path: "results/launched-consent-light.png" });
  await decide(page, "Always");
  expect(await said).toEqual({ value: { text: "Aye, noted." } });
  await expect(bubbles(page)).toContainText("Harbour log");
  await expect(bubbles(page)).toContainText("Who is in port?");
  await expect(answers(page)).toContainText("Aye, noted.");

  // Apps with consent are listed by title, and link back to what is open.
  await expect(
    page.getByRole("switch", { name: "Harbour log may send messages" }),
  ).toHaveAttribute("aria-checked", "true");
  const before = page.url();
  await page.getByRole("button", { name: "Close Harbour log" }).click();
  await page
    .getByRole("group", { name: "Can send messages" })
    .getByRole("button", { name: "Harbour log", exact: true })
    .click();
  await expect(page.locator("iframe")).toBeVisible();
  expect(page.url()).toBe(before);
});

test("what an app wants the person to know stands in the chat", async ({
  page,
  server,
}) => {
  const frame = await beside(page, server.url);
  const message = "The tide turns at noon.";
  const told = await call(frame(), "request", "notify", { message });
  expect(told.value).toEqual({ shown: true });
  await expect(page.getByText(`Harbour log: ${message}`)).toBeVisible();
});

test("an agent that saves files itself is asked, and the person is not", async ({
  page,
  server,
}) => {
  const agent = await openWithAgent(page, server, {
    agent: { ...OUTSIDE, capabilities: ["save-file"] },
  });
  const params = { filename: "a.txt", content: "a" };
  const ended = call(page, "request", "save-file", params);
  const asked = await agent.answer("save-file", { result: { saved: "here" } });
  expect(asked["params"]).toEqual(params);
  expect((await ended).value).toEqual({ saved: "here" });
});

test("the gallery, a launch and the panel are reached by the keyboard alone", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/applets`);
  const button = page.getByRole("button", {
    name: "Launch Harbour log with agent",
  });
  await expect(button).toBeVisible();
  const reach = async (wanted: typeof button) => {
    for (let presses = 0; presses < 80; presses += 1) {
      if (await wanted.evaluate((one) => one === document.activeElement)) {
        return;
      }
      await page.keyboard.press("Tab");
    }
    throw new Error("Tab does not get there");
  };
  await reach(button);
  await page.keyboard.press("Enter");
  const frame = page.locator('iframe[title="App Harbour log"]');
  await expect(frame).toBeVisible();
  await reach(page.getByRole("button", { name: "Close Harbour log" }));
  await page.keyboard.press("Enter");
  await expect(frame).toHaveCount(0);
  await reach(page.getByRole("button", { name: "Open Harbour log" }));
  await page.keyboard.press("Enter");
  await expect(frame).toBeVisible();
});
