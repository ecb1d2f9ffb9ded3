// @vitest-environment jsdom
// The library inside a frame: whom it greets, whom it believes, and the functions it offers.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type * as Applet from "../src/applet/applet.js";
import type { ClientMessage } from "../src/applet/wire.js";

let applet: typeof Applet;
let greetings: unknown[][];
const outside = { postMessage: (...said: unknown[]) => greetings.push(said) };

class Port {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  readonly sent: ClientMessage[] = [];
  postMessage(message: ClientMessage): void {
    this.sent.push(structuredClone(message));
  }
  close(): void {
    // Nothing is held open.
  }
}

function say(data: unknown, more: Partial<MessageEventInit> = {}): Port {
  const port = new Port();
  const event = new MessageEvent("message", {
    data,
    origin: location.origin,
    ...more,
  });
  Object.defineProperty(event, "source", { value: more.source ?? outside });
  Object.defineProperty(event, "ports", { value: [port] });
  window.dispatchEvent(event);
  return port;
}

const welcome = {
  type: "gangway:port",
  applet: "board",
  session: "s1",
  theme: "dark",
};

beforeEach(async () => {
  vi.useFakeTimers();
  greetings = [];
  vi.stubGlobal("parent", outside);
  vi.resetModules();
  Reflect.deleteProperty(window, "gangway");
  applet = await import("../src/applet/applet.js");
});

afterEach(() => {
  applet.channel().dispose();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("it greets the server's own page, again until it is answered", () => {
  expect(greetings).toHaveLength(1);
  const [message, target] = greetings[0] ?? [];
  expect(message).toMatchObject({ type: "gangway:hello" });
  expect(target).toBe(location.origin);
  vi.advanceTimersByTime(1_000);
  expect(greetings).toHaveLength(2);
  expect(greetings[1]).toEqual(greetings[0]);
  say(welcome);
  vi.advanceTimersByTime(60_000);
  expect(greetings).toHaveLength(2);
});

test("it believes only the page around it, of the server's origin, and once", async () => {
  const asked = applet.getAppletState();
  asked.catch(() => undefined);
  const strangers = [
    say(welcome, { source: window }),
    say(welcome, { origin: "https://evil.example" }),
    say({ type: "other" }),
    say(null),
  ];
  const real = say(welcome);
  strangers.push(say(welcome));
  await vi.advanceTimersByTimeAsync(0);
  expect(real.sent).toMatchObject([{ type: "getState" }]);
  for (const stranger of strangers) expect(stranger.sent).toEqual([]);
});

test("what was asked before the port came is sent then, up to a bound", async () => {
  const early = Array.from({ length: 256 }, () =>
    applet.setAppletState({ a: 1 }),
  );
  for (const one of early) one.catch(() => undefined);
  await expect(applet.setAppletState({})).rejects.toMatchObject({
    code: "buffer_full",
  });
  expect(say(welcome).sent).toHaveLength(256);
});

test("text, bytes and errors come through the port", async () => {
  const port = say(welcome);
  const text = applet.readFile("a.txt");
  await vi.advanceTimersByTimeAsync(0);
  const id = port.sent.at(-1)?.id;
  const bytes = new ArrayBuffer(2);
  new Uint8Array(bytes).set([104, 105]);
  const frame = { type: "fileContent", id, path: "a.txt", binary: true };
  port.onmessage?.({ data: { ...frame, bytes: 2, done: true } });
  port.onmessage?.({ data: bytes });
  expect(await text).toBe("hi");

  const failed = applet.invokeAgent("Hello");
  await vi.advanceTimersByTimeAsync(0);
  port.onmessage?.({
    data: {
      type: "error",
      id: port.sent.at(-1)?.id,
      code: "consent_denied",
      error: "The person said no.",
    },
  });
  await expect(failed).rejects.toMatchObject({ code: "consent_denied" });
});

test("the theme of the page is the frame's, also when it changes", () => {
  say(welcome);
  expect(document.documentElement.dataset["theme"]).toBe("dark");
  expect(document.documentElement.style.colorScheme).toBe("dark");
  say({ type: "gangway:theme", theme: "light" });
  expect(document.documentElement.style.colorScheme).toBe("light");
  say({ type: "gangway:theme", theme: "url(x)" });
  expect(document.documentElement.style.colorScheme).toBe("light");
});

test("a page around it that never answers is reported", async () => {
  const asked = applet.getAppletState();
  const said = expect(asked).rejects.toMatchObject({ code: "unreachable" });
  await vi.advanceTimersByTimeAsync(60_000);
  await said;
});

test("handlers in the HTML find the functions on window", () => {
  const { gangway } = window as unknown as { gangway: typeof Applet };
  expect(Object.isFrozen(gangway)).toBe(true);
  for (const name of [
    ...["setAppletState", "readFile", "writeFile", "subscribeFile"],
    ...["invokeAgent", "onStateUpdate", "getAppletState"],
  ] as const) {
    expect(gangway[name as keyof typeof Applet]).toBeTypeOf("function");
  }
});

test("the bare functions of the protocol are globals, which an applet may replace", () => {
  const globals = window as unknown as Record<string, unknown>;
  for (const name of [
    ...["setAppletState", "readFile", "writeFile", "subscribeFile"],
    ...["invokeAgent", "onStateUpdate", "getAppletState"],
  ] as const) {
    expect(globals[name]).toBe(applet[name as keyof typeof Applet]);
  }
  globals["readFile"] = 1;
  expect(globals["readFile"]).toBe(1);
});

test("the module that is imported later shares the channel of the script before it", async () => {
  vi.resetModules();
  const again = await import("../src/applet/applet.js");
  expect(again).not.toBe(applet);
  expect(again.channel()).toBe(applet.channel());
  expect(again.GangwayError).toBe(applet.GangwayError);
  expect(greetings).toHaveLength(1);
});

test("F6 leads back to the page around, unless the applet has a use for it", () => {
  const press = (key: string) => {
    const event = new KeyboardEvent("keydown", { key, cancelable: true });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  };
  greetings = [];
  expect(press("Escape")).toBe(false);
  expect(press("F6")).toBe(true);
  expect(greetings).toEqual([[{ type: "gangway:leave" }, location.origin]]);
  const taken = (event: Event) => event.preventDefault();
  window.addEventListener("keydown", taken, { capture: true });
  press("F6");
  window.removeEventListener("keydown", taken, { capture: true });
  expect(greetings).toHaveLength(1);
});
