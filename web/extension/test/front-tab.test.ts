// The active tab, as used by the user's agents.
import { afterEach, expect, test, vi } from "vitest";
import type { BrowserAct } from "@gangway/client";
import { actInFront, isGangway } from "../src/front-tab.js";

const OWN = ["http://127.0.0.1:3000", "https://gangway.example"];

afterEach(() => vi.unstubAllGlobals());

/** A browser with this active tab; `answer` is the response of its content script. */
function browser(url: string, answer: () => unknown = () => ({ result: 1 })) {
  const sendMessage = vi.fn((..._given: unknown[]) =>
    Promise.resolve().then(answer),
  );
  const query = () => Promise.resolve([{ id: 7, url, title: "" }]);
  vi.stubGlobal("chrome", { tabs: { query, sendMessage } });
  return sendMessage;
}

const act = (action: BrowserAct["action"]): BrowserAct => ({
  ...{ id: "a1", action, own: OWN },
});

const CLICK: BrowserAct["action"] = {
  type: "click",
  origin: "https://shop.example",
  target: "#buy",
};

test.each([
  ["http://127.0.0.1:3000/permit?ask=1", true],
  ["http://localhost:3000/", true],
  ["http://[::1]:3000/", true],
  ["http://notes.localhost:3000/", true],
  ["https://gangway.example/permissions", true],
  ["http://localhost:4010/", false],
  ["https://shop.example:3000/", false],
])("whether %s is Gangway's own: %s", (url, is) => {
  expect(isGangway(url, OWN)).toBe(is);
});

test.each([
  ["chrome://settings", "ERR_NOT_SUPPORTED"],
  ["chrome-extension://abc/permit.html", "ERR_NOT_SUPPORTED"],
  ["file:///etc/passwd", "ERR_NOT_SUPPORTED"],
  ["", "ERR_NOT_SUPPORTED"],
  ["http://localhost:3000/permissions", "ERR_PERMISSION_DENIED"],
  ["https://bank.example/", "ERR_TAB_CHANGED"],
])("nothing is clicked on %s", async (url, code) => {
  const sent = browser(url);
  const answer = await actInFront(act(CLICK));
  expect(answer.error?.code).toBe(code);
  expect(sent).not.toHaveBeenCalled();
});

test("the content script of the active tab acts, for the given origin", async () => {
  const sent = browser("https://shop.example/fish");
  expect(await actInFront(act(CLICK))).toEqual({ result: 1 });
  expect(sent).toHaveBeenCalledExactlyOnceWith(
    7,
    { type: "act", action: CLICK, origin: "https://shop.example" },
    { frameId: 0 },
  );
});

test("what goes wrong in the page, or where there is no content script, is the answer", async () => {
  const error = { code: "ERR_ELEMENT_HIDDEN", message: "not visible" };
  browser("https://shop.example/", () => ({ error }));
  expect(await actInFront(act(CLICK))).toEqual({ error });
  browser("https://shop.example/", () => {
    throw new Error("Receiving end does not exist.");
  });
  const { error: none } = await actInFront(act(CLICK));
  expect(none).toMatchObject({ code: "ERR_NOT_SUPPORTED" });
});
