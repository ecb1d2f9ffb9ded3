// Launches: their addresses, what may be in them, and what keeps apps apart.
import {
  Agent,
  call,
  direct,
  launch,
  openProbe,
  post,
  probe,
  visit,
} from "../context.js";
import { expect, test } from "../fixtures.js";

const STRICT =
  "default-src 'none'; script-src 'self'; connect-src https://elsewhere.example";

const IMPORTS = `<script type="module">
  import { word } from "tiny";
  document.title = word;
</script>`;

test.use({
  settings: {
    apps: {
      probe: probe(),
      other: probe("other"),
      strict: probe("strict", { csp: STRICT }),
      "strict-meta": probe("strict-meta", {
        meta: `<meta http-equiv="Content-Security-Policy" content="${STRICT}">`,
      }),
      imports: {
        ...probe("imports", { head: IMPORTS }),
        "APP.md": `---
name: imports
description: Imports a package by its name.
dependencies: { tiny: ^1.0.0 }
---`,
        "vendor/tiny/index.js": 'export const word = "imported";',
      },
      plain: probe("plain", {
        head: '<script src="/__gangway/agent.global.js"></script>',
      }),
    },
  },
});

const ODD = {
  end: "</script><script>window.hacked = 1</script>",
  comment: "<!-- <script>",
  lines: "a\u2028b\u2029c",
  quotes: "\"'`\\ ${1}",
  lone: "\u0000\u0007",
  proto: { constructor: "x", nested: [null, true, -0.5] },
};

test("a script in a page imports a dependency by its name, launched or opened alone", async ({
  page,
  server,
}) => {
  const { url } = await launch(server, "imports");
  await page.goto(url);
  await expect(page).toHaveTitle("imported");
  await visit(page, direct(server, "imports"));
  await expect(page).toHaveTitle("imported");
});

test("no text in the data gets out of it", async ({ page, server }) => {
  await openProbe(page, server, {
    data: ODD,
    config: { title: ODD.end },
  });
  const seen = await page.evaluate(() => ({
    hacked: "hacked" in window,
    data: window.__AGENT_CONTEXT__?.data,
    title: window.__AGENT_CONTEXT__?.config["title"],
    first: window.firstSaw,
  }));
  expect(seen).toEqual({
    hacked: false,
    data: ODD,
    title: ODD.end,
    first: "object",
  });
});

test("a key called __proto__ is a key like any other", async ({
  page,
  server,
}) => {
  const text = '{"agent":"demo","data":{"__proto__":{"admin":true},"a":1}}';
  const response = await server.post("/api/apps/probe/launch", text);
  const { url } = (await response.json()) as { url: string };
  await page.goto(url);
  const seen = await page.evaluate(() => {
    const data = window.__AGENT_CONTEXT__?.data ?? {};
    const plain = Object.getPrototypeOf(data) === Object.prototype;
    return [plain, "admin" in data];
  });
  expect(seen).toEqual([true, false]);
});

test("900 kB of data are there for the first script, and frozen", async ({
  page,
  server,
}) => {
  const rows = Array.from({ length: 9_000 }, (_, id) => ({
    id,
    text: "x".repeat(80),
  }));
  await openProbe(page, server, {
    data: { rows },
  });
  const seen = await page.evaluate(() => {
    const data = window.__AGENT_CONTEXT__?.data as { rows: object[] };
    return {
      count: data.rows.length,
      same: data === window.__AGENT_CONTEXT__?.data,
      frozen: Object.isFrozen(data) && Object.isFrozen(data.rows[8_999]),
      html: document.documentElement.outerHTML.length,
    };
  });
  expect(seen).toMatchObject({ count: 9_000, same: true, frozen: true });
  // Only the first 64 kB stand in the page.
  expect(seen.html).toBeLessThan(100_000);
});

test("more than a million bytes are refused", async ({ server }) => {
  const data = { text: "x".repeat(1_000_001) };
  const answer = await post(server, "/api/apps/probe/launch", { data });
  expect(answer.status).toBe(413);
  expect(answer.body).toMatchObject({ error_code: "context_too_large" });
});

test("an address works again in its browser, and in no other", async ({
  page,
  context,
  browser,
  server,
}) => {
  const { url } = await openProbe(page, server, { agent: "demo" });
  await page.reload();
  expect(await page.evaluate(() => window.firstSaw)).toBe("object");
  const tab = await context.newPage();
  await tab.goto(url);
  expect(await tab.evaluate(() => window.firstSaw)).toBe("object");
  const elsewhere = await browser.newContext();
  const stranger = await elsewhere.newPage();
  const response = await stranger.goto(url);
  expect(response?.status()).toBe(410);
  expect(response?.headers()["cache-control"]).toContain("no-store");
  expect(await stranger.evaluate(() => "__AGENT_CONTEXT__" in window)).toBe(
    false,
  );
  await expect(stranger.getByRole("link")).toHaveAttribute(
    "href",
    direct(server, "probe"),
  );
  await elsewhere.close();
});

test("an address that was made up opens nothing", async ({ page, server }) => {
  const secret = `l-${"0".repeat(32)}.${"A".repeat(43)}`;
  const made = `${direct(server, "probe")}?launch=${secret}`;
  const response = await page.goto(made);
  expect(response?.status()).toBe(404);
  expect(await page.evaluate(() => "__AGENT_CONTEXT__" in window)).toBe(false);
});

test("an address of one app opens no other", async ({ page, server }) => {
  const { url } = await launch(server, "probe", { agent: "demo" });
  const moved = url.replace("//probe.", "//other.");
  const response = await page.goto(moved);
  expect(response?.status()).toBe(404);
});

test("two tabs of one launch both receive the agent's events, and each gets its own answers", async ({
  page,
  context,
  server,
}) => {
  const { url, launchId } = await openProbe(page, server);
  const tab = await context.newPage();
  await tab.goto(url);
  const agent = await Agent.attach(server, launchId);
  agent.tell("ping-page", { n: 1 });
  for (const each of [page, tab]) {
    await expect
      .poll(() => each.evaluate(() => window.received))
      .toEqual([{ n: 1 }]);
  }
  const first = call(page, "request", "from-first", {});
  const second = call(tab, "request", "from-second", {});
  await agent.answer("from-second", { result: "second" });
  await agent.answer("from-first", { result: "first" });
  expect([await first, await second]).toEqual([
    { value: "first" },
    { value: "second" },
  ]);
});

test("apps cannot read each other's storage", async ({ page, server }) => {
  await visit(page, direct(server, "probe"));
  await page.evaluate(() => {
    localStorage.setItem("secret", "probe's");
    document.cookie = "secret=probes";
    return new Promise<void>((resolve) => {
      indexedDB.open("secret").onsuccess = () => resolve();
    });
  });
  await visit(page, direct(server, "other"));
  const seen = await page.evaluate(async () => ({
    stored: localStorage.getItem("secret"),
    cookie: document.cookie,
    databases: (await indexedDB.databases()).map(({ name }) => name),
  }));
  expect(seen).toEqual({ stored: null, cookie: "", databases: [] });
});

test("an app reaches neither the API nor another app", async ({
  page,
  server,
  complaints,
}) => {
  await visit(page, direct(server, "probe"));
  const tries = await page.evaluate(
    async ([main, other]) => {
      const ask = (url: string) =>
        fetch(url, { credentials: "include" }).then(
          async (response) => (response.ok ? await response.text() : "refused"),
          () => "refused",
        );
      return [
        await ask("/api/sessions"),
        await ask("/mcp"),
        await ask(`${main}/api/sessions`),
        await ask(`${other}first.js`),
      ];
    },
    [server.url, direct(server, "other")] as const,
  );
  expect(tries).toEqual(["refused", "refused", "refused", "refused"]);
  complaints.length = 0;
});

for (const name of ["strict", "strict-meta"]) {
  test(`the context works under the app's own policy: ${name}`, async ({
    page,
    server,
    complaints,
  }) => {
    const { url } = await launch(server, name, { agent: "demo" });
    await page.goto(url);
    const seen = await page.evaluate(async () => {
      await window.__AGENT_CONTEXT__?.emit("hello", {});
      // The policy is still the app's: nothing else was let in.
      const inline = document.createElement("script");
      inline.textContent = "window.hacked = 1";
      document.head.append(inline);
      return [window.firstSaw, "hacked" in window];
    });
    expect(seen).toEqual(["object", false]);
    complaints.length = 0;
  });
}

test("the library is there as a plain script too", async ({ page, server }) => {
  const { url } = await launch(server, "plain", {
    agent: "demo",
    data: { a: 7 },
  });
  await page.goto(url);
  const found = await page.evaluate(() => {
    const whole = window as unknown as {
      GangwayAgent: typeof import("@gangway/client/agent");
    };
    return whole.GangwayAgent.getAgentData("a", 0);
  });
  expect(found).toBe(7);
});

test("a server that dies between an event and its taking loses nothing and delivers once", async ({
  page,
  server,
}) => {
  const { launchId } = await openProbe(page, server);
  const agent = await Agent.attach(server, launchId);
  const done = call(page, "emit", "user-action", { n: 1 });
  const before = await agent.next("weblet-event", "user-action");
  await server.kill();
  await server.launch();
  await agent.reconnect(server, launchId);
  const after = await agent.take("user-action");
  expect(after["id"]).toBe(before["id"]);
  expect(await done).toEqual({});
  const received = agent.received;
  expect(received.filter(({ type }) => type === "weblet-event")).toHaveLength(
    1,
  );
});

test("an agent that was away gets what waited, and the page what was said meanwhile", async ({
  page,
  server,
}) => {
  const { launchId } = await openProbe(page, server);
  const done = call(page, "emit", "early", {});
  const agent = await Agent.attach(server, launchId);
  await agent.take("early");
  expect(await done).toEqual({});
  await server.kill();
  await server.launch();
  const told = await post(server, `/api/launches/${launchId}/events`, {
    event: "ping-page",
    payload: { n: 2 },
  });
  expect(told.status).toBe(200);
  await expect
    .poll(() => page.evaluate(() => window.received), { timeout: 20_000 })
    .toEqual([{ n: 2 }]);
});

test("a plain link, a route and a reload inside a launched app keep its context", async ({
  page,
  server,
}) => {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await openProbe(page, server, { data: { a: 1 } });
  const context = () =>
    page.evaluate(() => window.__AGENT_CONTEXT__?.data["a"]);
  await page.evaluate(() => {
    const link = document.createElement("a");
    link.href = "/index.html";
    link.textContent = "On";
    document.body.append(link);
  });
  await page.getByRole("link", { name: "On" }).click();
  await expect(page).toHaveURL(/\/index\.html\?launch=/);
  expect(await context()).toBe(1);
  await page.evaluate(() => history.pushState(null, "", "/notes"));
  await page.reload();
  await expect(page).toHaveURL(/\/notes\?launch=/);
  expect(await context()).toBe(1);
  // Opened by hand, the same page has none.
  await visit(page, `${direct(server, "probe")}index.html`);
  expect(await page.evaluate(() => window.firstSaw)).toBe("undefined");
  expect(problems).toEqual([]);
});
