// Windows for questions and chats: one each, only for the origin that asked, and known again after the background died.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { lost } from "../src/failures.js";
import { OwnWindows, ticketKey } from "../src/windows.js";
import type { Bridge } from "../src/bridge.js";

const SHOP = "https://shop.example";
const BANK = "https://bank.example";

beforeEach(() => void vi.spyOn(console, "warn").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

function made() {
  const kept = new Map<string, unknown>();
  const opened: string[] = [];
  const focus = vi.fn(() => Promise.resolve());
  const request = vi.fn((type: string, _fields?: object) =>
    Promise.resolve(
      type === "ask_get" ? { asker: { kind: "site", origin: SHOP } } : null,
    ),
  );
  const options = {
    bridge: { request } as unknown as Bridge,
    open: (url: string) => Promise.resolve(opened.push(url)),
    focus,
    store: {
      get: (key: string) => Promise.resolve(kept.get(key)),
      set: (key: string, value: unknown) => {
        kept.set(key, structuredClone(value));
        return Promise.resolve();
      },
      remove: (key: string) => {
        kept.delete(key);
        return Promise.resolve();
      },
    },
  };
  const anew = () => new OwnWindows(options);
  return { windows: anew(), anew, opened, focus, request, kept };
}

test("a question has one window, also when the background has died since", async () => {
  const { windows, anew, opened, focus } = made();
  await Promise.all([windows.ask("q1", SHOP, 1), windows.ask("q1", SHOP, 1)]);
  await anew().ask("q1", SHOP, 1);
  expect(opened).toEqual(["permit.html?ask=q1"]);
  expect(focus).toHaveBeenCalledTimes(2);
  await windows.closed(1);
  await windows.ask("q1", SHOP, 1);
  expect(opened).toHaveLength(2);
});

test("a question of another origin opens nothing, nor does one that is gone", async () => {
  const { windows, opened, request } = made();
  await windows.ask("q1", BANK, 1);
  request.mockRejectedValueOnce(new Error("gone"));
  await windows.ask("q2", SHOP, 1);
  expect(opened).toEqual([]);
  expect(console.warn).toHaveBeenCalledOnce();
});

test("a tab asks one question at a time; the next has its turn when that is closed", async () => {
  const { windows, anew, opened, request } = made();
  for (const id of ["q1", "q2", "q3", "q4"]) await windows.ask(id, SHOP, 1);
  await windows.ask("q5", SHOP, 2);
  expect(opened).toEqual(["permit.html?ask=q1", "permit.html?ask=q5"]);
  // The answer of the second is no longer needed.
  const answered = request.getMockImplementation();
  request.mockImplementation((type: string, fields?: object) =>
    type === "ask_get" && fields && "ask" in fields && fields.ask === "q2"
      ? Promise.reject(new Error("gone"))
      : (answered?.(type) ?? Promise.resolve(null)),
  );
  await anew().closed(1);
  expect(opened.slice(2)).toEqual(["permit.html?ask=q3"]);
  await windows.closed(3);
  expect(opened.slice(3)).toEqual(["permit.html?ask=q4"]);
  await windows.closed(4);
  expect(opened).toHaveLength(4);
});

test("the question of a window that is closed is dismissed, however early that was", async () => {
  const { windows, request } = made();
  await windows.ask("q1", SHOP, 1);
  await windows.closed(1);
  expect(request).toHaveBeenLastCalledWith("ask_dismiss", { ask: "q1" });
});

test("the person can open a question that waits, and it gets no second window", async () => {
  const { windows, opened } = made();
  await windows.ask("q1", SHOP, 1);
  await windows.ask("q2", SHOP, 1);
  await windows.answer("q2");
  await windows.answer("q2");
  expect(opened).toEqual(["permit.html?ask=q1", "permit.html?ask=q2"]);
  await windows.closed(2);
  await windows.closed(1);
  expect(opened).toHaveLength(2);
});

test("pages cannot fill the screen, and those that found no room get some later", async () => {
  const { windows, opened } = made();
  for (let tab = 0; tab < 20; tab += 1) {
    await windows.ask(`q${tab}`, SHOP, tab);
  }
  expect(opened).toHaveLength(8);
  await windows.closed(3);
  expect(opened.slice(8)).toEqual(["permit.html?ask=q8"]);
  // What the person asks for is shown.
  await windows.answer("q19");
  expect(opened).toHaveLength(10);
});

test("questions that come by the thousand are not all looked at", async () => {
  const { windows, request } = made();
  const all = Array.from({ length: 1_000 }, (_, at) =>
    windows.ask(`q${at}`, BANK, at),
  );
  await Promise.all(all);
  expect(request).toHaveBeenCalledTimes(64);
  await windows.ask("q", SHOP, 1);
  expect(request).toHaveBeenCalledTimes(65);
});

test("the ticket of a chat waits for its window alone, and closing the window closes the chat", async () => {
  const { windows, opened, request, kept } = made();
  await windows.chat("c1", "/panel?for=x#secret", SHOP, 1);
  expect(opened).toEqual(["chat.html?chat=c1"]);
  expect(kept.get(ticketKey("c1"))).toEqual({ ticket: "secret", origin: SHOP });
  await windows.closed(9);
  expect(request).not.toHaveBeenCalled();
  await windows.closed(1);
  expect(request).toHaveBeenCalledWith("panel_close", { chat_id: "c1" });
  expect(kept.has(ticketKey("c1"))).toBe(false);
  await windows.settle();
  expect(request).toHaveBeenCalledOnce();
});

test("nothing is kept of a chat that has no window, nor of one that the server cannot have named", async () => {
  const { windows, opened, kept } = made();
  await windows.chat("c1", `/panel#${"x".repeat(1000)}`, SHOP, 1);
  await windows.chat("x".repeat(1000), "/panel#secret", SHOP, 1);
  expect(opened).toEqual([]);
  for (let nth = 1; nth <= 9; nth += 1) {
    await windows.chat(`c${nth}`, "/panel#secret", SHOP, nth);
  }
  expect(opened).toHaveLength(8);
  expect(kept.has(ticketKey("c9"))).toBe(false);
  await windows.closed(1);
  expect(opened[8]).toBe("chat.html?chat=c9");
  expect(kept.has(ticketKey("c9"))).toBe(true);
});

test("a chat that ended while disconnected is ended later", async () => {
  const { windows, anew, request } = made();
  await windows.chat("c1", "/panel#secret", SHOP, 1);
  request.mockRejectedValueOnce(lost());
  await windows.closed(1);
  await anew().settle();
  await anew().settle();
  expect(request.mock.calls).toEqual(
    Array(2).fill(["panel_close", { chat_id: "c1" }]),
  );
});
