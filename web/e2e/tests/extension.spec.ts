// Pages in a browser with the extension: what they find, what they are asked, and what happens when parts of the way die.
import {
  badge,
  bridges,
  expect,
  introduce,
  killBridge,
  killWorker,
  own,
  test,
} from "../extension.js";
import { EVERYTHING } from "../server.js";
import { asked, codeOf, request, toolsThere, valueOf } from "../sites.js";

test("window.ai and window.agent are there before the first script of any page, and nothing runs until one is used", async ({
  page,
  site,
  server,
}) => {
  // The page that shows how to set things up had one.
  await killBridge(server);
  await page.goto(`${site.origin}/first`);
  expect(await valueOf(page, "first")).toEqual(["object", "object"]);
  expect(await bridges(server)).toEqual([]);
  expect(await codeOf(page, "agent.tools.list()")).toBe("ERR_SCOPE_REQUIRED");
  expect(await bridges(server)).toHaveLength(1);
});

test("a page's first script receives agent-ready and ai-ready, with details", async ({
  page,
  site,
}) => {
  site.own["/hears"] = `<!doctype html><script>
    received = [];
    for (const name of ["agent-ready", "ai-ready"]) {
      addEventListener(name, ({ detail }) => received.push({ name, ...detail }));
    }
  </script>`;
  await page.goto(`${site.origin}/hears`);
  const detail = {
    version: "1.0",
    // Some browsers have a model of their own.
    providers: expect.arrayContaining(["harbor"]) as string[],
    features: expect.arrayContaining(["text-sessions"]) as string[],
  };
  expect(await valueOf(page, "received")).toEqual([
    { name: "agent-ready", ...detail },
    { name: "ai-ready", ...detail },
  ]);
});

test("a page that the browser keeps from this machine uses Gangway all the same", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/public-plain`);
  await request(page, ["model:prompt"], "Allow once");
  const said = await valueOf(
    page,
    `ai.createTextSession().then((session) => session.prompt("ahoy"))`,
  );
  expect(said).toBe("Heard: ahoy");
});

test("a page that may list models finds those of each provider, and prompts one of them by name", async ({
  page,
  site,
  thinker,
}) => {
  await page.goto(`${site.origin}/plain`);
  await request(page, ["model:list", "model:prompt"], "Allow once");
  const models = () =>
    valueOf<[string, string[]][]>(
      page,
      `ai.providers.list().then((all) => all.map(({ id, models }) => [id, models]))`,
    );
  // They are asked for when Gangway starts.
  await expect.poll(models).toContainEqual(["thinker", ["deep-1"]]);
  const said = await valueOf(
    page,
    `ai.createTextSession({ provider: "thinker", model: "deep-1" })
      .then((session) => session.prompt("ahoy"))`,
  );
  expect(said).toBe("Heard: ahoy");
  expect(thinker.lastQuestion).toContain('"deep-1"');
});

test.describe("with tools", () => {
  test.use({ settings: { tools: { every: { command: EVERYTHING } } } });

  test("permission is asked and answered in a window of the extension's own; then models answer and tools are called", async ({
    page,
    site,
    server,
  }) => {
    await toolsThere(server);
    await page.goto(`${site.origin}/plain`);
    const permit = await asked(page.context(), () =>
      page.evaluate(() => {
        const scopes = ["model:prompt", "mcp:tools.call"] as const;
        const answer = window.agent?.requestPermissions({
          scopes: [...scopes],
          tools: ["every/echo"],
          reason: "To try it",
        });
        Object.assign(window, { answer });
      }),
    );
    expect(permit.url()).toMatch(/^chrome-extension:/);
    await expect(permit.getByText(site.origin, { exact: true })).toBeVisible();
    await expect(permit.getByText("To try it")).toBeVisible();
    await permit.getByRole("button", { name: "Allow once" }).click();
    expect(await valueOf(page, "answer")).toMatchObject({ granted: true });
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
  });
});

test("a window that is closed leaves the question unanswered", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/plain`);
  const permit = await asked(page.context(), () =>
    page.evaluate(() => {
      const wish = { scopes: ["model:prompt" as const] };
      const answer = window.agent?.requestPermissions(wish);
      Object.assign(window, { answer });
    }),
  );
  await permit.close();
  expect(await valueOf(page, "answer")).toMatchObject({
    granted: false,
    scopes: { "model:prompt": "not-granted" },
  });
});

test("the text of the page is read once that is allowed", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/plain`);
  const read = "agent.browser.activeTab.readability()";
  expect(await codeOf(page, read)).toBe("ERR_SCOPE_REQUIRED");
  await request(page, ["browser:activeTab.read"], "Allow once");
  const { url, text } = await valueOf<{ url: string; text: string }>(
    page,
    read,
  );
  expect(url).toBe(`${site.origin}/plain`);
  expect(text).toContain("The herring is a fish");
  expect(text).not.toContain("not text");
});

test("a run that is aborted ends at once, and so does the model's work", async ({
  page,
  site,
  thinker,
}) => {
  await page.goto(`${site.origin}/plain`);
  await request(page, ["model:prompt", "model:tools"], "Allow once");
  const last = await valueOf<{ type: string; error: { code: string } }>(
    page,
    `(async () => {
      const stop = new AbortController();
      let last;
      for await (const event of agent.run({ task: "endless", signal: stop.signal })) {
        last = event;
        if (event.type === "token") stop.abort();
      }
      return JSON.parse(JSON.stringify(last));
    })()`,
  );
  expect(last).toMatchObject({ type: "error", error: { code: "ERR_ABORTED" } });
  await expect.poll(() => thinker.left).toBe(1);
});

/** Begins an answer without end on the page; `received()` counts its tokens. */
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

for (const running of [true, false]) {
  test.describe(
    running
      ? "with a Gangway that runs"
      : "with a Gangway that the browser started",
    () => {
      test.use({ running });

      for (const dying of ["the bridge", "the service worker"] as const) {
        test(`a stream goes on where it was when ${dying} dies in the middle of it`, async ({
          page,
          site,
          server,
          context,
          thinker,
        }) => {
          await page.goto(`${site.origin}/plain`);
          await request(page, ["model:prompt"], "Allow once");
          await valueOf(page, ENDLESS);
          const received = () => valueOf<number>(page, "received");
          await expect.poll(received).toBeGreaterThan(5);
          const before = await bridges(server);
          if (dying === "the bridge") await killBridge(server);
          else await killWorker(context);
          await expect
            .poll(async () => {
              const now = await bridges(server);
              return now.length === 1 && now[0] !== before[0];
            })
            .toBe(true);
          const then = await received();
          await expect.poll(received).toBeGreaterThan(then + 10);
          expect(await valueOf(page, "failed")).toBeNull();
          // It is the same answer of the same model.
          expect(thinker.left).toBe(0);
        });
      }
    },
  );
}

test("a page continues after Gangway was killed and restarted, and after it was in the back/forward cache", async ({
  page,
  site,
  server,
}) => {
  await page.goto(`${site.origin}/plain`);
  await request(page, ["model:list"], "Always allow");
  await server.kill();
  await server.launch();
  const list = "ai.providers.list()";
  await expect.poll(() => codeOf(page, list)).toBe("kept");
  await page.evaluate(() => Object.assign(window, { mark: 1 }));
  await page.goto(`${site.origin}/first`);
  await page.goBack();
  await expect.poll(() => codeOf(page, list)).toBe("kept");
});

test("the toolbar shows servers of a page, requests and use", async ({
  page,
  site,
  context,
}) => {
  await page.goto(`${site.origin}/plain`);
  await expect.poll(() => badge(context)).toBe("1");
  const permit = await asked(context, () =>
    page.evaluate(() => {
      void window.agent?.requestPermissions({ scopes: ["model:list"] });
    }),
  );
  await expect.poll(() => badge(context)).toBe("?");
  await permit.getByRole("button", { name: "Allow once" }).click();
  await expect.poll(() => badge(context)).toBe("on");
  // An address that only the page's own script changes is the same page.
  await page.evaluate(() => history.pushState({}, "", "/elsewhere"));
  await asked(context, () =>
    page.evaluate(() => {
      void window.agent?.requestPermissions({ scopes: ["model:prompt"] });
    }),
  );
  await expect.poll(() => badge(context)).toBe("?");
});

test.describe("in a browser without the native messaging host", () => {
  test.use({ introduced: false });

  test("a page gets ERR_NOT_INSTALLED, and the user sees which command to run", async ({
    page,
    site,
    context,
    server,
    profile,
  }) => {
    await page.goto(`${site.origin}/plain`);
    const code = await codeOf(page, "agent.tools.list()");
    expect(code).toBe("ERR_NOT_INSTALLED");
    const install = await own(context, "install.html");
    await expect(
      install.getByText("gangway bridge install --browser chromium"),
    ).toBeVisible();
    await introduce(server, profile);
    await expect(install.getByText("Setup complete")).toBeVisible();
    expect(await codeOf(page, "agent.tools.list()")).toBe("ERR_SCOPE_REQUIRED");
  });

  test("a page of this machine that includes the script does without", async ({
    page,
    site,
  }) => {
    await page.goto(site.origin);
    expect(await codeOf(page, "agent.tools.list()")).toBe("ERR_SCOPE_REQUIRED");
  });
});
