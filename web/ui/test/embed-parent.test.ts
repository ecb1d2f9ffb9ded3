// The messages between an embed and its parent page.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Parent } from "../src/embed/parent.js";

const SHOP = "https://shop.example";
let received: unknown[];
let posted: unknown[];
let parent: Parent | null;

/** The page around, which is not this one. */
const around = {
  postMessage: (...said: unknown[]) => posted.push(said),
} as unknown as Window;

beforeEach(() => {
  received = [];
  posted = [];
  vi.spyOn(window, "parent", "get").mockReturnValue(around);
});

afterEach(() => {
  parent?.dispose();
  vi.restoreAllMocks();
});

function open(
  origin: string | null,
  allowed: string[] = [SHOP],
): Parent | null {
  parent = Parent.of(origin, allowed, {
    send: (text) => received.push(["send", text]),
    style: (style) => received.push(["style", style]),
    focus: () => received.push(["focus"]),
  });
  return parent;
}

function say(data: unknown, from: Partial<MessageEventInit> = {}): void {
  const init = { data, origin: SHOP, source: around, ...from };
  const event = new MessageEvent("message", { data, origin: init.origin });
  Object.defineProperty(event, "source", { value: init.source });
  window.dispatchEvent(event);
}

const hello = { target: "gangway", type: "send", text: " hello " };

test("it posts to the exact origin, and no other", () => {
  open(SHOP)?.tell("state", { state: "idle" });
  expect(posted).toEqual([
    [{ source: "gangway", type: "state", state: "idle" }, SHOP],
  ]);
});

test.each([
  ["no origin", null],
  ["an origin that is not allowed", "https://evil.example"],
  ["everybody", "*"],
  ["no origin at all", "null"],
  ["an address with a path", `${SHOP}/`],
  ["a longer name", `${SHOP}.evil.example`],
  ["another scheme", "http://shop.example"],
])("there is nobody to talk with for %s", (_, origin) => {
  expect(open(origin, [SHOP, "*", "null", `${SHOP}/`])).toBeNull();
  say(hello);
  expect(received).toEqual([]);
});

test("a page that is not framed has no parent page", () => {
  vi.spyOn(window, "parent", "get").mockReturnValue(window);
  expect(open(SHOP)).toBeNull();
});

test("messages of the parent page are handled", () => {
  open(SHOP);
  say(hello);
  say({ target: "gangway", type: "focus" });
  say({
    target: "gangway",
    type: "style",
    variables: { accent: "red", font: "url(x)" },
  });
  expect(received).toEqual([
    ["send", "hello"],
    ["focus"],
    ["style", { accent: "red" }],
  ]);
});

test("other origins, other windows and junk are not", () => {
  open(SHOP);
  say(hello, { origin: "https://evil.example" });
  say(hello, { source: window });
  say(hello, { source: null });
  for (const junk of [
    null,
    "send",
    7,
    [],
    {},
    { ...hello, target: "other" },
    { ...hello, type: "shutdown" },
    { ...hello, text: 7 },
    { ...hello, text: "   " },
    { ...hello, text: "x".repeat(100_001) },
    { ...hello, type: "__proto__" },
  ]) {
    say(junk);
  }
  expect(received).toEqual([]);
});

test("nothing is handled after the end", () => {
  open(SHOP)?.dispose();
  say(hello);
  expect(received).toEqual([]);
});
