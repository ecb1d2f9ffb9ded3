// The booking app by itself: a person, an agent, and both together, on the real backend.
import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures.js";
import { AUDIT, LOOKS, look } from "../looks.js";
import {
  firstOf,
  openBooking,
  Peer,
  settle,
  STAGES,
  type UiSpec,
} from "../relay.js";
import type { Server } from "../server.js";

const title = (page: Page) => page.locator("#stage-title");
const free = (page: Page) => page.locator("#choices button:enabled");

/** Chooses with the keyboard alone, from the heading that has the focus. */
async function chooseByKeys(page: Page): Promise<void> {
  for (let tabs = 0; tabs < 5; tabs += 1) {
    await page.keyboard.press("Tab");
    if (await page.locator("#choices button:focus").count()) break;
  }
  await expect(page.locator("#choices button:focus")).toHaveCount(1);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
}

async function goOnByKeys(page: Page): Promise<void> {
  await expect(page.locator("#next")).toHaveAttribute("aria-disabled", "false");
  for (let tabs = 0; tabs < 20; tabs += 1) {
    if (await page.locator("#next:focus").count()) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
}

test("a person books by the keyboard alone", async ({ page, server }) => {
  await openBooking(page, server);
  await title(page).focus();
  for (const stage of STAGES.slice(0, 5)) {
    await expect(page.locator("#stage")).toHaveAttribute("data-stage", stage);
    if (stage !== "movie") await expect(title(page)).toBeFocused();
    await chooseByKeys(page);
    await goOnByKeys(page);
  }
  await expect(page.locator("#stage")).toHaveAttribute("data-stage", "ticket");
  await expect(page.locator("#missing")).toContainText(
    /Seats held for \d+:\d\d/,
  );
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await expect(page.locator("#choices button:focus")).toHaveText("+");
  await page.keyboard.press("Enter");
  await goOnByKeys(page);
  await expect(title(page)).toHaveText("Is everything correct?");
  await goOnByKeys(page);
  await expect(page.locator(".code")).toHaveText(/\w+/);
  await expect(page.getByRole("log")).toContainText("Show it at the entrance");
});

test(
  "a person books by pointer, and every stage is good to look at",
  AUDIT,
  async ({ page, server }) => {
    await openBooking(page, server);
    for (const stage of STAGES.slice(0, 5)) {
      await expect(page.locator("#stage")).toHaveAttribute("data-stage", stage);
      await free(page).first().click();
      await look(page, `booking-${stage}`);
      await page.getByRole("button", { name: "Next" }).click();
    }
    await page
      .getByRole("button", { name: / more$/ })
      .first()
      .click();
    await look(page, "booking-ticket");
    await page.getByRole("button", { name: "Next" }).click();
    await expect(page.locator(".summary")).toContainText("Total");
    await look(page, "booking-confirm");
    await page.getByRole("button", { name: "Book now" }).click();
    await expect(page.locator(".code")).toBeVisible();
    await look(page, "booking-booked");
    await page.getByRole("button", { name: "Book another" }).click();
    await expect(title(page)).toHaveText("Which movie?");
  },
);

test("going on with nothing chosen says what is missing", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  // It can be pressed to hear why it does nothing.
  await page.getByRole("button", { name: "Next" }).press("Enter");
  await expect(page.locator("#status")).toHaveText("Choose a movie first.");
  await expect(title(page)).toHaveText("Which movie?");
});

test("a person filters and sorts as an agent does, and both undo it", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  const all = (await agent.spec()).items;
  const genre = String(all[0]?.["genre"]);
  const same = all.filter((item) => item["genre"] === genre);
  await page.getByLabel("Show", { exact: true }).focus();
  await page.getByLabel("Show", { exact: true }).selectOption(genre);
  await expect(page.getByRole("radio")).toHaveCount(same.length);
  await expect(page.getByLabel("Show", { exact: true })).toBeFocused();
  await page.getByLabel("Order").selectOption("Best rated first");
  expect((await agent.spec()).modification).toEqual({
    filter: [{ field: "genre", operator: "eq", value: genre }],
    sort: { field: "rating", order: "desc" },
  });
  await agent.use("clearModification", { type: "filter" }, "To see more.");
  await expect(page.getByRole("radio")).toHaveCount(all.length);
  await expect(page.getByLabel("Show", { exact: true })).toHaveValue("");
  await page.getByLabel("Order").selectOption("Default order");
  await expect(page.locator("#changes")).toBeHidden();
});

test(
  "what an agent does is seen with its reason, and undone by one click",
  LOOKS,
  async ({ page, server }) => {
    await openBooking(page, server);
    await expect(page.locator("#presence")).toContainText("agent of your chat");
    const agent = await Peer.agent(server);
    await expect(page.locator("#presence")).toHaveText("1 agent connected");
    const { visibleItems } = await agent.spec();
    const [first, second] = visibleItems.map(({ id }) => id);
    const hidden = visibleItems.length - 1;
    const [id = "", other = ""] = [first, second];
    await agent.use(
      "filter",
      { field: "id", operator: "neq", value: other },
      "You have seen it.",
    );
    await agent.use(
      "highlight",
      { itemIds: [id], style: "glow" },
      "Well rated.",
    );
    await agent.use(
      "augment",
      { items: [{ itemId: id, value: "my tip" }] },
      "A tip.",
    );
    await agent.use("sort", { field: "title", order: "asc" }, "By name.");
    await agent.use(
      "postMessage",
      { text: "Have a look at these." },
      "To tell you.",
    );
    agent.tell("agent.message", { text: "Take your time." });
    await expect(page.getByRole("radio")).toHaveCount(hidden);
    await expect(page.locator(".marked.glow")).toHaveCount(1);
    await expect(page.locator(".card .note")).toHaveText("my tip");
    const log = page.getByRole("log");
    for (const words of [
      "You have seen it.",
      "Well rated.",
      "Have a look at these.",
      "Take your time.",
    ]) {
      await expect(log).toContainText(words);
    }
    await look(page, "booking-changed");
    await page.getByRole("button", { name: "Undo: Only where" }).click();
    await expect(page.getByRole("radio")).toHaveCount(visibleItems.length);
    await page.getByRole("button", { name: "Undo all" }).click();
    await expect(page.locator(".marked, .card .note")).toHaveCount(0);
    await expect(page.locator("#changes")).toBeHidden();
    expect((await agent.spec()).modification).toEqual({});
  },
);

test("an agent alone books from the first stage to the last, and what the person writes reaches it", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  await page
    .getByRole("textbox", { name: "Message" })
    .fill("In the evening, please");
  await page.keyboard.press("Enter");
  expect((await agent.take("user.message")).payload).toMatchObject({
    text: "In the evening, please",
    stage: "movie",
  });
  const { payload } = await agent.ask("snapshot.get", {});
  const tools = payload["toolSchema"] as { name: string }[];
  expect(tools.map(({ name }) => name)).toEqual([
    ...["filter", "sort", "highlight", "augment", "clearModification"],
    ...["select", "next", "postMessage"],
  ]);
  expect(await agent.refused("prev")).toBe("TOOL_EXECUTION_FAILED");
  for (const _stage of STAGES) await settle(agent);
  const { state } = await agent.spec();
  expect(state.booking.status).toBe("booked");
  await expect(page.locator(".code")).toHaveText(state.booking.code ?? "?");
  expect(await agent.refused("next")).toBe("TOOL_EXECUTION_FAILED");
});

test("each stage has its own tools, and agents are notified when they change", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  const toolsOf = (payload: Record<string, unknown>) =>
    payload["toolSchema"] as {
      name: string;
      parameters: Record<string, { enum?: string[]; maximum?: number }>;
    }[];
  for (const _stage of STAGES.slice(0, 5)) await settle(agent);
  const { payload } = await agent.ask("snapshot.get", {});
  const tools = toolsOf(payload);
  expect(tools.map(({ name }) => name)).toEqual([
    ...["filter", "sort", "highlight", "augment", "clearModification"],
    ...["setQuantity", "next", "prev", "postMessage"],
  ]);
  const quantity = tools.find(({ name }) => name === "setQuantity");
  expect(quantity?.parameters["quantity"]).toMatchObject({ maximum: 1 });
  const { booking } = (payload["uiSpec"] as UiSpec).state;
  expect(booking.seats).toHaveLength(1);
  expect(await agent.refused("select", { itemId: "A1" })).toBe(
    "TOOL_EXECUTION_FAILED",
  );
  const told = agent.received
    .filter(({ type }) => type === "state.updated")
    .flatMap(({ payload }) => (payload["toolSchema"] ? [payload] : []));
  expect(told.length).toBeGreaterThanOrEqual(5);
  expect(toolsOf(told.at(-1) ?? {})).toEqual(tools);
});

test(
  "a person cancels a booking in two steps, and the seats are free again",
  AUDIT,
  async ({ page, server }) => {
    await openBooking(page, server);
    const agent = await Peer.agent(server);
    for (const _stage of STAGES) await settle(agent);
    const { state } = await agent.spec();
    await page.getByRole("button", { name: "Cancel this booking" }).click();
    await expect(page.getByRole("button", { name: "Keep it" })).toBeFocused();
    await look(page, "booking-cancel");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Cancel this booking" }).click();
    await page.getByRole("button", { name: "Cancel it now" }).click();
    await expect(title(page)).toHaveText("The booking is cancelled");
    await expect(page.getByRole("button", { name: /Cancel/ })).toHaveCount(0);
    await expect(page.getByRole("log")).toContainText("Cancelled the booking");
    await look(page, "booking-cancelled");
    const after = await agent.spec();
    expect(after.state.booking).toMatchObject({
      ...{ status: "cancelled", code: state.booking.code },
    });
    await page.getByRole("button", { name: "Book another" }).click();
    // The first stage is shown once its movies are loaded; until then an agent sees the old one.
    await expect(title(page)).toHaveText("Which movie?");
    for (const _stage of STAGES) await settle(agent);
    const again = (await agent.spec()).state.booking;
    expect(again.status).toBe("booked");
    expect(again.seats).toEqual(state.booking.seats);
  },
);

test.describe("person and agent take turns", () => {
  for (const first of ["person", "agent"]) {
    test(`beginning with the ${first}`, async ({ page, server }) => {
      await openBooking(page, server);
      const agent = await Peer.agent(server);
      for (const [index, stage] of STAGES.slice(0, 5).entries()) {
        await expect(page.locator("#stage")).toHaveAttribute(
          "data-stage",
          stage,
        );
        const person = (index % 2 === 0) === (first === "person");
        if (person) {
          await free(page).first().click();
          await agent.use("next", {}, "You have chosen.");
        } else {
          await agent.use("select", { itemId: firstOf(await agent.spec()) });
          await page.getByRole("button", { name: "Next" }).click();
        }
      }
      await expect(page.locator("#stage")).toHaveAttribute(
        "data-stage",
        "ticket",
      );
      const [kind] = (await agent.spec()).items;
      await page
        .getByRole("button", { name: / more$/ })
        .first()
        .click();
      await agent.use("setQuantity", { typeId: kind?.id ?? "", quantity: 1 });
      await agent.use("next");
      await page.getByRole("button", { name: "Book now" }).click();
      await expect(page.locator(".code")).toBeVisible();
      const updated = agent.received.filter(
        ({ type }) => type === "state.updated",
      );
      const sources = new Set(updated.map(({ payload }) => payload["source"]));
      expect(sources).toEqual(new Set(["user", "agent"]));
    });
  }
});

async function holdElsewhere(
  server: Server,
  showingId: string,
  seats: string[],
): Promise<number> {
  const answer = await server.post("/api/booking/holds", { showingId, seats });
  return answer.status;
}

test("a seat that was taken meanwhile is reported", async ({
  page,
  server,
}) => {
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  for (const _stage of STAGES.slice(0, 3)) await settle(agent);
  const time = await agent.spec();
  const showing = firstOf(time);
  await settle(agent);
  const spec = await agent.spec();
  const [mine = "", theirs = ""] = spec.visibleItems
    .filter(({ isDisabled }) => !isDisabled)
    .map(({ id }) => id);
  await agent.use("select", { itemId: mine });
  await agent.use("select", { itemId: theirs });
  expect(await holdElsewhere(server, showing, [theirs])).toBe(201);
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.getByRole("log")).toContainText(
    `Somebody else took seat ${theirs}.`,
  );
  await expect(page.locator("#stage")).toHaveAttribute("data-stage", "seat");
  expect((await agent.spec()).state.selectedList).toEqual([
    { id: mine, value: mine },
  ]);
  await page.getByRole("button", { name: "Next" }).click();
  await expect(title(page)).toHaveText("Which tickets?");
});

test("when the time of held seats is over, it goes back to them", async ({
  page,
  server,
}) => {
  await page.clock.install();
  await openBooking(page, server);
  const agent = await Peer.agent(server);
  for (const _stage of STAGES.slice(0, 6)) await settle(agent);
  await expect(title(page)).toHaveText("Is everything correct?");
  await page.clock.fastForward("11:00");
  await expect(title(page)).toHaveText("Which seats?");
  await expect(page.getByRole("log")).toContainText("hold expired");
  await expect(page.locator(".hall .seat.chosen")).toHaveCount(1);
});

for (const stage of STAGES) {
  test(`loading the page anew at ${stage} goes on there`, async ({
    page,
    server,
  }) => {
    await openBooking(page, server);
    const agent = await Peer.agent(server);
    for (const _stage of STAGES.slice(0, STAGES.indexOf(stage))) {
      await settle(agent);
    }
    const before = await agent.spec();
    expect(before.stage).toBe(stage);
    await page.reload();
    await expect(page.locator("#stage")).toHaveAttribute("data-stage", stage);
    await expect(page.locator("#presence")).toHaveText("1 agent connected");
    expect((await agent.spec()).state).toEqual(before.state);
    for (const _stage of STAGES.slice(STAGES.indexOf(stage)))
      await settle(agent);
    await expect(page.locator(".code")).toBeVisible();
  });
}
