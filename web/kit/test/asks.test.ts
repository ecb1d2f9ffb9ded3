// Requests to the person: as they come and go, and when they were seen for long enough to be decided.
import { GangwayError, type AnswerAsk, type AskInfo } from "@gangway/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Calm } from "../src/asks/calm.svelte.js";
import { ask, CALM_MS, FORM, made, message } from "./ask-fixtures.js";

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const refused = (code: string, status: number) => () =>
  Response.json(
    { error_code: code, message: `It is ${code}.`, retryable: false },
    { status },
  );

test("the oldest request is shown, an answered one does not return, and each new one is announced once", async () => {
  const { asks, put, sent, fresh } = made();
  put(ask("a"));
  put(ask("a"), ask("b"));
  asks.review(ask("a"));
  const said: AnswerAsk = { decision: "once", tools: ["x/y"] };
  expect(await asks.answer(ask("a"), said)).toBe(true);
  expect(sent).toEqual([["POST /api/asks/a", said]]);
  expect(asks.elsewhere[0]?.id).toBe("b");
  // A list that was on its way already.
  put(ask("a"), ask("b"));
  expect(asks.all.map(({ id }) => id)).toEqual(["b"]);
  expect(fresh).toEqual(["b"]);
});

test("a dialog closes when its request is gone, also where another comes next, and changes of grants are counted", async () => {
  const { asks, put, watched } = made();
  const [a, b, c, d] = [ask("a"), ask("b"), ask("c"), ask("d")];
  put(a);
  asks.review(a);
  put();
  expect(asks.shown).toBeNull();
  put(b, c);
  asks.review(b);
  put(b, c, d);
  expect(asks.shown?.id).toBe("b");
  put(c, d);
  expect(asks.shown).toBeNull();
  asks.review(c);
  await asks.answer(c, { decision: "deny" });
  expect(asks.elsewhere[0]?.id).toBe("d");
  expect(asks.shown).toBeNull();
  watched.options?.onFrame({ type: "changed" });
  expect(asks.changes).toBe(1);
});

test("an answer that does not arrive keeps its request, one that came too late does not", async () => {
  const lost = made({}, () => Promise.reject(new TypeError("offline")));
  lost.put(ask("a"), ask("b"));
  const denied = lost.asks.answer(ask("a"), { decision: "deny" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await denied).toBe(false);
  expect(lost.asks.problemOf(ask("a"))).not.toBeNull();
  expect(lost.asks.problemOf(ask("b"))).toBeNull();
  expect(lost.asks.all).toHaveLength(2);

  const late = made({}, refused("ask_not_found", 404));
  late.put(ask("a"));
  expect(await late.asks.answer(ask("a"), { decision: "deny" })).toBe(true);
  expect(late.asks.all).toEqual([]);
  expect(late.asks.answered).toBeNull();
});

test("a request whose answer is checked stays, though the server does not list it then", async () => {
  const { asks, put } = made({}, () => {
    put();
    return refused("invalid_request", 400)();
  });
  put(ask("a"));
  asks.review(ask("a"));
  expect(await asks.answer(ask("a"), { decision: "once" })).toBe(false);
  expect(asks.shown?.id).toBe("a");
  expect(asks.problemOf(ask("a"))).toBe("It is invalid_request.");
  put();
  expect(asks.shown).toBeNull();
});

test("requests that block work open automatically, and can be dismissed until a new one arrives", () => {
  const { asks, put } = made();
  put(ask("a"));
  expect(asks.shown).toBeNull();
  put(ask("a"), ask("b", FORM));
  expect(asks.shown?.id).toBe("b");
  asks.close();
  expect(asks.shown).toBeNull();
  expect(asks.all).toHaveLength(2);
  put(ask("a"), ask("b", FORM), ask("c", FORM));
  expect(asks.shown?.id).toBe("c");
  asks.review(ask("b"));
  expect(asks.shown?.id).toBe("b");
});

test("messages are shown by the chat that they are for, and elsewhere where another one is open", () => {
  let chat: string | null = "s1";
  const { asks, put } = made({ chat: () => chat });
  put(ask("a", message("s1")), ask("b", message("s2")), ask("c"));
  const ids = (all: AskInfo[]) => all.map(({ id }) => id);
  expect(ids(asks.elsewhere)).toEqual(["b", "c"]);
  expect(ids(asks.inChat("s1"))).toEqual(["a"]);
  expect(asks.inChat(null)).toEqual([]);
  chat = null;
  put(ask("a", message("s1")), ask("c"));
  expect(ids(asks.elsewhere)).toEqual(["a", "c"]);
});

test("a window knows only its own request, and is done when there is none for it", () => {
  const { asks, put, watched } = made({ only: "b" });
  expect(watched.options?.ask).toBe("b");
  expect(asks.loaded).toBe(false);
  put(ask("a"), ask("b"));
  expect(asks.all.map(({ id }) => id)).toEqual(["b"]);
  watched.options?.onState?.("reconnecting");
  expect(asks.all).toHaveLength(1);
  const error = new GangwayError("ask_not_found", "gone", { status: 404 });
  watched.options?.onState?.("closed", error);
  expect(asks).toMatchObject({ loaded: true, all: [] });
});

test("nothing can be decided before it was seen and focused for 600 ms without a break", () => {
  const focused = vi.spyOn(document, "hasFocus").mockReturnValue(true);
  const calm = new Calm();
  const stop = calm.watch();
  vi.advanceTimersByTime(599);
  expect(calm.ready).toBe(false);
  vi.advanceTimersByTime(1);
  expect(calm.ready).toBe(true);
  window.dispatchEvent(new Event("resize"));
  expect(calm.ready).toBe(false);
  vi.advanceTimersByTime(300);
  window.dispatchEvent(new Event("resize"));
  vi.advanceTimersByTime(599);
  expect(calm.ready).toBe(false);
  focused.mockReturnValue(false);
  window.dispatchEvent(new Event("blur"));
  vi.advanceTimersByTime(10_000);
  expect(calm.ready).toBe(false);
  stop();
});

test("focus that comes back from a frame of the page is no break", () => {
  const calm = new Calm();
  const stop = calm.watch();
  vi.advanceTimersByTime(CALM_MS);
  window.dispatchEvent(new Event("blur"));
  expect(calm.ready).toBe(false);
  vi.advanceTimersByTime(CALM_MS);
  window.dispatchEvent(new Event("focus"));
  expect(calm.ready).toBe(true);
  stop();
});

test("clicking or typing too early restarts the delay, and later clicks change nothing", () => {
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  const calm = new Calm();
  const stop = calm.watch();
  for (const name of ["pointerdown", "keydown"]) {
    vi.advanceTimersByTime(599);
    document.body.dispatchEvent(new Event(name, { bubbles: true }));
  }
  vi.advanceTimersByTime(599);
  expect(calm.ready).toBe(false);
  vi.advanceTimersByTime(1);
  expect(calm.ready).toBe(true);
  document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
  expect(calm.ready).toBe(true);
  stop();
});
