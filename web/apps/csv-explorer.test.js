// The CSV explorer's parser and its view of the rows.
import { expect, test } from "vitest";
import {
  fields,
  namesOf,
  numberOf,
  Records,
  separatorOf,
} from "../../apps/csv-explorer/csv.js";
import {
  goodFilters,
  Histogram,
  Table,
  View,
} from "../../apps/csv-explorer/table.js";
import { ticks } from "../../apps/csv-explorer/plot.js";

const TEXT = 'name,note\r\n"Ada ""A"", L",first\r\n\r\n"two\nlines",\nlast,x';

function records(text, size) {
  const splitter = new Records();
  let found = [];
  for (let at = 0; at < text.length; at += size) {
    found = found.concat(splitter.push(text.slice(at, at + size)));
  }
  return found.concat(splitter.end());
}

test("records are the same wherever the text is cut", () => {
  const whole = records(TEXT, TEXT.length);
  expect(whole.map((record) => fields(record, ","))).toEqual([
    ["name", "note"],
    ['Ada "A", L', "first"],
    ["two\nlines", ""],
    ["last", "x"],
  ]);
  for (let size = 1; size < TEXT.length; size += 1)
    expect(records(TEXT, size)).toEqual(whole);
});

test("a quote that never ends costs its own record, not the file", () => {
  const text = `a,b\n"open,1\n${"x,2\n".repeat(400_000)}`;
  const found = records(text, 64 * 1024);
  expect(found.length).toBeGreaterThan(399_000);
  expect(found.at(-1)).toBe("x,2");
});

test("separators, names and numbers are recognised", () => {
  expect(separatorOf('"a,b";c;d')).toBe(";");
  expect(separatorOf("a\tb\tc")).toBe("\t");
  expect(namesOf("\uFEFFid,,id", ",")).toEqual(["id", "Column 2", "id (2)"]);
  expect(["1", "-2.5", "1e3", ".5", " 7 "].map(numberOf)).toEqual([
    1, -2.5, 1000, 0.5, 7,
  ]);
  expect(
    ["", "a", "1a", "0x10", "1,5", "Infinity", "1e999"]
      .map(numberOf)
      .every(Number.isNaN),
  ).toBe(true);
});

function tableOf(text) {
  const table = new Table();
  table.push(text);
  table.end();
  return table;
}

const SHOP = "city,price,sold\nOslo,10,1\nRome,25.5,\nOslo,40,3\nBern,,4\n";

function viewOf(filters) {
  const table = tableOf(SHOP);
  const view = new View(table, goodFilters(filters, table.names));
  expect(view.step(1_000)).toBe(true);
  return view;
}

test("a view counts what matches", () => {
  const all = viewOf([]);
  expect(all.length).toBe(4);
  expect(all.columns[1].summary()).toEqual({
    ...{ name: "price", type: "number", empty: 1 },
    ...{ min: 10, max: 40, mean: 75.5 / 3 },
  });
  expect(all.columns[0].top(1)).toEqual([["Oslo", 2]]);
  const some = viewOf([
    { column: "city", op: "contains", value: "OS" },
    { column: "price", op: ">", value: 9.5 },
  ]);
  expect(some.length).toBe(2);
  expect(some.row(1)).toEqual(["Oslo", "40", "3"]);
  expect(viewOf([{ column: "price", op: "empty" }]).row(0)[0]).toBe("Bern");
  expect(viewOf([{ column: "price", op: "<", value: 100 }]).length).toBe(3);
  expect(viewOf([{ column: "city", op: "!=", value: "Oslo" }]).length).toBe(2);
});

test("filters that make no sense are left out", () => {
  const names = ["a"];
  expect(goodFilters("x", names)).toEqual([]);
  expect(
    goodFilters(
      [
        null,
        { column: "b", op: "=" },
        { column: "a", op: "__proto__" },
        { column: "a", op: "=", value: 1 },
      ],
      names,
    ),
  ).toEqual([{ column: "a", op: "=", value: "1" }]);
});

test("a view works in slices and catches up with a growing table", () => {
  const table = new Table();
  table.push(`n\n${Array.from({ length: 5_000 }, (_, at) => at).join("\n")}\n`);
  const view = new View(table, []);
  let clock = 0;
  let steps = 1;
  while (!view.step(10, () => (clock += 6))) steps += 1;
  expect(steps).toBeGreaterThan(5);
  table.push("7\n8\n");
  expect(view.step(1_000)).toBe(true);
  expect(view.length).toBe(5_002);
});

test("a sample stays bounded and spread over all rows", () => {
  const view = new View(
    tableOf(`n\n${Array.from({ length: 50_000 }, (_, at) => at).join("\n")}`),
    [],
  );
  while (!view.step(50));
  expect(view.sample.length).toBeLessThan(6_000);
  expect(Number(view.sample.at(-1)[0])).toBeGreaterThan(45_000);
});

test("a histogram counts every value in few ranges", () => {
  const histogram = new Histogram();
  for (let at = -5_000; at < 5_000; at += 1) histogram.add(at / 10);
  histogram.add(1e6);
  const ranges = histogram.ranges();
  expect(ranges.length).toBeLessThanOrEqual(48);
  expect(ranges.reduce((sum, { count }) => sum + count, 0)).toBe(10_001);
  const same = new Histogram();
  for (let at = 0; at < 3; at += 1) same.add(5);
  expect(same.ranges()).toHaveLength(1);
  const apart = new Histogram();
  for (const value of [1e-300, -1e300, 1e308, 1e17, 0]) apart.add(value);
  expect(apart.ranges().length).toBeLessThanOrEqual(48);
});

test("ticks are round numbers", () => {
  expect(ticks(0, 9, 4)).toEqual([0, 5]);
  expect(ticks(0, 100, 5)).toEqual([0, 20, 40, 60, 80, 100]);
  expect(ticks(3, 3, 4)).toEqual([3]);
  expect(ticks(1e17, 1e17 + 16, 4).length).toBeLessThan(15);
});
