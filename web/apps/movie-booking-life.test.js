// The booking over time: concurrent bookings, expired holds, reloaded pages, and random sequences.
import { expect, test } from "vitest";
import { Backend } from "../../apps/movie-booking/backend.ts";
import { MOST_SEATS } from "../../apps/movie-booking/booking.ts";
import { Flow } from "../../apps/movie-booking/flow.ts";
import {
  KINDS,
  OPERATORS,
  STAGES,
  STYLES,
} from "../../apps/movie-booking/spec.ts";
import { at, freshBooking, open, run, walk } from "./booking-flow.js";

freshBooking();

const named = (id) => ({ id, value: id });

test("a seat that was taken meanwhile is reported, and the others are kept", async () => {
  await walk("seat");
  for (const itemId of ["C3", "C4"]) await run("select", { itemId });
  at.cinema.take(at.flow.booking.chosen.time.id, ["C4"]);
  const refused = run("next");
  await expect(refused).rejects.toMatchObject({
    code: "TOOL_EXECUTION_FAILED",
  });
  await expect(refused).rejects.toThrow("Somebody else took seat C4");
  expect(at.flow.spec.stage).toBe("seat");
  expect(at.flow.spec.state.selectedList).toEqual([named("C3")]);
  expect(at.flow.spec.items.find(({ id }) => id === "C4").isDisabled).toBe(
    true,
  );
  await run("next");
  expect(at.flow.spec.stage).toBe("ticket");
});

test("looking again sees what others took, before going on", async () => {
  await walk("seat");
  await run("select", { itemId: "C4" });
  const before = at.changes.length;
  await at.flow.lookAgain();
  expect(at.changes).toHaveLength(before);
  at.cinema.take(at.flow.booking.chosen.time.id, ["C4", "C5"]);
  await at.flow.lookAgain();
  expect(at.flow.spec.state.selectedList).toEqual([]);
  expect(at.flow.history.entries.at(-1)).toMatchObject({ type: "system" });
  expect(at.changes.at(-1)).toBe("stage");
});

test("when the time of a hold is over, it goes back to the seats that are still free", async () => {
  await walk("confirm");
  at.cinema.now += 11 * 60_000;
  await at.flow.tick(at.cinema.now);
  expect(at.flow.spec.stage).toBe("seat");
  expect(at.flow.spec.state.selectedList).toEqual([named("A2")]);
  expect(at.flow.history.entries.at(-1).text).toContain("hold expired");
  await run("next");
  expect(at.flow.spec.stage).toBe("ticket");
});

test("a hold that has expired unnoticed is reported when booking", async () => {
  await walk("confirm");
  at.cinema.now += 11 * 60_000;
  await expect(run("next")).rejects.toThrow("hold expired");
  expect(at.flow.spec.stage).toBe("seat");
  expect(at.flow.booking.hold).toBeNull();
  await walk("confirm");
  await run("next");
  expect(at.flow.spec.state.booking.status).toBe("booked");
});

test("asking twice for a booking whose answer was lost makes one", async () => {
  await walk("confirm");
  const fetch = at.cinema.fetch;
  let lost = 0;
  at.flow = new Flow(
    new Backend(async (path, init) => {
      const answer = await fetch(path, init);
      if (!path.endsWith("bookings") || lost++ > 0) return answer;
      throw new TypeError("the network went");
    }),
    () => undefined,
  );
  const before = {
    booking: (await snapshotOf()).booking,
    entries: [],
    total: 0,
  };
  await at.flow.start(before);
  await expect(run("next")).rejects.toThrow("not responding");
  await run("next");
  expect(at.cinema.bookings.size).toBe(1);

  async function snapshotOf() {
    const other = new Flow(new Backend(fetch), () => undefined);
    await other.start();
    for (const stage of ["movie", "theater", "date", "time", "seat"]) {
      const itemId = other.spec.visibleItems.find(
        ({ isDisabled }) => !isDisabled,
      ).id;
      await other.run(
        {
          tool: "select",
          params: { itemId: stage === "seat" ? "C3" : itemId },
        },
        "user",
      );
      await other.run({ tool: "next", params: {} }, "user");
    }
    await other.run(
      { tool: "setQuantity", params: { typeId: "adult", quantity: 1 } },
      "user",
    );
    await other.run({ tool: "next", params: {} }, "user");
    return other.kept;
  }
});

test("a at.cinema that does not answer at.changes nothing, and it continues when it is back", async () => {
  await run("select", { itemId: "m1" });
  const { fetch } = at.cinema;
  const backend = { down: true };
  at.flow = new Flow(
    new Backend((path, init) =>
      backend.down
        ? Promise.reject(new TypeError("refused"))
        : fetch(path, init),
    ),
    () => undefined,
  );
  await expect(at.flow.start()).rejects.toThrow("not responding");
  expect(at.flow.spec).toBeNull();
  backend.down = false;
  await at.flow.start();
  await run("select", { itemId: "m1" });
  backend.down = true;
  await expect(run("next")).rejects.toMatchObject({
    code: "TOOL_EXECUTION_FAILED",
  });
  expect(at.flow.spec.stage).toBe("movie");
  backend.down = false;
  await run("next");
  expect(at.flow.spec.stage).toBe("theater");
});

test.each(STAGES)("a page that is loaded anew goes on at %s", async (stage) => {
  await walk(stage);
  const spec = at.flow.spec;
  const kept = JSON.parse(JSON.stringify(at.flow.kept));
  const lines = at.flow.history.total;
  await open(kept);
  expect(at.flow.spec).toEqual(spec);
  expect(at.flow.history.total).toBe(lines);
  await walk("confirm");
  await run("next");
  expect(at.flow.spec.state.booking.status).toBe("booked");
});

test("the history is bounded and never repeats what is shown", async () => {
  for (let step = 0; step < 600; step += 1)
    await run("select", { itemId: `m${(step % 5) + 1}` });
  expect(at.flow.history.entries).toHaveLength(200);
  expect(at.flow.history.total).toBe(600);
  expect(JSON.stringify(at.flow.history.entries)).not.toContain("visibleItems");
  const ids = at.flow.history.entries.map(({ id }) => id);
  expect(new Set(ids).size).toBe(200);
});

test("resetting starts again and releases seats", async () => {
  await walk("ticket");
  await at.flow.reset({ forget: true });
  expect(at.flow.spec.stage).toBe("movie");
  expect(at.flow.booking.chosen).toEqual({});
  expect(at.cinema.holds.size).toBe(0);
  expect(at.flow.history.total).toBe(0);
});

// A source of chance that is the same every time.
function dice(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What must hold whatever was done. */
function checkPossible({ spec, booking }) {
  const ids = new Set(spec.items.map(({ id }) => id));
  expect(STAGES).toContain(spec.stage);
  for (const { id } of spec.visibleItems) expect(ids.has(id)).toBe(true);
  expect(booking.seats.length).toBeLessThanOrEqual(MOST_SEATS);
  expect(new Set(booking.seats).size).toBe(booking.seats.length);
  const count = Object.values(booking.tickets).reduce(
    (sum, each) => sum + each,
    0,
  );
  expect(count).toBeLessThanOrEqual(booking.seats.length);
  // Every stage before this one has been settled.
  const before = STAGES.slice(0, STAGES.indexOf(spec.stage));
  for (const stage of before) {
    if (stage === "seat") expect(booking.seats.length).toBeGreaterThan(0);
    else if (stage === "ticket") expect(count).toBe(booking.seats.length);
    else expect(booking.chosen[stage]).toBeDefined();
  }
  if (["ticket", "confirm"].includes(spec.stage) && !booking.booked) {
    expect(booking.hold).not.toBeNull();
  }
  if (spec.state.selected !== undefined) {
    const chosen = spec.items.find(({ id }) => id === spec.state.selected.id);
    expect(chosen?.isDisabled).toBeFalsy();
  }
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "whatever people, agents and others do, it never comes to an impossible state (seed %i)",
  async (seed) => {
    const roll = dice(seed);
    const any = (list) => list[roll(list.length)];
    let books = 0;
    for (let step = 0; step < 400; step += 1) {
      const { items } = at.flow.spec;
      const id = () =>
        roll(10) === 0 ? any(["zz", "A1", "m1"]) : any(items)?.id;
      const field = () => any([...Object.keys(items[0] ?? {}), "nothing"]);
      const made = {
        filter: () => ({
          field: field(),
          operator: any(OPERATORS),
          value: any(["a", 7, ["B", 3], any(items)?.row ?? "x"]),
        }),
        sort: () => ({ field: field(), order: any(["asc", "desc"]) }),
        highlight: () => ({ itemIds: [id(), id()], style: any(STYLES) }),
        augment: () => ({ items: [{ itemId: id(), value: "note" }] }),
        clearModification: () => (roll(2) ? {} : { type: any(KINDS) }),
        select: () => ({ itemId: id() }),
        setQuantity: () => ({
          typeId: any(["adult", "child", "dog"]),
          quantity: any([0, 1, 2, 3, -1, 1.5]),
        }),
        next: () => ({}),
        prev: () => ({}),
        postMessage: () => ({ text: any(["hello", ""]) }),
      };
      const likely = [
        "select",
        "select",
        "next",
        "next",
        "clearModification",
        "setQuantity",
      ];
      const tool = roll(2) ? any(likely) : any(Object.keys(made));
      try {
        await run(tool, made[tool](), any(["user", "agent"]));
      } catch (error) {
        expect(["INVALID_PARAMS", "TOOL_EXECUTION_FAILED"]).toContain(
          error.code,
        );
      }
      checkPossible(at.flow);
      if (
        roll(40) === 0 &&
        at.flow.booking.chosen.time &&
        at.flow.booking.seats[0]
      ) {
        at.cinema.take(at.flow.booking.chosen.time.id, [
          at.flow.booking.seats[0],
        ]);
      }
      if (roll(60) === 0) at.cinema.now += 6 * 60_000;
      if (roll(10) === 0) await at.flow.tick(at.cinema.now);
      if (roll(10) === 0) await at.flow.lookAgain();
      checkPossible(at.flow);
      if (at.flow.booking.booked) {
        books += 1;
        await at.flow.reset();
      }
    }
    const own = [...at.cinema.bookings].filter(
      ([key]) => !key.startsWith("other-"),
    );
    expect(own).toHaveLength(books);
    // From wherever it is, it can be brought to its end.
    await run("clearModification");
    await walk("confirm");
    await run("next");
    expect(at.flow.spec.state.booking.status).toBe("booked");
  },
);
