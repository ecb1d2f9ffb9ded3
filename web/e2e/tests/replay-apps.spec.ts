// Apps in the replay of a session: their own pages at each step, which cannot act; and a session that goes on while it is replayed.
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { Cashier } from "../cashier.js";
import { Agent, direct, launch, OUTSIDE, probe, visit } from "../context.js";
import { answers, expect, say, settled, test } from "../fixtures.js";
import { AUDIT, look } from "../looks.js";
import { firstOf, Peer } from "../relay.js";

const cashier = new Cashier();

/** An app that keeps what its agent sends, and tries what it can reach. */
const SHELF = {
  ...probe("shelf"),
  "index.html": `<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Shelf</title><link rel="stylesheet" href="style.css"><script type="module" src="first.js"></script></head>
<body><h1>Shelf</h1><p id="owner"></p><ul id="books"></ul><p id="tried"></p></body></html>`,
  "style.css": "h1 { color: rgb(0, 90, 60) }",
  "data.json": "[1]",
  "first.js": `import { words } from "./words.js";
const context = window.__AGENT_CONTEXT__;
const add = (title) => {
  const item = document.createElement("li");
  item.textContent = title;
  document.getElementById("books").append(item);
};
document.getElementById("owner").textContent = words(context?.data.owner);
context?.on("book", ({ title }) => add(title));
context?.registerTool({ name: "add", description: "Adds a book" }, ({ title }) => add(title));
const tried = [];
if (!context?.replay) new BroadcastChannel("shelf").onmessage = ({ data }) => add(data);
const attempt = async (name, work) => {
  try { tried.push(name + (await work() ? " worked" : " did nothing")); } catch { tried.push(name + " failed"); }
};
if (context?.replay) {
  await attempt("own file", async () => (await fetch("data.json")).ok);
  await attempt("api", async () => (await fetch("/api/sessions")).ok);
  await attempt("cookie", () => document.cookie !== "");
  await attempt("parent", () => parent.document.title);
  await attempt("emit", () => context.emit("book-added", 1).then(() => true));
  await attempt("save", () => context.request("save-file", { name: "x", content: "y" }).then(() => true));
  await attempt("popup", () => window.open("/") !== null);
  localStorage.setItem("kept", "1");
  new BroadcastChannel("shelf").postMessage("from the replay");
  document.getElementById("tried").textContent = tried.join(", ");
}`,
  "words.js": "export const words = (name) => `Shelf of ${name}`;",
};

const timeline = (page: Page) =>
  page.getByRole("listbox", { name: "Timeline" });
const current = (page: Page) =>
  page.locator('[role="option"][aria-selected="true"]');
const tab = (page: Page, name: string) => page.getByRole("tab", { name });
const pane = (page: Page) => page.getByRole("tabpanel");
const sessionIn = (page: Page) =>
  /\/sessions\/([^/?]+)/.exec(page.url())?.[1] ?? "";

test.describe("with a page of its own", () => {
  test.use({ settings: { apps: { shelf: SHELF } } });

  test("an app is shown with its data and what it was sent, at each step, and reaches nothing", async ({
    page,
    server,
    complaints,
  }) => {
    const launched = await launch(server, "shelf", {
      agent: OUTSIDE,
      data: { owner: "Ada" },
    });
    const app = await page.context().newPage();
    await app.goto(launched.url);
    const agent = await Agent.attach(server, launched.launchId);
    await expect(app.locator("#owner")).toHaveText("Shelf of Ada");
    agent.tell("book", { title: "Emma" });
    await expect(app.locator("#books li")).toHaveCount(1);
    await page.bringToFront();

    await page.goto(`${server.url}/replay/${launched.sessionId}`);
    await tab(page, "State").click();
    await timeline(page)
      .getByRole("option", { name: /launched shelf/ })
      .click();
    const frame = page.frameLocator('iframe[title="shelf at this step"]');
    await expect(frame.locator("#owner")).toHaveText("Shelf of Ada");
    await expect(frame.getByRole("heading")).toHaveCSS(
      "color",
      "rgb(0, 90, 60)",
    );
    await expect(frame.locator("#books li")).toHaveCount(0);
    await expect(frame.locator("#tried")).toHaveText(
      "own file worked, api failed, cookie failed, parent failed, emit failed, save failed, popup did nothing",
    );
    // What it tried is in the console, and nowhere else.
    expect(complaints.splice(0).every((one) => /api/.test(one))).toBe(true);
    await expect(pane(page)).toContainText("What a person did in it");
    await timeline(page)
      .getByRole("option", { name: /book sent to shelf/ })
      .click();
    await expect(frame.locator("#books li")).toHaveText(["Emma"]);
    await page.keyboard.press("Home");
    await timeline(page)
      .getByRole("option", { name: /launched shelf/ })
      .click();
    await expect(frame.locator("#books li")).toHaveCount(0);
    await expect(frame.locator("#owner")).toHaveText("Shelf of Ada");
    const exported = await server.fetch(
      `/api/sessions/${launched.sessionId}/export`,
    );
    expect(await exported.text()).not.toContain("book-added");
    // Nor did the app's other page hear of it, which is on the app's own origin.
    await expect(app.locator("#books li")).toHaveText(["Emma"]);
    expect(await app.evaluate(() => localStorage.getItem("kept"))).toBe(null);
    complaints.splice(0);
  });
});

test.describe("with a booking", () => {
  test.beforeAll(async () => {
    await cashier.start();
  });
  test.afterAll(() => cashier.stop());

  test.use({
    // eslint-disable-next-line no-empty-pattern
    settings: async ({}, use) => {
      await use({
        defaultAgent: "builtin",
        providers: {
          cinema: {
            type: "openai",
            base_url: `${cashier.url}/v1`,
            model: "cashier",
          },
        },
      });
    },
  });

  /** Books in a chat; gives back its session. */
  async function book(page: Page, url: string): Promise<string> {
    await page.goto(`${url}/applets`);
    await page
      .getByRole("button", { name: "Launch Movie booking with agent" })
      .click();
    const frame = page.frameLocator('iframe[title="App Movie booking"]');
    await expect(
      frame.getByRole("heading", { name: "Which movie?" }),
    ).toBeVisible();
    await expect(frame.locator("#presence")).not.toContainText("Connecting");
    await say(page, "Book me a ticket, whichever.");
    await page
      .getByRole("button", { name: "Allow this page in this chat" })
      .click();
    await settled(page);
    await expect(answers(page).last()).toContainText("Booked. Your code is");
    return sessionIn(page);
  }

  test("the booking is shown stage by stage, and a file has its state alone", async ({
    page,
    browser,
    server,
  }, info) => {
    const session = await book(page, server.url);
    await page.goto(`${server.url}/replay/${session}`);
    await tab(page, "State").click();
    await page.keyboard.press("End");
    const frame = page.frameLocator(
      'iframe[title="movie-booking at this step"]',
    );
    await expect(
      frame.getByRole("heading", { name: "See you there" }),
    ).toBeVisible();
    await expect(frame.locator("#chat")).toContainText(
      "The first that can be had.",
    );
    await expect(frame.locator("#presence")).toHaveText("Replay");
    const search = page.getByRole("searchbox", { name: "Search steps" });
    for (const name of ["Which seats?", "Which movie?"]) {
      await search.fill(name);
      const stage = frame.getByRole("heading", { name });
      await expect(async () => {
        await timeline(page).press("Home");
        await expect(stage).toBeVisible({ timeout: 1_000 });
      }).toPass();
    }
    await expect(pane(page)).toContainText("the state that it reported last");
    // Nothing can be done in it.
    await frame.locator("#choices button").first().click();
    await expect(frame.locator("#status")).toContainText("This is a replay");

    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const path = info.outputPath("replay.html");
    await (await coming).saveAs(path);
    const context = await browser.newContext({ offline: true });
    const file = await context.newPage();
    await file.goto(`file://${path}`);
    await tab(file, "State").click();
    await file.keyboard.press("End");
    await expect(pane(file)).toContainText("but not the page itself");
    await expect(pane(file)).toContainText("uiSpec");
    await expect(file.locator("iframe")).toHaveCount(0);
    await context.close();
    expect(await readFile(path, "utf8")).not.toContain("__gangway/replay");
  });

  test("apps in the replay look right", AUDIT, async ({ page, server }) => {
    const session = await book(page, server.url);
    await page.goto(`${server.url}/replay/${session}`);
    await tab(page, "State").click();
    await page.keyboard.press("End");
    await expect(
      page
        .frameLocator("iframe")
        .getByRole("heading", { name: "See you there" }),
    ).toBeVisible();
    await look(page, "replay-app", { exclude: "iframe" });
  });
});

test("a booking that nobody launched is shown as a person and an external agent saw it", async ({
  page,
  server,
}) => {
  const booking = await page.context().newPage();
  await visit(booking, direct(server, "movie-booking"));
  const title = booking.locator("#stage-title");
  await expect(title).toHaveText("Which movie?");
  const agent = await Peer.agent(server);
  await agent.use("select", { itemId: firstOf(await agent.spec()) });
  // What a person does is in the state alone.
  await booking.getByRole("button", { name: "Next" }).click();
  await expect(title).toHaveText("Which theater?");
  await agent.use("highlight", { itemIds: [firstOf(await agent.spec())] });
  agent.leave();
  let session = "";
  await expect
    .poll(async () => {
      const listed = await server.fetch("/api/sessions");
      const { sessions } = (await listed.json()) as {
        sessions: { sessionId: string }[];
      };
      return (session = sessions[0]?.sessionId ?? "");
    })
    .not.toBe("");
  await page.bringToFront();
  await page.goto(`${server.url}/replay/${session}`);
  await tab(page, "State").click();
  await page.keyboard.press("End");
  const frame = page.frameLocator('iframe[title="movie-booking at this step"]');
  await expect(frame.locator("#stage-title")).toHaveText("Which theater?");
  await expect(frame.locator("#choices .marked")).toHaveCount(1);
  await page.getByRole("searchbox", { name: "Search steps" }).fill("/select");
  await expect(page.getByText(/steps? found/)).toBeVisible();
  await timeline(page).press("Home");
  await expect(frame.locator("#stage-title")).toHaveText("Which movie?");
});

test.describe("while the session goes on", () => {
  test.use({
    settings: {
      defaultAgent: "mate",
      scripts: {
        mate: {
          description: "Answers.",
          turns: [{ steps: [{ say: "Aye." }] }],
        },
      },
    },
  });

  test("a replay at its end stays at the end, and counts new steps in any other place", async ({
    page,
    server,
  }) => {
    const made = await server.post("/api/sessions");
    const { sessionId } = (await made.json()) as { sessionId: string };
    const write = (prompt: string) =>
      server.post(`/api/sessions/${sessionId}/messages`, { prompt });
    await page.goto(`${server.url}/replay/${sessionId}`);
    await expect(page.getByText("Live")).toBeVisible();
    await page.keyboard.press("End");
    await write("First words");
    await expect(current(page)).toContainText("Turn ended");
    await expect(page.getByRole("button", { name: /new step/ })).toBeHidden();

    await page.keyboard.press("Home");
    await expect(current(page)).toContainText("Chat created");
    await write("Second words");
    const more = page.getByRole("button", { name: /^\d new steps$/ });
    await expect(more).toBeVisible();
    await expect(timeline(page)).toContainText("Second words");
    await expect(current(page)).toContainText("Chat created");
    await more.press("Enter");
    await expect(current(page)).toContainText("Turn ended");
    await expect(more).toBeHidden();

    // A search and the figures go on as well.
    await tab(page, "Figures").click();
    const turns = pane(page).getByRole("row", { name: /^Turns/ });
    await expect(turns.getByRole("cell").first()).toHaveText("2");
    await page
      .getByRole("searchbox", { name: "Search steps" })
      .fill("third words");
    await expect(page.getByText("0 steps found")).toBeVisible();
    await write("Third words");
    await expect(page.getByText("1 step found")).toBeVisible();
    await expect(turns.getByRole("cell").first()).toHaveText("3");
  });
});
