// The page that runs an agent: its log to search, what it asks for, and how events become entries.
import { expect, test } from "vitest";
import { LOG, SEARCH_LOG, searchLog } from "../../apps/research/log.js";
import {
  byServer,
  fold,
  optionsFrom,
  shown,
  since,
} from "../../apps/research/timeline.js";

const entriesOf = (...events) =>
  events.reduce((entries, event, n) => fold(entries, event, n * 100), []);

test("every kind of event is an entry, and words that follow each other are one", () => {
  const entries = entriesOf(
    { type: "status", message: "Thinking" },
    { type: "token", token: "Let me " },
    { type: "token", token: "look." },
    { type: "tool_call", tool: "page/search_log", args: { query: "storm" } },
    { type: "tool_result", tool: "page/search_log", result: "Nine hours." },
    { type: "token", token: "Two lines." },
    { type: "final", output: "Two lines." },
  );
  expect(entries.map(({ kind, title, at }) => [kind, title, at])).toEqual([
    ["status", "Thinking", 0],
    ["words", "", 100],
    ["call", "page/search_log", 300],
    ["result", "page/search_log", 400],
    ["words", "", 500],
    ["final", "", 600],
  ]);
  expect(entries[1]).toMatchObject({ text: "Let me look.", parts: 2 });
  expect(entries[2].detail).toBe('{\n  "query": "storm"\n}');
});

test("what failed says why, and events of a later Gangway do no harm", () => {
  const error = { code: "ERR_TOOL_FAILED", message: "It broke." };
  const entries = entriesOf(
    { type: "tool_result", tool: "a/b", result: null, error },
    { type: "unheard_of" },
    { type: "error", error },
  );
  expect(entries.map(({ kind, detail }) => [kind, detail])).toEqual([
    ["failed", "It broke."],
    ["failed", "It broke."],
  ]);
});

test("long values are cut and odd ones do not throw", () => {
  expect(shown("x".repeat(9000))).toHaveLength(4006);
  expect([shown(null), shown(undefined), shown(3)]).toEqual(["null", "", "3"]);
  expect(since(1234)).toBe("+1.2 s");
});

test("the form becomes what a run takes", () => {
  const form = { task: " Why? ", ticked: ["a/b"], calls: 3, cite: true };
  const plain = { task: "Why?", maxToolCalls: 3, requireCitations: true };
  expect(optionsFrom({ ...form, which: "fitting" })).toEqual(plain);
  expect(optionsFrom({ ...form, which: "all" })).toEqual({
    ...plain,
    useAllTools: true,
  });
  expect(optionsFrom({ ...form, which: "ticked" })).toEqual({
    ...plain,
    tools: ["a/b"],
  });
});

test("tools stand with their servers", () => {
  const tools = [
    { name: "z/one" },
    { name: "a/two", serverId: "a" },
    { name: "a/one" },
  ];
  expect(
    byServer(tools).map(([server, list]) => [server, list.length]),
  ).toEqual([
    ["a", 2],
    ["z", 1],
  ]);
});

test("the log is searched by words, the best entry first", () => {
  expect(searchLog("doubled lines")[0].day).toBe("13 March");
  expect(searchLog("harbour master glass").length).toBeLessThanOrEqual(5);
  expect(searchLog("of a")).toEqual([]);
  expect(SEARCH_LOG.execute({ query: "doubled" })).toMatch(
    /^13 March, Ines, harbour master: Both cutters/,
  );
  expect(SEARCH_LOG.execute({ query: "submarine" })).toMatch(/No entries/);
  expect(() => SEARCH_LOG.execute({})).toThrow("query must be a string.");
  expect(LOG.length).toBeGreaterThan(5);
});
