// @vitest-environment jsdom
// How a feed connects, resumes and gives up; time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SessionFeed, type SessionFeedOptions } from "../src/feed.js";
import type { FeedFrame } from "../src/generated/wire.js";
import { Http } from "../src/http.js";
import { Sessions } from "../src/sessions.js";
import { delta, snapshot } from "./frames.js";

/** A socket whose other end is the test. */
class FakeSocket {
  static all: FakeSocket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  closed = false;

  constructor(
    readonly url: string,
    readonly protocols?: string[],
  ) {
    FakeSocket.all.push(this);
  }

  close(): void {
    this.closed = true;
  }

  say(frame: FeedFrame): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  drop(code = 1006): void {
    this.onclose?.({ code });
  }

  static last(): FakeSocket {
    const socket = FakeSocket.all.at(-1);
    if (!socket) throw new Error("no socket was opened");
    return socket;
  }
}

let feed: SessionFeed;
let frames: FeedFrame[];
let states: string[];
let status: number;

function start(options: Partial<SessionFeedOptions> = {}): FakeSocket {
  const fetch = () => Promise.resolve(new Response("{}", { status }));
  feed = new SessionFeed("s 1", {
    onFrame: (frame) => frames.push(frame),
    onState: (state) => states.push(state),
    sessions: new Sessions(new Http({ baseUrl: "http://host:1", fetch })),
    WebSocket: FakeSocket as unknown as typeof WebSocket,
    random: () => 1,
    ...options,
  });
  return FakeSocket.last();
}

function startLive(): FakeSocket {
  const socket = start();
  socket.onopen?.();
  socket.say(snapshot({ seq: 4 }));
  return socket;
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.all = [];
  frames = [];
  states = [];
  status = 200;
});

afterEach(() => {
  feed.dispose();
  vi.useRealTimers();
});

test("it opens without a number and is live once the socket is", () => {
  const socket = start();
  expect(socket.url).toBe("ws://host:1/api/sessions/s%201/events");
  expect(feed.state).toBe("connecting");
  socket.onopen?.();
  expect(feed.state).toBe("live");
});

test("a lost socket is reopened after the last number seen", () => {
  const first = startLive();
  first.say(delta(5, "a"));
  first.drop();
  expect(feed.state).toBe("reconnecting");

  vi.advanceTimersByTime(250);
  const second = FakeSocket.last();
  expect(second).not.toBe(first);
  expect(second.url).toContain("?since=5");
  second.onopen?.();
  second.say(delta(5, "a"));
  second.say(delta(6, "b"));
  expect(frames.map((frame) => "seq" in frame && frame.seq)).toEqual([
    false,
    5,
    6,
  ]);
  expect(states).toEqual(["live", "reconnecting", "live"]);
});

test("events lost in a power cut are replaced, and the higher numbers continue", () => {
  const socket = startLive();
  socket.say(delta(5, "lost"));
  socket.drop();
  vi.advanceTimersByTime(250);
  const next = FakeSocket.last();
  expect(new URL(next.url).searchParams.get("since")).toBe("5");
  next.onopen?.();
  const shown = snapshot({ seq: 4 });
  if (shown.type !== "snapshot") throw new Error("not a snapshot");
  next.say({ ...shown, type: "resync", reason: "lost" });
  expect(feed.last).toBe(4);
  next.say(delta(1_000_001, "new"));
  expect(feed.last).toBe(1_000_001);
  expect(frames.at(-1)).toMatchObject({ seq: 1_000_001 });
});

test("a resync sets the number back", () => {
  const socket = startLive();
  const shown = snapshot({ seq: 2 });
  if (shown.type !== "snapshot") throw new Error("not a snapshot");
  socket.say({ ...shown, type: "resync", reason: "unknown_seq" });
  socket.say(delta(3, "a"));
  expect(frames).toHaveLength(3);
  expect(feed.last).toBe(3);
});

test("waits grow to five seconds and shrink again after a good connection", async () => {
  startLive().drop();
  const waits: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const before = FakeSocket.all.length;
    let waited = 0;
    while (FakeSocket.all.length === before) {
      await vi.advanceTimersByTimeAsync(50);
      waited += 50;
    }
    waits.push(waited);
    FakeSocket.last().drop();
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);

  await vi.advanceTimersByTimeAsync(5000);
  FakeSocket.last().onopen?.();
  vi.advanceTimersByTime(6000);
  const before = FakeSocket.all.length;
  FakeSocket.last().drop();
  vi.advanceTimersByTime(250);
  expect(FakeSocket.all).toHaveLength(before + 1);
});

test("jitter halves the wait at most", () => {
  const socket = start({ random: () => 0 });
  socket.onopen?.();
  socket.drop();
  vi.advanceTimersByTime(124);
  expect(FakeSocket.all).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(FakeSocket.all).toHaveLength(2);
});

test("a deleted session ends the feed", () => {
  startLive().drop(4004);
  vi.advanceTimersByTime(60_000);
  expect(feed.state).toBe("closed");
  expect(feed.error?.code).toBe("session_deleted");
  expect(FakeSocket.all).toHaveLength(1);
});

test("damaged data ends the feed instead of being asked for again and again", () => {
  const socket = startLive();
  socket.say({ type: "closing", reason: "corrupted", message: "Damaged." });
  vi.advanceTimersByTime(60_000);
  expect(feed.state).toBe("closed");
  expect(feed.error?.code).toBe("data_corrupted");
  expect(FakeSocket.all).toHaveLength(1);
});

test("a closing frame is passed on and the socket is opened again", () => {
  const socket = startLive();
  socket.say({ type: "closing", reason: "shutdown", message: "Bye." });
  expect(frames.at(-1)).toMatchObject({ type: "closing" });
  expect(socket.closed).toBe(true);
  vi.advanceTimersByTime(250);
  expect(FakeSocket.all).toHaveLength(2);
});

test("an unknown session ends the feed instead of trying for ever", async () => {
  status = 404;
  start().drop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(feed.state).toBe("closed");
  expect(feed.error?.status).toBe(404);
  expect(FakeSocket.all).toHaveLength(1);
});

test("a server that is down is tried again", async () => {
  status = 503;
  start().drop();
  await vi.advanceTimersByTimeAsync(300);
  expect(feed.state).toBe("reconnecting");
  expect(FakeSocket.all).toHaveLength(2);
});

test("a handshake that hangs is given up", async () => {
  const socket = start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(socket.closed).toBe(true);
  await vi.advanceTimersByTimeAsync(300);
  expect(FakeSocket.all).toHaveLength(2);
});

test("a quiet socket is replaced while it still counts as live", () => {
  const first = startLive();
  vi.advanceTimersByTime(60_000);
  first.say(delta(5, "a"));
  vi.advanceTimersByTime(119_000);
  expect(FakeSocket.all).toHaveLength(1);
  vi.advanceTimersByTime(1_000);
  const second = FakeSocket.last();
  expect(second.url).toContain("since=5");
  expect(first.closed).toBe(false);
  first.say(delta(6, "b"));
  second.onopen?.();
  expect(first.closed).toBe(true);
  second.say(delta(6, "b"));
  second.say(delta(7, "c"));
  expect(feed.last).toBe(7);
  expect(frames).toHaveLength(4);
  expect(states).toEqual(["live"]);
});

test("coming online reopens at once, also while waiting", () => {
  startLive().drop();
  window.dispatchEvent(new Event("online"));
  expect(FakeSocket.all).toHaveLength(2);
  FakeSocket.last().onopen?.();
  window.dispatchEvent(new Event("online"));
  expect(FakeSocket.all).toHaveLength(3);
});

test("a tab that comes back after a quiet while checks its socket", () => {
  startLive();
  document.dispatchEvent(new Event("visibilitychange"));
  expect(FakeSocket.all).toHaveLength(1);
  vi.advanceTimersByTime(20_000);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(FakeSocket.all).toHaveLength(2);
});

test("a frame that cannot be read makes the feed resume before it", () => {
  const socket = startLive();
  socket.onmessage?.({ data: "{" });
  vi.advanceTimersByTime(250);
  expect(FakeSocket.last().url).toContain("since=4");
});

test("an aborted feed is closed and stays closed", () => {
  const stop = new AbortController();
  const socket = start({ signal: stop.signal });
  stop.abort();
  expect(feed.state).toBe("closed");
  expect(feed.error).toBeUndefined();
  expect(socket.closed).toBe(true);
  window.dispatchEvent(new Event("online"));
  feed.reconnect();
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.all).toHaveLength(1);
});

test("each attempt is made with the key of the moment", async () => {
  const keys: string[] = [];
  const baseUrl = "http://host:1";
  const http = new Http({ baseUrl, apiKey: () => keys[0], fetch: vi.fn() });
  expect(start({ sessions: new Sessions(http) }).protocols).toBeUndefined();
  keys.push("k2");
  FakeSocket.last().onopen?.();
  FakeSocket.last().drop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(FakeSocket.last().protocols).toEqual(["gangway", "gangway.key.k2"]);
});

test("a feed whose login ended asks why, and stays closed", async () => {
  const socket = startLive();
  status = 401;
  socket.drop(4001);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(FakeSocket.all).toHaveLength(1);
  expect(feed.state).toBe("closed");
  expect(feed.error?.status).toBe(401);
});
