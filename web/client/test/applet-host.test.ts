// @vitest-environment jsdom
// The page around an applet's frame, and frames that mean harm; time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppletHost } from "../src/applet/host.js";
import type { ServerFrame } from "../src/applet/wire.js";
import { FakeSocket, ready } from "./applet-wire.js";
import { FakeMessageChannel, type FakePort } from "./fake-port.js";

let iframe: HTMLIFrameElement;
let host: AppletHost;
let socket: FakeSocket;
let posted: [Record<string, unknown>, string, FakePort[] | undefined][];
let problems: string[];
let left: number;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("MessageChannel", FakeMessageChannel);
  FakeSocket.all = [];
  posted = [];
  problems = [];
  left = 0;
  iframe = document.createElement("iframe");
  document.body.append(iframe);
  // jsdom gives a frame a new window with each address; a browser does not.
  const postMessage = (...said: never[]) => posted.push(said as never);
  Object.defineProperty(iframe, "contentWindow", { value: { postMessage } });
  host = new AppletHost(iframe, {
    session: "s1",
    applet: "board",
    theme: "dark",
    url: "http://host:1",
    onLeave: () => (left += 1),
    onProblem: (error) => problems.push(error.code),
    WebSocket: FakeSocket as unknown as typeof WebSocket,
    random: () => 1,
  });
  socket = FakeSocket.last();
  socket.onopen?.();
  socket.say({ ...ready, frame: "/applets/board/s3cret/frame" });
});

afterEach(() => {
  host.dispose();
  iframe.remove();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

interface Said {
  data?: unknown;
  origin?: string;
  source?: MessageEventSource | null;
}

function speak({ data, origin = "null", source }: Said): void {
  const event = new MessageEvent("message", {
    data: data ?? { type: "gangway:hello" },
    origin,
  });
  Object.defineProperty(event, "source", {
    value: source === undefined ? iframe.contentWindow : source,
  });
  window.dispatchEvent(event);
}

/** Shakes hands as the library in a frame does, and gives back the frame's end of the port. */
function enter(nonce = "n1"): FakePort {
  speak({ data: { type: "gangway:hello", nonce } });
  const port = posted.at(-1)?.[2]?.[0];
  if (!port) throw new Error("no port was handed over");
  return port;
}

function loaded(): void {
  iframe.dispatchEvent(new Event("load"));
}

test("a frame is given its sandbox, and its address by the server", () => {
  expect(iframe.getAttribute("sandbox")).not.toContain("same-origin");
  expect(iframe.getAttribute("sandbox")).toContain("allow-scripts");
  expect(iframe.getAttribute("src")).toBe(
    "http://host:1/applets/board/s3cret/frame",
  );
});

test("a greeting is answered with a port and what the frame may know", () => {
  const port = enter();
  expect(posted).toHaveLength(1);
  expect(posted[0]?.[0]).toEqual({
    type: "gangway:port",
    applet: "board",
    session: "s1",
    theme: "dark",
  });
  expect(port.got).toEqual([ready]);
});

test("only the frame gets answers, and only with an opaque origin", () => {
  speak({ source: window });
  speak({ source: null });
  speak({ origin: "http://host:1" });
  speak({ origin: "https://evil.example" });
  speak({ data: "gangway:hello" });
  speak({ data: { type: "gangway:port" } });
  expect(posted).toEqual([]);
});

test("messages and answers pass, under the frame's own ids", () => {
  const port = enter();
  port.postMessage({ type: "getState", id: "mine" });
  const { id } = socket.asked("getState");
  expect(id).not.toBe("mine");
  socket.say({ type: "state", id, data: { a: 1 }, version: 1 });
  socket.say({
    type: "messageDone",
    streamId: "t",
    outcome: "completed",
    seq: 3,
  });
  expect(port.got.slice(1)).toEqual([
    { type: "state", id: "mine", data: { a: 1 }, version: 1 },
    { type: "messageDone", streamId: "t", outcome: "completed", seq: 3 },
  ]);
});

test("bytes follow their announcement", () => {
  const port = enter();
  port.postMessage({ type: "readFile", id: 7, path: "a", binary: true });
  socket.piece(socket.asked("readFile").id, "abc", true);
  const [frame, bytes] = port.got.slice(1) as [ServerFrame, ArrayBuffer];
  expect(frame).toMatchObject({ type: "fileContent", id: 7, bytes: 3 });
  expect(bytes.byteLength).toBe(3);
});

test("the frame does not notice that a connection was lost", () => {
  const port = enter();
  port.postMessage({ type: "setState", id: 1, data: { a: 1 } });
  socket.drop();
  vi.advanceTimersByTime(5_000);
  const next = FakeSocket.last();
  next.onopen?.();
  const { id } = next.asked("setState");
  next.say({ type: "stateUpdate", id, data: { a: 1 }, version: 1, seq: 1 });
  expect(port.got.slice(1)).toMatchObject([{ type: "stateUpdate", id: 1 }]);
});

test("what is no message is dropped", () => {
  const port = enter();
  const loop: Record<string, unknown> = { type: "setState", id: 1 };
  loop["data"] = loop;
  for (const bad of [
    ...[null, 1, "ping", [], new Map([["type", "ping"]]), new ArrayBuffer(4)],
    ...[{}, { type: 1 }, { type: "login" }, { type: "constructor" }],
    ...[
      { type: "ping", id: {} },
      { type: "ping", id: "x".repeat(101) },
    ],
    ...[{ type: "ping", id: NaN }, loop, { type: "setState", data: 1n }],
  ]) {
    port.postMessage(bad);
  }
  expect(socket.sent).toEqual([]);
  port.postMessage({ type: "ping", id: 1 });
  expect(socket.sent).toHaveLength(1);
});

test("names of prototypes are passed on as plain keys", () => {
  const port = enter();
  const data = JSON.parse(
    '{"__proto__":{"hacked":1},"constructor":2}',
  ) as object;
  port.postMessage({ type: "setState", id: "__proto__", data });
  const sent = socket.asked("setState");
  expect(Object.keys(sent["data"] as object)).toContain("constructor");
  socket.say({ type: "stateUpdate", id: sent.id, data: {}, version: 1 });
  expect(port.got.at(-1)).toMatchObject({ id: "__proto__" });
  expect(({} as Record<string, unknown>)["hacked"]).toBeUndefined();
});

test("a message that is too large is refused, a large file is not", () => {
  const port = enter();
  const content = "x".repeat(2 * 1024 * 1024);
  port.postMessage({ type: "setState", id: 1, data: { content } });
  port.postMessage({ type: "writeFile", id: 2, path: "a", content });
  expect(port.got.at(-1)).toMatchObject({
    type: "error",
    id: 1,
    code: "too_large",
  });
  expect(socket.sent.map(({ type }) => type)).toEqual(["writeFile"]);
  const huge = "x".repeat(23 * 1024 * 1024);
  port.postMessage({ type: "writeFile", id: 3, path: "a", content: huge });
  expect(port.got.at(-1)).toMatchObject({ id: 3, code: "too_large" });
});

test("a flood is slowed down, and then cut off", () => {
  const port = enter();
  const answerAll = () => {
    for (const { id } of socket.sent.splice(0))
      socket.say({ type: "pong", id });
  };
  for (let round = 0; round < 400; round += 1) {
    port.postMessage({ type: "ping", id: round });
    answerAll();
  }
  port.postMessage({ type: "ping", id: "over" });
  expect(port.got.at(-1)).toMatchObject({ id: "over", code: "too_fast" });
  vi.advanceTimersByTime(1_000);
  port.postMessage({ type: "ping", id: "later" });
  answerAll();
  expect(port.got.at(-1)).toEqual({ type: "pong", id: "later" });

  for (let round = 0; round < 3_000; round += 1) {
    port.postMessage({ type: "ping" });
    answerAll();
  }
  expect(problems).toEqual(["flood"]);
  expect(socket.closed).toBe(true);
  expectDeaf();
});

function expectDeaf(): void {
  const before = posted.length;
  speak({});
  expect(posted).toHaveLength(before);
}

test("too many open questions are answered by the bound of the buffer", () => {
  const port = enter();
  for (let id = 0; id < 257; id += 1) port.postMessage({ type: "ping", id });
  expect(port.got.at(-1)).toMatchObject({ id: 256, code: "buffer_full" });
});

test("one document gets one port, however often it greets", () => {
  enter();
  speak({ data: { type: "gangway:hello", nonce: "n2" } });
  loaded();
  speak({ data: { type: "gangway:hello", nonce: "n1" } });
  expect(posted).toHaveLength(1);
});

test("after a navigation the old port is dead and its questions are forgotten", () => {
  const old = enter("n1");
  old.postMessage({ type: "subscribe", id: 1, path: "notes" });
  const { id } = socket.asked("subscribe");
  socket.say({ type: "subscribed", id, path: "notes" });
  old.postMessage({ type: "getState", id: 2 });
  const asked = socket.asked("getState");
  loaded();
  const fresh = enter("n2");
  expect(fresh).not.toBe(old);
  expect(socket.asked("unsubscribe")["path"]).toBe("notes");

  const before = socket.sent.length;
  old.postMessage({ type: "invoke", id: 3, prompt: "from the grave" });
  expect(socket.sent).toHaveLength(before);
  socket.say({ type: "state", id: asked.id, data: { secret: 1 }, version: 1 });
  expect(fresh.got).toEqual([ready]);
  expect(FakeSocket.all).toHaveLength(1);
});

test("a changed applet is loaded again, and a theme is passed on", () => {
  iframe.src = "about:blank";
  socket.say({ type: "reload", seq: 1 });
  expect(iframe.getAttribute("src")).toBe(
    "http://host:1/applets/board/s3cret/frame",
  );
  host.setTheme("light");
  expect(posted.at(-1)?.[0]).toEqual({ type: "gangway:theme", theme: "light" });
});

test("a session that is gone is reported once, and dispose is silent", () => {
  enter();
  socket.drop(4004);
  expect(problems).toEqual(["session_deleted"]);
  host.dispose();
  expect(problems).toHaveLength(1);
});

test("the keyboard focus can leave the frame, but scripts cannot steal it", () => {
  const leave = { type: "gangway:leave" };
  speak({ data: leave });
  expect(left).toBe(0);
  iframe.focus();
  speak({ data: leave, source: window });
  speak({ data: leave, origin: "https://evil.example" });
  expect(left).toBe(0);
  speak({ data: leave });
  expect(left).toBe(1);
});
