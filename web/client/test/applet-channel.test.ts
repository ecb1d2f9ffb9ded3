// @vitest-environment jsdom
// A channel over its WebSocket: answers find their questions, and nothing is lost or done twice; time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AppletChannel } from "../src/applet/channel.js";
import { connect } from "../src/applet/connect.js";
import { FakeSocket, ready, settle } from "./applet-wire.js";

let channel: AppletChannel;
let states: string[];

function start(): FakeSocket {
  channel = connect({
    session: "s1",
    applet: "board",
    url: "http://host:1",
    onState: (state) => states.push(state),
    WebSocket: FakeSocket as unknown as typeof WebSocket,
    random: () => 1,
  });
  const socket = FakeSocket.last();
  socket.onopen?.();
  socket.say(ready);
  return socket;
}

/** Loses the socket and opens the next one. */
function reconnect(): FakeSocket {
  FakeSocket.last().drop();
  vi.advanceTimersByTime(5_000);
  const next = FakeSocket.last();
  next.onopen?.();
  return next;
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.all = [];
  states = [];
});

afterEach(() => {
  channel.dispose();
  vi.useRealTimers();
});

test("it opens the channel of a session and an applet, with a name of its own", () => {
  const url = new URL(start().url);
  expect(url.origin + url.pathname).toBe("ws://host:1/ws/applet");
  expect(url.searchParams.get("session")).toBe("s1");
  expect(url.searchParams.get("applet")).toBe("board");
  expect(url.searchParams.get("since")).toBeNull();
  expect(url.searchParams.get("client")).toMatch(/^[0-9a-f-]{36}$/);
});

test("answers that come out of order find their questions", async () => {
  const socket = start();
  const first = channel.stat("one.txt");
  const second = channel.listFiles("folder");
  const stat = socket.asked("stat");
  const list = socket.asked("listFiles");
  socket.say(
    {
      type: "files",
      id: list.id,
      path: "folder",
      entries: [],
      more: false,
    },
    {
      type: "fileStat",
      id: stat.id,
      path: "one.txt",
      kind: "file",
      size: 3,
      modified: "2026-11-15T00:00:00Z",
    },
  );
  expect(await first).toMatchObject({ path: "one.txt", size: 3 });
  expect(await second).toMatchObject({ path: "folder", entries: [] });
});

test("an error is thrown with its code", async () => {
  const socket = start();
  const written = channel.writeFile("../a", "text");
  await settle();
  const { id } = socket.asked("writeFile");
  socket.say({
    type: "error",
    id,
    code: "outside",
    error: "../a leads out of the session's folder.",
  });
  await expect(written).rejects.toMatchObject({
    name: "GangwayError",
    code: "outside",
    message: "../a leads out of the session's folder.",
  });
});

test("what was not answered is sent again once, under the same name and id", async () => {
  const first = start();
  const ping = channel.ping();
  const state = channel.setState({ a: 1 });
  const asked = first.asked("setState");
  first.say({ type: "pong", id: first.asked("ping").id });
  await ping;

  const second = reconnect();
  expect(second.sent).toEqual([asked]);
  const client = (socket: FakeSocket) =>
    new URL(socket.url).searchParams.get("client");
  expect(client(second)).toBe(client(first));
  second.say({
    type: "stateUpdate",
    id: asked.id,
    data: { a: 1 },
    version: 1,
    seq: 1,
  });
  await state;
  expect(reconnect().sent).toEqual([]);
  expect(states).toEqual([
    "live",
    "reconnecting",
    "live",
    "reconnecting",
    "live",
  ]);
});

test("messages that are sent without a connection wait for one", async () => {
  const first = start();
  first.drop();
  const ping = channel.ping();
  expect(first.sent).toEqual([]);
  vi.advanceTimersByTime(5_000);
  const second = FakeSocket.last();
  second.onopen?.();
  second.say({ type: "pong", id: second.asked("ping").id });
  await ping;
});

test("a reconnect resumes after the last number, without duplicates", () => {
  const started: unknown[] = [];
  const first = start();
  channel.on("messageDone", (event) => started.push(event.seq));
  const done = (seq: number) => ({ type: "messageDone", streamId: "x", seq });
  first.say(done(4), done(5));
  const second = reconnect();
  expect(new URL(second.url).searchParams.get("since")).toBe("5");
  second.say(done(5), done(6));
  expect(started).toEqual([4, 5, 6]);
});

test("an aborted question is given up and not asked again", async () => {
  start();
  const abort = new AbortController();
  const read = channel.readFile("a", { signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(read).rejects.toThrow("enough");
  expect(reconnect().sent).toEqual([]);
  const never = channel.readFile("a", { signal: abort.signal });
  await expect(never).rejects.toThrow("enough");
  expect(FakeSocket.last().sent).toEqual([]);
});

test("the buffer has a bound, and room again after an answer", async () => {
  const socket = start();
  const pings = Array.from({ length: 256 }, () => channel.ping());
  await expect(channel.ping()).rejects.toMatchObject({
    code: "buffer_full",
    retryable: true,
  });
  socket.say({ type: "pong", id: socket.sent[0]?.id ?? 0 });
  await pings[0];
  const another = channel.ping();
  socket.say({ type: "pong", id: socket.asked("ping").id });
  await another;
  for (const ping of pings.slice(1)) ping.catch(() => undefined);
});

test("the agent's answer comes in pieces and then whole", async () => {
  const socket = start();
  const deltas: string[] = [];
  const asked: unknown[] = [];
  channel.on("consentAsked", (event) => asked.push(event.id));
  const answer = channel.invoke("Explain", {
    session: "background",
    onDelta: (delta) => deltas.push(delta),
  });
  const message = socket.asked("invoke");
  expect(message).toMatchObject({ prompt: "Explain", session: "background" });
  const id = message.id;
  socket.say(
    { type: "consentAsked", id },
    { type: "invokeStarted", id, streamId: "t1", sessionId: "s1" },
    { type: "stream", id, delta: "Four" },
    { type: "stream", id, delta: "." },
    { type: "invokeComplete", id, result: "Four." },
  );
  expect(await answer).toBe("Four.");
  expect(deltas).toEqual(["Four", "."]);
  expect(asked).toHaveLength(1);
});

test("an answer that restarts after a reconnect is not duplicated", async () => {
  const first = start();
  let received = "";
  const answer = channel.invoke("Count", {
    onDelta: (delta) => (received += delta),
  });
  const { id } = first.asked("invoke");
  const say = (socket: FakeSocket, delta: string) =>
    socket.say({ type: "stream", id, delta });
  first.say({ type: "invokeStarted", id, streamId: "t", sessionId: "s1" });
  say(first, "one ");
  say(first, "two ");
  const second = reconnect();
  expect(second.asked("invoke").id).toBe(id);
  say(second, "one");
  const third = reconnect();
  say(third, "one two th");
  say(third, "ree");
  third.say({ type: "invokeComplete", id, result: "one two three" });
  expect(await answer).toBe("one two three");
  expect(received).toBe("one two three");
});

test("a server that closes is left, and come back to unless the session is gone", async () => {
  const first = start();
  first.say({ type: "closing", reason: "shutdown", message: "Bye." });
  expect(first.closed).toBe(true);
  vi.advanceTimersByTime(5_000);
  const second = FakeSocket.last();
  second.onopen?.();
  const ping = channel.ping();
  second.say({ type: "closing", reason: "deleted", message: "Gone." });
  await expect(ping).rejects.toMatchObject({ code: "session_deleted" });
});

test("a prompt need not be waited for, may fail, and may be stopped", async () => {
  const socket = start();
  const started = channel.invoke("Go", { waitForResult: false });
  const where = { streamId: "t1", sessionId: "s2" };
  socket.say({
    type: "invokeStarted",
    id: socket.asked("invoke").id,
    ...where,
  });
  expect(await started).toEqual(where);

  const failed = channel.invoke("Fail");
  socket.say({
    type: "invokeComplete",
    id: socket.asked("invoke").id,
    result: null,
    error: "The model is down.",
  });
  await expect(failed).rejects.toMatchObject({
    code: "turn_failed",
    message: "The model is down.",
  });

  const abort = new AbortController();
  const stopped = channel.invoke("Count", { signal: abort.signal });
  socket.say({
    type: "invokeStarted",
    id: socket.asked("invoke").id,
    ...where,
  });
  abort.abort();
  await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
  expect(socket.asked("stop")).toMatchObject({
    invoke: socket.asked("invoke").id,
  });
});

test("what was given up before it was said is stopped by the name the server knows", async () => {
  const socket = start();
  channel.ping().catch(() => undefined);
  const abort = new AbortController();
  const asked = channel.invoke("May I?", { signal: abort.signal });
  socket.say({ type: "consentAsked", id: socket.asked("invoke").id });
  abort.abort();
  await expect(asked).rejects.toMatchObject({ name: "AbortError" });
  expect(socket.asked("stop")).toMatchObject({
    invoke: socket.asked("invoke").id,
  });
});

test("a quiet channel pings instead of being replaced", () => {
  const socket = start();
  for (let minute = 0; minute < 5; minute += 1) {
    vi.advanceTimersByTime(60_000);
    socket.say({ type: "pong" });
  }
  expect(FakeSocket.all).toHaveLength(1);
  expect(socket.sent.every(({ type }) => type === "ping")).toBe(true);
});

test("a deleted session and dispose end every question", async () => {
  const first = pinging(start());
  FakeSocket.last().drop(4004);
  await expect(first).rejects.toMatchObject({ code: "session_deleted" });
  await expect(channel.ping()).rejects.toMatchObject({ code: "closed" });
  const second = pinging(start());
  channel.dispose();
  await expect(second).rejects.toMatchObject({ code: "closed" });
});

function pinging(_: FakeSocket): Promise<void> {
  return channel.ping();
}

test("its tools are offered, called and answered, and offered again after a reconnect", async () => {
  const socket = start();
  const unregister = channel.registerTool(
    { name: "add", parameters: { n: { type: "number" } } },
    ({ n }) => ({ sum: Number(n) + 1 }),
  );
  await settle();
  const offer = socket.asked("offerTools");
  expect(offer["tools"]).toMatchObject([{ name: "add" }]);
  const offered = { type: "toolsOffered", tools: ["add"], refused: [] };
  socket.say({ ...offered, id: offer.id, server: "page-board" });
  const call = { type: "toolCall", call: 7, name: "add", arguments: { n: 1 } };
  socket.say(call);
  await settle();
  const result = { type: "toolResult", call: 7, result: { sum: 2 } };
  expect(socket.asked("toolResult")).toEqual(result);
  const next = reconnect();
  next.say(ready);
  expect(next.asked("offerTools")["tools"]).toMatchObject([{ name: "add" }]);
  // The server did not get the result; nothing is run again for that.
  next.say(call);
  expect(next.asked("toolResult")).toEqual(result);
  unregister();
  await settle();
  expect(next.asked("offerTools")["tools"]).toEqual([]);
});
