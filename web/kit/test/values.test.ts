// What a person writes into a form, and the JSON that comes of it.
import type { JsonValue } from "@gangway/client";
import { expect, test } from "vitest";
import { formOf, type GroupField } from "../src/form/fields.js";
import {
  draftOf,
  fits,
  read,
  startOf,
  type Draft,
} from "../src/form/values.js";

function form(properties: object, required: string[] = []): GroupField {
  const made = formOf({ type: "object", properties, required });
  if (!made) throw new Error("There is no form.");
  return made;
}

function reading(properties: object, draft: Draft, required: string[] = []) {
  return read(form(properties, required), draft);
}

test("what is left empty is left out", () => {
  const properties = {
    text: { type: "string" },
    number: { type: "number" },
    flag: { type: "boolean" },
    choice: { enum: ["a"] },
    list: { type: "array", items: { type: "string" } },
    group: { type: "object", properties: { a: { type: "string" } } },
    json: {},
  };
  const made = form(properties);
  expect(read(made, startOf(made))).toEqual({ value: {}, mistakes: {} });
});

test("an empty required field is reported with its path", () => {
  const properties = {
    text: { type: "string" },
    choice: { enum: ["a"] },
    flag: { type: "boolean" },
    list: { type: "array", items: { type: "string" } },
    group: {
      type: "object",
      properties: { a: { type: "number" } },
      required: ["a"],
    },
  };
  const made = form(properties, Object.keys(properties));
  expect(read(made, startOf(made))).toEqual({
    value: { flag: false, list: [], group: {} },
    mistakes: {
      "/0": "Required.",
      "/1": "Choose one.",
      "/4/0": "Required.",
    },
  });
});

test("what was written becomes its type", () => {
  const properties = {
    text: { type: "string" },
    number: { type: "number" },
    flag: { type: "boolean" },
    choice: { enum: ["a", { b: 1 }] },
    list: { type: "array", items: { type: "integer" } },
    group: { type: "object", properties: { a: { type: "string" } } },
    json: {},
  };
  const draft = [" 1 ", "-2.5e3", "no", "1", ["1", "2"], ["x"], "[null]"];
  expect(reading(properties, draft)).toEqual({
    value: {
      text: " 1 ",
      number: -2500,
      flag: false,
      choice: { b: 1 },
      list: [1, 2],
      group: { a: "x" },
      json: [null],
    },
    mistakes: {},
  });
});

test.each([
  [{ type: "number" }, "many", "Enter a number."],
  [{ type: "number" }, "1e999", "Enter a number."],
  [{ type: "integer" }, "1.5", "Enter a whole number."],
  [{ type: "number", minimum: 3 }, "2", "Must be at least 3."],
  [{ type: "number", maximum: 3 }, "4", "Must be at most 3."],
  [{ type: "number", exclusiveMinimum: 3 }, "3", "Must be greater than 3."],
  [{ type: "number", exclusiveMaximum: 3 }, "3", "Must be less than 3."],
  [{ type: "string", minLength: 3 }, "ab", "Enter at least 3 characters."],
  [{ type: "string", maxLength: 1 }, "ab", "Enter at most 1 characters."],
  [{ type: "string", format: "email" }, "me", "Enter a valid email address."],
  [{ type: "string", format: "uri" }, "here", "Enter a valid URL"],
  [{}, "{", "Invalid JSON"],
])("%j does not take %s", (schema, text, words) => {
  expect(reading({ it: schema }, [text]).mistakes["/0"]).toContain(words);
});

test("a character outside the basic plane counts as one", () => {
  const schema = { type: "string", maxLength: 1 };
  expect(reading({ it: schema }, ["🚢"]).mistakes).toEqual({});
});

test("a list is as long as it may be", () => {
  const list = {
    type: "array",
    items: { type: "string" },
    minItems: 2,
    maxItems: 2,
  };
  expect(reading({ list }, [["a"]]).mistakes["/0"]).toBe("Enter at least 2.");
  expect(reading({ list }, [["a", "b", "c"]]).mistakes["/0"]).toBe(
    "Enter at most 2.",
  );
  expect(reading({ list }, [["a", ""]]).mistakes["/0/1"]).toBe("Required.");
});

test("a pattern is left to the server, for one can be made to never end", () => {
  const schema = { type: "string", pattern: "^(a+)+$" };
  const text = `${"a".repeat(50)}!`;
  expect(reading({ it: schema }, [text])).toEqual({
    value: { it: text },
    mistakes: {},
  });
});

test("defaults are filled in at first, also of what is inside", () => {
  const made = form({
    text: { type: "string", default: "a" },
    wrong: { type: "string", default: 5 },
    flag: { type: "boolean", default: true },
    choice: { enum: ["a", "b"], default: "b" },
    group: {
      type: "object",
      properties: { n: { type: "number", default: 0 } },
    },
  });
  expect(startOf(made)).toEqual(["a", "", "yes", "1", ["0"]]);
});

test("JSON that the form can show is shown, and comes back as it was", () => {
  const made = form(
    {
      text: { type: "string", default: "unless said" },
      list: { type: "array", items: { type: "number" } },
      group: { type: "object", properties: { a: { type: "string" } } },
    },
    ["text"],
  );
  const shown: JsonValue[] = [
    {},
    { text: "a" },
    { group: { a: "x" }, list: [1, 2] },
  ];
  for (const value of shown) {
    expect(fits(made, value), JSON.stringify(value)).toBe(true);
    expect(read(made, draftOf(made, value)).value).toEqual(value);
  }
  const lost: JsonValue[] = [
    { other: 1 },
    { text: 5 },
    { list: [1, "a"] },
    { group: { a: "x", b: 1 } },
    [],
    null,
  ];
  for (const value of lost) {
    expect(fits(made, value), JSON.stringify(value)).toBe(false);
  }
});

test("a value of the name __proto__ is a value", () => {
  const properties = JSON.parse('{"__proto__": {"type": "string"}}') as object;
  const { value } = reading(properties, ["x"]);
  expect(JSON.stringify(value)).toBe('{"__proto__":"x"}');
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});
