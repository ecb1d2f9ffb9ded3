// @vitest-environment jsdom
// An app's page in a replay: it gets what the log has, in order, and what it does goes nowhere.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  RecordedApp,
  REPLAY_SANDBOX,
  type RecordedMessage,
} from "../src/context/recorded-app.js";
import { FakeMessageChannel, type FakePort } from "./fake-port.js";

const URL = "http://notes.localhost:9/__gangway/replay/CODE/";
const MESSAGES: RecordedMessage[] = [
  { type: "event", event: "hint", payload: 1 },
  { type: "call", name: "add", arguments: { text: "tea" } },
  { type: "emitted", event: "added", payload: { text: "tea" } },
  { type: "answer", action: "prompt", params: {}, result: "ok", error: null },
  { type: "state", state: { uiSpec: { stage: "one" } } },
  { type: "state", state: { uiSpec: { stage: "two" } } },
];

let frame: HTMLIFrameElement;
let app: RecordedApp;
let posted: [Record<string, unknown>, string, FakePort[]][];
let loads: number;
let problems: string[];
let shown: number;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("MessageChannel", FakeMessageChannel);
  [posted, problems] = [[], []];
  [loads, shown] = [0, 0];
  frame = document.createElement("iframe");
  const postMessage = (...said: never[]) => posted.push(said as never);
  Object.defineProperty(frame, "contentWindow", { value: { postMessage } });
  Object.defineProperty(frame, "src", { set: () => (loads += 1) });
  app = new RecordedApp({
    ...{ frame, url: URL, launchId: "l-1", messages: MESSAGES },
    onShown: () => (shown += 1),
    onProblem: ({ code }) => problems.push(code),
  });
});

afterEach(() => {
  app.dispose();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function load(): FakePort {
  frame.dispatchEvent(new Event("load"));
  const port = posted.at(-1)?.[2][0];
  if (!port) throw new Error("no port was handed over");
  return port;
}

const got = (port: FakePort) =>
  port.got.map((text) => JSON.parse(String(text)) as Record<string, unknown>);
const types = (port: FakePort) => got(port).map(({ type }) => type);
const offer = (port: FakePort, name: string) =>
  port.postMessage(JSON.stringify({ type: "weblet-tools", tools: [{ name }] }));

test("the frame has no origin, and gets one port for the launch", () => {
  expect(REPLAY_SANDBOX).toBe("allow-scripts");
  expect(frame.getAttribute("sandbox")).toBe(REPLAY_SANDBOX);
  load();
  expect(posted).toHaveLength(1);
  expect(posted[0]?.[0]).toEqual({ type: "gangway-port", launchId: "l-1" });
});

test("a page gets what the log has until the step, calls once it offers their tool", () => {
  app.show(2);
  const port = load();
  expect(types(port)).toEqual(["replay-state", "welcome", "agent-event"]);
  offer(port, "add");
  expect(got(port).at(-1)).toEqual({
    ...{ type: "tool-call", call: 1, name: "add", arguments: { text: "tea" } },
  });
  app.show(5);
  expect(got(port).at(-1)).toEqual({
    type: "replay-state",
    state: { uiSpec: { stage: "one" } },
  });
});

test("a call of a tool that the page does not offer waits for a while, not for ever", () => {
  app.show(2);
  const port = load();
  expect(types(port)).not.toContain("tool-call");
  vi.runAllTimers();
  expect(types(port)).toContain("tool-call");
});

test("stepping back loads the page again, unless it only reported states since", () => {
  app.show(6);
  const port = load();
  expect(got(port)[0]).toMatchObject({ state: { uiSpec: { stage: "two" } } });
  offer(port, "add");
  app.show(5);
  expect(loads).toBe(1);
  expect(got(port).at(-1)).toMatchObject({
    state: { uiSpec: { stage: "one" } },
  });
  app.show(0);
  expect(loads).toBe(2);
  expect(types(load())).toEqual(["replay-state", "welcome"]);
});

test("a page that shows states gets no calls, and goes back without being loaded again", () => {
  app.show(6);
  const port = load();
  port.postMessage('{"type":"replay-shown"}');
  offer(port, "add");
  expect(types(port)).toEqual(["replay-state", "welcome", "agent-event"]);
  app.show(1);
  expect(loads).toBe(1);
  expect(got(port).at(-1)).toEqual({ type: "replay-state", state: null });
});

test("what the page did then is answered as it was, anything else is refused", () => {
  app.show(1);
  const port = load();
  const emit = (id: string, text: string) =>
    port.postMessage(
      JSON.stringify({
        ...{ type: "weblet-event", id, event: "added", payload: { text } },
      }),
    );
  emit("1", "tea");
  expect(got(port).at(-1)).toEqual({ type: "weblet-ack", id: "1" });
  emit("2", "tea");
  expect(got(port).at(-1)).toMatchObject({ type: "weblet-nack", id: "2" });
  const request = (requestId: string, action: string) =>
    port.postMessage(
      JSON.stringify({ type: "weblet-request", requestId, action, params: {} }),
    );
  request("3", "save-file");
  expect(got(port).at(-1)).toMatchObject({ requestId: "3", success: false });
  // Its answer comes at a later step.
  const before = port.got.length;
  request("4", "prompt");
  expect(port.got).toHaveLength(before);
  offer(port, "add");
  app.show(4);
  expect(got(port).at(-1)).toMatchObject({ requestId: "4", result: "ok" });
});

test("a page that says that it shows states is believed, and one that floods is cut off", () => {
  const port = load();
  port.postMessage('{"type":"replay-shown"}');
  expect(shown).toBe(1);
  port.postMessage("[");
  for (let sent = 0; sent < 500; sent += 1) port.postMessage('{"type":"ping"}');
  expect(problems).toEqual(["flood"]);
});
