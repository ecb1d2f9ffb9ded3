// @vitest-environment jsdom
// Files over the channel: read, written and watched, whatever happens to the connection; time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AppletChannel } from "../src/applet/channel.js";
import { connect } from "../src/applet/connect.js";
import { FakeSocket, ready, settle } from "./applet-wire.js";

let channel: AppletChannel;

function start(): FakeSocket {
  channel = connect({
    session: "s1",
    applet: "board",
    url: "http://host:1",
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
});

afterEach(() => {
  channel.dispose();
  vi.useRealTimers();
});

test("an interrupted read resumes", async () => {
  const first = start();
  const text = channel.readFile("a");
  const { id } = first.asked("readFile");
  expect(first.asked("readFile")).toMatchObject({ offset: 0, binary: true });
  first.piece(id, "Grü", false, { size: 12 });
  // Announced, but its bytes never came.
  first.say({
    type: "fileContent",
    id,
    bytes: 3,
    done: false,
  });

  const second = reconnect();
  const again = second.asked("readFile");
  expect(again["offset"]).toBe(4);
  expect(again.id).not.toBe(id);
  second.piece(again.id, "ße, Ada", true, { size: 12 });
  expect(await text).toBe("Grüße, Ada");
});

test("a file that changed while the connection was lost is not glued together", async () => {
  const first = start();
  const text = channel.readFile("a");
  first.piece(first.asked("readFile").id, "old ", false, { size: 12 });
  const second = reconnect();
  second.piece(second.asked("readFile").id, "new", true, { size: 7 });
  await expect(text).rejects.toMatchObject({ code: "file_changed" });
});

test("a long read asks for the next window when the last was taken", async () => {
  const socket = start();
  const window = "x".repeat(4 * 1024 * 1024);
  let release: () => void = () => undefined;
  const loads: number[] = [];
  const read = channel.readFile("a", {
    onChunk: (_, { loaded }) => {
      loads.push(loaded);
      return new Promise<void>((resolve) => (release = resolve));
    },
  });
  socket.piece(socket.asked("readFile").id, window, true);
  await settle();
  const stat = { type: "fileStat", path: "a", kind: "file", size: 4194305 };
  socket.say({ ...stat, id: socket.asked("stat").id, modified: "1" });
  await settle();
  expect(socket.sent.filter((sent) => sent.type === "readFile")).toHaveLength(
    1,
  );
  release();
  await settle();
  expect(socket.asked("readFile")).toMatchObject({ offset: 4194304 });
  socket.piece(socket.asked("readFile").id, "y", true);
  await settle();
  release();
  await settle();
  socket.say({ ...stat, id: socket.asked("stat").id, modified: "1" });
  expect(await read).toBe("");
  expect(loads).toEqual([4194304, 4194305]);
});

test("bytes come as bytes", async () => {
  const socket = start();
  const bytes = channel.readFile("a", { binary: true });
  const { id } = socket.asked("readFile");
  socket.piece(id, "ab", false);
  socket.piece(id, "c", false);
  socket.piece(id, "", true);
  expect([...(await bytes)]).toEqual([97, 98, 99]);
});

test("what is written may be text, bytes or an object", async () => {
  const socket = start();
  const written = () => {
    const { content, encoding } = socket.asked("writeFile");
    return [content, encoding];
  };
  const write = async (content: string | object) => {
    void channel.writeFile("a", content).catch(() => undefined);
    vi.useRealTimers();
    const before = socket.sent.length;
    await vi.waitUntil(() => socket.sent.length > before);
    return written();
  };
  const sent = [
    await write("Grüße"),
    await write(new Uint8Array([0, 255, 7])),
    await write({ a: [1] }),
  ];
  expect(sent).toEqual([
    ["Grüße", "utf8"],
    ["AP8H", "base64"],
    ['{\n  "a": [\n    1\n  ]\n}\n', "utf8"],
  ]);
});

test("a file that is too large is refused before it is sent", async () => {
  const socket = start();
  const written = channel.writeFile("a", new Uint8Array(16 * 1024 * 1024 + 1));
  await expect(written).rejects.toMatchObject({ code: "too_large" });
  const state = channel.setState({ a: "x".repeat(1024 * 1024) });
  await expect(state).rejects.toMatchObject({ code: "too_large" });
  expect(socket.sent).toEqual([]);
});

test("a watch is shared, survives a reconnect and ends with its last watcher", async () => {
  const first = start();
  const seen: string[] = [];
  const one = channel.subscribe("./notes/", ({ path }) =>
    seen.push(`1 ${path}`),
  );
  const two = channel.subscribe("notes", ({ path }) => seen.push(`2 ${path}`));
  expect(first.sent).toHaveLength(1);
  first.say({
    type: "subscribed",
    id: first.asked("subscribe").id,
    path: "notes",
  });
  await Promise.all([one.ready, two.ready]);
  first.say(
    { type: "fileChanged", path: "notes/a.md", event: "changed" },
    { type: "fileChanged", path: "notes2", event: "created" },
  );
  one();
  expect(seen).toEqual(["1 notes/a.md", "2 notes/a.md"]);

  const second = reconnect();
  expect(second.sent).toEqual([{ type: "subscribe", path: "notes" }]);
  expect(seen.at(-1), "what happened in between is unknown").toBe("2 notes");
  two();
  two();
  expect(second.sent.map(({ type }) => type)).toEqual([
    "subscribe",
    "unsubscribe",
  ]);
  second.say({
    type: "unsubscribed",
    id: second.asked("unsubscribe").id,
    path: "notes",
  });
  expect(reconnect().sent).toEqual([]);
});

test("unannounced binary messages lead to a new connection", () => {
  const socket = start();
  socket.onmessage?.({ data: new ArrayBuffer(3) });
  expect(socket.closed).toBe(true);
  vi.advanceTimersByTime(5_000);
  expect(FakeSocket.all).toHaveLength(2);
});
