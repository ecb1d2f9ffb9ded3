// The loader for pages that are built without Gangway's script.
// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadGangway } from "../src/web-agent/loader.js";
import { refusal } from "./web-agent-page.js";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("isSecureContext", true);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function script(): HTMLScriptElement {
  const found = document.querySelector("script");
  if (!found) throw new Error("no script was asked for");
  return found;
}

function permission(state: string): void {
  const query = () => Promise.resolve({ state });
  vi.stubGlobal("navigator", { permissions: { query } });
}

test("what is on the window already is used, and nothing is loaded", async () => {
  const there = { ai: {}, agent: {} };
  vi.stubGlobal("ai", there.ai);
  vi.stubGlobal("agent", there.agent);
  expect(await loadGangway()).toEqual(there);
  expect(document.querySelector("script")).toBeNull();
});

test("the script comes from where Gangway is, and leaves no trace", async () => {
  const loaded = loadGangway({ url: "http://localhost:4000/any/path" });
  expect(script().src).toBe("http://localhost:4000/gangway.js");
  const there = { ai: {}, agent: {} };
  vi.stubGlobal("ai", there.ai);
  vi.stubGlobal("agent", there.agent);
  script().dispatchEvent(new Event("load"));
  expect(await loaded).toEqual(there);
  expect(document.querySelector("script")).toBeNull();
});

test("it uses http://localhost:3000 by default", async () => {
  permission("prompt");
  const loaded = refusal(loadGangway());
  expect(script().src).toBe("http://localhost:3000/gangway.js");
  script().dispatchEvent(new Event("error"));
  expect(await loaded).toMatchObject({
    name: "AgentApiError",
    code: "ERR_NOT_INSTALLED",
    details: { reason: "not_running", server: "http://localhost:3000" },
  });
});

test("a browser that blocks local network access is detected, and the error explains what to do", async () => {
  permission("denied");
  const loaded = refusal(loadGangway());
  script().dispatchEvent(new Event("error"));
  const error = await loaded;
  expect(error).toMatchObject({
    code: "ERR_NOT_INSTALLED",
    details: { reason: "local_network_blocked" },
  });
  expect(error.message).toMatch(/local network access.*extension/);
});

test("a page without HTTPS is not even asked about, in browsers that ask", async () => {
  vi.stubGlobal("isSecureContext", false);
  permission("prompt");
  const asked = refusal(loadGangway());
  script().dispatchEvent(new Event("error"));
  expect(await asked).toMatchObject({
    details: { reason: "local_network_blocked" },
  });
  vi.stubGlobal("navigator", {});
  const other = refusal(loadGangway());
  script().dispatchEvent(new Event("error"));
  expect(await other).toMatchObject({ details: { reason: "not_running" } });
});

test("another script, a timeout and an abort are reported", async () => {
  permission("prompt");
  const other = refusal(loadGangway());
  script().dispatchEvent(new Event("load"));
  expect(await other).toMatchObject({
    code: "ERR_NOT_INSTALLED",
    message: "The server at http://localhost:3000 is not Gangway.",
  });
  const silent = refusal(loadGangway());
  vi.advanceTimersByTime(10_000);
  expect(await silent).toMatchObject({ code: "ERR_NOT_INSTALLED" });
  const stop = new AbortController();
  const aborted = refusal(loadGangway({ signal: stop.signal }));
  stop.abort();
  expect(await aborted).toMatchObject({ code: "ERR_ABORTED" });
});
