// Who a frame is: the browser's word alone, whatever the page or its content script says.
import type { CDPSession, Page } from "@playwright/test";
import { expect, ID, test } from "../extension.js";
import { request } from "../sites.js";

/** What each frame of the page comes to that may use what its own origin may. */
const FRAMES = {
  same: "kept",
  srcdoc: "kept",
  blank: "kept",
  blob: "kept",
  other: "ERR_SCOPE_REQUIRED",
  data: "ERR_PERMISSION_DENIED",
  sandbox: "ERR_PERMISSION_DENIED",
  "sandboxed srcdoc": "ERR_PERMISSION_DENIED",
  policy: "ERR_PERMISSION_DENIED",
};

test("every frame is its own origin, and a sandbox has none", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/frames`);
  await request(page, ["model:list"], "Allow once");
  const codes: Record<string, string> = {};
  for (const frame of page.frames().slice(1)) {
    codes[frame.name()] = await frame.evaluate(() =>
      (window.ai?.providers.list() ?? Promise.reject(new Error())).then(
        () => "kept",
        (error: unknown) => (error as { code: string }).code,
      ),
    );
  }
  expect(codes).toEqual(FRAMES);
});

test("a forged origin of a content script is ignored", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/frames`);
  await request(page, ["model:list"], "Always allow");
  const lie = { type: "hello", v: 1, origin: site.origin, tab: "f".repeat(32) };
  const codes: Record<string, string> = {};
  for (const devtools of await sessions(page)) {
    for (const context of await contentScripts(devtools)) {
      const { result } = await devtools.send("Runtime.evaluate", {
        expression: `(${callAs.toString()})(${JSON.stringify(lie)})`,
        contextId: context,
        awaitPromise: true,
        returnByValue: true,
      });
      const [name, code] = result.value as [string, string];
      codes[name] = code;
    }
  }
  expect(codes).toEqual({ "": "kept", ...FRAMES });
});

/** The page's, and those of its frames that have processes of their own. */
async function sessions(page: Page): Promise<CDPSession[]> {
  const all = [page, ...page.frames().slice(1)].map((target) =>
    page
      .context()
      .newCDPSession(target)
      .catch(() => null),
  );
  return (await Promise.all(all)).filter((session) => session !== null);
}

/** The worlds in which the extension's content script runs. */
async function contentScripts(devtools: CDPSession): Promise<number[]> {
  const found: number[] = [];
  devtools.on("Runtime.executionContextCreated", ({ context }) => {
    if (context.origin === `chrome-extension://${ID}`) found.push(context.id);
  });
  await devtools.send("Runtime.enable");
  return found;
}

/** In such a world: greets as somebody, and uses what that one may. */
function callAs(hello: object): Promise<[string, string]> {
  const port = chrome.runtime.connect({ name: "page" });
  return new Promise((done) => {
    port.onDisconnect.addListener(() => done([window.name, "closed"]));
    port.onMessage.addListener((text) => {
      const said = JSON.parse(text) as {
        type: string;
        error?: { code: string };
      };
      if (said.type !== "welcome") {
        done([window.name, said.error?.code ?? "kept"]);
        return;
      }
      const call = { type: "call", id: 1, method: "providers.list" };
      port.postMessage(JSON.stringify({ ...call, params: {} }));
    });
    port.postMessage(JSON.stringify(hello));
  });
}

/** As much of a content script's world as is used above. */
declare const chrome: {
  runtime: {
    connect(info: { name: string }): {
      postMessage(text: string): void;
      onMessage: { addListener(received: (text: string) => void): void };
      onDisconnect: { addListener(received: () => void): void };
    };
  };
};
