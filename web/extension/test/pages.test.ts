// Whose page it is: the browser's word alone counts.
import { expect, test, vi } from "vitest";
import { servePage, visitIn } from "../src/pages.js";
import { isOwn, originOf, tabName, type Sender } from "../src/sender.js";
import { FakeHost, settled } from "./fake-bridge.js";
import { FakePort } from "./fake-ports.js";

const SHOP: Sender = {
  origin: "https://shop.example",
  ...{ frameId: 0, tab: { id: 3, url: "https://shop.example/cart" } },
};
const SECRET = "ab".repeat(12);

async function visited(sender: Sender, first: unknown) {
  const host = new FakeHost();
  const port = new FakePort(sender);
  const changed = vi.fn();
  const { bridge } = host;
  const secret = () => Promise.resolve(SECRET);
  servePage(port, { bridge, secret, changed, count: () => 0 });
  if (!port.closed) port.say(first);
  await settled();
  return { host, port, changed };
}

test("the origin and the tab are the browser's; of what the content script says only the visit counts", async () => {
  const forged = {
    ...{ type: "hello", v: 1, origin: "https://bank.example" },
    ...{ tab: "f".repeat(32), visit: "v1", seen: 4, token: "x" },
    ancestors: ["https://forged.example"],
  };
  const { host, changed } = await visited(SHOP, JSON.stringify(forged));
  const opened = host.port.last("page_open");
  expect(opened).toEqual({
    ...{ type: "page_open", request_id: opened["request_id"] },
    ...{ origin: "https://shop.example", tab: `${SECRET}00000003` },
    ...{ ancestors: [], visit: "v1", seen: 4 },
  });
  expect(changed.mock.calls).toEqual([[3, "https://shop.example", 1]]);
});

test("for a document in a frame the browser says which page is in the tab", async () => {
  const ancestors = async (sender: Sender) => {
    const { host } = await visited(sender, "{}");
    return host.port.last("page_open")["ancestors"];
  };
  const framed = { ...SHOP, frameId: 7 };
  const around = { id: 3, url: "https://news.example/today?x" };
  const other = await ancestors({ ...framed, tab: around });
  expect(other).toEqual(["https://news.example"]);
  expect(await ancestors(framed)).toEqual(["https://shop.example"]);
  expect(await ancestors({ ...framed, tab: { id: 3 } })).toEqual(["null"]);
  const { frameId: _, ...unknown } = SHOP;
  expect(await ancestors({ ...unknown, tab: { id: 3 } })).toEqual(["null"]);
});

test.each([
  ["a sandboxed frame", { origin: "null", tab: { id: 1 } }],
  ["a file", { origin: "file://", tab: { id: 1 } }],
  [
    "a page of an extension",
    { origin: "chrome-extension://x", tab: { id: 1 } },
  ],
  ["a sender without a tab", { origin: "https://shop.example" }],
  ["a sender without an origin", { tab: { id: 1 } }],
  ["an origin with more in it", { origin: "https://a/b", tab: { id: 1 } }],
])("%s gets nothing", async (_, sender) => {
  const { host, port } = await visited(sender, "{}");
  expect(host.ports).toEqual([]);
  expect(port.closed).toBe(true);
  expect(JSON.parse(port.texts[0] ?? "")).toMatchObject({
    ...{ type: "refused", error: { code: "ERR_PERMISSION_DENIED" } },
  });
});

test("frames that come before the page is open keep their order", async () => {
  const host = new FakeHost();
  const port = new FakePort(SHOP);
  const { bridge } = host;
  const secret = () => Promise.resolve(SECRET);
  servePage(port, { bridge, secret, changed: vi.fn(), count: () => 63 });
  for (const text of ["{}", "one", "two"]) port.say(text);
  await settled();
  port.say("three");
  // What is no text is nothing of ours.
  port.say({ type: "page_frame" });
  port.say("x".repeat(2_000_001));
  const frames = host.port.sent.filter(({ type }) => type === "page_frame");
  expect(frames.map(({ frame }) => frame)).toEqual(["one", "two", "three"]);
  expect(host.port.sent.map(({ type }) => type)).toEqual([
    ...["hello", "page_open", "page_frame", "page_frame", "page_frame"],
  ]);
});

test("what the server says reaches the page, and an end at either side ends the other", async () => {
  const { host, port, changed } = await visited(SHOP, "{}");
  const { request_id: page } = host.port.last("page_open");
  host.port.say({ type: "page_frame", page, frame: '{"type":"welcome"}' });
  expect(port.texts).toEqual(['{"type":"welcome"}']);
  port.end();
  expect(host.port.last("page_close")).toEqual({ type: "page_close", page });
  expect(changed).toHaveBeenLastCalledWith(3, "https://shop.example", -1);
  const other = await visited(SHOP, "{}");
  other.host.answer("page_open", { code: 1006, reason: "" });
  expect(other.port.closed).toBe(true);
  // The page may come back: nothing says that it is refused.
  expect(other.port.texts).toEqual([]);
});

test("without a bridge the page gets ERR_NOT_INSTALLED, and no details of this machine", async () => {
  const { host, port } = await visited(SHOP, "{}");
  host.die("No such native application gangway.bridge at /home/somebody");
  const refused = JSON.parse(port.texts[0] ?? "") as { error: object };
  expect(refused).toMatchObject({
    type: "refused",
    error: {
      code: "ERR_NOT_INSTALLED",
      details: { reason: "bridge_manifest" },
    },
  });
  expect(port.texts[0]).not.toContain("somebody");
  expect(port.closed).toBe(true);
});

test("one tab does not take the room of all others", () => {
  const { bridge } = new FakeHost();
  const port = new FakePort(SHOP);
  const secret = () => Promise.resolve(SECRET);
  servePage(port, { bridge, secret, changed: vi.fn(), count: () => 64 });
  expect(port.texts[0]).toContain("ERR_RATE_LIMITED");
  expect(port.closed).toBe(true);
});

test("a visit that stood waits for a bridge that cannot be started just now", async () => {
  const { host, port } = await visited(SHOP, '{"visit":"v1","seen":0}');
  host.die("Native host has exited.");
  expect(port.closed).toBe(true);
  expect(port.texts).toEqual([]);
});

test("a visit is taken over only if it is one", () => {
  expect(visitIn('{"visit":"v","seen":2}')).toEqual({ visit: "v", seen: 2 });
  for (const wrong of [
    "no JSON",
    "null",
    '{"visit":1,"seen":2}',
    '{"visit":"v","seen":-1}',
    '{"visit":"v","seen":1.5}',
    `{"visit":"${"v".repeat(201)}","seen":1}`,
  ]) {
    expect(visitIn(wrong)).toEqual({});
  }
});

test("only pages of the extension itself are its own", () => {
  const self = { id: "me", root: "chrome-extension://me/" };
  const url = "chrome-extension://me/panel.html";
  expect(isOwn({ id: "me", url }, self)).toBe(true);
  expect(isOwn({ id: "other", url }, self)).toBe(false);
  expect(isOwn({ id: "me", url: "https://shop.example/" }, self)).toBe(false);
  expect(isOwn({ id: "me", url: "chrome-extension://men/" }, self)).toBe(false);
  expect(isOwn(undefined, self)).toBe(false);
});

test("tabs have names that differ, of 32 digits", () => {
  const names = [0, 1, 17, 2_000_000_000].map((tab) => tabName(SECRET, tab));
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
  expect(originOf(SHOP)).toBe("https://shop.example");
});
