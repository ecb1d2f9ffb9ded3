// The booking without its page: what is chosen, and what may happen next.
import { expect, test } from "vitest";
import { Backend } from "../../apps/movie-booking/backend.ts";
import { MOST_SEATS } from "../../apps/movie-booking/booking.ts";
import { Flow } from "../../apps/movie-booking/flow.ts";
import { matches } from "../../apps/movie-booking/modify.ts";
import { STAGES } from "../../apps/movie-booking/spec.ts";
import { at, freshBooking, run, walk } from "./booking-flow.js";

freshBooking();

test("before the first stage is there, nothing is shown and nothing can be done", async () => {
  const early = new Flow(new Backend(at.cinema.fetch), () => undefined);
  expect(early.spec).toBeNull();
  await expect(
    early.run({ tool: "next", params: {} }, "agent", "why"),
  ).rejects.toMatchObject({ code: "NO_ACTIVE_SPEC" });
});

test.each(["agent", "user"])(
  "an %s alone books from the first stage to the last",
  async (by) => {
    await walk("confirm", by);
    expect(at.flow.spec.display.component).toBe("summary");
    await run("next", {}, by);
    const { booking } = at.flow.spec.state;
    expect(booking).toMatchObject({
      status: "booked",
      seats: [{ id: "A2", value: "A2" }],
      tickets: [{ item: { id: "adult", value: "Adult" }, count: 1 }],
      totalCents: 1250,
    });
    expect([...at.cinema.bookings.values()]).toMatchObject([
      { code: booking.code },
    ]);
    expect(at.flow.spec.stage).toBe("confirm");
    await expect(run("next", {}, by)).rejects.toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
    });
    await expect(run("prev", {}, by)).rejects.toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
    });
  },
);

test("every stage has its own component, and says what is missing", async () => {
  const seen = [];
  for (const stage of STAGES) {
    await walk(stage);
    const { display, meta } = at.flow.spec;
    seen.push(display.component);
    expect(meta.step).toBe(STAGES.indexOf(stage) + 1);
    if (stage === "confirm") break;
    expect(meta.canGoOn).toBe(false);
    expect(meta.missing).not.toBe("");
    await expect(run("next")).rejects.toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
    });
    expect(at.flow.spec.stage).toBe(stage);
  }
  expect(seen).toEqual([
    ...["buttonGroup", "buttonGroup", "calendar", "buttonGroup"],
    ...["seatMap", "counter", "summary"],
  ]);
});

test.each([
  ["select", { itemId: "nothing" }, "INVALID_PARAMS", "Unknown item"],
  [
    "filter",
    { field: "colour", operator: "eq", value: "red" },
    "INVALID_PARAMS",
    "genre",
  ],
  [
    "filter",
    { field: "genre", operator: "in", value: "Comedy" },
    "INVALID_PARAMS",
    "list",
  ],
  [
    "filter",
    { field: "genre", operator: "eq", value: {} },
    "INVALID_PARAMS",
    "string",
  ],
  ["sort", { field: "__proto__", order: "asc" }, "INVALID_PARAMS", "field"],
  ["highlight", { itemIds: ["m1", "zz"] }, "INVALID_PARAMS", "zz"],
  ["highlight", { itemIds: [] }, "INVALID_PARAMS", "empty"],
  [
    "augment",
    { items: [{ itemId: "m1", value: "x".repeat(81) }] },
    "INVALID_PARAMS",
    "80",
  ],
  [
    "augment",
    { items: [{ itemId: "zz", value: "x" }] },
    "INVALID_PARAMS",
    "zz",
  ],
  [
    "setQuantity",
    { typeId: "adult", quantity: 1 },
    "TOOL_EXECUTION_FAILED",
    "not available",
  ],
  ["postMessage", { text: " " }, "INVALID_PARAMS", "empty"],
  ["prev", {}, "TOOL_EXECUTION_FAILED", "first"],
])(
  "%s %j on the first stage is refused with %s",
  async (tool, params, code, words) => {
    const before = at.flow.spec;
    const refused = run(tool, params);
    await expect(refused).rejects.toMatchObject({ code });
    await expect(refused).rejects.toThrow(words);
    expect(at.flow.spec).toEqual(before);
    expect(at.flow.history.entries.at(-1)).toMatchObject({
      type: "agent",
      tool,
      ok: false,
      reason: "because",
    });
  },
);

test("filters, order, highlights and notes show, and go away one by one or at once", async () => {
  await run("filter", { field: "rating", operator: "gte", value: 7 });
  await run("sort", { field: "title", order: "asc" });
  await run("highlight", { itemIds: ["m3"], style: "glow" });
  await run("augment", { items: [{ itemId: "m3", value: "your favourite" }] });
  expect(at.flow.spec.visibleItems).toEqual([
    { id: "m5", value: "Bear in Boots" },
    { id: "m4", value: "Nine Doors" },
    { id: "m3", value: "Quiet Orbit (your favourite)" },
  ]);
  expect(at.flow.spec.state.highlighted).toEqual([
    { id: "m3", value: "Quiet Orbit" },
  ]);
  expect(at.flow.spec.items).toHaveLength(5);
  await expect(run("select", { itemId: "m1" })).rejects.toThrow("hidden");
  await run("clearModification", { type: "filter" });
  expect(at.flow.spec.visibleItems).toHaveLength(5);
  expect(at.flow.spec.modification.sort).toEqual({
    field: "title",
    order: "asc",
  });
  await run("clearModification", {}, "user");
  expect(at.flow.spec.modification).toEqual({});
  expect(at.flow.spec.state).toEqual({ booking: { status: "open" } });
  expect(at.flow.spec.visibleItems.map(({ id }) => id)).toEqual([
    "m1",
    "m2",
    "m3",
    "m4",
    "m5",
  ]);
});

test("two filters both hold, and a second one on the same field takes the first one's place", async () => {
  await run("filter", { field: "rating", operator: "gte", value: 7 });
  await run("filter", {
    field: "genre",
    operator: "contains",
    value: "FICTION",
  });
  expect(at.flow.spec.visibleItems.map(({ id }) => id)).toEqual(["m3"]);
  await run("filter", {
    field: "genre",
    operator: "in",
    value: ["thriller", "comedy"],
  });
  expect(at.flow.spec.visibleItems.map(({ id }) => id)).toEqual(["m4"]);
});

test.each([
  ["eq", "comedy", true],
  ["eq", "drama", false],
  ["neq", "drama", true],
  ["contains", "med", true],
  ["gt", "Bingo", true],
  ["lt", "Bingo", false],
  ["gte", "Comedy", true],
  ["lte", "Comedy", true],
  ["in", ["x", "Comedy"], true],
  ["in", [], false],
])("genre %s %j is %s for a comedy", (operator, value, result) => {
  expect(
    matches({ id: "m", genre: "Comedy" }, { field: "genre", operator, value }),
  ).toBe(result);
});

test("numbers are compared as numbers, also when they are written as text", () => {
  const item = { id: "m", minutes: 100 };
  expect(matches(item, { field: "minutes", operator: "gt", value: "95" })).toBe(
    true,
  );
  expect(matches(item, { field: "minutes", operator: "lt", value: 9 })).toBe(
    false,
  );
});

test("changing an earlier choice clears later choices and releases held seats", async () => {
  await walk("ticket");
  expect(at.cinema.holds.size).toBe(1);
  for (let back = 0; back < 5; back += 1) await run("prev");
  expect(at.flow.spec.stage).toBe("movie");
  expect(at.flow.booking.seats).toEqual(["A2"]);
  await run("select", { itemId: "m1" });
  expect(at.flow.booking.seats).toEqual(["A2"]);
  await run("select", { itemId: "m2" });
  expect(at.flow.booking).toMatchObject({ seats: [], hold: null, tickets: {} });
  expect(Object.keys(at.flow.booking.chosen)).toEqual(["movie"]);
  expect(at.cinema.holds.size).toBe(0);
});

test("a seat is chosen and let go of by the same tool, and there is a limit", async () => {
  await walk("seat");
  await run("select", { itemId: "C3" });
  await run("select", { itemId: "C3" });
  expect(at.flow.spec.state.selectedList).toEqual([]);
  const free = at.flow.spec.visibleItems.filter(
    ({ isDisabled }) => !isDisabled,
  );
  for (const { id } of free.slice(0, MOST_SEATS))
    await run("select", { itemId: id });
  await expect(run("select", { itemId: free[MOST_SEATS].id })).rejects.toThrow(
    "At most",
  );
  await expect(run("select", { itemId: "A1" })).rejects.toMatchObject({
    code: "INVALID_PARAMS",
  });
});

test("tickets are as many as seats, no more and no fewer", async () => {
  await walk("seat");
  for (const itemId of ["C3", "C4"]) await run("select", { itemId });
  await run("next");
  await run("setQuantity", { typeId: "adult", quantity: 1 });
  await expect(run("next")).rejects.toThrow("1 of 2 seats");
  await expect(
    run("setQuantity", { typeId: "child", quantity: 2 }),
  ).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  await expect(
    run("setQuantity", { typeId: "dog", quantity: 1 }),
  ).rejects.toMatchObject({ code: "INVALID_PARAMS" });
  await expect(run("select", { itemId: "adult" })).rejects.toThrow(
    "setQuantity",
  );
  await run("setQuantity", { typeId: "child", quantity: 1 });
  expect(at.flow.spec.state.quantities).toEqual([
    { item: { id: "adult", value: "Adult" }, count: 1 },
    { item: { id: "child", value: "Child" }, count: 1 },
    { item: { id: "senior", value: "Senior" }, count: 0 },
  ]);
  await run("next");
  expect(at.flow.spec.visibleItems.find(({ id }) => id === "total").value).toBe(
    "€20.50",
  );
});
