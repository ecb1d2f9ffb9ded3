// @vitest-environment jsdom
// The state an applet sees: merged by version, whole, frozen, and asked for again after a gap.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AppletChannel } from "../src/applet/channel.js";
import { connect } from "../src/applet/connect.js";
import type { State } from "../src/applet/wire.js";
import { FakeSocket, ready, settle } from "./applet-wire.js";

let channel: AppletChannel;
let socket: FakeSocket;
let seen: State[];

beforeEach(() => {
  FakeSocket.all = [];
  seen = [];
  channel = connect({
    session: "s1",
    url: "http://host:1",
    WebSocket: FakeSocket as unknown as typeof WebSocket,
  });
  socket = FakeSocket.last();
  socket.onopen?.();
  socket.say(ready);
});

afterEach(() => channel.dispose());

let seq = 0;
const update = (version: number, data: Record<string, unknown>) => ({
  type: "stateUpdate",
  data,
  version,
  seq: (seq += 1),
});

async function known(data: State, version: number): Promise<void> {
  const { id } = socket.asked("getState");
  socket.say({ type: "state", id, data, version });
  await settle();
}

test("a new listener gets the whole state, immediately if it is known", async () => {
  channel.onState((state) => seen.push(state));
  expect(seen).toEqual([]);
  await known({ a: 1 }, 3);
  const late: State[] = [];
  channel.onState((state) => late.push(state));
  expect(seen).toEqual([{ a: 1 }]);
  expect(late).toEqual([{ a: 1 }]);
  expect(socket.sent).toHaveLength(1);
});

test("patches merge by key, null deletes, and old ones change nothing", async () => {
  const stop = channel.onState((state) => seen.push(state));
  await known({ a: 1, b: { c: 2 } }, 3);
  socket.say(update(4, { a: null, d: [1] }), update(4, { a: 9 }));
  socket.say(update(3, { b: null }));
  expect(seen.at(-1)).toEqual({ b: { c: 2 }, d: [1] });
  expect(seen).toHaveLength(2);
  stop();
  socket.say(update(5, { a: 1 }));
  expect(seen).toHaveLength(2);
});

test("what is handed out is frozen all the way down", async () => {
  channel.onState((state) => seen.push(state));
  await known({ a: { b: [1] } }, 1);
  socket.say(update(2, { c: { d: {} } }));
  const state = seen.at(-1) as { a: { b: number[] }; c: { d: object } };
  expect(() => state.a.b.push(2)).toThrow(TypeError);
  expect(() => Object.assign(state.c.d, { e: 1 })).toThrow(TypeError);
});

test("a key called __proto__ is a key like any other", async () => {
  channel.onState((state) => seen.push(state));
  await known({ a: 1 }, 1);
  socket.onmessage?.({
    data: '{"type":"stateUpdate","version":2,"seq":99,"data":{"__proto__":{"hacked":1}}}',
  });
  const state = seen.at(-1);
  expect(Object.getPrototypeOf(state)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["hacked"]).toBeUndefined();
});

test("a gap leads to asking for the whole state, once", async () => {
  channel.onState((state) => seen.push(state));
  await known({ a: 1 }, 1);
  socket.say(update(3, { c: 3 }), update(4, { d: 4 }));
  expect(seen).toHaveLength(1);
  expect(socket.sent).toHaveLength(2);
  await known({ a: 1, b: 2, c: 3 }, 3);
  expect(seen.at(-1)).toEqual({ a: 1, b: 2, c: 3, d: 4 });
  expect(socket.sent).toHaveLength(2);
});

test("a patch that overtakes the first answer is not lost", async () => {
  channel.onState((state) => seen.push(state));
  socket.say(update(2, { b: 2 }));
  await known({ a: 1 }, 1);
  expect(seen.at(-1)).toEqual({ a: 1, b: 2 });
});

test("a resync leads to asking for the state", async () => {
  channel.onState((state) => seen.push(state));
  await known({ a: 1 }, 7);
  socket.say({ type: "resync", reason: "trimmed", seq: 900, version: 3 });
  await known({ c: 3 }, 3);
  expect(seen.at(-1)).toEqual({ c: 3 });
});

test("a reconnect to a server that is ahead asks for the state", async () => {
  channel.onState((state) => seen.push(state));
  await known({ a: 1 }, 1);
  socket.say({ ...ready, version: 1 });
  expect(socket.sent).toHaveLength(1);
  socket.say({ ...ready, version: 2 });
  await known({ a: 2 }, 2);
  expect(seen.at(-1)).toEqual({ a: 2 });
});

test("own changes are not reported back, unless requested", async () => {
  const all: State[] = [];
  channel.onState((state) => seen.push(state));
  channel.onState((state) => all.push(state), { own: true });
  await known({}, 0);
  const set = channel.setState({ a: 1 });
  const { id } = socket.asked("setState");
  socket.say({ ...update(1, { a: 1 }), id }, update(1, { a: 1 }));
  await set;
  expect(seen).toEqual([{}]);
  expect(all).toEqual([{}, { a: 1 }]);
  // What others change comes with it.
  socket.say(update(2, { b: 2 }));
  expect(seen.at(-1)).toEqual({ a: 1, b: 2 });
});

test("an applet that answers each update with another does not run in a circle", async () => {
  let sets = 0;
  channel.onState((state) => {
    sets += 1;
    if (sets > 5) return;
    void channel.setState({ n: Number(state["n"] ?? 0) + 1 });
    const { id } = socket.asked("setState");
    queueMicrotask(() => socket.say({ ...update(sets, { n: sets }), id }));
  });
  await known({}, 0);
  await settle();
  expect(sets).toBe(1);
});

test("one key can be asked for", async () => {
  const value = channel.getState("a");
  const { id, key } = socket.asked("getState");
  expect(key).toBe("a");
  socket.say({ type: "state", id, data: { a: [1] }, version: 1 });
  expect(await value).toEqual([1]);
});
