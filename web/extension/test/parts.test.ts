// Messages that come in parts are joined, and parts that do not fit are refused.
import { expect, test } from "vitest";
import { BadPart, Parts } from "../src/parts.js";
import type { Part } from "../src/wire.js";

function cut(message: unknown, size: number, part = "p1"): Part[] {
  const text = JSON.stringify(message);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) {
    pieces.push(text.slice(at, at + size));
  }
  return pieces.map((data, index) => ({
    ...{ type: "part", part, index, count: pieces.length, data },
  }));
}

test("parts are joined in the order of their numbers, however they come", () => {
  const message = { type: "x_result", result: 'a "quoted" 🐟\n'.repeat(50) };
  for (const order of [cut(message, 97), cut(message, 97).reverse()]) {
    const parts = new Parts();
    const whole = order.map((part) => parts.take(part));
    expect(whole.slice(0, -1).every((each) => each === undefined)).toBe(true);
    expect(whole.at(-1)).toEqual(message);
  }
});

test("parts of several messages may be mixed", () => {
  const parts = new Parts();
  const [a1, a2] = cut({ a: 1 }, 4, "a") as [Part, Part];
  const [b1, b2] = cut({ b: 2 }, 4, "b") as [Part, Part];
  expect(parts.take(a1)).toBeUndefined();
  expect(parts.take(b1)).toBeUndefined();
  expect(parts.take(a2)).toEqual({ a: 1 });
  expect(parts.take(b2)).toEqual({ b: 2 });
});

test.each([
  ["a count of one", { count: 1 }],
  ["more parts than any message has", { count: 129 }],
  ["a count that is no number", { count: "2" }],
  ["a number behind the last", { index: 2 }],
  ["a number below the first", { index: -1 }],
  ["a number between two", { index: 0.5 }],
  ["no text", { data: 1 }],
  ["no name", { part: null }],
])("%s is refused", (_, wrong) => {
  const good = { type: "part", part: "p", index: 0, count: 2, data: "{" };
  expect(() => new Parts().take({ ...good, ...wrong } as Part)).toThrow(
    BadPart,
  );
});

test("a part that comes twice, another count, and text that is no JSON are refused", () => {
  const part = (index: number, count = 2): Part => ({
    ...{ type: "part", part: "p", index, count, data: "{" },
  });
  const twice = new Parts();
  twice.take(part(0));
  expect(() => twice.take(part(0))).toThrow(BadPart);
  const other = new Parts();
  other.take(part(0));
  expect(() => other.take(part(1, 3))).toThrow(BadPart);
  const junk = new Parts();
  junk.take(part(0));
  expect(() => junk.take(part(1))).toThrow(BadPart);
});

test("incomplete messages are limited in number and size", () => {
  const many = new Parts();
  const begin = (part: string, data = "x"): Part => ({
    ...{ type: "part", part, index: 0, count: 128, data },
  });
  for (let at = 0; at < 8; at += 1) many.take(begin(`p${at}`));
  expect(() => many.take(begin("p8"))).toThrow(BadPart);
  const much = new Parts();
  const text = "x".repeat(1 << 20);
  expect(() => {
    for (let index = 0; index < 128; index += 1) {
      much.take({ ...begin("p", text), index });
    }
  }).toThrow(BadPart);
});
