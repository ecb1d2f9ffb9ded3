// A study session's log as steps, and what of it is drawn.
import type { StudyEvent } from "@gangway/client";
import { expect, test } from "vitest";
import { plotOf, WIDTH } from "../src/study/plot.js";
import { readSpec, rowsOf } from "../src/study/spec.js";
import { clock } from "../src/replay/clock.js";
import { momentOf, stepsOf } from "../src/study/steps.js";

const START = Date.parse("2026-02-13T10:22:17.000Z");

/** A log; each event a second after the one before. */
function log(
  ...events: [StudyEvent["direction"], string, Record<string, unknown>?][]
): StudyEvent[] {
  return events.map(([direction, type, payload = {}], eventIndex) => ({
    ...{ sessionId: "s-20260213-001", eventIndex, direction, type },
    payload: payload as StudyEvent["payload"],
    timestamp: new Date(START + eventIndex * 1000).toISOString(),
  }));
}

const spec = (stage: string, more = {}) => ({
  stage,
  title: `Which ${stage}?`,
  visibleItems: [{ id: "a", value: "A" }],
  items: [{ id: "a", name: "A" }],
  state: {},
  modification: {},
  display: { valueField: "name", component: "buttonGroup" },
  ...more,
});

const call = (toolName: string, reason: string, params = {}) => ({
  ...{ toolName, reason, params },
});

test("a call and its result are one step, with what was shown afterwards", () => {
  const steps = stepsOf(
    log(
      ["in", "session.start", { studyId: "pilot" }],
      ["out", "session.started"],
      ["in", "tool.call", call("select", "The first one.", { itemId: "m1" })],
      ["out", "tool.result", { ok: true, uiSpec: spec("movie") }],
      ["out", "state.updated", { source: "agent", uiSpec: spec("movie") }],
    ),
  );
  expect(steps.map(({ who, what, at }) => [who, what, at])).toEqual([
    ["relay", "Session started", 0],
    ["agent", "select (itemId: m1)", 2000],
  ]);
  expect(steps[1]).toMatchObject({
    ...{ why: "The first one.", problem: null, spec: { stage: "movie" } },
  });
});

test("answers are matched with their calls by id, and calls rejected by the relay are attributed to no agent", () => {
  const events = log(
    ["in", "tool.call", call("slow", "It takes a while.")],
    ["in", "tool.call", call("cut", "Nobody answers this.")],
    ["in", "tool.call", call("bad", "It fails.")],
    ["internal", "error", { code: "INVALID_PARAMS", message: "", of: "x" }],
    ["out", "error", { code: "TOOL_EXECUTION_FAILED", message: "no" }],
    ["out", "tool.result", { ok: true, uiSpec: spec("date") }],
  );
  const named = events.map((event, at) => ({
    ...event,
    ...[{ id: "r1" }, { id: "r2" }, { id: "r3" }][at],
    ...(at === 4 && { replyTo: "r3" }),
    ...(at === 5 && { replyTo: "r1" }),
  }));
  const steps = stepsOf(named);
  expect(
    steps.map(({ what, problem, spec }) => [
      what,
      problem?.split(":").slice(0, 2).join(":"),
      spec?.stage,
    ]),
  ).toEqual([
    ["slow", undefined, "date"],
    ["cut", undefined, undefined],
    ["bad", "Rejected by the page: TOOL_EXECUTION_FAILED", undefined],
    ["Rejected x", "Rejected by the relay: INVALID_PARAMS", undefined],
  ]);
});

test("a rejected call is marked, and the next one is not", () => {
  const steps = stepsOf(
    log(
      ["in", "tool.call", call("next", "On.")],
      ["out", "error", { code: "INVALID_PARAMS", message: "no" }],
      ["in", "tool.call", call("prev", "Back.")],
      ["out", "tool.result", { uiSpec: spec("date") }],
      ["out", "error", { code: "INVALID_MESSAGE", message: "what?" }],
    ),
  );
  expect(steps.map(({ what, problem }) => [what, problem])).toEqual([
    ["next", "Rejected by the page: INVALID_PARAMS: no"],
    ["prev", null],
    ["Rejected", "Rejected by the page: INVALID_MESSAGE: what?"],
  ]);
});

test("what the person did and said are steps of their own", () => {
  const did = { id: "m1", type: "user", text: "Chose Dune", tool: "select" };
  const said = { id: "m2", type: "user", text: "Evening, please" };
  const update = (entry: object) => ({
    ...{ source: "user", uiSpec: spec("movie"), messageHistory: [entry] },
  });
  const steps = stepsOf(
    log(
      ["out", "state.updated", { source: "stage", uiSpec: spec("movie") }],
      ["out", "state.updated", update(did)],
      ["out", "state.updated", update(said)],
      ["out", "user.message", { text: "Evening, please" }],
      ["in", "agent.message", { text: "Of course." }],
      ["internal", "relay.left", { role: "agent" }],
    ),
  );
  expect(steps.map(({ who, what }) => [who, what])).toEqual([
    ["page", "Shows: Which movie?"],
    ["user", "Chose Dune"],
    ["user", "“Evening, please”"],
    ["agent", "“Of course.”"],
    ["relay", "relay.left"],
  ]);
});

test("moments are texts or milliseconds", () => {
  expect(momentOf("2026-02-13T10:22:17.000Z")).toBe(START);
  expect(momentOf(START)).toBe(START);
  expect(momentOf("soon")).toBe(0);
  expect(clock(61_400)).toBe("1:01");
});

test("what is no spec is none, and a hostile one is cut and harmless", () => {
  for (const nothing of [null, 7, "x", [], undefined]) {
    expect(readSpec(nothing)).toBeNull();
  }
  const read = readSpec({
    title: "x".repeat(1000),
    visibleItems: Array.from({ length: 5000 }, () => ({ id: {}, value: [] })),
    state: { selectedList: "no list", quantities: [] },
    modification: 7,
  });
  expect(read?.title).toHaveLength(300);
  expect(read?.items).toHaveLength(2000);
  expect(read?.items[0]).toMatchObject({ id: "", value: "", quantity: null });
});

test("what is chosen is found by its id, in the form of today and in that of older logs", () => {
  const named = (id: string) => ({ id, value: id.toUpperCase() });
  const states = [
    {
      ...{ selected: named("a"), highlighted: [named("b")] },
      quantities: [{ item: named("b"), count: 2 }],
      booking: { status: "open", movie: named("a") },
    },
    { selected: "a", highlighted: ["b"], quantities: { b: 2 } },
  ];
  for (const state of states) {
    const read = readSpec({ visibleItems: [named("a"), named("b")], state });
    expect(read?.items).toMatchObject([
      { chosen: true, marked: false, quantity: 0 },
      { chosen: false, marked: true, quantity: 2 },
    ]);
    expect(read?.booked).toBeNull();
  }
  const booked = (booking: object) => readSpec({ state: { booking } })?.booked;
  expect(booked({ status: "booked", code: "K1" })).toBe("K1");
  expect(booked({ code: "K1" })).toBe("K1");
  expect(booked({ status: "cancelled", code: "K1" })).toBeNull();
});

test("seats stand in rows, from left to right", () => {
  const seat = (row: string, number: number) => ({
    ...{ id: `${row}${number}`, row, number },
  });
  const items = [seat("B", 1), seat("A", 10), seat("A", 9)];
  const read = readSpec({
    items,
    visibleItems: items.map(({ id }) => ({ id, value: id })),
    state: { selectedList: [{ id: "A9", value: "A9" }], highlighted: ["B1"] },
  });
  const rows = rowsOf(read?.items ?? []);
  expect(rows.map(([row, all]) => [row, all.map(({ id }) => id)])).toEqual([
    ["A", ["A9", "A10"]],
    ["B", ["B1"]],
  ]);
  expect(rows[0]?.[1][0]?.chosen).toBe(true);
  expect(rows[1]?.[1][0]?.marked).toBe(true);
});

test("the picture has a band for each turn of a stage, and a dot for each step", () => {
  const steps = stepsOf(
    log(
      ["out", "state.updated", { source: "stage", uiSpec: spec("movie") }],
      ["in", "tool.call", call("next", "On.")],
      ["out", "tool.result", { uiSpec: spec("theater") }],
      ["in", "tool.call", call("next", "On.")],
      ["out", "error", { code: "TOOL_EXECUTION_FAILED", message: "no" }],
      ["in", "agent.message", { text: "Hm." }],
    ),
  );
  const { bands, dots } = plotOf(steps);
  expect(bands.map(({ stage }) => stage)).toEqual(["movie", "theater"]);
  expect(bands.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(WIDTH);
  expect(dots.map(({ bad }) => bad)).toEqual([false, false, true, false]);
  expect(plotOf([])).toEqual({ bands: [], dots: [] });
});
