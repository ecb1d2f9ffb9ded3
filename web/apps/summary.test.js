// The page that summarises itself: what it asks and how it reads the answer.
import { expect, test } from "vitest";
import { blocksOf, promptFor } from "../../apps/summary/summary.js";

test("the model is given the page and how long the summary may be", () => {
  const page = { title: "Ships", text: "They float." };
  const prompt = promptFor(page, "sentence");
  expect(prompt).toMatch(/one sentence/);
  expect(prompt).toMatch(/Title: Ships\n\nThey float\.$/);
  expect(promptFor(page, "unheard of")).toBe(promptFor(page, "points"));
});

test("list items and paragraphs are distinguished for all common markers", () => {
  expect(
    blocksOf("## In short:\n- One\n* **Two** parts\n3. Three\n\nAnd\nmore."),
  ).toEqual([
    { text: "In short:" },
    { points: ["One", "Two parts", "Three"] },
    { text: "And more." },
  ]);
  expect(blocksOf("First.\n\n\nSecond.")).toEqual([
    { text: "First." },
    { text: "Second." },
  ]);
});

test("an answer that is still being written is shown as far as it goes", () => {
  expect(blocksOf("")).toEqual([]);
  expect(blocksOf("- One\n- ")).toEqual([{ points: ["One", ""] }]);
  expect(blocksOf("<b>x</b>")).toEqual([{ text: "<b>x</b>" }]);
});
