// The page's view of the broker in the extension: nothing about where Gangway is.
import { expect, test, vi } from "vitest";
import { serve } from "@gangway/client/extension";
import { PortConnection } from "../src/connection.js";
import { settled } from "./fake-bridge.js";
import { FakePort } from "./fake-ports.js";

/** A page that called these methods, each under its number. */
async function called(
  ...calls: [id: number, method: string, params?: string][]
) {
  const background = new FakePort();
  const page = new FakePort();
  const [ask, openChat, act] = [vi.fn(), vi.fn(), vi.fn()];
  const leave = serve(page as unknown as MessagePort, {
    origin: "https://shop.example",
    connect: () => new PortConnection(() => background),
    hello: () => ({ type: "hello", v: 1, origin: "", tab: "" }),
    saveToken: vi.fn(),
    read: vi.fn(),
    ...{ ask, openChat, act },
  });
  const said = page as unknown as { onmessage: (event: object) => void };
  const say = (message: object) => said.onmessage({ data: message });
  for (const [id, method, params = "{}"] of calls) {
    say({ type: "call", id, method, params });
  }
  await settled();
  const tell = (message: object) => background.say(JSON.stringify(message));
  tell({ type: "welcome", visit: "v1", resumed: false });
  return { background, page, ask, openChat, act, tell, say, leave };
}

test("a question is shown by the extension, and its address is kept from the page", async () => {
  const { page, ask, tell, leave } = await called([1, "permissions.request"]);
  const url = "http://127.0.0.1:3000/permit?ask=q1";
  tell({ n: 1, type: "ask", id: 1, ask: "q1", url });
  tell({ n: 2, type: "result", id: 1, result: null });
  expect(ask).toHaveBeenCalledExactlyOnceWith("q1");
  expect(page.sent).toEqual([
    { type: "ready" },
    { type: "result", id: 1, result: null },
  ]);
  leave();
});

test("a number that was used stands for nothing else, so that no result is taken for a chat, nor a chat for a result", async () => {
  const chat = { success: true, chatId: "c1", panel: "/panel#secret" };
  const forged = await called([1, "tools.call"], [1, "chat.open"]);
  forged.tell({ n: 1, type: "result", id: 1, result: chat });
  expect(forged.openChat).not.toHaveBeenCalled();
  forged.leave();
  const real = await called([1, "chat.open"], [1, "tools.call"]);
  real.tell({ n: 1, type: "result", id: 1, result: chat });
  expect(real.openChat).toHaveBeenCalledExactlyOnceWith("c1", "/panel#secret");
  expect(JSON.stringify(real.page.sent)).not.toContain("secret");
  real.leave();
});

test("a page is clicked once for each time that the server allows it, and what it says stays in the browser", async () => {
  const params = '{"target":"#buy","value":"secret"}';
  const { background, page, act, tell, say, leave } = await called(
    [1, "tab.fill", params],
    [2, "tab.click", params],
    [3, "tab.click", params],
    [4, "tools.list"],
  );
  expect(act).not.toHaveBeenCalled();
  expect(background.texts.join()).toContain("tab.fill");
  expect(background.texts.join()).not.toMatch(/secret|buy/);
  tell({ n: 1, type: "result", id: 1, result: null });
  const [method, given, done] = act.mock.lastCall as [
    string,
    object,
    (result: unknown) => void,
  ];
  expect([method, given]).toEqual(["tab.fill", JSON.parse(params)]);
  expect(page.sent).toEqual([{ type: "ready" }]);
  done({ success: true });
  expect(page.sent.at(-1)).toEqual({
    ...{ type: "result", id: 1 },
    result: { success: true },
  });
  // Neither a denial, nor the result of another call, nor a late result is a permission.
  const error = { code: "ERR_SCOPE_REQUIRED", message: "no" };
  tell({ n: 2, type: "error", id: 2, error });
  expect(page.sent.at(-1)).toEqual({ type: "error", id: 2, error });
  say({ type: "abort", id: 3 });
  tell({ n: 3, type: "result", id: 3, result: null });
  tell({ n: 4, type: "result", id: 4, result: [] });
  tell({ n: 5, type: "result", id: 1, result: null });
  expect(act).toHaveBeenCalledTimes(1);
  leave();
});
