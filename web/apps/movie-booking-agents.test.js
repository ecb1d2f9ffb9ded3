// What agents read of a booking and can do on each stage; study sessions; bookings that are cancelled.
import { expect, test } from "vitest";
import { STAGES } from "../../apps/movie-booking/spec.ts";
import { toolsOf } from "../../apps/movie-booking/tools.ts";
import { at, freshBooking, open, run, walk } from "./booking-flow.js";

freshBooking();

const tools = () => toolsOf(at.flow.spec, () => Promise.resolve());
const offered = () =>
  Object.entries(tools())
    .filter(([, { when }]) => when())
    .map(([name]) => name);
const SHOWN = ["highlight", "augment", "clearModification"];

test("an agent that joins in the middle reads everything that is chosen, with ids and values", async () => {
  expect(at.flow.spec.state).toEqual({ booking: { status: "open" } });
  await walk("theater");
  await run("select", { itemId: "t2" });
  expect(at.flow.spec.state).toEqual({
    selected: { id: "t2", value: "Old Town Cinema" },
    booking: {
      status: "open",
      movie: { id: "m1", value: "The Late Tram" },
      theater: { id: "t2", value: "Old Town Cinema" },
    },
  });
  await walk("confirm");
  const { booking } = at.flow.spec.state;
  expect(booking).toEqual({
    status: "open",
    movie: { id: "m1", value: "The Late Tram" },
    theater: { id: "t2", value: "Old Town Cinema" },
    date: { id: "2026-11-15", value: "Sun 15 Nov" },
    time: { id: "m1_t2_2026-11-15_1400", value: "14:00" },
    seats: [{ id: "A2", value: "A2" }],
    tickets: [{ item: { id: "adult", value: "Adult" }, count: 1 }],
    totalCents: 1250,
  });
  await run("next");
  const { bookingId, code } = at.flow.booking.booked;
  expect(at.flow.spec.state.booking).toEqual({
    ...{ ...booking, status: "booked", bookingId, code },
  });
});

test("each stage offers what can be done on it", async () => {
  const seen = {};
  for (const stage of STAGES) {
    await walk(stage);
    seen[stage] = offered();
  }
  const single = ["filter", "sort", ...SHOWN, "select", "next", "prev"];
  expect(seen).toEqual({
    movie: ["filter", "sort", ...SHOWN, "select", "next", "postMessage"],
    theater: [...single, "postMessage"],
    date: [...single, "postMessage"],
    time: [...single, "postMessage"],
    seat: [...single, "postMessage"],
    ticket: [
      ...["filter", "sort", ...SHOWN],
      ...["setQuantity", "next", "prev", "postMessage"],
    ],
    confirm: [...SHOWN, "next", "prev", "postMessage"],
  });
  await run("next");
  expect(offered()).toEqual([...SHOWN, "postMessage"]);
});

test("parameters name what there is on the stage", async () => {
  const { filter, sort } = tools();
  const fields = ["id", "title", "genre", "minutes", "length", "rating"];
  expect(filter.parameters.field.enum).toEqual([...fields, "synopsis"]);
  expect(sort.parameters.field.enum).toEqual(filter.parameters.field.enum);
  await walk("seat");
  expect(tools().filter.parameters.field.enum).toEqual([
    ...["id", "label", "row", "number", "kind", "status"],
  ]);
  await walk("ticket");
  const { typeId, quantity } = tools().setQuantity.parameters;
  expect(typeId.enum).toEqual(["adult", "child", "senior"]);
  expect(quantity).toMatchObject({ minimum: 0, maximum: 1 });
  await walk("confirm");
  expect(tools().clearModification.parameters.type.enum).toEqual([
    ...["highlight", "augment"],
  ]);
});

test("before anything is shown, nothing is offered", () => {
  const none = Object.values(toolsOf(null, () => Promise.resolve()));
  expect(none.filter(({ when }) => when())).toEqual([]);
});

test("a booking is cancelled once, by the person, and its seats are free again", async () => {
  await expect(run("cancelBooking", {}, "user")).rejects.toThrow("no booking");
  await walk("confirm", "user");
  await run("next", {}, "user");
  await run("cancelBooking", {}, "user");
  expect([...at.cinema.bookings.values()][0].seats).toEqual([]);
  expect(at.flow.spec.state.booking.status).toBe("cancelled");
  expect(at.flow.spec.meta.missing).toBe("The booking was cancelled.");
  expect(at.flow.history.entries.at(-1)).toMatchObject({
    ...{ type: "user", text: "Cancelled the booking" },
  });
  await expect(run("cancelBooking", {}, "user")).rejects.toThrow("no booking");
  await at.flow.reset();
  expect(at.flow.spec.state).toEqual({ booking: { status: "open" } });
});

test("a booking whose movie has begun cannot be cancelled, and the reason is shown", async () => {
  await walk("confirm", "user");
  await run("next", {}, "user");
  [...at.cinema.bookings.values()][0].begun = true;
  await expect(run("cancelBooking", {}, "user")).rejects.toThrow("has begun");
  expect(at.flow.spec.state.booking.status).toBe("booked");
});

test("a study session has a cinema of its own, and the shared one is there again afterwards", async () => {
  await walk("ticket");
  const showing = at.flow.booking.chosen.time.id;
  const setup = await at.flow.startStudy("s-20261115-001");
  expect(setup).toEqual({ seed: 1, at: "2026-11-15T11:00:00" });
  expect(at.flow.study).toBe("s-20261115-001");
  expect(at.flow.spec.stage).toBe("movie");
  expect(at.flow.history.entries).toEqual([]);
  // The same seat is booked in another cinema, which must not matter.
  at.cinema.take(showing, ["A2"]);
  await walk("confirm");
  expect(at.flow.booking.seats).toEqual(["A2"]);
  await run("next");
  expect(at.flow.spec.state.booking.status).toBe("booked");
  await at.flow.endStudy();
  expect(at.flow.study).toBeNull();
  expect(at.cinema.studies.size).toBe(0);
  await walk("seat");
  const seat = at.flow.spec.items.find(({ id }) => id === "A2");
  expect(seat.status).toBe("taken");
});

test("a replay opens the cinema that was recorded, and a setup that makes no sense opens a fresh one", async () => {
  const recorded = { seed: 7, at: "2026-02-13T10:22:17" };
  expect(await at.flow.startStudy("s-1", recorded)).toEqual(recorded);
  const fresh = { seed: 1, at: "2026-11-15T11:00:00" };
  expect(await at.flow.startStudy("s-2", { at: "bad" })).toEqual(fresh);
  expect(await at.flow.startStudy("s-3", "nonsense")).toEqual(fresh);
  expect(at.cinema.studies.size).toBe(1);
});

test("a reloaded page continues in the cinema of its study session, or starts again if that is gone", async () => {
  await at.flow.startStudy("s-1");
  await walk("ticket");
  const { kept } = at.flow;
  await open(structuredClone(kept));
  expect(at.flow.study).toBe("s-1");
  expect(at.flow.spec.stage).toBe("ticket");
  at.cinema.studies.clear();
  await open(structuredClone(kept));
  expect(at.flow.study).toBeNull();
  expect(at.flow.spec.stage).toBe("movie");
});
