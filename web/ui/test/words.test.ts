import { GangwayError, type ProviderInfo } from "@gangway/client";
import { expect, test } from "vitest";
import { errorInWords, resultInWords } from "../src/models/result.js";
import {
  defaultInWords,
  groupsOf,
  type Known,
} from "@gangway/kit/models/words.js";

function provider(id: string, rest: Partial<ProviderInfo> = {}): ProviderInfo {
  return {
    ...{ id, type: id, name: id.toUpperCase(), available: true, models: 0 },
    ...{ isDefault: false, isTypeDefault: true, isNative: false },
    ...{ supportsTools: true, runtime: "bridge", downloadRequired: false },
    ...rest,
  };
}

const known: Known = {
  all: [provider("ollama"), provider("work", { type: "openai" })],
  models: [
    { id: "ollama/a", provider: "ollama", name: "a", isDefault: true },
    { id: "ollama/b/c", provider: "ollama", name: "b/c", isDefault: false },
  ],
  default: { provider: "ollama", model: "a" },
  choice: null,
};

test("the words say what answers and why", () => {
  const words = (change: Partial<Known>) =>
    defaultInWords({ ...known, ...change });
  expect(words({})).toBe("Automatic: using a on OLLAMA.");
  expect(words({ choice: "ollama/a" })).toBe("Using a on OLLAMA.");
  expect(words({ default: null })).toBe("No model is available yet.");
  expect(words({ default: null, choice: "gone/x/y" })).toBe(
    "You chose x/y on gone, but no model is available.",
  );
});

test("a choice that cannot answer is not passed over in silence", () => {
  const all = [provider("ollama", { available: false })];
  expect(defaultInWords({ ...known, all, choice: "ollama/a" })).toBe(
    "You chose a on OLLAMA, which is unavailable.",
  );
  expect(defaultInWords({ ...known, choice: "gone/x" })).toBe(
    "You chose x on gone, which is unavailable. Using a on OLLAMA instead.",
  );
});

test("a choice by the provider's type is kept too", () => {
  const change = { default: { provider: "work" }, choice: "openai" };
  expect(defaultInWords({ ...known, ...change })).toBe("Using WORK.");
});

test("a provider without a list can be chosen as a whole", () => {
  const names = groupsOf(known).map(({ name, options }) => [
    name,
    ...options.map(({ id }) => id),
  ]);
  expect(names).toEqual([
    ["OLLAMA", "ollama/a", "ollama/b/c"],
    ["WORK", "work"],
  ]);
});

test("a choice that is no longer listed is still shown", () => {
  expect(groupsOf({ ...known, choice: "gone/x" })[0]).toEqual({
    name: "Chosen (unavailable)",
    options: [{ id: "gone/x", name: "x on gone" }],
  });
  expect(groupsOf({ ...known, choice: "ollama" })[0]).toEqual({
    name: "Chosen",
    options: [{ id: "ollama", name: "OLLAMA (its default model)" }],
  });
  expect(groupsOf({ ...known, choice: "ollama/b/c" })).toHaveLength(2);
});

test("a result names only what was measured", () => {
  const over = { running: false, ended: "stop", usage: null, speed: null };
  const pace = { firstMs: 420, writingMs: 1000 };
  expect(resultInWords({ ...over, pace: null })).toBe("");
  expect(resultInWords({ ...over, pace })).toBe("first token after 0.42 s");
  const usage = { input: 3, output: 42 };
  expect(
    resultInWords({ ...over, pace, usage, speed: 41, ended: "length" }),
  ).toBe(
    "cut off at the maximum length · 42 tokens · 41 tokens per second · first token after 0.42 s",
  );
});

test("the provider's words are added once", () => {
  const error = (message: string) =>
    errorInWords(new GangwayError("x", message, { details: "no memory" }));
  expect(error("It failed.")).toBe("It failed. The provider said: no memory");
  expect(error("It failed, saying: no memory")).toBe(
    "It failed, saying: no memory",
  );
});
