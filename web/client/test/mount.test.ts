// @vitest-environment jsdom
// A page of another site that embeds an app: what it forwards, and what it does not.
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

function welcome(seq = 0): void {
  socket.onopen?.();
  socket.say({ type: "welcome", seq });
}

function tell(seq: number): void {
  socket.say({ type: "agent-event", event: "y", payload: null, seq });
}

/** The messages that the frame received. */
function received(port: FakePort): (string | number)[] {
  return port.got.map((text) => {
    const { type, seq } = JSON.parse(String(text)) as {
      type: string;
      seq?: number;
    };
    return type === "agent-event" ? (seq ?? -1) : type;
  });
}

const event = '{"type":"weblet-event","id":"1","event":"x"}';

test("the frame gets its sandbox, its address once the socket is there, and after loading one port for its origin alone", () => {
  expect(frame.getAttribute("sandbox")).toBe(APP_SANDBOX);
  // An event between rendering the page and opening the socket would be lost.
  expect(frame.src).toBe("");
  welcome();
  expect(frame.src).toBe(URL);
  expect(posted).toEqual([]);
  load();
  expect(posted).toHaveLength(1);
  expect(posted[0]?.slice(0, 2)).toEqual([
    { type: "gangway-port", launchId: "l-1" },
    "http://form-builder.localhost:9",
  ]);
  expect(posted[0]?.[2]).toHaveLength(1);
});

test("messages are sent in both directions, and the URL has the position to resume at", async () => {
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
  welcome();
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
  welcome();
  port.postMessage(data);
  expect(socket.sent).toEqual([]);
});

test("what the agent says while the frame is loaded comes after the welcome, in order, once", () => {
  welcome(3);
  tell(4);
  tell(6);
  const first = load();
  expect(received(first)).toEqual(["welcome", 4, 6]);
  tell(9);
  // Said again by a server that resumed too early.
  tell(9);
  expect(received(first)).toEqual(["welcome", 4, 6, 9]);
  // A document that follows knows by the numbers what was said before it was written.
  expect(received(load())).toEqual(["welcome", 4, 6, 9]);
});

test("a frame loaded while disconnected gets everything after the next welcome", async () => {
  welcome(3);
  tell(4);
  socket.drop();
  const port = load();
  expect(received(port)).toEqual([]);
  await vi.advanceTimersByTimeAsync(400);
  socket = FakeSocket.last();
  welcome(5);
  tell(5);
  expect(received(port)).toEqual(["welcome", 4, 5]);
});

test("of what the agent said the last 256 events are kept, and no more than 4 MiB", () => {
  welcome();
  for (let seq = 1; seq <= 300; seq += 1) tell(seq);
  expect(received(load()).slice(1)).toEqual(
    Array.from({ length: 256 }, (_, at) => at + 45),
  );
  const payload = "x".repeat(1 << 20);
  for (let seq = 301; seq <= 310; seq += 1) {
    socket.say({ type: "agent-event", event: "y", payload, seq });
  }
  expect(received(load())).toEqual(["welcome", 308, 309, 310]);
});

test("what is over the limit is answered with an error, and passes again a second later", async () => {
  const port = load();
  welcome();
  const say = (at: number) =>
    port.postMessage(
      at % 2
        ? `{"type":"weblet-request","requestId":"${at}","action":"x"}`
        : `{"type":"weblet-event","id":"${at}","event":"x"}`,
    );
  for (let at = 0; at < 500; at += 1) say(at);
  expect(socket.sent).toHaveLength(400);
  const answers = port.got
    .slice(1)
    .map((text) => JSON.parse(String(text)) as Record<string, unknown>);
  expect(answers).toHaveLength(100);
  expect(answers[0]).toMatchObject({
    type: "weblet-nack",
    id: "400",
    error: {
      code: "E-AGT-003",
      message: "Too many messages: the limit is 100 per second",
    },
  });
  expect(answers[99]).toMatchObject({
    type: "weblet-response",
    requestId: "499",
    success: false,
    error: { code: "E-AGT-005" },
  });
  await vi.advanceTimersByTimeAsync(1_000);
  say(500);
  expect(socket.sent).toHaveLength(401);
  expect(problems).toEqual([]);
});

test("an app that floods is cut off, and the mounting page is notified", () => {
  const port = load();
  welcome();
  for (let at = 0; at < 3_000; at += 1) port.postMessage(event);
  expect(problems).toEqual(["flood"]);
  expect(socket.sent.length).toBeLessThanOrEqual(400);
  expect(received(port).at(-1)).toBe("closing");
  expect(mounted.state).toBe("closed");
  frame.dispatchEvent(new Event("load"));
  expect(posted).toHaveLength(1);
});

test.each([
  [4004, "session_deleted", "deleted"],
  [4404, "launch_gone", "deleted"],
  [4410, "launch_ended", "expired"],
])(
  "a socket that closes with %d is not opened again, and the app is told",
  async (code, problem, reason) => {
    const port = load();
    welcome();
    socket.drop(code);
    expect(problems).toEqual([problem]);
    expect(JSON.parse(String(port.got.at(-1)))).toMatchObject({
      type: "closing",
      reason,
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(FakeSocket.all).toHaveLength(1);
  },
);

test("a launch that the server says is over is over", () => {
  const port = load();
  welcome();
  socket.say({ type: "closing", reason: "expired" });
  expect(problems).toEqual(["launch_ended"]);
  expect(received(port)).toEqual(["welcome", "closing"]);
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
  expect(() => mountApp(options({ url }))).toThrow(/separate origin/);
});

test("an app without an origin of its own is not mounted, and the error says what to set", () => {
  const before = FakeSocket.all.length;
  const url = "https://apps.example.org/form-builder/?launch=T";
  expect(() => mountApp(options({ url }))).toThrow(
    /put {app} into the host name of apps_url/,
  );
  expect(FakeSocket.all).toHaveLength(before);
});

test("after dispose nothing is carried any more", () => {
  const port = load();
  welcome();
  mounted.dispose();
  port.postMessage(event);
  frame.dispatchEvent(new Event("load"));
  expect(socket.sent).toEqual([]);
  expect(posted).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
