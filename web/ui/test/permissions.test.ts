// Permissions in the UI: questions as they come and go, and buttons that wait until they were seen.
import {
  GangwayError,
  type OriginPermissions,
  type PermissionAsk,
  type Permissions,
  type WatchOptions,
} from "@gangway/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { textOn } from "../src/panel/dress.js";
import { Calm } from "../src/permissions/calm.svelte.js";
import { ALL_SCOPES, splitTool, summary } from "../src/permissions/words.js";
import { AsksState } from "../src/state/asks.svelte.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const ask = (id: string): PermissionAsk => ({
  ...{ id, origin: "https://shop.example", scopes: ["chat:open"], waiting: 0 },
  ...{ askedAt: "2026-01-01T00:00:00Z", expiresAt: "2026-01-01T00:02:00Z" },
});

function state(answer: () => Promise<void> = () => Promise.resolve()) {
  const watched: { options?: WatchOptions } = {};
  const permissions = {
    answer: vi.fn(answer),
    watch: (options: WatchOptions) => {
      watched.options = options;
      return () => undefined;
    },
  };
  const asks = new AsksState(permissions as unknown as Permissions);
  asks.follow();
  const put = (...ids: string[]) =>
    watched.options?.onFrame({ type: "asks", asks: ids.map(ask) });
  return { asks, put, permissions, watched };
}

test("the oldest question is shown, and one that was answered does not come back", async () => {
  const { asks, put, permissions } = state();
  put("a", "b");
  const { current } = asks;
  if (!current) throw new Error("there is no question");
  expect(await asks.answer(current, "once", ["x/y"])).toBe(true);
  const said = { decision: "once", tools: ["x/y"] };
  expect(permissions.answer).toHaveBeenCalledWith("a", said);
  expect(asks.current?.id).toBe("b");
  // A list that was on its way already.
  put("a", "b");
  expect(asks.current?.id).toBe("b");
});

test("a dialog closes when its question is gone, also where another comes next, and changes of grants are counted", async () => {
  const { asks, put, watched } = state();
  put("a");
  asks.open = true;
  put();
  expect(asks.open).toBe(false);
  put("a", "b", "c");
  asks.open = true;
  put("a", "b", "c", "d");
  expect(asks.open).toBe(true);
  put("b", "c");
  expect(asks.open).toBe(false);
  asks.open = true;
  await asks.answer(ask("b"), "deny");
  expect(asks.current?.id).toBe("c");
  expect(asks.open).toBe(false);
  watched.options?.onFrame({ type: "changed" });
  expect(asks.changes).toBe(1);
});

test("an answer that does not arrive keeps its question, one that came too late does not", async () => {
  const { asks, put } = state(() =>
    Promise.reject(GangwayError.unreachable(null)),
  );
  put("a");
  expect(await asks.answer(ask("a"), "deny")).toBe(false);
  expect(asks.problem?.code).toBe("unreachable");
  expect(asks.current?.id).toBe("a");

  const late = state(() =>
    Promise.reject(new GangwayError("ask_not_found", "gone", { status: 404 })),
  );
  late.put("a");
  expect(await late.asks.answer(ask("a"), "deny")).toBe(true);
  expect(late.asks.current).toBeNull();
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

test("whoever clicks or types too early waits anew, and later clicks change nothing", () => {
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

test("text on a page's own colour can be read", () => {
  expect(textOn([255, 224, 0])).toBe("#000");
  expect(textOn([90, 20, 120])).toBe("#fff");
  expect(textOn([255, 255, 255])).toBe("#000");
  // On either side of where both read alike.
  expect(textOn([118, 118, 118])).toBe("#000");
  expect(textOn([116, 116, 116])).toBe("#fff");
});

test("a site's permissions are one line of words", () => {
  const of = (some: Partial<OriginPermissions["scopes"]>) => {
    const scopes = ALL_SCOPES.map((scope) => [
      scope,
      some[scope] ?? "not-granted",
    ]);
    return Object.fromEntries(scopes) as OriginPermissions["scopes"];
  };
  expect(summary(of({}))).toBe("Nothing is allowed");
  expect(
    summary(of({ "model:prompt": "granted-always", "chat:open": "denied" })),
  ).toBe("1 always allowed, 1 denied");
  expect(splitTool("a/b/c")).toEqual({ server: "a", tool: "b/c" });
});
