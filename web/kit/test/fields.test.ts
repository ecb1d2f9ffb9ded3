// Forms from schemas, those of servers that mean no good among them.
import { expect, test } from "vitest";
import { formOf, type Field } from "../src/form/fields.js";

function fieldOf(schema: unknown, root: object = {}): Field | undefined {
  return formOf({ type: "object", properties: { it: schema }, ...root })
    ?.fields[0];
}

test("each type has its field", () => {
  expect(fieldOf({ type: "string", maxLength: 3 })).toMatchObject({
    kind: "text",
    max: 3,
    title: "it",
  });
  expect(
    fieldOf({ type: "integer", minimum: 1, exclusiveMaximum: 9 }),
  ).toMatchObject({ kind: "number", whole: true, min: 1, under: 9 });
  expect(fieldOf({ type: "number" })).toMatchObject({ whole: false });
  expect(fieldOf({ type: "boolean" })).toMatchObject({ kind: "flag" });
  expect(
    fieldOf({ type: "array", items: { type: "string" }, minItems: 2 }),
  ).toMatchObject({ kind: "list", min: 2, item: { kind: "text" } });
  expect(
    fieldOf({ type: "object", properties: { a: { type: "number" } } }),
  ).toMatchObject({ kind: "group", fields: [{ kind: "number", name: "a" }] });
});

test("what is listed is chosen, by its title where it has one", () => {
  expect(fieldOf({ enum: ["a", 1, null] })).toMatchObject({
    kind: "choice",
    options: [
      { label: "a", value: "a" },
      { label: "1", value: 1 },
      { label: "null", value: null },
    ],
  });
  expect(fieldOf({ enum: ["r"], enumNames: ["Red"] })).toMatchObject({
    options: [{ label: "Red", value: "r" }],
  });
  const titled = [
    { const: "r", title: "Red" },
    { const: "g", title: "Green" },
  ];
  expect(fieldOf({ oneOf: titled })).toMatchObject({
    options: [
      { label: "Red", value: "r" },
      { label: "Green", value: "g" },
    ],
  });
});

test("what may be null is a field that may be left empty", () => {
  expect(fieldOf({ type: ["string", "null"] })).toMatchObject({
    kind: "text",
  });
  expect(
    fieldOf({
      title: "Age",
      anyOf: [{ type: "integer" }, { type: "null" }],
      default: null,
    }),
  ).toMatchObject({ kind: "number", title: "Age" });
});

test("what no form can be made for is written as JSON", () => {
  for (const schema of [
    {},
    true,
    "nonsense",
    { type: "object", additionalProperties: { type: "string" } },
    { anyOf: [{ type: "string" }, { type: "number" }] },
    { type: "array" },
    { type: "array", items: { type: "array", items: { type: "string" } } },
    { type: ["string", "number"] },
    { $ref: "https://elsewhere.example/schema.json" },
    { $ref: "#/$defs/none" },
    { enum: Array.from({ length: 1000 }, (_, n) => n) },
  ]) {
    expect(fieldOf(schema)?.kind, JSON.stringify(schema)).toBe("json");
  }
});

test("a reference is followed, and what stands beside it counts more", () => {
  const $defs = { "a/b": { type: "string", title: "There", minLength: 2 } };
  expect(
    fieldOf({ $ref: "#/$defs/a~1b", title: "Here" }, { $defs }),
  ).toMatchObject({ kind: "text", title: "Here", min: 2 });
});

test("a schema that holds itself ends in JSON", () => {
  const node = {
    type: "object",
    properties: { next: { $ref: "#/$defs/node" }, name: { type: "string" } },
  };
  let field = fieldOf({ $ref: "#/$defs/node" }, { $defs: { node } });
  let depth = 0;
  while (field?.kind === "group") {
    field = field.fields[0];
    depth += 1;
  }
  expect(field?.kind).toBe("json");
  expect(depth).toBeLessThan(10);
});

test("references in a circle are no field and no end of the page", () => {
  const $defs = { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } };
  expect(fieldOf({ $ref: "#/$defs/a" }, { $defs })?.kind).toBe("json");
  expect(fieldOf({ $ref: "#" })?.kind).toBe("group");
});

test("a schema that doubles at each step stays small", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`p${n}`, { $ref: "#/$defs/node" }]),
  );
  const node = { type: "object", properties };
  const form = formOf({ ...node, $defs: { node } });
  const count = (field: Field): number =>
    field.kind === "group"
      ? field.fields.reduce((sum, each) => sum + count(each), 1)
      : 1;
  expect(form === null || count(form) < 500).toBe(true);
});

test("more fields than anyone fills in are left to JSON", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 5000 }, (_, n) => [`p${n}`, { type: "string" }]),
  );
  expect(formOf({ type: "object", properties })).toBeNull();
});

test("long words are cut", () => {
  const field = fieldOf({
    type: "string",
    title: "t".repeat(10_000),
    description: "d".repeat(1_000_000),
  });
  expect(field?.title.length).toBeLessThan(300);
  expect(field?.description.length).toBeLessThan(3_000);
});

test("a tool without arguments has an empty form", () => {
  expect(formOf({ type: "object" })?.fields).toEqual([]);
  expect(formOf({ type: "object", properties: {} })?.fields).toEqual([]);
});

test("names of what every object has are names like others", () => {
  const form = formOf(
    JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{"$ref":"#/toString"}},"required":["__proto__"]}',
    ),
  );
  expect(
    form?.fields.map(({ name, kind, required }) => [name, kind, required]),
  ).toEqual([
    ["__proto__", "text", true],
    ["constructor", "text", false],
    ["toString", "json", false],
  ]);
});
