// A study session from its first word to its replay.
import { readFile } from "node:fs/promises";
import { expect, test } from "../fixtures.js";
import { LOOKS, look } from "../looks.js";
import { openBooking, Peer, settle, STAGES } from "../relay.js";

test(
  "a session is kept, ends with the page at its beginning, and is stepped through",
  LOOKS,
  async ({ page, server }) => {
    await openBooking(page, server);
    const agent = await Peer.agent(server);
    await settle(agent);
    const started = await agent.ask("session.start", {
      studyId: "pilot-01",
      participantId: "P07",
    });
    expect(started.type, JSON.stringify(started.payload)).toBe(
      "session.started",
    );
    const sessionId = String(started.payload["sessionId"]);
    expect(sessionId).toMatch(/^s-\d{8}-\d{3}$/);
    await expect(page.locator("#study")).toHaveText(`Study ${sessionId}`);
    expect((await agent.spec()).stage).toBe("movie");

    const bad = "<img src=x onerror='window.hacked=1'>";
    await page
      .getByRole("textbox", { name: "Message" })
      .fill("Something funny");
    await page.keyboard.press("Enter");
    expect(await agent.refused("select", { itemId: "nothing" }, bad)).toBe(
      "INVALID_PARAMS",
    );
    await page.getByRole("radio").first().click();
    for (const _stage of STAGES.slice(0, 4)) await settle(agent);
    await expect(page.locator("#stage")).toHaveAttribute("data-stage", "seat");
    const ended = await agent.ask("session.end", { reason: "study-complete" });
    expect(ended).toMatchObject({
      type: "session.ended",
      payload: { sessionId, stateReset: true },
    });
    expect(String(ended.payload["logFile"])).toContain(`${sessionId}.jsonl`);
    await expect(page.locator("#stage")).toHaveAttribute("data-stage", "movie");
    await expect(page.locator("#study")).toBeHidden();

    await page.goto(`${server.url}/study`);
    const row = page.getByRole("row").filter({ hasText: sessionId });
    await expect(row).toContainText("pilot-01");
    await expect(row).toContainText("P07");
    await row.getByRole("link").click();
    await expect(page).toHaveURL(`${server.url}/study/${sessionId}`);

    const timeline = page.getByRole("region", { name: "Timeline" });
    await expect(timeline).toContainText("“Something funny”");
    await expect(timeline).toContainText("INVALID_PARAMS");
    await expect(timeline).toContainText(bad);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    const shown = page.getByRole("region", { name: "The page at this step" });
    await timeline.getByRole("option", { name: /^Person.*Selected/s }).click();
    await expect(shown).toContainText("Which movie?");
    await expect(shown.locator(".chosen")).toHaveCount(1);
    const step = page.getByRole("slider", { name: "Step" });
    await step.focus();
    await page.keyboard.press("ArrowRight");
    await expect(timeline.locator('[aria-selected="true"]')).not.toContainText(
      "Selected",
    );
    await page.keyboard.press("End");
    await expect(
      page.getByRole("button", { name: "Next step" }),
    ).toBeDisabled();
    await expect(timeline).toContainText("Session ended");
    await page.getByRole("button", { name: "Previous step" }).click();

    const figures = page.getByRole("region", { name: "Summary" });
    await expect(
      figures.getByRole("row").filter({ hasText: "movie" }),
    ).toBeVisible();
    await expect(figures.getByRole("img", { name: /over time/ })).toBeVisible();
    const coming = page.waitForEvent("download");
    await figures.getByRole("button", { name: "Download CSV" }).click();
    const text = await readFile(await (await coming).path(), "utf8");
    expect(text.split("\n").length).toBeGreaterThan(5);

    await look(page, "study");
  },
);

test("study sessions have cinemas of their own, and a replay begins with the seats of the recorded one", async ({
  page,
  server,
}) => {
  await openBooking(page, server, "study");
  const agent = await Peer.agent(server, "study");
  /** Goes to the seats, and gives back which are free. */
  const seats = async () => {
    for (const _stage of STAGES.slice(0, 4)) await settle(agent);
    const { items } = await agent.spec();
    return items.map(({ id, isDisabled }) => `${id} ${isDisabled ?? false}`);
  };
  const ids = { studyId: "pilot", participantId: "P1" };
  await agent.ask("session.start", ids);
  const first = await seats();
  for (const _stage of STAGES.slice(4)) await settle(agent);
  expect((await agent.spec()).state.booking.status).toBe("booked");
  const { payload } = await agent.ask("session.end", { reason: "done" });
  // What was booked there is free for everybody else.
  expect(await seats()).toEqual(first);
  const answer = await server.fetch(
    `/api/study/${String(payload["sessionId"])}/events?limit=1000`,
  );
  const { events } = (await answer.json()) as {
    events: { type: string; payload: { setup?: unknown } }[];
  };
  const begun = events.find(({ type }) => type === "session.started");
  const setup = begun?.payload.setup;
  expect(setup).toMatchObject({ seed: 1 });
  await agent.ask("session.start", { ...ids, studyId: "replay", setup });
  expect(await seats()).toEqual(first);
  // A page that is loaded anew stays in the cinema of its session.
  await page.reload();
  await expect(page.locator("#stage")).toHaveAttribute("data-stage", "seat");
  await expect(page.locator("#presence")).toHaveText("1 agent connected");
  await expect(page.locator("#study")).toHaveText(/^Study s-/);
  expect((await agent.spec()).stage).toBe("seat");
});

test("a study session outlives a crash, and its log has no gap", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  const ids = { studyId: "pilot-01", participantId: "P08" };
  const { payload } = await agent.ask("session.start", ids);
  const sessionId = String(payload["sessionId"]);
  await settle(agent);
  await server.kill();
  await server.launch();
  await agent.reconnect();
  await agent.join("agent");
  await expect(page.locator("#presence")).toHaveText("1 agent connected");
  await expect(page.locator("#study")).toHaveText(`Study ${sessionId}`);
  await settle(agent);
  await agent.ask("session.end", { reason: "done" });
  const answer = await server.fetch(
    `/api/study/${sessionId}/events?limit=1000`,
  );
  const { events } = (await answer.json()) as {
    events: { eventIndex: number; type: string }[];
  };
  const [first] = events;
  expect(events.map(({ eventIndex }) => eventIndex)).toEqual(
    events.map((_, index) => (first?.eventIndex ?? 0) + index),
  );
  const calls = events.filter(({ type }) => type === "tool.call");
  expect(calls).toHaveLength(4);
});

test("a missing session is reported", async ({ page, server }) => {
  await page.goto(`${server.url}/study/s-19990101-001`);
  await expect(page.getByRole("alert")).toBeVisible();
});
