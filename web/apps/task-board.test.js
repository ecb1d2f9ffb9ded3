// The task board: what a state means, and what a move changes.
import { expect, test } from "vitest";
import { newCard, orderAt, place, read } from "../../apps/task-board/board.js";

const state = {
  columns: ["Now", "Later"],
  "card.a": { title: "A", column: "Now", order: 1 },
  "card.b": { title: "B", column: "Now", order: 2 },
  "card.c": { title: "C", column: "Later", order: 0, note: "n", by: "agent" },
};
const titles = (columns) =>
  columns.map(({ cards }) => cards.map(({ title }) => title).join(""));

test("cards stand in their columns, in order", () => {
  expect(titles(read(state))).toEqual(["AB", "C"]);
  expect(read({}).map(({ name }) => name)).toEqual(["To do", "Doing", "Done"]);
});

test("whatever else is in the state does no harm", () => {
  const odd = {
    columns: ["Now", "Now", 7, ""],
    "card.x": "text",
    "card.y": { title: 3 },
    "card.z": { title: "Z", column: "__proto__", order: "first" },
    other: 1,
  };
  expect(titles(read(odd))).toEqual(["Z"]);
  expect(titles(read({ ...odd, columns: "no" }))[0]).toBe("Z");
});

test("a move changes the moved card only", () => {
  const columns = read(state);
  const [a, b] = columns[0].cards;
  expect(place(columns, b, "Now", 0)).toEqual({
    "card.b": { title: "B", column: "Now", order: 0 },
  });
  const moved = { ...state, ...place(columns, a, "Later", 1) };
  expect(titles(read(moved))).toEqual(["B", "CA"]);
  const kept = place(columns, columns[1].cards[0], "Now", 1)["card.c"];
  expect(kept).toEqual({
    title: "C",
    column: "Now",
    order: 1.5,
    note: "n",
    by: "agent",
  });
});

test("if no number fits between, the column is renumbered", () => {
  const tight = {
    columns: ["Now"],
    "card.a": { title: "A", column: "Now", order: 1 },
    "card.b": { title: "B", column: "Now", order: 1 },
    "card.c": { title: "C", column: "Now", order: 5 },
  };
  const columns = read(tight);
  const patch = place(columns, columns[0].cards[2], "Now", 1);
  expect(titles(read({ ...tight, ...patch }))).toEqual(["ACB"]);
});

test("a new card is the last of its column", () => {
  const columns = read(state);
  const [[key, card]] = Object.entries(newCard(columns, "Now", "D"));
  expect(key).toMatch(/^card\.[0-9a-f]{8}$/);
  expect(card).toMatchObject({ title: "D", column: "Now", order: 3 });
  expect(orderAt([], 0)).toBe(0);
});
