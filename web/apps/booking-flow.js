// A booking without its page, for tests: the flow, and the cinema at its other end.
import { beforeEach } from "vitest";
import { Backend } from "../../apps/movie-booking/backend.ts";
import { Flow } from "../../apps/movie-booking/flow.ts";
import { Cinema } from "./cinema.js";

/** What the test that runs works with. */
export const at = { cinema: null, flow: null, changes: [] };

export function open(kept) {
  at.changes = [];
  at.flow = new Flow(new Backend(at.cinema.fetch), (source) =>
    at.changes.push(source),
  );
  return at.flow.start(kept);
}

export const run = (tool, params = {}, by = "agent") =>
  at.flow.run({ tool, params }, by, by === "agent" ? "because" : undefined);

export const firstFree = () =>
  at.flow.spec.visibleItems.find(({ isDisabled }) => !isDisabled).id;

/** Chooses the first item of each stage until `stage` is shown. */
export async function walk(stage, by = "agent") {
  while (at.flow.spec.stage !== stage) {
    if (!at.flow.spec.meta.canGoOn) await settle(by);
    await run("next", {}, by);
  }
}

/** Chooses whatever is missing. */
async function settle(by) {
  if (at.flow.spec.stage !== "ticket") {
    await run("select", { itemId: firstFree() }, by);
    return;
  }
  for (const typeId of Object.keys(at.flow.booking.tickets)) {
    await run("setQuantity", { typeId, quantity: 0 }, by);
  }
  const quantity = at.flow.booking.seats.length;
  await run("setQuantity", { typeId: "adult", quantity }, by);
}

/** Gives each test of a file a cinema of its own, with the first stage shown. */
export function freshBooking() {
  beforeEach(async () => {
    at.cinema = new Cinema();
    await open();
  });
}
