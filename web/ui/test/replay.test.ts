// Recordings: read line by line, told step by step, and the state and conversation at each.
import { same } from "@gangway/client";
import { expect, test } from "vitest";
import { marked } from "../src/replay/changes.js";
import { fineClock, lasted } from "../src/replay/clock.js";
import { ConversationFold } from "../src/replay/conversation.js";
import { figuresOf } from "../src/replay/figures.js";
import { Player, type Track } from "../src/replay/player.svelte.js";
import { RecordingReader, type Recorded } from "../src/replay/read.js";
import type { Recording } from "../src/replay/recording.js";
import { ReplayState } from "../src/replay/replay.svelte.js";
import { brief, contains, rowOf } from "../src/replay/words.js";
import {
  CHAT,
  events,
  linesOf,
  pieces,
  recordingOf,
  type Given,
} from "./replay-recording.js";

async function read(
  ...texts: string[]
): Promise<{ read: Recorded[]; problem: string }> {
  const found: Recorded[] = [];
  try {
    for await (const batch of new RecordingReader().read(pieces(...texts))) {
      found.push(...batch);
    }
    return { read: found, problem: "" };
  } catch (error) {
    return { read: found, problem: (error as Error).message };
  }
}

const rows = (recording: Recording) =>
  recording.steps.map((step) => rowOf(recording, step));

test("events are read however the text is cut into pieces", async () => {
  const list = events(...CHAT);
  const text = linesOf(list);
  for (const size of [1, 7, 1000, text.length]) {
    const cut = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(await read(...cut)).toEqual({ read: list, problem: "" });
  }
  // The last line may lack its end.
  expect(await read(text.trimEnd())).toEqual({ read: list, problem: "" });
});

test("what is damaged says where, and what came before it is kept", async () => {
  const [one, two, three] = events(...CHAT).map((each) => linesOf([each]));
  const cases: [string, RegExp][] = [
    [`${one}${two}{"seq": 3, "at`, /^Line 3 of the recording is not JSON/],
    [`${one}${two}[3]\n${three}`, /^Line 3 .* it is no JSON object/],
    [`${one}${two}{"seq":3}\n`, /^Line 3 .* `type` is missing/],
    [`${one}${two}{"seq":"3","type":"x"}\n`, /^Line 3 .* `seq` is no number/],
    [
      `${one}${two}{"seq":3,"type":"x","at":"noon"}\n`,
      /^Line 3 .* `at` is no time/,
    ],
    [`${one}${two}${one}`, /^Line 3 .* `seq` is 1, after 2/],
  ];
  for (const [text, problem] of cases) {
    const got = await read(text);
    expect(got.problem).toMatch(problem);
    expect(got.read).toHaveLength(2);
  }
  const deep = `{"seq":3,"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}\n`;
  expect((await read(`${one}${two}${deep}`)).problem).toMatch(
    /^Line 3 .* 200 levels deep/,
  );
  const study = { sessionId: "s", eventIndex: 0, type: "tool.call" };
  expect((await read(linesOf([study]))).problem).toMatch(/Line 1 .*`\/study`/);
  expect((await read("PNG\0\n")).problem).toMatch(/^Line 1 .* not JSON/);
});

test("a recording that says how much it holds is believed only if it does", async () => {
  const list = events(...CHAT);
  const header = {
    gangway: "recording",
    version: 1,
    title: "T",
    session: null,
  };
  const good = linesOf([{ ...header, events: list.length }, ...list]);
  expect((await read(good)).problem).toBe("");
  const less = linesOf([{ ...header, events: list.length }, ...list.slice(2)]);
  expect((await read(less)).problem).toMatch(/holds 15 events, and has 13/);
  const odd = linesOf([{ ...header, title: 7, events: 0 }]);
  expect((await read(odd)).problem).toMatch(/^Line 1 .* `title`/);
  const newer = linesOf([{ ...header, version: 2, events: 0 }]);
  expect((await read(newer)).problem).toMatch(/version 2.*reads version 1/);
});

test("each step says who acted, what they did and how long it took", () => {
  const recording = recordingOf(...CHAT);
  expect(rows(recording).map(({ who, what }) => `${who}: ${what}`)).toEqual([
    "Gangway: Chat created",
    "Person: You sent a message",
    "Agent: builtin started",
    "Agent: Tool call: tables/search",
    "Tool: Tool result: tables/search",
    "Applet: State of board, version 1, by board",
    "Agent: Agent message",
    "Agent: Turn ended: completed",
    "External agent: Agent ada sent a background message",
    "Agent: builtin started",
    "Agent: Tool call: calendar/read",
    "Tool: Tool failed: calendar/read",
    "External agent: State of board, version 2, by Agent ada",
    "Page: Event page.opened",
    "Agent: Turn ended: failed",
  ]);
  expect(rowOf(recording, 4).time).toBe("250 ms · 0:03.250");
  expect(rowOf(recording, 11)).toMatchObject({
    time: "3.0 s · 0:12.250",
    problem: "The calendar is locked.",
  });
  expect(recording.partner(3)).toBe(4);
  expect(recording.partner(4)).toBe(3);
  expect(recording.duration(3)).toBeNull();
});

test("pages, their tools and calls of them from outside are rows of their own", () => {
  const about = { pageId: "p-1", pageKind: "app", name: "board" };
  const page = (news: object) => ({ type: "page", ...about, news });
  const by = { kind: "agent", name: "ada" };
  const recording = recordingOf(
    page({ what: "opened", origin: "http://x", title: "Board" }),
    page({ what: "offered", tools: ["move"] }),
    page({
      ...{ what: "called", callId: "p1", by },
      ...{ tool: "page-board/move", arguments: { to: 2 } },
    }),
    page({
      ...{ what: "returned", callId: "p1", result: null },
      ...{ error: "The board is locked.", code: "ERR_TOOL_FAILED" },
    }),
    page({ what: "message", kind: "agent.message", payload: {}, by: "ada" }),
    page({ what: "left" }),
  );
  expect(rows(recording).map(({ who, what }) => `${who}: ${what}`)).toEqual([
    "Page: Page board opened",
    "Page: Page board offers tools",
    "External agent: Agent ada called page-board/move",
    "Page: Call failed on page board",
    "External agent: Agent ada sent agent.message",
    "Page: Page board closed",
  ]);
  expect(recording.partner(2)).toBe(3);
  expect(rowOf(recording, 3).problem).toBe("The board is locked.");
});

test("events that are not as their kind has them are shown as they are", () => {
  const odd: Given[] = [
    { type: "user.message" },
    { type: "app", news: null },
    { type: "applet.state", patch: 7, source: "x" },
    { type: "done", usage: [] },
    { type: "__proto__", source: { kind: "constructor" } },
    { type: "tool.execution_start", toolCallId: { a: 1 }, arguments: null },
    { type: "session.notice", message: 7 },
  ];
  const recording = recordingOf(...odd);
  const told = rows(recording);
  expect(told).toHaveLength(odd.length);
  expect(told[4]).toMatchObject({ who: "Gangway", what: "Event __proto__" });
  expect(recording.state.after(6).size).toBeGreaterThan(0);
  expect(new ConversationFold(recording).after(6).entries).toBeDefined();
  expect(figuresOf(recording).dots).toEqual([]);
});

test("the pieces of a message are one step with it", () => {
  const delta = (messageId: string, text: string) => ({
    ...{ type: "assistant.message_delta", streamId: "t", messageId },
    delta: text,
  });
  const whole = (messageId: string) => ({
    ...{ type: "assistant.message", streamId: "t", messageId, content: "" },
  });
  const recording = recordingOf(
    ...[delta("a", "1"), delta("a", "2"), whole("a"), delta("b", "1")],
    ...[{ type: "session.notice", streamId: "t", message: "" }],
    ...[delta("b", "2"), whole("b"), delta("c", "1"), delta("c", "2")],
  );
  expect(recording.steps).toEqual([2, 3, 4, 6, 8]);
  // A piece of a message leads to the message.
  expect(recording.stepOf(1)).toBe(2);
  expect(recording.stepOf(4)).toBe(6);
  expect(recording.stepOf(5)).toBe(4);
  expect(recording.stepOf(99)).toBe(8);
});

test("the state at a step is the fold of every change up to it, forwards and back", () => {
  const changes: Given[] = Array.from({ length: 2_500 }, (_, at) => ({
    ...{ type: "applet.state", applet: at % 2 ? "a" : "b", version: at + 1 },
    patch: { [`k${at % 7}`]: at % 5 === 0 ? null : at, last: { at } },
    source: { kind: "person" },
  }));
  const recording = recordingOf(...changes);
  const plain = (upTo: number) => {
    const all: Record<string, Record<string, unknown>> = {};
    for (const { applet, patch } of changes.slice(0, upTo + 1)) {
      const state = (all[String(applet)] ??= {});
      Object.assign(state, patch);
      for (const [key, value] of Object.entries(state)) {
        if (value === null) Reflect.deleteProperty(state, key);
      }
    }
    return all;
  };
  for (const step of [2499, 0, 1_234, 499, 500, 501, 999, 1_000, 2_001]) {
    const state = recording.state.after(step);
    const found = [...state.values()].map(({ name, values }) => [
      name,
      Object.fromEntries(values),
    ]);
    expect(Object.fromEntries(found)).toEqual(plain(step));
  }
  expect(recording.state.after(-1).size).toBe(0);
});

test("what a step changed in the state is marked, and what it removed", () => {
  const { state } = recordingOf(...CHAT);
  const board = marked(state.after(12), state.after(11)).find(
    ({ section }) => section.name === "board",
  );
  expect(board?.section.version).toBe(2);
  expect(board?.values).toEqual([
    { name: "table", value: 5, mark: "changed" },
    { name: "note", value: "window", mark: "removed" },
  ]);
  const session = marked(state.after(12), state.after(11))[0];
  expect(session?.touched).toBe(false);
  expect(same({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toBe(true);
  expect(same({ a: 1 }, { a: 1, b: undefined })).toBe(false);
  expect(same([], {})).toBe(false);
});

test("the conversation at a step is that of a fold of everything before, without hidden turns", () => {
  const turns: Given[] = Array.from({ length: 400 }, (_, at) => [
    {
      type: "user.message",
      streamId: `t${at}`,
      prompt: `Q${at}`,
      source: { kind: "person" },
      showInChat: true,
    },
    {
      type: "assistant.message",
      streamId: `t${at}`,
      messageId: `m${at}`,
      content: `A${at}`,
      partial: false,
      replaces: null,
    },
    {
      type: "done",
      streamId: `t${at}`,
      outcome: "completed",
      usage: null,
      idle: true,
    },
  ]).flat();
  const recording = recordingOf(...turns);
  const conversation = new ConversationFold(recording);
  const last = (at: number) => {
    const { entries } = conversation.after(at);
    return entries.slice(-2).map((each) => "content" in each && each.content);
  };
  expect(last(1_199)).toEqual(["Q399", "A399"]);
  expect(last(1_197)).toEqual(["A398", "Q399"]);
  expect(last(0)).toEqual(["Q0"]);
  expect(last(1)).toEqual(["Q0", "A0"]);
  const { entries, older } = conversation.after(1_199);
  expect(older).toBe(true);
  expect(entries.length).toBeLessThan(500);
  expect(conversation.after(1_199, 8).entries).toHaveLength(800);

  const chat = new ConversationFold(recordingOf(...CHAT));
  expect(chat.after(3).entries.at(-1)).toMatchObject({ state: "running" });
  expect(chat.after(14).entries.map(({ role }) => role)).toEqual([
    ...["user", "tool", "assistant"],
  ]);
});

test("playing waits as long as it took, shortened and at speed, and stops at the end", () => {
  const times = [0, 100, 100, 60_000, 60_500];
  let position = 0;
  const track: Track = {
    count: times.length,
    get position() {
      return position;
    },
    goTo: (to) => (position = to),
    timeOf: (at) => times[at] ?? 0,
  };
  const player = new Player(track);
  const after = (milliseconds: number) => {
    player.tick(milliseconds);
    return position;
  };
  player.toggle();
  expect(after(99)).toBe(0);
  expect(after(1)).toBe(1);
  // What happened at once is seen one by one; a minute is cut short.
  expect(after(40)).toBe(2);
  expect(after(1_999)).toBe(2);
  expect(after(1)).toBe(3);
  player.speed = 5;
  expect(after(100)).toBe(4);
  expect(player.playing).toBe(false);
  player.toggle();
  expect([position, player.playing]).toEqual([0, true]);
  player.by(1);
  expect([position, player.playing]).toEqual([1, false]);
  player.goTo(Infinity);
  expect(position).toBe(4);
});

async function opened(wanted: number | null = null, given = CHAT) {
  const replay = new ReplayState(wanted);
  const text = linesOf(events(...given));
  const source = { title: "Tables", session: "s", pieces: pieces(text) };
  await replay.load(
    () => Promise.resolve(source),
    new AbortController().signal,
  );
  return replay;
}

test("filters and searches leave out steps, and stepping goes by those that are left", async () => {
  const replay = await opened();
  expect([replay.count, replay.position]).toEqual([15, 0]);
  expect(replay.present.actors).toEqual([
    ...["person", "agent", "external", "applet", "page", "tool", "gangway"],
  ]);
  replay.choice = { actors: [], kinds: ["tool"], onlyBad: false };
  expect(replay.visible).toEqual([3, 4, 10, 11]);
  replay.player.goTo(2);
  expect([replay.at, replay.position]).toEqual([10, 2]);
  replay.choice = { actors: ["tool"], kinds: [], onlyBad: true };
  expect(replay.visible).toEqual([11]);
  // A jump to what is hidden shows it.
  replay.show(5);
  expect([replay.at, replay.count]).toEqual([5, 15]);
  await replay.search.find("LOCKED");
  expect(replay.visible).toEqual([11]);
  await replay.search.find("nowhere");
  expect(replay.count).toBe(0);
  await replay.search.find(" ");
  expect(replay.count).toBe(15);
});

test("a replay begins at the event that was asked for", async () => {
  expect((await opened(7)).at).toBe(6);
  expect((await opened(900)).at).toBe(14);
  const none = await opened(null, []);
  expect([none.loaded, none.count, none.failure]).toEqual([0, 0, null]);
});

test("figures count calls, durations and tokens", () => {
  const { tallies, dots, bars, input, output } = figuresOf(
    recordingOf(...CHAT),
  );
  expect(tallies).toMatchObject([
    { name: "Turns", calls: 2, failed: 1 },
    { name: "calendar/read", calls: 1, failed: 1, longest: 3_000, slowest: 11 },
    { name: "tables/search", calls: 1, failed: 0, median: 250 },
  ]);
  expect(dots.map(({ kind, bad }) => [kind, bad])).toEqual([
    ...[
      ["tool", false],
      ["turn", false],
      ["tool", true],
      ["turn", true],
    ],
  ]);
  expect([bars.length, input, output]).toEqual([1, 100, 20]);
});

test("a row is short however large its event is, and a search finds what is deep in it", () => {
  const huge = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at) => [`key${at}`, "x".repeat(100)]),
  );
  expect(brief(huge).length).toBeLessThan(500);
  expect(brief({ a: [1, "two", null], b: {} })).toBe(
    '{a: [1, "two", null], b: {}}',
  );
  expect(contains({ a: [{ b: "Deep DOWN" }] }, "deep down")).toBe(true);
  expect(contains({ deep: 1 }, "deep")).toBe(false);
  expect([fineClock(3_723_004), lasted(90_000), lasted(0)]).toEqual([
    ...["1:02:03.004", "1:30 min", "0 ms"],
  ]);
});
