// @vitest-environment jsdom
// How the feed of a remote agent connects, resumes and ends; time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RemoteAgent } from "../src/embed/agent.js";
import type { AgentFeed } from "../src/embed/feed.js";
import type { FeedFrame } from "../src/generated/wire.js";
import { delta, snapshot } from "./frames.js";

/** The server's end of one request for events. */
interface Opened {
  url: URL;
  headers: Record<string, string>;
  say: (...frames: object[]) => void;
  raw: (text: string) => void;
  end: () => void;
  gone: boolean;
}

let opened: Opened[];
let refuse: (() => Response | Promise<Response>) | null;
let frames: FeedFrame[];
let told: string[];
let feed: AgentFeed;

const fetcher = ((input: string, init: RequestInit) => {
  if (refuse) return Promise.resolve(refuse());
  const encoder = new TextEncoder();
  let control: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => void (control = given),
  });
  const raw = (text: string) => control.enqueue(encoder.encode(text));
  const request: Opened = {
    url: new URL(input),
    headers: init.headers as Record<string, string>,
    say: (...all) =>
      all.forEach((frame) => raw(`data: ${JSON.stringify(frame)}\n\n`)),
    raw,
    end: () => control.close(),
    gone: false,
  };
  init.signal?.addEventListener("abort", () => {
    request.gone = true;
    control.error(new DOMException("gone", "AbortError"));
  });
  opened.push(request);
  return Promise.resolve(new Response(body));
}) as typeof fetch;

const settle = () => vi.advanceTimersByTimeAsync(0);

async function start(): Promise<Opened> {
  const agent = new RemoteAgent("a 1", "tok", {
    baseUrl: "http://host:1",
    fetch: fetcher,
  });
  feed = agent.events({
    onFrame: (frame) => frames.push(frame),
    onAgentState: (state) => told.push(`agent ${state}`),
    onEnded: (reason) => told.push(`ended ${reason}`),
    onState: (state, error) =>
      told.push(error ? `${state} ${error.code}` : state),
    random: () => 1,
  });
  await settle();
  return last();
}

function last(): Opened {
  const request = opened.at(-1);
  if (!request) throw new Error("nothing was asked for");
  return request;
}

beforeEach(() => {
  vi.useFakeTimers();
  opened = [];
  refuse = null;
  frames = [];
  told = [];
});

afterEach(() => {
  feed.dispose();
  vi.useRealTimers();
});

test("it asks with the token in a header and begins with a snapshot", async () => {
  const request = await start();
  expect(request.url.href).toBe("http://host:1/api/remote_agents/a%201/events");
  expect(request.headers).toMatchObject({
    authorization: "Bearer tok",
    accept: "text/event-stream",
  });
  request.say({ type: "agent.state", state: "idle" }, snapshot({ seq: 4 }));
  request.say(delta(5, "a"), delta(5, "again"), delta(6, "b"));
  await settle();
  expect(frames.map(({ type }) => type)).toEqual([
    "snapshot",
    "assistant.message_delta",
    "assistant.message_delta",
  ]);
  expect(told).toEqual(["live", "agent idle"]);
  expect(feed.last).toBe(6);
});

test("a stream that ends is resumed after the last number", async () => {
  const request = await start();
  request.say(snapshot({ seq: 4 }), delta(5, "a"));
  await settle();
  request.end();
  await vi.advanceTimersByTimeAsync(249);
  expect(opened).toHaveLength(1);
  expect(feed.state).toBe("reconnecting");
  await vi.advanceTimersByTimeAsync(1);
  expect(last().url.searchParams.get("since")).toBe("5");
  last().say(delta(5, "a"), delta(6, "b"));
  await settle();
  expect(feed.last).toBe(6);
  expect(frames).toHaveLength(3);
  expect(told).toEqual(["live", "reconnecting", "live"]);
});

test("a server that is away is asked again, less and less often", async () => {
  const request = await start();
  const waits: number[] = [];
  refuse = () => {
    waits.push(Date.now());
    return Promise.reject(new TypeError("connection refused"));
  };
  const from = Date.now();
  request.end();
  await vi.advanceTimersByTimeAsync(8_000);
  expect(waits.map((at) => at - from)).toEqual([250, 750, 1_750, 3_750, 7_750]);
  refuse = null;
  feed.reconnect();
  await settle();
  expect(feed.state).toBe("live");
});

test.each([
  [401, "invalid_token"],
  [404, "agent_not_found"],
])("%i is an answer for good", async (status, error_code) => {
  const request = await start();
  const body = { status, error_code, message: "No.", retryable: false };
  refuse = () => Response.json(body, { status });
  request.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual(["live", "reconnecting", `closed ${error_code}`]);
});

test("an agent that ended is not asked again", async () => {
  const request = await start();
  request.say({ type: "agent.ended", reason: "shutdown" });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual(["live", "ended shutdown", "closed"]);
  expect(opened).toHaveLength(1);
  expect(request.gone).toBe(true);
});

test("a frame that cannot be read is asked for again", async () => {
  const request = await start();
  request.say(snapshot({ seq: 4 }));
  request.raw("data: {half\n\n");
  await vi.advanceTimersByTimeAsync(250);
  expect(last().url.searchParams.get("since")).toBe("4");
});

test("comments keep a stream alive, silence ends it", async () => {
  const request = await start();
  for (let n = 0; n < 5; n += 1) {
    await vi.advanceTimersByTimeAsync(40_000);
    request.raw(": still here\n\n");
  }
  await settle();
  expect(opened).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(45_250);
  expect(opened).toHaveLength(2);
  expect(request.gone).toBe(true);
});

test("a page that is seen again replaces a stream that was quiet", async () => {
  await start();
  await vi.advanceTimersByTimeAsync(10_000);
  document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  expect(opened).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10_000);
  document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  expect(opened).toHaveLength(2);
});

test("nothing happens after it was disposed", async () => {
  const request = await start();
  feed.dispose();
  window.dispatchEvent(new Event("online"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(request.gone).toBe(true);
  expect(opened).toHaveLength(1);
  expect(told).toEqual(["live", "closed"]);
});
