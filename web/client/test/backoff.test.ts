// How long pages wait before they connect again.
import { expect, test } from "vitest";
import { Backoff } from "../src/backoff.js";

function backoff(random: () => number) {
  const clock = { now: 0 };
  return { clock, backoff: new Backoff(random, () => clock.now) };
}

test("waits double from a quarter of a second to five seconds", () => {
  const { backoff: waits } = backoff(() => 1);
  const all = Array.from({ length: 7 }, () => waits.next());
  expect(all).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  waits.reset();
  expect(waits.next()).toBe(250);
});

test("jitter spreads each wait over its second half", () => {
  const spread = [0, 0.5, 1].map((at) => backoff(() => at).backoff.next());
  expect(spread).toEqual([125, 187.5, 250]);
});

test("only a connection that lasted begins with short waits again, however often it says that it is there", () => {
  const { clock, backoff: waits } = backoff(() => 1);
  waits.next();
  waits.opened();
  clock.now += 4_999;
  waits.opened();
  expect(waits.next()).toBe(500);
  // It is over: time without a connection does not count.
  clock.now += 60_000;
  expect(waits.next()).toBe(1_000);
  waits.opened();
  clock.now += 4_999;
  waits.opened();
  clock.now += 1;
  expect(waits.next()).toBe(250);
});
