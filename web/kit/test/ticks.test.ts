import { expect, test } from "vitest";
import { splitTicks } from "../src/parts/ticks.js";

test("words in backticks become code", () => {
  expect(splitTicks("Set `model` in `config.yaml`.")).toEqual([
    { text: "Set ", code: false },
    { text: "model", code: true },
    { text: " in ", code: false },
    { text: "config.yaml", code: true },
    { text: ".", code: false },
  ]);
});

test("a backtick without a partner stays as it is", () => {
  expect(splitTicks("It's a ` here")).toEqual([
    { text: "It's a ` here", code: false },
  ]);
  expect(splitTicks("")).toEqual([]);
});
