// The chat of a remote agent in a page of another site.
import { expect, test } from "../embed-fixtures.js";
import { expectNothingSerious } from "../looks.js";
import {
  ASKING,
  ask,
  box,
  createAgent,
  embed,
  saidBy,
  stateLine,
  toldTo,
} from "../remote.js";
import { COUNTED } from "../scripts.js";

test("a page of an allowed origin shows the chat, which streams and sends it events", async ({
  page,
  server,
  shop,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await expect(saidBy(chat)).toContainText("Heard: Good morning");
  await expect(stateLine(chat)).toHaveText("Done");
  await box(chat).fill("count for me");
  await box(chat).press("Enter");
  await expect(saidBy(chat).last()).toContainText("word3");
  await expect(saidBy(chat).last()).not.toContainText("word120");
  await expect(stateLine(chat)).toHaveText("Working…");
  await expect(chat.getByRole("log")).toHaveAttribute("aria-busy", "true");
  await expect(saidBy(chat).last()).toHaveText(COUNTED);
  await expect(stateLine(chat)).toHaveText("Done");
  const told = await toldTo(page);
  expect(told.map(({ type }) => type)).toContain("ready");
  const of = (type: string) => told.filter((event) => event.type === type);
  // How far the first answer was when the page opened is not known.
  expect(of("message").slice(-2)).toEqual([
    {
      source: "gangway",
      type: "message",
      role: "person",
      text: "count for me",
    },
    { source: "gangway", type: "message", role: "agent", text: COUNTED },
  ]);
  const states = of("state").map(({ state }) => state);
  expect(states.slice(-4)).toEqual([
    ...["complete", "commanded", "processing", "complete"],
  ]);
});

test("a page of another origin gets nothing of it: the browser refuses the frame", async ({
  page,
  server,
  shop,
  complaints,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(shop.stranger);
  const chat = await embed(page, { url });
  await expect
    .poll(() => complaints.some((text) => text.includes("frame-ancestors")))
    .toBe(true);
  await expect(box(chat)).toHaveCount(0);
  expect(await toldTo(page)).toEqual([]);
  complaints.length = 0;
});

test("the token is removed from the URL, the history and the referrer, and a reload works without it", async ({
  page,
  server,
}) => {
  const { embed_url, session_token, agent_id } = await createAgent(server);
  const seen: string[] = [];
  page.on("request", (request) => {
    const { referer = "", authorization = "" } = request.headers();
    const secret = `${referer} ${authorization}`.includes(session_token);
    const exchange = request.url().endsWith("/exchange");
    if (secret && !exchange) seen.push(`${request.url()} ${referer}`);
    if (request.url().includes(session_token)) seen.push(request.url());
  });
  await page.goto(`${embed_url}&theme=dark`);
  await expect(saidBy(page)).toContainText("Good morning");
  // The one request that has it is the page itself.
  expect(seen).toEqual([`${embed_url}&theme=dark`]);
  expect(page.url()).toBe(`${server.url}/embed/${agent_id}?theme=dark`);
  expect(await page.evaluate(() => document.referrer)).toBe("");
  const stored = await page.evaluate(() =>
    JSON.stringify([sessionStorage, localStorage]),
  );
  expect(stored).not.toContain(session_token);
  await page.reload();
  await expect(saidBy(page)).toContainText("Good morning");
  await page.goto("about:blank");
  await page.goBack();
  await expect(saidBy(page)).toContainText("Good morning");
  expect(page.url()).not.toContain("token");
  expect(seen).toHaveLength(1);
});

test("there is no way elsewhere in it, and axe finds nothing serious", async ({
  page,
  server,
}) => {
  const { embed_url } = await createAgent(server, {
    feature_flags: { file_upload: true, context_usage: true, voice_mic: true },
  });
  await page.setViewportSize({ width: 320, height: 480 });
  for (const theme of ["light", "dark"]) {
    await page.goto(`${embed_url}&theme=${theme}&accent=orange`);
    await expect(page.getByRole("meter")).toBeVisible();
    await expect(page.locator("header, nav, aside, a[href^='/']")).toHaveCount(
      0,
    );
    await expectNothingSerious(page, theme);
    const over = await page.evaluate(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } =
        document.documentElement;
      return [scrollWidth - clientWidth, scrollHeight - clientHeight];
    });
    expect(over).toEqual([0, 0]);
  }
});

test("a server that is killed in mid-answer comes back, and nothing is lost or doubled", async ({
  page,
  server,
  shop,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await expect(stateLine(chat)).toHaveText("Done");
  await box(chat).fill("count for me");
  await box(chat).press("Enter");
  await expect(saidBy(chat).last()).toContainText("word5");
  await server.kill();
  await expect(stateLine(chat)).toHaveText("Reconnecting…");
  await server.launch();
  await expect(saidBy(chat).last()).toHaveText(COUNTED, { timeout: 30_000 });
  await expect(stateLine(chat)).toHaveText("Done");
  await expect(saidBy(chat)).toHaveCount(2);
});

test("an ended agent is reported, its conversation is kept, and it accepts no messages", async ({
  page,
  server,
  shop,
}) => {
  const { embed_url: url, agent_id, session_token } = await createAgent(server);
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await expect(saidBy(chat)).toContainText("Good morning");
  const root = `${server.url}/api/remote_agents/${agent_id}`;
  const headers = { authorization: `Bearer ${session_token}` };
  await fetch(`${root}/shutdown`, { method: "POST", headers });
  await expect(stateLine(chat)).toHaveText("Ended");
  await expect(chat.getByText("This chat has ended")).toBeVisible();
  await expect(box(chat)).toHaveCount(0);
  await expect(saidBy(chat)).toContainText("Good morning");
  await expect
    .poll(async () => (await toldTo(page)).map(({ type }) => type))
    .toContain("ended");
  // The same for later visitors.
  await page.goto(url);
  await expect(page.getByText("This chat has ended")).toBeVisible();
  await expect(saidBy(page)).toContainText("Good morning");
});

test("addresses that are not good say what is wrong with them", async ({
  page,
  server,
}) => {
  const { agent_id, embed_url, session_token } = await createAgent(server);
  await page.goto(`${server.url}/embed/${agent_id}`);
  await expect(page.getByRole("alert")).toContainText("has no token");
  await page.goto(`${server.url}/embed/${agent_id}?token=wrong`);
  await expect(page.getByRole("alert")).toContainText("no longer valid");
  const nobody = agent_id.replace(/./g, "0");
  await page.goto(`${server.url}/embed/${nobody}?token=wrong`);
  await expect(page.getByRole("alert")).toContainText("no longer exists");
  // A token that was renewed ends the chats of the old one.
  await page.goto(embed_url);
  await expect(saidBy(page)).toContainText("Good morning");
  const headers = { authorization: `Bearer ${session_token}` };
  const path = `${server.url}/api/remote_agents/${agent_id}/token`;
  const renewed = await fetch(path, { method: "POST", headers });
  expect(renewed.status).toBe(200);
  await expect(page.getByRole("alert")).toContainText("no longer valid");
  await expect(box(page)).toHaveCount(0);
});

test.describe("with an agent that asks", () => {
  test.use({
    settings: {
      projects: { shop: { backend: "asking" } },
      remote: { backends: { asking: ASKING } },
    },
  });

  test("questions are answered with a button or the keyboard, and reported to the page", async ({
    page,
    server,
    shop,
  }) => {
    const { embed_url: url } = await createAgent(server);
    await page.goto(shop.origin);
    const chat = await embed(page, { url });
    const card = chat.getByRole("region", { name: "Question from the agent" });
    await expect(card).toContainText("Order a herring");
    await expect(stateLine(chat)).toHaveText("Waiting for you");
    await expect(card.getByRole("button")).toHaveText([
      ...["Yes, order it", "Always", "No", "Answer"],
    ]);
    await card.getByRole("button", { name: "Yes, order it" }).click();
    await expect(saidBy(chat).last()).toHaveText("You chose yes.");
    // And once more, without a mouse.
    await box(chat).fill("again");
    await page.keyboard.press("Enter");
    await expect(stateLine(chat)).toHaveText("Waiting for you");
    await page.keyboard.press("Shift+Tab");
    for (let n = 0; n < 20; n += 1) {
      const last = card.last().getByRole("button", { name: "No" });
      if (await last.evaluate((el) => el === document.activeElement)) break;
      await page.keyboard.press("Shift+Tab");
    }
    await page.keyboard.press("Enter");
    await expect(saidBy(chat).last()).toHaveText("You chose no.");
    const told = await toldTo(page);
    expect(told.find(({ type }) => type === "question")).toMatchObject({
      options: ["Yes, order it", "Always", "No"],
    });
  });

  test("what the page around sends answers the question that waits", async ({
    page,
    server,
    shop,
  }) => {
    const { embed_url: url } = await createAgent(server);
    await page.goto(shop.origin);
    const chat = await embed(page, { url });
    await expect(stateLine(chat)).toHaveText("Waiting for you");
    await ask(page, "send", "Always");
    await expect(saidBy(chat).last()).toHaveText("You chose always.");
  });
});

test("Enter sends, Shift+Enter breaks the line, and Stop stops", async ({
  page,
  server,
  clerk,
}) => {
  const { embed_url } = await createAgent(server);
  await page.goto(embed_url);
  await expect(stateLine(page)).toHaveText("Done");
  await page.keyboard.press("Tab");
  for (let n = 0; n < 10; n += 1) {
    const there = await box(page).evaluate(
      (el) => el === document.activeElement,
    );
    if (there) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type("endless");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("count");
  await page.keyboard.press("Enter");
  await expect(saidBy(page).last()).toContainText("word2");
  expect(clerk.received.at(-1)).toContain("endless\ncount");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Stop" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Stopped.")).toBeVisible();
  await expect(stateLine(page)).toHaveText("Ready");
});
