// What the card of each kind of request shows, and what its buttons send.
import type { AskInfo } from "@gangway/client";
import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import AskBanner from "../src/asks/AskBanner.svelte";
import {
  ask,
  CALM_MS,
  FORM,
  made,
  message,
  SITE,
  type What,
} from "./ask-fixtures.js";

const SENT = "/api/asks/a";
const shown: ReturnType<typeof mount>[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  // The test's browser knows dialogs, but not how to show them.
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function () {
    this.open = false;
    this.dispatchEvent(new Event("close"));
  };
});

afterEach(async () => {
  for (const each of shown.splice(0)) await unmount(each);
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Shows one request in the dialog of the banner. */
function show(what: What, ready = true) {
  const all = made();
  all.put(ask("a", what));
  all.asks.review(ask("a"));
  const props = { asks: all.asks };
  shown.push(mount(AskBanner, { target: document.body, props }));
  flushSync();
  if (ready) vi.advanceTimersByTime(CALM_MS);
  flushSync();
  const dialog = document.querySelector("dialog");
  if (!dialog) throw new Error("There is no dialog.");
  return { ...all, dialog };
}

function button(name: string): HTMLButtonElement {
  const all = [...document.querySelectorAll("button")];
  const found = all.find(({ textContent }) => textContent.trim() === name);
  if (!found) throw new Error(`There is no button ${name}.`);
  return found;
}

const named = () =>
  [...document.querySelectorAll("dialog button")].map(({ textContent }) =>
    textContent.trim(),
  );

/** Clicks as a person does: to the test's browser every click is one of a script. */
async function click(name: string): Promise<void> {
  const trust = (event: Event) => {
    const [inside] = Object.getOwnPropertySymbols(event);
    const hidden = event as unknown as Record<symbol, { isTrusted: boolean }>;
    if (inside && hidden[inside]) hidden[inside].isTrusted = true;
  };
  window.addEventListener("click", trust, { capture: true, once: true });
  button(name).click();
  await vi.advanceTimersByTimeAsync(0);
  flushSync();
}

test("nothing is decided before the request was seen, nor by a script, and Escape decides nothing", async () => {
  const { dialog, sent, asks } = show(SITE, false);
  expect(document.activeElement?.tagName).toBe("H2");
  expect(named()).toEqual(["Allow once", "Always allow", "Deny"]);
  await click("Allow once");
  vi.advanceTimersByTime(CALM_MS);
  flushSync();
  button("Allow once").click();
  dialog.close();
  expect(sent).toEqual([]);
  expect(asks.all).toHaveLength(1);
  flushSync();
  button("Review").click();
  flushSync();
  expect(dialog.open).toBe(true);
  vi.advanceTimersByTime(CALM_MS);
  await click("Always allow");
  expect(sent).toEqual([
    [`POST ${SENT}`, { decision: "always", duration: "30d" }],
  ]);
  expect(dialog.open).toBe(false);
});

test("a page without HTTPS can be allowed once only", () => {
  const request = { ...SITE.request, onceOnly: true } as AskInfo["request"];
  const { dialog } = show({ ...SITE, request });
  expect(named()).toEqual(["Allow once", "Deny"]);
  expect(dialog.textContent).toContain("not loaded over HTTPS");
});

test("what was filled in goes to the server that asked", async () => {
  const schema = {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer" } },
    required: ["name"],
  };
  const what: What = {
    ...FORM,
    request: {
      ...{ type: "elicitation", message: "<b>Who</b> are you?", schema },
    },
  };
  const { dialog, sent, put } = show(what);
  expect(dialog.open).toBe(true);
  expect(dialog.getAttribute("aria-label")).toBe("Question from files");
  expect(dialog.textContent).toContain("<b>Who</b> are you?");
  expect(dialog.textContent).toContain("sent to files");
  // Enter that was meant for another field must not answer.
  expect(document.activeElement?.tagName).toBe("H2");
  await click("Send to files");
  expect(dialog.textContent).toContain("Required.");
  expect(sent).toEqual([]);
  const field = dialog.querySelector("textarea");
  if (!field) throw new Error("There is no field.");
  field.value = "Ada";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  // Another list leaves what was filled in.
  put(ask("a", what), ask("b"));
  flushSync();
  await click("Send to files");
  const answer = { decision: "once", content: { name: "Ada" } };
  expect(sent).toEqual([[`POST ${SENT}`, answer]]);
  expect(dialog.open).toBe(false);
});

test.each([
  ["Decline", [`POST ${SENT}`, { decision: "deny" }]],
  ["Dismiss", [`DELETE ${SENT}`, null]],
])("%s is told to the server", async (name, told) => {
  const { sent } = show(FORM);
  await click(name);
  expect(sent).toEqual([told]);
});

const visit = (url: string): What => ({
  ...FORM,
  request: { type: "elicitation", message: "Pay", url },
});

test("an address is shown whole and opened only by a click, in a tab of its own", async () => {
  const opened = vi.spyOn(window, "open");
  const url = "https://pay.example.com/confirm?session=1";
  const { sent } = show(visit(url));
  const link = document.querySelector("dialog a");
  expect(link?.getAttribute("href")).toBe(url);
  expect(link?.getAttribute("target")).toBe("_blank");
  expect(link?.getAttribute("rel")).toBe("noopener noreferrer");
  const address = document.querySelector(".address")?.textContent;
  expect(address).toContain("pay.example.com");
  expect(address).toContain(url);
  await click("Continue");
  expect(opened).not.toHaveBeenCalled();
  expect(sent).toEqual([[`POST ${SENT}`, { decision: "once" }]]);
});

test("an address that is none of a page is not offered", async () => {
  const { sent } = show(visit("javascript:alert(1)"));
  expect(document.querySelector("dialog a")).toBeNull();
  expect(button("Continue").ariaDisabled).toBe("true");
  await click("Continue");
  expect(sent).toEqual([]);
  await click("Decline");
  expect(sent).toHaveLength(1);
});

const golf = (
  request: Omit<Extract<AskInfo["request"], { type: "action" }>, "type">,
): What => ({
  asker: { kind: "app", slug: "golf", name: "Golf club" },
  request: { type: "action", ...request },
});

test("an app's action is shown with its title and name, and always allowed only where possible", async () => {
  const message = "save a.txt (3 bytes) in the folder of this session.";
  const { dialog, sent } = show(golf({ message, lasting: true }));
  const words = dialog.textContent.replaceAll(/\s+/g, " ");
  expect(words).toContain(`The app Golf club (golf) wants to ${message}`);
  expect(words).not.toContain("password");
  expect(named()).toEqual(["Allow once", "Always allow", "Deny"]);
  await click("Always allow");
  expect(sent).toEqual([[`POST ${SENT}`, { decision: "always" }]]);
  show(golf({ message, lasting: false }));
  expect(named()).toEqual(["Allow once", "Deny"]);
});

test("a page that an app wants to open is opened by the click that allows it", async () => {
  const open = vi.spyOn(window, "open").mockReturnValue(null);
  const url = "https://golf.example/scores?x=1";
  const action = golf({ message: `open ${url}`, lasting: false, url });
  const { dialog, sent } = show(action);
  expect(dialog.textContent).toContain(url);
  await click("Deny");
  expect(open).not.toHaveBeenCalled();
  show(action);
  await click("Allow once");
  expect(String(open.mock.calls[0]?.[0])).toBe(url);
  expect(open.mock.calls[0]?.slice(1)).toEqual([
    "_blank",
    "noopener,noreferrer",
  ]);
  expect(sent).toHaveLength(1);
});

test("a message is shown as it would be sent", async () => {
  const { dialog, sent } = show(message("s1"));
  expect(dialog.querySelector("blockquote")?.textContent).toBe(
    "Pieces\nof eight",
  );
  expect(
    document.querySelector("[role=group]")?.textContent.replaceAll(/\s+/g, " "),
  ).toContain("The applet Parrot wants to send this message to the agent:");
  await click("Allow once");
  expect(sent).toEqual([[`POST ${SENT}`, { decision: "once" }]]);
});
