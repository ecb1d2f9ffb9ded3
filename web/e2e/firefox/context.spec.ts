// The contract between apps and agents in Firefox: what matters most of what Chromium is asked in full.
import {
  call,
  direct,
  visit,
  launch,
  openProbe,
  openWithAgent,
  OUTSIDE,
  probe,
} from "../context.js";
import { tabOf } from "./browser.js";
import { expect, test } from "./fixtures.js";

test.use({ settings: { apps: { probe: probe() } } });

test("the context is there for the first script of a launched page, and is frozen through and through", async ({
  server,
  newTab,
}) => {
  const data = { list: [{ deep: [1] }] };
  const config = { theme: "dark" };
  const tab = await newTab();
  await openProbe(tab, server, { data, config });
  const seen = await tab.evaluate(() => {
    const context = window.__AGENT_CONTEXT__;
    const open: string[] = [];
    const look = (value: unknown, path: string) => {
      if (value === null || !/object|function/.test(typeof value)) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [key, inner] of Object.entries(value as object)) {
        look(inner, `${path}.${key}`);
      }
    };
    look(context, "context");
    const own = Object.getOwnPropertyDescriptor(window, "__AGENT_CONTEXT__");
    let thrown = "";
    try {
      Object.assign(context?.data ?? {}, { more: 1 });
    } catch (error) {
      thrown = (error as Error).name;
    }
    return {
      first: window.firstSaw,
      name: context?.agent.name,
      data: context?.data,
      config: context?.config,
      open,
      fixed: own?.writable === false && !own.configurable,
      thrown,
    };
  }, null);
  expect(seen).toEqual({
    first: "object",
    name: OUTSIDE.name,
    data,
    config,
    open: [],
    fixed: true,
    thrown: "TypeError",
  });
});

test("a page that was opened directly has no context", async ({
  server,
  newTab,
}) => {
  const tab = await newTab();
  await visit(tab, direct(server, "probe"));
  const seen = await tab.evaluate(
    () => ({
      first: window.firstSaw,
      there: "__AGENT_CONTEXT__" in window,
    }),
    null,
  );
  expect(seen).toEqual({ first: "undefined", there: false });
});

test("an event is acknowledged, a request answered or denied, and what the agent says comes in", async ({
  server,
  newTab,
}) => {
  const tab = await newTab();
  const agent = await openWithAgent(tab, server);

  const emitted = call(tab, "emit", "user-action", { clicked: "save" });
  expect(await agent.take("user-action")).toMatchObject({
    payload: { clicked: "save" },
  });
  expect((await emitted).value ?? null).toBeNull();
  expect((await emitted).code).toBeUndefined();

  const asked = call(tab, "request", "send-email", { to: "ada" });
  await agent.answer("send-email", { result: { sent: true } });
  expect(await asked).toMatchObject({ value: { sent: true } });

  const denied = call(tab, "request", "delete-all");
  const error = { code: "E-AGT-004", message: "Not today." };
  await agent.answer("delete-all", { error });
  expect(await denied).toMatchObject({
    code: "E-AGT-004",
    kinds: ["AgentDeniedError", "AgentError"],
  });

  expect(await call(tab, "emit", "Not A Name!")).toMatchObject({
    code: "E-AGT-001",
  });

  agent.tell("ping-page", { n: 1 });
  await expect
    .poll(() => tab.evaluate(() => window.received, null))
    .toEqual([{ n: 1 }]);
});

test("the address of a launch is good for one browser", async ({
  firefox,
  server,
  newTab,
}) => {
  const { url } = await launch(server, "probe", { agent: OUTSIDE });
  const tab = await newTab();
  const there = () => typeof window.__AGENT_CONTEXT__;
  for (const _ of ["first", "again"]) {
    await tab.goto(url);
    expect(await tab.evaluate(there, null)).toBe("object");
  }
  const other = await firefox.createBrowserContext();
  const stolen = tabOf(await other.newPage());
  await stolen.goto(url);
  expect(await stolen.evaluate(there, null)).toBe("undefined");
  await other.close();
});

for (const app of ["budget-dashboard", "card-game", "form-builder"]) {
  test(`${app} opens with an agent and without one`, async ({
    server,
    newTab,
  }) => {
    const tab = await newTab();
    const look = () => ({
      context: typeof window.__AGENT_CONTEXT__,
      heading: Boolean(document.querySelector("h1")?.textContent),
      // Each of them draws its page by script.
      drawn: document.querySelectorAll("main button, main svg").length > 0,
    });
    const drawn = { heading: true, drawn: true };
    await visit(tab, direct(server, app));
    await expect
      .poll(() => tab.evaluate(look, null))
      .toEqual({ context: "undefined", ...drawn });
    const { url } = await launch(server, app);
    await tab.goto(url);
    await expect
      .poll(() => tab.evaluate(look, null))
      .toEqual({ context: "object", ...drawn });
  });
}
