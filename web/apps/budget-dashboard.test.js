// The budget dashboard: what counts as an expense, how it adds up, and where a chart's parts go.
import { expect, test } from "vitest";
import {
  bars,
  pathOf,
  points,
  scale,
  slices,
} from "../../apps/budget-dashboard/chart.js";
import {
  currencies,
  dayOf,
  fromCsv,
  mainCategories,
  matching,
  months,
  parseCsv,
  readExpenses,
  sample,
  sorted,
  toCsv,
  totals,
} from "../../apps/budget-dashboard/expenses.js";

const rent = { id: "1", date: "2026-01-01", category: "Rent", amount: 900 };
const food = { id: "2", date: "2026-03-05", category: "Food", amount: 0.1 };
const { expenses } = readExpenses([
  { ...rent, description: "Flat" },
  { ...food, description: "Bread", currency: "chf" },
  { ...food, id: "3", description: "Milk", amount: 0.2 },
]);

test("what is no expense is counted and left out", () => {
  const read = readExpenses([
    rent,
    null,
    "x",
    { ...rent, date: "2026-02-30" },
    { ...rent, amount: "much" },
    { ...rent, amount: NaN },
  ]);
  expect(read.expenses).toHaveLength(1);
  expect(read.skipped).toBe(5);
  expect(readExpenses("no").expenses).toEqual([]);
});

test("missing words have stand-ins, and ids stay apart", () => {
  const read = readExpenses([
    { ...rent, category: "" },
    rent,
    { ...rent, id: 7 },
  ]);
  expect(read.expenses.map(({ id }) => id)).toEqual(["1", "1'", "7"]);
  expect(read.expenses[0]).toMatchObject({
    category: "Other",
    description: "No description",
    currency: "EUR",
  });
});

test("days are days of the calendar", () => {
  expect(dayOf("2026-02-28T10:00:00Z")).toBe("2026-02-28");
  for (const bad of ["2026-2-1", "2026-13-01", "2026-02-29", "x", 7, null]) {
    expect(dayOf(bad)).toBeNull();
  }
});

test("filters together leave what fits all of them", () => {
  const ids = (wish) => matching(expenses, wish).map(({ id }) => id);
  expect(ids({})).toEqual(["1", "2", "3"]);
  expect(ids({ words: " MILK " })).toEqual(["3"]);
  expect(ids({ category: "Food", currency: "CHF" })).toEqual(["2"]);
  expect(ids({ start: "2026-01-02", end: "2026-03-05" })).toEqual(["2", "3"]);
});

test("sorting goes both ways, by number or by word", () => {
  const ids = (order) => sorted(expenses, order).map(({ id }) => id);
  expect(ids({ column: "amount", down: true })).toEqual(["1", "3", "2"]);
  expect(ids({ column: "description", down: false })).toEqual(["2", "1", "3"]);
});

test("sums have no dust", () => {
  const [, sum] = totals(expenses, ({ category }) => category);
  expect(sum).toEqual({ key: "Food", total: 0.3, count: 2 });
  expect(currencies(expenses)).toEqual(["EUR", "CHF"]);
});

test("a month without expenses is a month all the same", () => {
  expect(months(expenses)).toEqual(["2026-01", "2026-02", "2026-03"]);
  expect(months([])).toEqual([]);
  const far = [{ date: "0001-01-01" }, { date: "9999-12-01" }];
  expect(months(far)).toHaveLength(120);
});

test("small categories become one, and nothing is lost", () => {
  const many = Array.from({ length: 12 }, (_, at) => ({
    ...rent,
    category: `c${at}`,
    amount: at,
  }));
  const main = mainCategories(readExpenses(many).expenses);
  expect(main).toHaveLength(8);
  expect(main.at(-1)).toMatchObject({ key: "Everything else", total: 10 });
  expect(main.reduce((sum, { total }) => sum + total, 0)).toBe(66);
});

test("a CSV file is read with quotes, semicolons and every kind of line end", () => {
  expect(parseCsv('a,"b ""c"", d"\r\n1,2\n\n3,"x\ny"')).toEqual([
    ["a", 'b "c", d'],
    ["1", "2"],
    ["3", "x\ny"],
  ]);
  const read = fromCsv("\uFEFFDate;Amount\r2026-01-01;12.50\r");
  expect(read.expenses[0]).toMatchObject({ date: "2026-01-01", amount: 12.5 });
  expect(() => fromCsv("when,much\n1,2")).toThrow(/no column named date/);
});

test("a report reads back as it was, and holds no formula", () => {
  const odd = readExpenses([
    { ...rent, description: '=HYPERLINK("x")', amount: -5 },
    { ...rent, id: "b", description: 'a, "b"\nc' },
  ]).expenses;
  const csv = toCsv(odd, new Map([["b", "twice?"]]));
  expect(csv).toContain("'=HYPERLINK");
  expect(csv).toContain(",-5,");
  const back = fromCsv(csv).expenses;
  expect(back.map(({ amount }) => amount)).toEqual([-5, 900]);
  expect(back[1].description).toBe('a, "b"\nc');
  expect(parseCsv(csv)[2].at(-1)).toBe("twice?");
});

test("the sample is the same every time, and all of it counts", () => {
  expect(sample()).toEqual(sample());
  expect(readExpenses(sample()).skipped).toBe(0);
});

test("a scale ends at a round number above everything", () => {
  expect(scale(87).ticks).toEqual([0, 25, 50, 75, 100]);
  expect(scale(0.3).top).toBeGreaterThanOrEqual(0.3);
  expect(scale(0).top).toBe(1);
  for (const most of [1, 7, 99, 1234, 1e6]) {
    const { top, ticks } = scale(most);
    expect(top).toBeGreaterThanOrEqual(most);
    expect(ticks.length).toBeLessThan(7);
  }
});

test("bars stand on the ground and on each other", () => {
  const [[low, high], [, none]] = bars(
    [
      [25, 50],
      [100, -3],
    ],
    {
      width: 200,
      height: 100,
      top: 100,
    },
  );
  expect(low).toMatchObject({ y: 75, height: 25 });
  expect(high).toMatchObject({ y: 25, height: 50 });
  expect(none.height).toBe(0);
});

test("a line has a point in the middle of each month", () => {
  const list = points([0, 10], { width: 100, height: 50, top: 10 });
  expect(list).toEqual([
    { x: 25, y: 50 },
    { x: 75, y: 0 },
  ]);
  expect(pathOf(list)).toBe("M25 50L75 0");
});

test("slices share the ring; what is below zero has none, and one alone is a whole ring", () => {
  const ring = { radius: 10, hole: 5 };
  const shares = slices([3, 1, -4], ring);
  expect(shares.map(({ share }) => share)).toEqual([0.75, 0.25, 0]);
  expect(shares[2].path).toBe("");
  expect(slices([5], ring)[0].path).toMatch(/^M.*Z$/);
  expect(slices([0, 0], ring).every(({ path }) => path === "")).toBe(true);
});
