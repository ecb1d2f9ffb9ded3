import { expect, test } from "vitest";
import { bytes, percent, rate, seconds } from "../src/parts/amounts.js";

test("sizes have at most three digits and the unit that fits", () => {
  expect(
    [0, 999, 1000, 144_811_968, 999_600, 1_282_439_264].map(bytes),
  ).toEqual(["0 bytes", "999 bytes", "1.0 kB", "145 MB", "1.0 MB", "1.3 GB"]);
});

test("a download is complete only when nothing is missing", () => {
  expect(percent(999, 1000)).toBe(99);
  expect(percent(1000, 1000)).toBe(100);
  expect(percent(5, 0)).toBe(0);
  expect(percent(1200, 1000)).toBe(100);
});

test("short times and slow speeds keep a decimal", () => {
  expect([42, 420, 4200, 42_000].map(seconds)).toEqual([
    ...["0.04 s", "0.42 s", "4.2 s", "42 s"],
  ]);
  expect([0, 3.26, 41.7].map(rate)).toEqual(["0", "3.3", "42"]);
});
