// @vitest-environment jsdom
// A page of somebody's own around an app: what it carries, and what it does not.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  APP_SANDBOX,
  mountApp,
  type MountedApp,
  type MountOptions,
} from "../src/context/mount.js";
import { FakeSocket } from "./applet-wire.js";
import { FakeMessageChannel, type FakePort } from "./fake-port.js";

let frame: HTMLIFrameElement;
let mounted: MountedApp;
let socket: FakeSocket;
let posted: [Record<string, unknown>, string, FakePort[]][];
let problems: string[];

const URL = "http://form-builder.localhost:9/?launch=T";

function options(more: Partial<MountOptions> = {}): MountOptions {
  return {
    frame,
    server: "http://gangway:1",
    launchId: "l-1",
    url: URL,
    onProblem: ({ code }) => problems.push(code),
    WebSocket: FakeSocket as unknown as typeof WebSocket,
    random: () => 1,
    ...more,
  };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("MessageChannel", FakeMessageChannel);
  FakeSocket.all = [];
  posted = [];
  problems = [];
  frame = document.createElement("iframe");
  const postMessage = (...said: never[]) => posted.push(said as never);
  Object.defineProperty(frame, "contentWindow", { value: { postMessage } });
  mounted = mountApp(options());
  socket = FakeSocket.last();
});

afterEach(() => {
  mounted.dispose();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function load(): FakePort {
  frame.dispatchEvent(new Event("load"));
  const port = posted.at(-1)?.[2][0];
  if (!port) throw new Error("no port was handed over");
  return port;
}

const event = '{"type":"weblet-event","id":"1","event":"x"}';

test("the frame gets its address, its sandbox, and after loading one port for its origin alone", () => {
  expect(frame.src).toBe(URL);
  expect(frame.getAttribute("sandbox")).toBe(APP_SANDBOX);
  expect(posted).toEqual([]);
  load();
  expect(posted).toHaveLength(1);
  expect(posted[0]?.slice(0, 2)).toEqual([
    { type: "gangway-port", launchId: "l-1" },
    "http://form-builder.localhost:9",
  ]);
  expect(posted[0]?.[2]).toHaveLength(1);
});

test("messages go both ways, and the address says where to go on", async () => {
  expect(socket.url).toMatch(
    /^ws:\/\/gangway:1\/ws\/launch-pages\/l-1\?page=[0-9a-f-]{36}$/,
  );
  const port = load();
  socket.onopen?.();
  socket.say({ type: "welcome", seq: 4 });
  expect(port.got).toEqual(['{"type":"welcome","seq":4}']);
  port.postMessage(event);
  expect(socket.sent).toEqual([JSON.parse(event)]);
  socket.say({ type: "agent-event", event: "y", seq: 9 });
  expect(port.got).toHaveLength(2);
  socket.drop();
  // It would be lost: the app sends it again when it is welcomed.
  port.postMessage(event);
  await vi.advanceTimersByTimeAsync(400);
  socket = FakeSocket.last();
  expect(socket.url).toMatch(/&since=9$/);
  socket.onopen?.();
  expect(socket.sent).toEqual([]);
  socket.say({ type: "welcome", seq: 9 });
  expect(port.got).toHaveLength(3);
});

test("a frame that loads later, or again, is welcomed on a port of its own", () => {
  socket.onopen?.();
  socket.say({ type: "welcome", seq: 0 });
  const first = load();
  expect(first.got).toHaveLength(1);
  const second = load();
  expect(second.got).toHaveLength(1);
  first.postMessage(event);
  expect(socket.sent).toEqual([]);
  second.postMessage(event);
  expect(socket.sent).toHaveLength(1);
});

test.each([
  { type: "weblet-event" },
  "not JSON",
  "null",
  "7",
  '{"type":"weblet-response","requestId":"1"}',
  '{"type":"agent-event","event":"x"}',
  '{"type":{"toString":1}}',
  `{"type":"weblet-event","payload":"${"x".repeat(1_200_000)}"}`,
])("what an app may not say is not carried: %#", (data) => {
  const port = load();
  socket.onopen?.();
  socket.say({ type: "welcome", seq: 0 });
  port.postMessage(data);
  expect(socket.sent).toEqual([]);
});

test("an app that floods is cut off, and told to whoever mounted it", () => {
  const port = load();
  socket.onopen?.();
  socket.say({ type: "welcome", seq: 0 });
  for (let at = 0; at < 3_000; at += 1) port.postMessage(event);
  expect(problems).toEqual(["flood"]);
  expect(socket.sent.length).toBeLessThanOrEqual(400);
  expect(mounted.state).toBe("closed");
  frame.dispatchEvent(new Event("load"));
  expect(posted).toHaveLength(1);
});

test("a key travels as a subprotocol, never in the address", () => {
  const protocols: unknown[] = [];
  class Noting extends FakeSocket {
    constructor(url: string, offered?: unknown) {
      super(url);
      protocols.push(offered);
    }
  }
  const other = mountApp(
    options({
      key: "secret",
      WebSocket: Noting as unknown as typeof WebSocket,
    }),
  );
  expect(protocols).toEqual([["gangway", "gangway.key.secret"]]);
  expect(FakeSocket.last().url).not.toContain("secret");
  other.dispose();
});

test("an app of the page's own origin is not mounted", () => {
  const url = `${location.origin}/app/?launch=T`;
  expect(() => mountApp(options({ url }))).toThrow(/origin of their own/);
});

test("after dispose nothing is carried any more", () => {
  const port = load();
  socket.onopen?.();
  socket.say({ type: "welcome", seq: 0 });
  mounted.dispose();
  port.postMessage(event);
  frame.dispatchEvent(new Event("load"));
  expect(socket.sent).toEqual([]);
  expect(posted).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
