// @vitest-environment jsdom
// The socket of requests to the user: its messages, and when it closes.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Asks } from "../src/asks.js";
import { Http } from "../src/http.js";

class FakeSocket {
  static all: FakeSocket[] = [];
  onmessage: ((event: { data: string }) => void) | null = null;
  onopen: (() => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }

  close() {}
}

beforeEach(() => {
  FakeSocket.all = [];
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function watched(ask?: string) {
  const asked: string[] = [];
  const received: unknown[] = [];
  const fetch = (input: RequestInfo | URL) => {
    asked.push(input as string);
    const body = { error_code: "x", message: "No.", retryable: false };
    return Promise.resolve(Response.json(body, { status: 403 }));
  };
  const http = new Http({ baseUrl: "https://host:1", fetch });
  const stop = new Asks(http).watch({
    ask,
    onFrame: (frame) => received.push(frame),
    onState: (state, error) => received.push([state, error?.status]),
  });
  return { asked, received, stop };
}

test("frames are passed on, and an invalid one causes a reconnect", async () => {
  const { received, stop } = watched("a b");
  const [socket] = FakeSocket.all;
  expect(socket?.url).toBe("wss://host:1/ws/asks?ask=a+b");
  socket?.onopen?.();
  socket?.onmessage?.({ data: '{"type":"changed"}' });
  expect(received).toEqual([["live", undefined], { type: "changed" }]);
  socket?.onmessage?.({ data: "{" });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(FakeSocket.all).toHaveLength(2);
  stop();
});

test.each([
  [undefined, "/api/asks"],
  ["q", "/api/asks/q"],
])(
  "a socket that is refused asks why once, and does not come back",
  async (ask, path) => {
    const { asked, received } = watched(ask);
    FakeSocket.all[0]?.onclose?.({ code: 1006 });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(asked).toEqual([`https://host:1${path}`]);
    expect(received.at(-1)).toEqual(["closed", 403]);
    expect(FakeSocket.all).toHaveLength(1);
  },
);
