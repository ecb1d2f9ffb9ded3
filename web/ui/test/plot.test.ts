import { expect, test } from "vitest";
import { plot } from "../src/models/plot.js";

test("the newest value is at the right and the highest at the top", () => {
  const samples = [
    { age: 59, value: 0 },
    { age: 0, value: 10 },
  ];
  expect(plot(samples, 10)).toEqual({
    line: "M0 32L120 0",
    area: "M0 32L120 0L120 32L0 32Z",
  });
});

test("one value is no line", () => {
  expect(plot([{ age: 0, value: 3 }], 10)).toBeNull();
  expect(plot([], 0)).toBeNull();
});

test("nothing at all is a flat line at the bottom", () => {
  const flat = [1, 0].map((age) => ({ age, value: 0 }));
  expect(plot(flat, 0)?.line).toBe("M118 32L120 32");
});
