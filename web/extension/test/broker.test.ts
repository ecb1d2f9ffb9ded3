// What the page hears of its broker in the extension: nothing of where Gangway is.
import { expect, test, vi } from "vitest";
import { serve } from "../../client/src/web-agent/broker-serve.js";
import { PortConnection } from "../src/connection.js";
import { settled } from "./fake-bridge.js";
import { FakePort } from "./fake-ports.js";

/** A page that called these methods, each under its number. */
async function called(...calls: [id: number, method: string][]) {
  const background = new FakePort();
  const page = new FakePort();
  const [ask, openChat] = [vi.fn(), vi.fn()];
  const leave = serve(page as unknown as MessagePort, {
    origin: "https://shop.example",
    connect: () => new PortConnection(() => background),
    hello: () => ({ type: "hello", v: 1, origin: "", tab: "" }),
    saveToken: vi.fn(),
    read: vi.fn(),
    ...{ ask, openChat },
  });
  const said = page as unknown as { onmessage: (event: object) => void };
  for (const [id, method] of calls) {
    said.onmessage({ data: { type: "call", id, method, params: "{}" } });
  }
  await settled();
  const tell = (message: object) => background.say(JSON.stringify(message));
  tell({ type: "welcome", visit: "v1", resumed: false });
  return { background, page, ask, openChat, tell, leave };
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
