// Permissions in the UI: questions as they come and go, and buttons that wait until they were seen.
import {
  GangwayError,
  type AnswerAsk,
  type OriginPermissions,
  type PermissionAsk,
  type Permissions,
  type WatchOptions,
} from "@gangway/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { textOn } from "../src/chat/dress.js";
import { Calm } from "../src/permissions/calm.svelte.js";
import {
  ALL_SCOPES,
  askedFor,
  byServer,
  checkedFirst,
  choicesFor,
  chosen,
  isOwnMachine,
  splitTool,
  summary,
  untilWhen,
} from "../src/permissions/words.js";
import { AsksState } from "../src/permissions/asks.svelte.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const ask = (id: string): PermissionAsk => ({
  ...{ id, origin: "https://shop.example", scopes: ["chat:open"], waiting: 0 },
  onceOnly: false,
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
  const said: AnswerAsk = { decision: "once", tools: ["x/y"] };
  expect(await asks.answer(current, said)).toBe(true);
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
  await asks.answer(ask("b"), { decision: "deny" });
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
  expect(await asks.answer(ask("a"), { decision: "deny" })).toBe(false);
  expect(asks.problem?.code).toBe("unreachable");
  expect(asks.current?.id).toBe("a");

  const late = state(() =>
    Promise.reject(new GangwayError("ask_not_found", "gone", { status: 404 })),
  );
  late.put("a");
  expect(await late.asks.answer(ask("a"), { decision: "deny" })).toBe(true);
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

const scopesOf = (some: Partial<OriginPermissions["scopes"]>) => {
  const scopes = ALL_SCOPES.map((scope) => [
    scope,
    some[scope] ?? "not-granted",
  ]);
  return Object.fromEntries(scopes) as OriginPermissions["scopes"];
};

test("a site's permissions are one line of words", () => {
  expect(summary({ scopes: scopesOf({}) })).toBe("Nothing is allowed");
  const scopes = scopesOf({
    "model:prompt": "granted-always",
    "model:list": "granted-always",
    "model:tools": "granted-always",
    "chat:open": "denied",
  });
  expect(summary({ scopes })).toBe("3 always allowed, 1 denied");
  const [soon, late] = ["2030-01-02T12:00:00Z", "2030-02-03T12:00:00Z"];
  const one = { scopes: { "model:list": soon } };
  expect(summary({ scopes, ends: one })).toBe(
    `2 always allowed, 1 allowed until ${untilWhen(soon)}, 1 denied`,
  );
  const two = { scopes: { "model:list": late, "model:tools": soon } };
  expect(summary({ scopes, ends: two })).toBe(
    `1 always allowed, 2 allowed until ${untilWhen(soon)} or later, 1 denied`,
  );
  expect(splitTool("a/b/c")).toEqual({ server: "a", tool: "b/c" });
});

test("what can be set about a scope names its end where it has one", () => {
  const end = "2030-01-02T12:00:00Z";
  const site: OriginPermissions = {
    ...{ origin: "https://shop.example", servers: [], onceOnly: false },
    scopes: scopesOf({
      "model:prompt": "granted-always",
      "model:list": "granted-always",
      "chat:open": "granted-once",
    }),
    ends: { scopes: { "model:prompt": end } },
  };
  const words = (scope: "model:prompt" | "model:list" | "chat:open") =>
    choicesFor(site, scope).map((choice) => choice.value);
  const all = ["not-granted", "1h", "1d", "30d", "never", "denied"];
  expect(words("model:list")).toEqual(all);
  expect(words("model:prompt")).toEqual([all[0], "until", ...all.slice(1)]);
  expect(words("chat:open")).toEqual(["granted-once", ...all]);
  expect(chosen(site, "model:prompt")).toBe("until");
  expect(chosen(site, "model:list")).toBe("never");
  expect(chosen(site, "chat:open")).toBe("granted-once");
  expect(chosen(site, "model:tools")).toBe("not-granted");
  const lan = { ...site, onceOnly: true };
  const once = choicesFor(lan, "chat:open").map(({ value }) => value);
  expect(once).toEqual(["granted-once", "not-granted", "denied"]);
});

test("a question says at a glance how much it asks for, and beyond a handful of tools none is checked", () => {
  const tools = Array.from({ length: 6 }, (_, n) => ({
    ...{ name: `s${n % 2}/t${n}`, server: `s${n % 2}` },
  })) as NonNullable<PermissionAsk["tools"]>;
  expect(askedFor({ scopes: ["model:prompt", "mcp:tools.call"], tools })).toBe(
    "Requests 2 permissions (1 high-risk), 6 tools",
  );
  expect(checkedFirst(tools)).toEqual([]);
  expect(checkedFirst(tools.slice(0, 5))).toHaveLength(5);
  const groups = byServer(tools).map(([server, some]) => [server, some.length]);
  expect(groups).toEqual([
    ["s0", 3],
    ["s1", 3],
  ]);
  expect(isOwnMachine("http://localhost:8080/mcp")).toBe(true);
  expect(isOwnMachine("https://shop.example/mcp")).toBe(false);
});
