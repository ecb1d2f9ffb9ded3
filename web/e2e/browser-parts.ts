// Parts of Chromium around its tabs, such as an extension's popup and side panel: no pages to Playwright, so they are driven by the developer tools.
import type { BrowserContext, CDPSession } from "@playwright/test";
import { expect } from "./fixtures.js";

interface Reply {
  id?: number;
  result?: Record<string, unknown>;
  error?: { message: string };
}

export class BrowserPart {
  readonly #devtools: CDPSession;
  readonly #session: string;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #count = 0;

  private constructor(devtools: CDPSession, session: string) {
    this.#devtools = devtools;
    this.#session = session;
    devtools.on("Target.receivedMessageFromTarget", (event) => {
      if (event.sessionId !== session) return;
      const reply = JSON.parse(event.message) as Reply;
      if (reply.id !== undefined) this.#waiting.get(reply.id)?.(reply);
    });
  }

  /** The part that shows this address, once it is there. */
  static async at(context: BrowserContext, url: string): Promise<BrowserPart> {
    const devtools = await context.browser()?.newBrowserCDPSession();
    if (!devtools) throw new Error("Chromium has no developer tools.");
    let targetId = "";
    await expect
      .poll(async () => {
        targetId = (await find(devtools, url)) ?? "";
        return targetId;
      })
      .not.toBe("");
    const { sessionId } = await devtools.send("Target.attachToTarget", {
      targetId,
    });
    return new BrowserPart(devtools, sessionId);
  }

  /** Whether anything shows this address. */
  static async isThere(context: BrowserContext, url: string): Promise<boolean> {
    const devtools = await context.browser()?.newBrowserCDPSession();
    if (!devtools) throw new Error("Chromium has no developer tools.");
    const found = await find(devtools, url);
    await devtools.detach();
    return found !== undefined;
  }

  async value<T>(expression: string): Promise<T> {
    const { result } = await this.#send("Runtime.evaluate", {
      ...{ expression, returnByValue: true, awaitPromise: true },
    });
    return (result as { value: T }).value;
  }

  /** A click of the mouse on what this expression is, once it is there. */
  async click(expression: string): Promise<void> {
    const middle = () =>
      this.value<[number, number] | null>(`(() => {
        const box = (${expression})?.getBoundingClientRect();
        return box?.width ? [box.x + box.width / 2, box.y + box.height / 2] : null;
      })()`);
    await expect.poll(middle).not.toBeNull();
    const [x, y] = (await middle()) ?? [0, 0];
    const at = { x, y, button: "left", clickCount: 1 };
    await this.#send("Input.dispatchMouseEvent", {
      ...{ ...at, type: "mousePressed", buttons: 1 },
    });
    await this.#send("Input.dispatchMouseEvent", {
      ...{ ...at, type: "mouseReleased" },
    });
  }

  /** Writes into what has the focus, and presses Enter. */
  async enter(text: string): Promise<void> {
    await this.#send("Input.insertText", { text });
    const key = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
    const down = { ...key, type: "keyDown", text: "\r" };
    await this.#send("Input.dispatchKeyEvent", down);
    await this.#send("Input.dispatchKeyEvent", { ...key, type: "keyUp" });
  }

  async #send(
    method: string,
    params: object,
  ): Promise<Record<string, unknown>> {
    const id = (this.#count += 1);
    const replied = new Promise<Reply>((done) => this.#waiting.set(id, done));
    await this.#devtools.send("Target.sendMessageToTarget", {
      message: JSON.stringify({ id, method, params }),
      sessionId: this.#session,
    });
    const { result, error } = await replied;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }
}

async function find(
  devtools: CDPSession,
  url: string,
): Promise<string | undefined> {
  const { targetInfos } = await devtools.send("Target.getTargets");
  return targetInfos.find((target) => target.url.startsWith(url))?.targetId;
}
