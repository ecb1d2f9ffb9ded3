// gangway.js before the first call: what is there, and what of it is the page's own. Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Page, settle } from "./web-agent-page.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("window.ai and window.agent are there at once and frozen", async () => {
  const { window } = await Page.open();
  const frozen = (value: unknown): void => {
    expect(Object.isFrozen(value)).toBe(true);
    Object.values(value as object).forEach(frozen);
  };
  frozen(window.ai);
  frozen(window.agent);
  expect(Object.keys(window)).toEqual(
    expect.arrayContaining(["ai", "agent"]) as string[],
  );
});

test("a page may use the names ai and agent for something of its own", async () => {
  const { window } = await Page.open();
  const property = (name: string) =>
    Object.getOwnPropertyDescriptor(window, name);
  const shown = { enumerable: true, configurable: true };
  expect(property("ai")).toMatchObject(shown);
  expect(property("agent")).toMatchObject(shown);
  window.eval("agent = 'a'; function ai() { return 'f'; }");
  const own = { value: "a", writable: true, ...shown };
  expect(property("agent")).toEqual(own);
  expect(window.eval("ai()")).toBe("f");
});

test("agent-ready and ai-ready are dispatched once, when the page is parsed and its first scripts can listen", async () => {
  const said: unknown[] = [];
  await Page.open({
    before: (window) => {
      for (const name of ["agent-ready", "ai-ready"]) {
        window.addEventListener(name, (event) => {
          const { detail } = event as CustomEvent<unknown>;
          said.push(name, detail, window.document.readyState);
        });
      }
    },
  });
  await settle();
  const detail = {
    version: "1.0",
    providers: ["harbor"],
    features: expect.arrayContaining(["text-sessions"]) as string[],
  };
  const received = (name: string) => [name, detail, "interactive"];
  expect(said).toEqual([...received("agent-ready"), ...received("ai-ready")]);
});

test("the script does nothing where an extension was first", async () => {
  const agent = {};
  const { window } = await Page.open({
    before: (window) => Object.assign(window, { agent }),
  });
  expect(window.agent).toBe(agent);
  expect(window.ai).toBeUndefined();
});

test("on a page of this machine the script takes the place of our own extension, elsewhere it does not", async () => {
  const agent = {};
  const before = (window: object) => {
    Object.assign(window, { agent, ai: {} });
    Object.assign(window, { [Symbol.for("gangway.extension")]: true });
  };
  const there = await Page.open({ before });
  expect(there.window.agent).toBe(agent);
  for (const url of ["http://shop.localhost:4010/", "http://127.0.0.1:1/"]) {
    const { window } = await Page.open({ before, url });
    expect(window.agent).not.toBe(agent);
    expect(window.agent.tools.list).toBeInstanceOf(window.Function);
  }
});
