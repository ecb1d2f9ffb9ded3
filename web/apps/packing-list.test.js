// The packing list without its page.
import { expect, test } from "vitest";
import { PackingList } from "../../apps/packing-list/list.js";

test("items are added once and packed by name, however it is written", () => {
  const list = new PackingList("Trip", ["Tent"]);
  list.add(" Rope ");
  list.pack("TENT");
  expect(list.state).toEqual({
    title: "Trip",
    items: [
      { name: "Tent", packed: true },
      { name: "Rope", packed: false },
    ],
  });
  expect(list.packed).toBe(1);
  expect(list.markdown).toBe("# Trip\n\n- [x] Tent\n- [ ] Rope\n");
  expect(() => list.add("rope")).toThrow("already");
  expect(() => list.add("  ")).toThrow("needs a name");
  expect(() => list.pack("Boat")).toThrow("Tent, Rope");
});

test("a list has a limit, and so has a name", () => {
  const list = new PackingList("Trip", ["x".repeat(200)]);
  expect(list.items[0]?.name).toHaveLength(80);
  for (let n = 1; n < 100; n += 1) list.add(`Item ${n}`);
  expect(() => list.add("One more")).toThrow("at most 100");
});

test("a state that was read is taken over", () => {
  const list = new PackingList("Trip", ["Tent"]);
  list.pack("Tent");
  const other = new PackingList("Other");
  other.restore(list.state);
  expect(other.state).toEqual(list.state);
  other.add("Rope");
  expect(list.items).toHaveLength(1);
});
