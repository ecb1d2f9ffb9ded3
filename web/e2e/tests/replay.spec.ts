// A session step by step: from the chat to its replay, as a file that opens anywhere, and back from a file.
import { readFile, writeFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { PARROT } from "../applets.js";
import { answers, expect, say, settled, test } from "../fixtures.js";
import { AUDIT, expectAccessible, look } from "../looks.js";
import { openParrot, parrot, press } from "../parrot.js";
import type { Script } from "../scripts.js";

const HOSTILE = "<img src=x onerror='window.hacked=1'></script><script>";

const mate: Script = {
  description: "Looks things up.",
  turns: [
    {
      when: "(?i)table",
      steps: [
        { say: "I will look for a **table**." },
        {
          tool: {
            name: "tables/search",
            arguments: { day: "today", people: 2, note: HOSTILE },
            result: [{ at: "18:30" }, { at: "20:15" }],
            takes_ms: 30,
          },
        },
        { tool: { name: "calendar/read", error: "The calendar is locked." } },
        { say: "There are two tables." },
      ],
    },
    { steps: [{ say: "Aye." }] },
  ],
};

test.use({
  settings: {
    defaultAgent: "mate",
    scripts: { mate },
    applets: { parrot: PARROT },
  },
});

const timeline = (page: Page) =>
  page.getByRole("listbox", { name: "Timeline" });
const current = (page: Page) =>
  page.locator('[role="option"][aria-selected="true"]');
const tab = (page: Page, name: string) => page.getByRole("tab", { name });
const pane = (page: Page) => page.getByRole("tabpanel");
const conversation = (page: Page) =>
  page.getByRole("region", { name: "Conversation" });

/** A chat in which an agent used tools and an applet counted to two; gives back where it is. */
async function tell(page: Page, url: string): Promise<string> {
  await openParrot(page, url);
  await press(page, "Count");
  await expect(parrot(page).locator("#number")).toHaveText("1");
  await say(page, "Find a table");
  await expect(answers(page).last()).toContainText("two tables");
  await settled(page);
  await press(page, "Count");
  await expect(parrot(page).locator("#number")).toHaveText("2");
  await say(page, "Thanks");
  await expect(answers(page).last()).toContainText("Aye");
  await settled(page);
  return /\/sessions\/([^/?]+)/.exec(page.url())?.[1] ?? "";
}

test("a chat is stepped through beside its timeline, with the applet as it was at each step", async ({
  page,
  server,
}) => {
  await tell(page, server.url);
  await page.getByRole("link", { name: "Replay", exact: true }).click();
  await expect(timeline(page)).toContainText("Chat created");
  await expect(page).toHaveTitle(/Replay of Find a table/);

  // From the first step to the last by the keys, one at a time and at once.
  await page.keyboard.press("ArrowRight");
  await expect(current(page)).toHaveAttribute("aria-posinset", "2");
  await page.keyboard.press("End");
  // The applet closes with the chat, as a rule before the replay is read.
  await expect(current(page)).toContainText(/Turn ended|Page parrot closed/);
  await expect(conversation(page)).toContainText("Aye.");
  await page.keyboard.press("Home");
  await expect(current(page)).toContainText("Chat created");
  await expect(conversation(page)).toContainText("No messages at this step");

  // The arguments and the result of a call, and what the call beside it said.
  await timeline(page)
    .getByRole("option", { name: /Tool call: tables\/search/ })
    .click();
  await expect(pane(page)).toContainText("people: 2");
  await expect(pane(page)).toContainText(HOSTILE);
  await expect(conversation(page)).toContainText("Running");
  await pane(page)
    .getByRole("button", { name: "Go to what came back" })
    .click();
  await expect(current(page)).toContainText("Tool result: tables/search");
  await expect(pane(page)).toContainText("18:30");
  await expect(conversation(page)).toContainText("Done");
  await expect(conversation(page)).not.toContainText("two tables");

  // The state of the applet, and its own page with it, forwards and back.
  await tab(page, "State").click();
  const applet = page.frameLocator("iframe").locator("#number");
  await expect(applet).toHaveText("1");
  await page.keyboard.press("End");
  await expect(applet).toHaveText("2");
  await expect(pane(page)).toContainText("count: 2");
  await timeline(page)
    .getByRole("option", { name: /State of parrot, version 1/ })
    .click();
  await expect(applet).toHaveText("1");
  await expect(pane(page)).toContainText("added");
  // Nothing in it can be done again.
  await page
    .frameLocator("iframe")
    .getByRole("button", { name: "Say" })
    .click();
  await expect(page.frameLocator("iframe").locator("#result")).toContainText(
    "replay:",
  );
  await expect(applet).toHaveText("1");

  await tab(page, "Figures").click();
  await expect(pane(page)).toContainText("calendar/read");
  await expect(
    pane(page).getByRole("img", { name: /Durations/ }),
  ).toBeVisible();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test("steps are found and left out, and played", async ({ page, server }) => {
  const session = await tell(page, server.url);
  await page.goto(`${server.url}/replay/${session}`);
  await expect(timeline(page)).toContainText("Chat created");
  await page.keyboard.press("/");
  await page.keyboard.type("LOCKED");
  await expect(page.getByText("1 step found")).toBeVisible();
  await expect(timeline(page).getByRole("option")).toHaveCount(1);
  await expect(timeline(page)).toContainText("The calendar is locked.");
  await page.keyboard.press("Escape");
  await expect(page.getByText("1 step found")).toBeHidden();

  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("checkbox", { name: "State changes" }).check();
  await expect(timeline(page).getByRole("option")).toHaveCount(2);
  await page.getByRole("checkbox", { name: "Tool calls" }).check();
  await expect(timeline(page).getByRole("option")).toHaveCount(6);
  await page.getByRole("button", { name: "Show everything" }).click();
  await page.keyboard.press("Escape");

  await page.getByRole("combobox", { name: "Speed" }).selectOption("100×");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await expect(page.getByRole("button", { name: "Next step" })).toBeDisabled();
  await expect(
    page.getByRole("button", { name: "Play", exact: true }),
  ).toBeVisible();
});

test("a message leads to its place in the replay, and so does the list of chats", async ({
  page,
  server,
}) => {
  const session = await tell(page, server.url);
  const message = page.locator(".message.user").filter({ hasText: "Thanks" });
  await message.hover();
  await page
    .locator(".entry.user")
    .filter({ has: message })
    .getByRole("link", { name: "Show in replay" })
    .click();
  await expect(page).toHaveURL(new RegExp(`/replay/${session}\\?at=\\d+$`));
  await expect(current(page)).toContainText("Thanks");
  await expect(conversation(page).locator(".current")).toContainText("Thanks");
  // The address follows the step, and a message of the conversation leads to its own.
  const before = page.url();
  await conversation(page)
    .locator(".entry")
    .filter({ hasText: "I will look" })
    .getByRole("button", { name: "Go to this step" })
    .click();
  await expect(current(page)).toContainText("Agent message");
  await expect(page).not.toHaveURL(before);
  await page.reload();
  await expect(current(page)).toContainText("I will look");

  await page.getByRole("link", { name: "Open chat" }).click();
  await expect(answers(page).last()).toContainText("Aye");
  const item = page.getByRole("listitem").filter({ hasText: "Find a table" });
  await item.hover();
  await item.getByRole("button", { name: /^Replay/ }).click();
  await expect(timeline(page)).toContainText("Chat created");
});

test("a replay is one file that opens offline and asks for nothing, and can be opened again", async ({
  page,
  browser,
  server,
}, info) => {
  const session = await tell(page, server.url);
  await page.goto(`${server.url}/replay/${session}`);
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const download = await coming;
  expect(download.suggestedFilename()).toBe(`${session}.html`);
  const path = info.outputPath("replay.html");
  await download.saveAs(path);

  // The file has no server to be logged in to.
  const context = await browser.newContext({ offline: true });
  const offline = await context.newPage();
  const asked: string[] = [];
  offline.on("request", (request) => asked.push(request.url()));
  await offline.goto(`file://${path}`);
  await expect(timeline(offline)).toContainText("Chat created");
  await expect(offline).toHaveTitle(/Find a table/);
  await offline.keyboard.press("End");
  await expect(conversation(offline)).toContainText("Aye.");
  await tab(offline, "State").click();
  await expect(pane(offline)).toContainText("count: 2");
  await expect(offline.locator("iframe")).toHaveCount(0);
  expect(asked).toEqual([`file://${path}`]);
  await expectAccessible(offline, "replay file");
  await context.close();

  // What is opened here runs nothing of the file, and shows no applet with it.
  const html = await readFile(path, "utf8");
  const evil = html.replace("<head>", "<head><script>window.hacked=1</script>");
  await writeFile(path, evil);
  await page.getByRole("link", { name: "Open a file" }).click();
  await page.getByLabel("Replay file").setInputFiles(path);
  await expect(timeline(page)).toContainText("Chat created");
  await page.keyboard.press("End");
  await tab(page, "State").click();
  await expect(pane(page)).toContainText("count: 2");
  await expect(page.locator("iframe")).toHaveCount(0);
  await page.reload();
  await expect(page.getByText("Choose a file")).toBeVisible();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);

  const lines = await (
    await server.fetch(`/api/sessions/${session}/export`)
  ).text();
  const open = (name: string, text: string) =>
    page.getByLabel("Replay file").setInputFiles({
      ...{ name, mimeType: "text/plain", buffer: Buffer.from(text) },
    });
  await open("cat.png", "\x89PNG");
  await expect(page.getByRole("alert")).toContainText("“cat.png” is neither");
  await open("cut.jsonl", lines.slice(0, -100));
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("Only the first part could be read");
  await expect(alert).toContainText(/Line \d+ of the recording is not JSON/);
  await expect(timeline(page)).toContainText("Chat created");
});

test("a chat that is not there, an empty one and a connection that is lost say so", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/replay/nobody`);
  await expect(page.getByRole("alert")).toContainText("Could not open");
  const made = await server.post("/api/sessions");
  const { sessionId } = (await made.json()) as { sessionId: string };
  await page.route("**/export", (route) => route.fulfill({ body: "" }));
  // Later events would be shown.
  await page.routeWebSocket("**/events**", () => undefined);
  await page.goto(`${server.url}/replay/${sessionId}`);
  await expect(page.getByText("This recording has no events.")).toBeVisible();
});

/** A recording of so many events, as the server exports it. */
function recording(events: number): string {
  const lines = Array.from({ length: events }, (_, at) => {
    const seq = at + 1;
    const base = {
      seq,
      at: new Date(1_770_000_000_000 + at * 250).toISOString(),
    };
    const streamId = `s.${Math.floor(at / 10)}`;
    const source = { kind: "applet", slug: "board" };
    const patch = { cell: at, name: `value ${at}` };
    return JSON.stringify(
      at % 10 === 0
        ? {
            ...base,
            type: "user.message",
            streamId,
            prompt: `Question ${at}`,
            source: { kind: "person" },
            showInChat: true,
          }
        : at % 10 === 9
          ? {
              ...base,
              type: "assistant.message",
              streamId,
              messageId: `m${at}`,
              content: `Answer **${at}**`,
              partial: false,
              replaces: null,
            }
          : {
              ...base,
              type: "applet.state",
              applet: "board",
              version: seq,
              patch,
              source,
            },
    );
  });
  return `${lines.join("\n")}\n`;
}

test("a hundred thousand events are scrolled and stepped through with few of them drawn", async ({
  page,
  server,
}) => {
  const made = await server.post("/api/sessions");
  const { sessionId } = (await made.json()) as { sessionId: string };
  const body = recording(100_000);
  await page.route("**/export", (route) => route.fulfill({ body }));
  await page.goto(`${server.url}/replay/${sessionId}?at=50001`);
  await expect(current(page)).toHaveAttribute("aria-posinset", "50001");
  await expect(current(page)).toContainText("Question 50000");
  await expect(page.getByText("step 50001 of 100000")).toBeVisible();
  await page.keyboard.press("End");
  await expect(current(page)).toContainText("Answer **99999**");
  await expect(conversation(page)).toContainText("Answer 99999");
  const [rows, entries] = [
    await page.getByRole("option").count(),
    await conversation(page).locator(".entry").count(),
  ];
  expect(rows).toBeLessThan(60);
  expect(entries).toBeLessThan(60);
  await page.keyboard.press("ArrowLeft");
  await tab(page, "State").click();
  await expect(pane(page)).toContainText("cell: 99998");
  await page
    .getByRole("searchbox", { name: "Search steps" })
    .fill("question 777");
  await expect(page.getByText("11 steps found")).toBeVisible();
});

test("the replay looks right", AUDIT, async ({ page, server }) => {
  const session = await tell(page, server.url);
  await page.goto(`${server.url}/replay/${session}`);
  await timeline(page)
    .getByRole("option", { name: /Tool result: tables/ })
    .click();
  await look(page, "replay-step");
  await tab(page, "State").click();
  await page.keyboard.press("End");
  await expect(page.frameLocator("iframe").locator("#number")).toHaveText("2");
  await look(page, "replay-state", { exclude: "iframe" });
  await tab(page, "Figures").click();
  await look(page, "replay-figures");
  await page.getByRole("button", { name: "Filter" }).click();
  await look(page, "replay-filter");
  await page.goto(`${server.url}/replay`);
  await look(page, "replay-open");
});
