// Recordings with apps and requests to the person: what a page of an app is shown with, and who decided what.
import { expect, test, vi } from "vitest";
import { countAt } from "../src/replay/app-logs.js";
import { ReplayState } from "../src/replay/replay.svelte.js";
import { rowOf } from "../src/replay/words.js";
import {
  events,
  linesOf,
  pieces,
  recordingOf,
  type Given,
} from "./replay-recording.js";

const page = (
  pageId: string,
  pageKind: string,
  name: string,
  news: object,
) => ({
  ...{ type: "page", pageId, pageKind, name, news },
});
const app = (launchId: string, news: object) => ({
  ...{ type: "app", app: "notes", launchId, news },
});
const call = (toolCallId: string, tool: string, success = true) => [
  {
    ...{ type: "tool.execution_start", streamId: "s.1", toolCallId, tool },
    arguments: { text: toolCallId },
  },
  {
    ...{ type: "tool.execution_complete", streamId: "s.1", toolCallId, tool },
    ...{ success, result: null, error: success ? null : "No." },
  },
];

test("the page of a launch gets its events, the calls that it carried out and the answers to its requests", () => {
  const recording = recordingOf(
    app("l-1", { what: "launched", agent: "ada" }),
    page("p-1", "app", "notes", {
      what: "opened",
      origin: "app:notes",
      title: "",
    }),
    page("p-1", "app", "notes", { what: "offered", tools: ["add"] }),
    app("l-1", { what: "told", event: "hint", payload: 1, source: {} }),
    ...call("c1", "page-notes/add"),
    ...call("c2", "page-notes/add", false),
    ...call("c3", "page-other/add"),
    page("p-1", "app", "notes", {
      ...{ what: "called", callId: "p1", tool: "page-notes/add", arguments: 2 },
    }),
    page("p-1", "app", "notes", {
      what: "returned",
      callId: "p1",
      error: null,
    }),
    app("l-1", { what: "event", event: "added", payload: 3 }),
    app("l-1", {
      what: "request",
      requestId: "r",
      action: "prompt",
      params: 4,
    }),
    app("l-1", { what: "answer", requestId: "r", result: 5, code: null }),
  );
  const log = recording.apps.of("app:l-1");
  expect(log).toMatchObject({ app: "notes", launchId: "l-1" });
  expect(log?.messages).toEqual([
    { type: "event", event: "hint", payload: 1 },
    { type: "call", name: "add", arguments: { text: "c1" } },
    { type: "call", name: "add", arguments: 2 },
    { type: "emitted", event: "added", payload: 3 },
    { type: "answer", action: "prompt", params: 4, result: 5, error: null },
  ]);
  expect(log && [0, 3, 4, 5].map((index) => countAt(log, index))).toEqual([
    0, 1, 1, 2,
  ]);
});

test("a page at the relay shows what it reported, in the launch that it is of", () => {
  const relay = (news: object) => page("p-2", "relay", "night", news);
  const update = (stage: string) =>
    relay({
      ...{ what: "message", kind: "state.updated", by: null },
      payload: { source: "agent", uiSpec: { stage }, messageHistory: [] },
    });
  const opened = relay({ what: "opened", origin: "notes", title: "night" });
  const alone = recordingOf(opened, update("one"));
  expect(alone.apps.of("relay:night")).toMatchObject({ launchId: null });
  const launched = recordingOf(
    app("l-1", { what: "launched", agent: "ada" }),
    opened,
    update("one"),
    update("two"),
    relay({
      ...{ what: "message", kind: "state.updated", by: null },
      payload: '{"uiSpec": {…',
    }),
    relay({ what: "offered", tools: ["next"] }),
    call("c1", "page-night/next")[0] as Given,
    {
      ...{ type: "tool.execution_complete", toolCallId: "c1", success: true },
      ...{ tool: "page-night/next", result: { uiSpec: { stage: "three" } } },
    },
  );
  expect(launched.apps.of("relay:night")).toBe(null);
  expect(launched.apps.of("app:l-1")?.messages).toEqual(
    ["one", "two", "three"].map((stage) => ({
      type: "state",
      state: expect.objectContaining({ uiSpec: { stage } }) as object,
    })),
  );
  const stage = (index: number) =>
    launched.state.after(index).get("relay:night")?.values.get("uiSpec");
  expect([1, 2, 3, 4, 7].map(stage)).toEqual([
    undefined,
    ...["one", "two", "two", "three"].map((stage) => ({ stage })),
  ]);
});

test("a site on the relay is no app, whatever it is called", () => {
  for (const origin of ["", "https://notes.example", "app:notes", "Notes"]) {
    const opened = { what: "opened", origin, title: "" };
    const recording = recordingOf(page("p", "relay", "night", opened));
    expect(recording.apps.of("relay:night"), origin).toBe(null);
  }
});

test("requests to the person are steps with who asked, what for, what was decided and how long it took", () => {
  const recording = recordingOf(
    {
      ...{ type: "ask.opened", askId: "a1" },
      asker: { kind: "agent", name: "Helper" },
      request: { type: "action", message: "call page-notes/add" },
    },
    {
      type: "ask.closed",
      after: 2_500,
      askId: "a1",
      outcome: "once",
      by: "person",
    },
    {
      ...{ type: "ask.opened", askId: "a2" },
      asker: { kind: "site", origin: "https://shop.example" },
      request: {
        ...{ type: "permission", scopes: ["mcp:tools.call"], tools: ["a/b"] },
        reason: "to fill the cart",
      },
    },
    { type: "ask.closed", askId: "a2", outcome: "expired", by: null },
  );
  const rows = recording.steps.map((step) => rowOf(recording, step));
  expect(rows.map(({ who, what }) => [who, what])).toEqual([
    ["External agent", "Helper asks for permission"],
    ["Person", "Allowed once"],
    ["Site", "https://shop.example asks for permission: mcp:tools.call"],
    ["Gangway", "Not answered in time"],
  ]);
  expect(rows[1]?.more).toBe(
    "Helper asks for permission: call page-notes/add, in the chat",
  );
  expect(rows[1]?.time).toContain("2.5 s");
  expect(recording.kinds).toEqual(["ask", "ask", "ask", "ask"]);
});

async function loaded(...text: string[]): Promise<ReplayState> {
  const replay = new ReplayState();
  const source = { title: "", session: "s", pieces: pieces(...text) };
  await replay.load(
    () => Promise.resolve(source),
    new AbortController().signal,
  );
  return replay;
}

const LIST = events(
  ...["one", "two", "three", "four"].map((message) => ({
    ...{ type: "session.notice", streamId: "s.1", message },
  })),
);

test("later events move a replay that is at its end, and are counted in any other place", async () => {
  const replay = await loaded(linesOf(LIST.slice(0, 2)));
  replay.goTo(1);
  replay.append(LIST.slice(1, 3));
  expect([replay.count, replay.at, replay.fresh]).toEqual([3, 2, 0]);
  replay.goTo(0);
  expect(replay.fresh).toBe(0);
  replay.append(LIST.slice(3));
  expect([replay.count, replay.at, replay.fresh]).toEqual([4, 0, 1]);
  replay.player.goTo(Infinity);
  expect([replay.at, replay.fresh]).toEqual([3, 0]);
});

test("a search goes on in later events, and a message that grows stays one step", async () => {
  const delta = (delta: string) => ({
    ...{ type: "assistant.message_delta", messageId: "m", delta },
  });
  const list = events(delta("a tea"), delta("pot"), delta(" and tea"));
  const replay = await loaded(linesOf(list.slice(0, 1)));
  await replay.search.find("tea");
  expect(replay.count).toBe(1);
  replay.append(list.slice(1, 2));
  await Promise.resolve();
  expect(replay.count).toBe(0);
  replay.append(list.slice(2));
  await vi.waitFor(() => expect(replay.at).toBe(2));
  expect(replay.count).toBe(1);
});

test("a request of an app is answered by Gangway, or by the agent that did", () => {
  const answer = (by: string | null) =>
    app("l-1", { what: "answer", requestId: "r", result: 5, code: null, by });
  const recording = recordingOf(answer("gangway"), answer("ada"), answer(null));
  expect([0, 1, 2].map((index) => rowOf(recording, index).who)).toEqual([
    "Gangway",
    "External agent",
    "Gangway",
  ]);
});
