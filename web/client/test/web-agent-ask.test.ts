// Where the browser opens no window for a question, and when one is closed early. Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Page, settle } from "./web-agent-page.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const ASK = { type: "ask", ask: "a1", url: "/permit?ask=a1" };

async function asking(page: Page) {
  const answer = page.agent.requestPermissions({ scopes: ["model:prompt"] });
  await settle();
  const { id } = page.last();
  page.hear({ ...ASK, id });
  return { id, answer };
}

test("a request whose window is blocked shows a bar, and the same request with a click opens the window", async () => {
  let opens = 0;
  let blocked = true;
  const page = await Page.open({
    before: (window) => {
      Object.assign(window, {
        open: () => {
          opens += 1;
          return blocked ? null : { closed: false };
        },
      });
    },
  });
  const bar = () => page.window.document.querySelector("html > div");
  const first = await asking(page);
  expect(opens).toBe(1);
  expect(bar()).not.toBeNull();
  blocked = false;
  const second = await asking(page);
  expect(opens).toBe(2);
  expect(bar()).toBeNull();
  // It is open: a third call needs no other.
  await asking(page);
  expect(opens).toBe(2);
  for (const { id } of [first, second]) page.result({ granted: true }, id);
  expect((await first.answer).granted).toBe(true);
});

test("the server is notified once of a closed window", async () => {
  const opened = { closed: false };
  const page = await Page.open({
    before: (window) => Object.assign(window, { open: () => opened }),
  });
  const { id, answer } = await asking(page);
  const closed = () =>
    page.said.filter(({ method }) => method === "permissions.closed");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(closed()).toEqual([]);
  opened.closed = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(closed()).toMatchObject([{ params: { ask: "a1" } }]);
  page.result({ granted: false }, id);
  expect((await answer).granted).toBe(false);
});
