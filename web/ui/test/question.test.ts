// The dialog with what a server asks in the middle of a call.
import { Http, Tools, type OpenQuestion } from "@gangway/client";
import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { QuestionsState } from "../src/tools/questions.svelte.js";
import QuestionHost from "./QuestionHost.svelte";

const sent: unknown[] = [];
let shown: ReturnType<typeof mount> | null = null;

beforeEach(() => {
  sent.length = 0;
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
  if (shown) await unmount(shown);
  shown = null;
});

async function show(question: Partial<OpenQuestion>): Promise<void> {
  const plain = { id: "q_1", server: "files", message: "Hm?", askedAt: "now" };
  const http = new Http({
    fetch: (input, init) => {
      if (init?.method === "GET") {
        const questions = [{ ...plain, ...question }];
        return Promise.resolve(Response.json({ questions }));
      }
      sent.push([input, JSON.parse(init?.body as string)]);
      return Promise.resolve(new Response(null, { status: 204 }));
    },
  });
  const questions = new QuestionsState(new Tools(http));
  shown = mount(QuestionHost, { target: document.body, props: { questions } });
  await vi.waitFor(() => expect(document.querySelector("h2")).not.toBeNull());
  flushSync();
}

function button(name: string): HTMLButtonElement {
  const all = [...document.querySelectorAll("button")];
  const found = all.find(({ textContent }) => textContent.trim() === name);
  if (!found) throw new Error(`There is no button ${name}.`);
  return found;
}

test("what was filled in goes to the server that asked", async () => {
  await show({
    message: "<b>Who</b> are you?",
    schema: {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name"],
    },
  });
  const dialog = document.querySelector("dialog");
  expect(dialog?.open).toBe(true);
  expect(dialog?.textContent).toContain("<b>Who</b> are you?");
  expect(dialog?.textContent).toContain("sent to files");
  // Enter that was meant for another field must not answer.
  expect(document.activeElement?.tagName).toBe("H2");
  button("Send to files").click();
  await vi.waitFor(() => expect(dialog?.textContent).toContain("Required."));
  expect(sent).toEqual([]);
  const field = dialog?.querySelector("textarea");
  if (!field) throw new Error("There is no field.");
  field.value = "Ada";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  button("Send to files").click();
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  const answer = { action: "accept", content: { name: "Ada" } };
  expect(sent).toEqual([["/api/mcp/questions/q_1", answer]]);
  await vi.waitFor(() => expect(dialog?.open).toBe(false));
});

test.each([
  ["Decline", "decline"],
  ["Dismiss", "cancel"],
])("%s is told as %s", async (name, action) => {
  await show({});
  button(name).click();
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  expect(sent).toEqual([["/api/mcp/questions/q_1", { action }]]);
});

test("closing the dialog answers nothing, and the question can be seen again", async () => {
  await show({});
  const dialog = document.querySelector("dialog");
  dialog?.close();
  await vi.waitFor(() => button("files has a question"));
  expect(sent).toEqual([]);
  button("files has a question").click();
  flushSync();
  expect(dialog?.open).toBe(true);
});

test("an address is shown whole and opened only by a click, in a tab of its own", async () => {
  const opened = vi.spyOn(window, "open");
  const url = "https://pay.example.com/confirm?session=1";
  await show({ url });
  const link = document.querySelector("dialog a");
  expect(link?.getAttribute("href")).toBe(url);
  expect(link?.getAttribute("target")).toBe("_blank");
  expect(link?.getAttribute("rel")).toBe("noopener noreferrer");
  const address = document.querySelector(".address")?.textContent;
  expect(address).toContain("pay.example.com");
  expect(address).toContain(url);
  expect(opened).not.toHaveBeenCalled();
  button("Continue").click();
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  expect(sent).toEqual([["/api/mcp/questions/q_1", { action: "accept" }]]);
});

test("an address that is none of a page is not offered", async () => {
  await show({ url: "javascript:alert(1)" });
  expect(document.querySelector("dialog a")).toBeNull();
  expect(button("Continue").disabled).toBe(true);
  button("Decline").click();
  await vi.waitFor(() => expect(sent).toHaveLength(1));
});

test("Gangway asks about an app in its own name, and a click that was under way allows nothing", async () => {
  await show({
    server: "gangway",
    message: "The app Golf wants to save a.txt.",
    schema: {
      type: "object",
      properties: { always: { type: "boolean", title: "Always allow this" } },
    },
  });
  expect(document.querySelector("h2")?.textContent.trim()).toBe("Gangway asks");
  expect(document.body.textContent).not.toContain("password");
  const allow = button("Allow");
  expect(allow.disabled).toBe(true);
  await vi.waitFor(() => expect(allow.disabled).toBe(false));
  allow.click();
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]).toMatchObject([
    "/api/mcp/questions/q_1",
    { action: "accept" },
  ]);
});
