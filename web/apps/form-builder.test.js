// The form builder: what is a form, what is an answer, and what is wrong with either.
import { expect, test } from "vitest";
import {
  carryOver,
  moved,
  nameFor,
  problemOf,
  problemsOf,
  ratingSteps,
  readAnswer,
  readForm,
  TYPES,
  writeForm,
} from "../../apps/form-builder/form.ts";

const field = (fields) =>
  readForm({ fields: [{ label: "X", ...fields }] }).form.fields[0];

test("a form is read with everything that was left out", () => {
  const { form, problems } = readForm({
    title: " Trip ",
    fields: [{ label: "Where to?" }, { name: "when", type: "date" }],
  });
  expect(problems).toEqual([]);
  expect(form.title).toBe("Trip");
  expect(form.fields.map(({ name, type }) => [name, type])).toEqual([
    ["where_to", "text"],
    ["when", "date"],
  ]);
});

test("an invalid field is reported with its number, and the rest is shown", () => {
  const { form, problems } = readForm({
    fields: [
      null,
      { type: "text" },
      { label: "A", type: "toString" },
      { label: "B", type: "choice" },
      { label: "C" },
    ],
  });
  expect(form.fields.map(({ label }) => label)).toEqual(["C"]);
  expect(problems.map((words) => words.slice(0, 8))).toEqual(
    [1, 2, 3, 4].map((at) => `Field ${at}:`),
  );
  for (const bad of [null, 7, "x", []]) {
    expect(readForm(bad).problems.length).toBeGreaterThan(0);
  }
});

test("two fields never share a name", () => {
  const { form } = readForm({
    fields: [
      { name: "a", label: "A" },
      { name: "a", label: "A" },
      { label: "A" },
      { label: "???" },
    ],
  });
  expect(form.fields.map(({ name }) => name)).toEqual([
    "a",
    "a_2",
    "a_3",
    "field",
  ]);
  expect(nameFor("Straße & Ort", new Set())).toBe("stra_e_ort");
});

test("a form that was written down reads back the same", () => {
  const given = {
    title: "T",
    description: "D",
    submit: "Go",
    fields: Object.keys(TYPES).map((type) => ({
      name: type,
      label: type,
      type,
      help: "h",
      required: true,
      options: ["a", "b"],
      min: 1,
      max: 3,
    })),
  };
  const { form, problems } = readForm(given);
  expect(problems).toEqual([]);
  const again = readForm(JSON.parse(JSON.stringify(writeForm(form))));
  expect(writeForm(again.form)).toEqual(writeForm(form));
});

test.each([
  [{ type: "text", required: true }, null, "This is required."],
  [{ type: "text", required: true }, "x", null],
  [{ type: "text", max: 2 }, "abc", "At most 2 characters."],
  [{ type: "email" }, "ada", "Enter a valid email address."],
  [{ type: "email" }, "ada@example.org", null],
  [{ type: "email" }, null, null],
  [{ type: "number", min: 3 }, 2, "At least 3."],
  [{ type: "number", max: 3 }, 3, null],
  [{ type: "yes-no", required: true }, false, "This must be checked."],
  [
    { type: "choices", options: ["a"], required: true },
    [],
    "This is required.",
  ],
])("%o with the answer %o: %s", (given, answer, problem) => {
  expect(problemOf(field(given), answer)).toBe(problem);
});

test("an answer from elsewhere counts only if the field can have it", () => {
  const choice = field({ type: "choice", options: ["a", "b"] });
  expect(readAnswer(choice, "b")).toBe("b");
  expect(readAnswer(choice, "c")).toBeNull();
  const choices = field({ type: "choices", options: ["a", "b"] });
  expect(readAnswer(choices, ["b", "c"])).toEqual(["b"]);
  expect(readAnswer(field({ type: "number" }), "7")).toBeNull();
  expect(readAnswer(field({ type: "yes-no" }), "true")).toBe(false);
});

test("a changed form keeps the answers that still fit", () => {
  const { form } = readForm({
    fields: [
      { name: "a", label: "A" },
      { name: "n", label: "N", type: "number" },
      { name: "new", label: "New", type: "yes-no" },
    ],
  });
  const answers = carryOver(form, { a: "kept", n: "seven", gone: 1 });
  expect(answers).toEqual({ a: "kept", n: null, new: false });
  expect(carryOver(form, null)).toEqual({ a: null, n: null, new: false });
  expect([...problemsOf(form, answers)]).toEqual([]);
});

test("a rating has five steps, or as many as the form says and not a thousand", () => {
  expect(ratingSteps(field({ type: "rating" }))).toEqual([1, 2, 3, 4, 5]);
  expect(ratingSteps(field({ type: "rating", min: 0, max: 3 }))).toHaveLength(
    4,
  );
  expect(ratingSteps(field({ type: "rating", max: 1e9 }))).toHaveLength(11);
  expect(ratingSteps(field({ type: "rating", min: 5, max: 1 }))).toEqual([5]);
});

test("moving swaps neighbours and stops at both ends", () => {
  expect(moved(["a", "b", "c"], 0, 1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
  expect(moved(["a", "b"], 1, 1)).toEqual(["a", "b"]);
});
