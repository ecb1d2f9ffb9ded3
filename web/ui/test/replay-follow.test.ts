// A replay that follows its session: what comes over the feed, after a lost connection too.
import { Http, Sessions, type FeedFrame } from "@gangway/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { follow } from "../src/replay/follow.js";
import type { Recorded } from "../src/replay/read.js";
import { ReplayState } from "../src/replay/replay.svelte.js";
import { events, linesOf, pieces } from "./replay-recording.js";

const LIST = events(
  ...["one", "two", "three", "four"].map((message) => ({
    ...{ type: "session.notice", streamId: "s.1", message },
  })),
);

/** The server's end of each feed that was opened. */
let feeds: FakeSocket[] = [];
class FakeSocket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly since: string | null;

  constructor(url: string) {
    this.since = new URL(url).searchParams.get("since");
    feeds.push(this);
  }

  close(): void {}

  say(...frames: (Recorded | FeedFrame)[]): void {
    this.onopen?.();
    for (const frame of frames) {
      this.onmessage?.({ data: JSON.stringify(frame) });
    }
  }
}

let stop: AbortController;
let exported: string;
const sessions = new Sessions(
  new Http({
    baseUrl: "http://gangway:1",
    fetch: () => Promise.resolve(new Response(exported)),
  }),
);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  feeds = [];
  stop = new AbortController();
});

afterEach(() => {
  stop.abort();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function followed(
  first: readonly Recorded[],
): Promise<[ReplayState, FakeSocket]> {
  const replay = new ReplayState();
  const source = { title: "Old", session: "s", pieces: pieces(linesOf(first)) };
  await replay.load(() => Promise.resolve(source), stop.signal);
  follow(replay, sessions, "s", stop.signal);
  const [feed] = feeds;
  if (!feed) throw new Error("no feed was opened");
  return [replay, feed];
}

const numbers = (replay: ReplayState) =>
  replay.recording.events.map(({ seq }) => seq);

test("events are appended from the last number on, several at once", async () => {
  const [replay, feed] = await followed(LIST.slice(0, 2));
  expect(feed.since).toBe("2");
  feed.say(...LIST.slice(2));
  expect(replay.live).toBe("live");
  expect(numbers(replay)).toEqual([1, 2]);
  await vi.runOnlyPendingTimersAsync();
  expect(numbers(replay)).toEqual([1, 2, 3, 4]);
  const changed = { seq: 5, at: "2026-03-01T11:00:00Z", title: "New" };
  feed.say({ ...changed, type: "session.changed" });
  await vi.runOnlyPendingTimersAsync();
  expect(replay.title).toBe("New");
});

test("what the server does not send one by one any more is read again, in order", async () => {
  const [replay, feed] = await followed(LIST.slice(0, 1));
  exported = linesOf(LIST.slice(0, 3));
  const snapshot = { seq: 3 } as Extract<
    FeedFrame,
    { type: "resync" }
  >["snapshot"];
  feed.say({ type: "resync", reason: "trimmed", snapshot }, ...LIST.slice(3));
  await vi.runOnlyPendingTimersAsync();
  await vi.runOnlyPendingTimersAsync();
  expect(numbers(replay)).toEqual([1, 2, 3, 4]);
});

test("a session that is deleted is told, and what was read stays", async () => {
  const [replay, feed] = await followed(LIST);
  feed.say();
  feed.onclose?.({ code: 4004 });
  expect(replay.live).toBe("closed");
  expect(replay.failure?.message).toContain("deleted");
  expect(replay.count).toBe(4);
});

test("a recording that could not be read to its end is not followed", async () => {
  const replay = new ReplayState();
  const source = { title: "", session: "s", pieces: pieces("{") };
  await replay.load(() => Promise.resolve(source), stop.signal);
  follow(replay, sessions, "s", stop.signal);
  expect(feeds).toEqual([]);
});
