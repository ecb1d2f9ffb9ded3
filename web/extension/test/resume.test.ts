// A visit outlives the port it goes through: the service worker may die, and so may the bridge. Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BrokerSocket } from "@gangway/client/extension";
import { PortConnection } from "../src/connection.js";
import { BackgroundPort } from "../src/ui/background-port.js";
import { FakePort } from "./fake-ports.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function visit() {
  const ports: FakePort[] = [];
  const received: unknown[] = [];
  const lost = vi.fn();
  const refused = vi.fn();
  let gone = false;
  const socket = new BrokerSocket({
    connect: () =>
      new PortConnection(() => {
        if (gone) throw new Error("Extension context invalidated.");
        const port = new FakePort();
        ports.push(port);
        return port;
      }),
    hello: () => ({
      ...{ type: "hello", v: 1, origin: "https://a.example", tab: "0" },
    }),
    onMessage: ({ n }) => received.push(n),
    resumed: () => socket.send({ type: "call", id: 1, method: "again" }),
    ...{ lost, refused },
  });
  const last = () => ports.at(-1) as FakePort;
  const said = () => last().texts.map((text) => JSON.parse(text) as object);
  const tell = (message: object) => last().say(JSON.stringify(message));
  const welcome = (resumed: boolean) =>
    tell({ type: "welcome", visit: "v1", resumed });
  const leave = () => (gone = true);
  return {
    socket,
    ports,
    received,
    lost,
    refused,
    last,
    said,
    tell,
    welcome,
    leave,
  };
}

test("after a broken port, the visit resumes after the last number", async () => {
  const made = visit();
  made.socket.send({ type: "call", id: 1, method: "run" });
  await vi.advanceTimersByTimeAsync(0);
  made.welcome(false);
  expect(made.said()).toMatchObject([{ type: "hello" }, { method: "run" }]);
  made.tell({ n: 1, type: "event", id: 1, event: {} });
  made.tell({ n: 2, type: "event", id: 1, event: {} });
  made.last().end();
  await vi.advanceTimersByTimeAsync(250);
  expect(made.ports).toHaveLength(2);
  expect(made.said()).toMatchObject([{ type: "hello", visit: "v1", seen: 2 }]);
  made.welcome(true);
  // Earlier events are not delivered twice.
  made.tell({ n: 2, type: "event", id: 1, event: {} });
  made.tell({ n: 3, type: "result", id: 1, result: null });
  expect(made.received).toEqual([1, 2, 3]);
  expect(made.said()[1]).toMatchObject({ method: "again" });
  expect(made.lost).not.toHaveBeenCalled();
});

test("a way that stays closed is given up after half a minute", async () => {
  const made = visit();
  made.socket.send({ type: "call", id: 1, method: "run" });
  await vi.advanceTimersByTimeAsync(0);
  made.welcome(false);
  for (let second = 0; second < 31; second += 1) {
    if (!made.last().closed) made.last().end();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(made.lost).toHaveBeenCalledOnce();
});

test("a connection that is closed before it began opens nothing", async () => {
  const connect = vi.fn(() => new FakePort());
  new PortConnection(connect).close();
  await vi.advanceTimersByTimeAsync(0);
  expect(connect).not.toHaveBeenCalled();
});

test("a page whose extension was replaced must be reloaded", async () => {
  const made = visit();
  made.leave();
  made.socket.send({ type: "call", id: 1, method: "run" });
  await vi.advanceTimersByTimeAsync(0);
  expect(made.refused.mock.calls[0]?.[0]).toMatchObject({
    ...{ code: "ERR_NOT_INSTALLED", details: { reason: "extension_gone" } },
  });
});

function ownPage() {
  const ports: FakePort[] = [];
  const states: unknown[] = [];
  const port = new BackgroundPort(
    () => {
      const made = new FakePort();
      ports.push(made);
      return made;
    },
    { state: (state) => states.push(state), status: vi.fn() },
  );
  return { port, ports, states, last: () => ports.at(-1) as FakePort };
}

test("streams of extension pages resume after the background died", async () => {
  const made = ownPage();
  let since = 0;
  const live: boolean[] = [];
  const ended = vi.fn();
  const { stop } = made.port.follow({
    type: "chat_follow",
    fields: () => ({ since }),
    event: (seq) => (since = seq as number),
    live: (now) => live.push(now),
    ended,
  });
  expect(made.last().sent).toEqual([
    { id: 1, type: "chat_follow", fields: { since: 0 } },
  ]);
  made.last().say({ id: 1, event: 7 });
  made.last().end();
  await vi.advanceTimersByTimeAsync(250);
  expect(made.ports).toHaveLength(2);
  expect(made.last().sent).toEqual([
    { id: 2, type: "chat_follow", fields: { since: 7 } },
  ]);
  // The bridge behind it died too.
  const lost = { code: "bridge_lost", message: "lost" };
  made.last().say({ id: 2, error: lost });
  await vi.advanceTimersByTimeAsync(500);
  // Nothing was said meanwhile, and it is there all the same.
  made.last().say({ id: 3, event: null });
  expect(since).toBe(7);
  expect(live).toEqual([true, false, false, true]);
  const gone = { code: "session_deleted", message: "gone", status: 410 };
  made.last().say({ id: 3, error: gone });
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(0);
  expect(ended.mock.calls[0]?.[0]).toMatchObject(gone);
  stop();
});

test("a background that dies again and again is woken at longer intervals, with jitter", async () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  const made = ownPage();
  for (const [times, wait] of [125, 250, 500].entries()) {
    made.last().end();
    await vi.advanceTimersByTimeAsync(wait - 1);
    expect(made.ports).toHaveLength(times + 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(made.ports).toHaveLength(times + 2);
  }
  random.mockRestore();
});

test("a request of such a page fails when the background dies, and can be given up", async () => {
  const made = ownPage();
  const asked = made.port.request("list_servers");
  made.last().end();
  await expect(asked).rejects.toMatchObject({ code: "bridge_lost" });
  await vi.advanceTimersByTimeAsync(250);
  const stop = new AbortController();
  const other = made.port.request("list_servers", {}, stop.signal);
  stop.abort();
  expect(made.last().sent.at(-1)).toEqual({ id: 2, cancel: true });
  made.last().say({ id: 2, error: { code: "cancelled", message: "" } });
  await expect(other).rejects.toMatchObject({ code: "cancelled" });
  // What was given up before it was asked is not asked.
  const sent = made.last().sent.length;
  const third = made.port.request("list_servers", {}, stop.signal);
  await expect(third).rejects.toMatchObject({ name: "AbortError" });
  expect(made.last().sent).toHaveLength(sent);
});
