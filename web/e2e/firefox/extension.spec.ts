// The extension in Firefox: what matters most of what Chromium is asked in full.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import type { PermissionScope } from "@gangway/client/web-agent";
import "@gangway/client/web-agent/globals";
import { bridges, extensionFor, killBridge } from "../extension.js";
import { EVERYTHING, Server } from "../server.js";
import { Site, Thinker, toolsThere } from "../sites.js";
import { pageAt } from "./browser.js";
import { expect, test as base } from "./fixtures.js";

interface Fixtures {
  /** False for a browser that was never told where Gangway is. */
  introduced: boolean;
  thinker: Thinker;
  site: Site;
  /** The id of the installed extension. */
  extension: string;
  tab: Page;
}

const test = base.extend<Fixtures>({
  introduced: [true, { option: true }],

  // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
  thinker: async ({}, use) => {
    const thinker = await new Thinker().start();
    await use(thinker);
    await thinker.stop();
  },

  server: async ({ settings, thinker }, use) => {
    const server = await Server.start({ ...thinker.settings, ...settings });
    await use(server);
    await server.stop();
  },

  site: async ({ server }, use) => {
    const site = await new Site(server.url).start();
    await use(site);
    site.stop();
  },

  // Every test gets a new installation, which knows nothing of the test before.
  extension: [
    async ({ firefox, home, server, introduced, leaveEvidence }, use) => {
      const hosts = join(home, ".mozilla", "native-messaging-hosts");
      if (introduced) await server.introduce("firefox", hosts);
      const before = new Set(await firefox.pages());
      const id = await firefox.installExtension(extensionFor("firefox"));
      await use(id);
      await leaveEvidence();
      await firefox.uninstallExtension(id);
      for (const page of await firefox.pages()) {
        if (!before.has(page)) await page.close().catch(() => undefined);
      }
      await rm(hosts, { recursive: true, force: true });
    },
    { auto: true },
  ],

  tab: async ({ firefox }, use) => use(await firefox.newPage()),
});

/** The value of an expression on the page. */
function valueOf<T>(page: Page, expression: string): Promise<T> {
  const wrapped = `(async () => JSON.stringify((await (${expression})) ?? null))()`;
  return page.evaluate(wrapped).then((text) => JSON.parse(String(text)) as T);
}

const codeOf = (page: Page, call: string) =>
  valueOf(page, `${call}.then(() => "kept", ({ code }) => code)`);

/** A page of the extension, once it is there. */
const own = (firefox: Browser, path: string) =>
  pageAt(
    firefox,
    (href) => href.startsWith("moz-extension:") && href.includes(path),
  );

/** Asks for scopes from a page, and has the person answer with a button. */
async function request(
  firefox: Browser,
  page: Page,
  scopes: PermissionScope[],
  more: { tools?: string[] } = {},
): Promise<unknown> {
  const wish = JSON.stringify({ scopes, ...more });
  await page.evaluate(`window.answer = agent.requestPermissions(${wish}); 0`);
  const permit = await own(firefox, "/permit.html?ask=");
  await permit.waitForSelector('.choices [aria-disabled="false"]');
  await permit.locator("button ::-p-text(Allow once)").click();
  return valueOf(page, "answer");
}

test.describe("with tools", () => {
  test.use({ settings: { tools: { every: { command: EVERYTHING } } } });

  test("a page asks, is allowed, prompts, calls a tool and is read", async ({
    firefox,
    tab: page,
    site,
    server,
  }) => {
    await toolsThere(server);
    await page.goto(`${site.origin}/first`);
    expect(await valueOf(page, "first")).toEqual(["object", "object"]);
    await page.goto(`${site.origin}/plain`);
    expect(await codeOf(page, "agent.tools.list()")).toBe("ERR_SCOPE_REQUIRED");
    const scopes: PermissionScope[] = [
      ...([
        "model:prompt",
        "mcp:tools.call",
        "browser:activeTab.read",
      ] as const),
    ];
    const answer = await request(firefox, page, scopes, {
      tools: ["every/echo"],
    });
    expect(answer).toMatchObject({ granted: true });
    const tokens = await valueOf<string[]>(
      page,
      `ai.createTextSession().then(async (session) => {
      const tokens = [];
      for await (const { token } of session.promptStreaming("ahoy")) tokens.push(token);
      return tokens;
    })`,
    );
    expect(tokens.filter(Boolean).join("")).toBe("Heard: ahoy");
    const result = await valueOf(
      page,
      `agent.tools.call({ tool: "every/echo", args: { message: "aye" } })`,
    );
    expect(JSON.stringify(result)).toContain("aye");
    const read = await valueOf<{ text: string }>(
      page,
      "agent.browser.activeTab.readability()",
    );
    expect(read.text).toContain("The herring is a fish");
  });
});

test("a page clicks, fills in and pictures itself, each with a permission of its own", async ({
  firefox,
  tab: page,
  site,
}) => {
  await page.goto(`${site.origin}/form`);
  const activeTab = "agent.browser.activeTab";
  const click = `${activeTab}.click("#buy")`;
  await request(firefox, page, ["browser:activeTab.read"]);
  expect(await codeOf(page, `${activeTab}.getElements()`)).toBe("kept");
  expect(await codeOf(page, click)).toBe("ERR_SCOPE_REQUIRED");
  // Without a click only the first question of a document opens a window.
  await page.reload();
  await request(firefox, page, [
    ...(["browser:activeTab.click", "browser:activeTab.fill"] as const),
    "browser:activeTab.screenshot",
  ]);
  expect(await codeOf(page, click)).toBe("kept");
  expect(await valueOf(page, "bought")).toBe(1);
  await valueOf(page, `${activeTab}.fill("#name", "Ahab")`);
  expect(await valueOf(page, "document.querySelector('#name').value")).toBe(
    "Ahab",
  );
  const codes = await Promise.all(
    ["#gone", "#off", "#under", "#missing", "button"].map((target) =>
      codeOf(page, `${activeTab}.click("${target}")`),
    ),
  );
  expect(codes).toEqual([
    ...["ERR_ELEMENT_HIDDEN", "ERR_ELEMENT_DISABLED", "ERR_ELEMENT_HIDDEN"],
    ...["ERR_ELEMENT_NOT_FOUND", "ERR_ELEMENT_AMBIGUOUS"],
  ]);
  expect(await codeOf(page, `${activeTab}.fill("#secret", "x")`)).toBe(
    "ERR_ELEMENT_PROTECTED",
  );
  await page.bringToFront();
  const shot = await valueOf<{ dataUrl: string; width: number }>(
    ...[page, `${activeTab}.screenshot()`],
  );
  expect(shot.dataUrl).toMatch(/^data:image\/jpeg;base64,/);
  expect(shot.dataUrl.length).toBeLessThan(700_000);
  expect(shot.width).toBeLessThanOrEqual(1_280);
});

test("a run that is aborted ends at once, and so does the model's work", async ({
  firefox,
  tab: page,
  site,
  thinker,
}) => {
  await page.goto(`${site.origin}/plain`);
  await request(firefox, page, ["model:prompt", "model:tools"]);
  const last = await valueOf(
    page,
    `(async () => {
      const stop = new AbortController();
      let last;
      for await (const event of agent.run({ task: "endless", signal: stop.signal })) {
        last = event;
        if (event.type === "token") stop.abort();
      }
      return last;
    })()`,
  );
  expect(last).toMatchObject({ type: "error", error: { code: "ERR_ABORTED" } });
  await expect.poll(() => thinker.left).toBe(1);
});

/** Begins an answer without end on the page; `received` counts its tokens. */
const ENDLESS = `ai.createTextSession().then((session) => {
  window.received = 0;
  window.failed = null;
  (async () => {
    for await (const event of session.promptStreaming("endless")) {
      if (event.type === "token") received += 1;
      if (event.type === "error") failed = event.error.code;
    }
  })();
})`;

/** Has a stream run while `kill` is done, which must take the bridge with it. */
async function goesOn(
  {
    firefox,
    tab: page,
    site,
    server,
    thinker,
  }: Pick<Fixtures, "tab" | "site" | "thinker"> & {
    firefox: Browser;
    server: Server;
  },
  kill: () => Promise<void>,
): Promise<void> {
  await page.goto(`${site.origin}/plain`);
  await request(firefox, page, ["model:prompt"]);
  await valueOf(page, ENDLESS);
  const received = () => valueOf<number>(page, "received");
  await expect.poll(received).toBeGreaterThan(5);
  const before = await bridges(server);
  await kill();
  await expect
    .poll(async () => {
      const now = await bridges(server);
      return now.length === 1 && now[0] !== before[0];
    })
    .toBe(true);
  const then = await received();
  // Firefox starts the event page anew in its own time.
  await expect.poll(received, { timeout: 60_000 }).toBeGreaterThan(then + 10);
  expect(await valueOf(page, "failed")).toBeNull();
  expect(thinker.left).toBe(0);
}

test("a stream resumes when the bridge dies", async ({
  firefox,
  tab,
  site,
  server,
  thinker,
}) => {
  const all = { firefox, tab, site, server, thinker };
  await goesOn(all, () => killBridge(server));
});

test("a stream resumes when the event page dies", async ({
  firefox,
  tab,
  site,
  server,
  thinker,
}) => {
  const all = { firefox, tab, site, server, thinker };
  const install = await own(firefox, "/install.html");
  await goesOn(all, async () => {
    // Firefox ends no event page whose bridge is up by itself; this takes all that it knew, and its ports.
    await install.evaluate(
      `chrome.runtime.getBackgroundPage().then((page) => page.location.reload())`,
    );
  });
});

test("every frame is its own origin, and a sandbox has none", async ({
  firefox,
  tab: page,
  site,
}) => {
  await page.goto(`${site.origin}/frames`);
  await request(firefox, page, ["model:list"]);
  const codes: Record<string, unknown> = {};
  for (const frame of page.frames().slice(1)) {
    const said = await frame.evaluate(`(async () => [
      window.name,
      window.ai
        ? await ai.providers.list().then(() => "kept", ({ code }) => code)
        : "nothing",
    ])()`);
    const [name, code] = said as [string, string];
    codes[name] = code;
  }
  expect(codes).toEqual({
    ...{ same: "kept", srcdoc: "kept", blank: "kept", blob: "kept" },
    other: "ERR_SCOPE_REQUIRED",
    data: "ERR_PERMISSION_DENIED",
    sandbox: "ERR_PERMISSION_DENIED",
    "sandboxed srcdoc": "ERR_PERMISSION_DENIED",
    policy: "ERR_PERMISSION_DENIED",
  });
});

test("access to pages that was taken away is found missing", async ({
  firefox,
}) => {
  const install = await own(firefox, "/install.html");
  await install.locator("::-p-text(Setup complete)").wait();
  await install.evaluate(
    `chrome.permissions.remove({ origins: ["<all_urls>"] })`,
  );
  await install
    .locator("::-p-text(The extension has no access to pages)")
    .wait();
  await install.locator("button ::-p-text(Allow on all sites)").wait();
});

test.describe("in a browser without the native messaging host", () => {
  test.use({ introduced: false });

  test("a page gets ERR_NOT_INSTALLED, and the user sees which command to run", async ({
    firefox,
    tab: page,
    site,
  }) => {
    await page.goto(`${site.origin}/plain`);
    expect(await codeOf(page, "agent.tools.list()")).toBe("ERR_NOT_INSTALLED");
    const install = await own(firefox, "/install.html");
    const command = () =>
      install.evaluate(() => document.querySelector("code")?.innerText);
    await expect.poll(command).toBe("gangway bridge install --browser firefox");
  });
});
