// The handshake of a framed app: one port, from one page, once.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { capture, type Builtins } from "../src/context/builtins.js";
import { portLink, type Link } from "../src/context/link.js";
import { FakeXhr, PageSocket } from "./launched-page.js";

const around = { name: "the page around" };
let listener: ((event: unknown) => void) | null;
let received: unknown[];
let link: Link;

beforeEach(() => {
  received = [];
  listener = null;
  vi.stubGlobal("WebSocket", PageSocket);
  vi.stubGlobal("XMLHttpRequest", FakeXhr);
  vi.stubGlobal("reportError", () => undefined);
  const window = { parent: around };
  vi.stubGlobal("window", window);
  const built = capture();
  const listen: Builtins["listen"] = (target, type, handler, ...rest) => {
    if (target !== (window as unknown)) {
      built.listen(target, type, handler, ...rest);
      return;
    }
    expect([type, rest]).toEqual(["message", [true]]);
    listener = handler as typeof listener;
  };
  const unlisten: Builtins["unlisten"] = () => (listener = null);
  link = portLink(
    { ...built, listen, unlisten },
    "https://host.example",
    "l-1",
    (text) => received.push(text),
  );
});

afterEach(() => vi.unstubAllGlobals());

/** A message as the browser would bring it, and whether the page saw it too. */
function said(fields: Record<string, unknown>): {
  other: MessagePort;
  seen: boolean;
} {
  const { port1, port2 } = new MessageChannel();
  let seen = true;
  listener?.({
    isTrusted: true,
    source: around,
    origin: "https://host.example",
    data: { type: "gangway-port", launchId: "l-1" },
    ports: [port2],
    stopImmediatePropagation: () => (seen = false),
    ...fields,
  });
  return { other: port1, seen };
}

test("the right message gives the port, and only this script sees it", async () => {
  const { other, seen } = said({});
  expect(seen).toBe(false);
  expect(listener).toBeNull();
  const got = new Promise((resolve) => {
    other.onmessage = ({ data }) => resolve(data);
  });
  link.send("hello");
  expect(await got).toBe("hello");
  other.postMessage("welcome");
  await vi.waitFor(() => expect(received).toEqual(["welcome"]));
  other.close();
});

const two = () => [new MessageChannel().port1, new MessageChannel().port1];

test.each([
  ["from another frame", { source: { name: "a child" } }],
  ["from no window", { source: null }],
  ["from another origin", { origin: "https://evil.example" }],
  ["from an opaque origin", { origin: "null" }],
  ["that a script made", { isTrusted: false }],
  ["without a port", { ports: [] }],
  ["with two ports", { ports: two() }],
  ["for another launch", { data: { type: "gangway-port", launchId: "l-2" } }],
  ["without a launch", { data: { type: "gangway-port" } }],
  ["of another type", { data: { type: "gangway-ports", launchId: "l-1" } }],
  ["of text", { data: "gangway-port" }],
  ["of nothing", { data: null }],
])(
  "a message %s is no matter, and the right one still comes through",
  (_, fields) => {
    const { other } = said(fields);
    const sent = vi.spyOn(other, "postMessage");
    link.send("secret");
    expect(sent).not.toHaveBeenCalled();
    expect(listener).not.toBeNull();
    other.close();
    for (const port of (fields as { ports?: MessagePort[] }).ports ?? []) {
      port.close();
    }
    const good = said({});
    expect(listener).toBeNull();
    good.other.close();
  },
);
