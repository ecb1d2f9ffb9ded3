// @vitest-environment jsdom
// What a launched page gets beside its context: a storage where the browser gives none, and its launch in every route.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { capture as take } from "../src/context/builtins.js";
import { keepLaunch } from "../src/context/route.js";
import { lendStorage } from "../src/context/storage.js";
import { FakeXhr } from "./launched-page.js";

const URL_ = "http://app.localhost/__gangway/storage";
const posted: unknown[] = [];

/** The window of these tests is no EventTarget of its own document's kind. */
function capture(): ReturnType<typeof take> {
  const listen = (
    _: EventTarget,
    name: string,
    work: EventListenerOrEventListenerObject | null,
  ) => work && window.addEventListener(name, work);
  return { ...take(), listen: listen as ReturnType<typeof take>["listen"] };
}

beforeEach(() => {
  vi.useFakeTimers();
  posted.length = 0;
  vi.stubGlobal("XMLHttpRequest", FakeXhr);
  vi.stubGlobal("reportError", () => undefined);
  vi.stubGlobal("fetch", (_: string, { body }: { body: string }) => {
    posted.push(JSON.parse(body));
    return Promise.resolve(new Response());
  });
  FakeXhr.status = 200;
  FakeXhr.text = '{"theme":"dark"}';
});

afterEach(() => {
  for (const name of ["localStorage", "sessionStorage"]) {
    Reflect.deleteProperty(window, name);
  }
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function block(name: string): void {
  Object.defineProperty(window, name, {
    configurable: true,
    get() {
      throw new DOMException("Blocked", "SecurityError");
    },
  });
}

test("storage that the browser gives is left alone", () => {
  const value = { length: 0 };
  for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(window, name, { value, configurable: true });
  }
  lendStorage(capture(), URL_);
  expect(window.localStorage).toBe(value);
});

test("where the browser blocks it, an app stores as ever, and the server keeps it", () => {
  block("localStorage");
  block("sessionStorage");
  lendStorage(capture(), URL_);
  const { localStorage, sessionStorage } = window;
  expect(localStorage.getItem("theme")).toBe("dark");
  expect(localStorage["theme"]).toBe("dark");
  localStorage.setItem("n", 1 as unknown as string);
  localStorage["other"] = "x";
  expect(localStorage.getItem("n")).toBe("1");
  expect(Object.keys(localStorage)).toEqual(["theme", "n", "other"]);
  expect([localStorage.length, localStorage.key(1)]).toEqual([3, "n"]);
  expect("n" in localStorage).toBe(true);
  delete localStorage["other"];
  localStorage.removeItem("theme");
  expect(localStorage.getItem("theme")).toBeNull();
  vi.advanceTimersByTime(50);
  expect(posted).toEqual([{ n: "1", other: null, theme: null }]);
  localStorage.clear();
  window.dispatchEvent(new Event("pagehide"));
  expect(posted.at(-1)).toEqual({ n: null });
  expect(() => localStorage.setItem("a", "x".repeat(6 << 20))).toThrow(
    "The storage is full.",
  );
  // That of a session lasts as long as the page.
  sessionStorage.setItem("a", "1");
  vi.advanceTimersByTime(50);
  expect(sessionStorage.getItem("a")).toBe("1");
  expect(posted).toHaveLength(2);
});

test("an app that draws its own routes keeps its launch in the address", () => {
  const { pushState, replaceState } = History.prototype;
  history.replaceState(null, "", "/?launch=T&x=1");
  keepLaunch(capture());
  try {
    history.pushState({ a: 1 }, "", "/notes/7");
    expect(location.pathname + location.search).toBe("/notes/7?launch=T");
    history.replaceState(null, "", "?sort=a%20b#top");
    expect(location.search + location.hash).toBe("?sort=a%20b&launch=T#top");
    history.pushState(null, "", "#end");
    expect(location.search + location.hash).toBe("?sort=a%20b&launch=T#end");
    history.pushState(null, "");
    expect(() =>
      history.pushState(null, "", "https://evil.example/"),
    ).toThrow();
  } finally {
    Object.assign(History.prototype, { pushState, replaceState });
  }
});

test("a page without a launch in its address keeps its own history", () => {
  const { pushState } = History.prototype;
  history.replaceState(null, "", "/");
  keepLaunch(capture());
  expect(History.prototype.pushState).toBe(pushState);
});
