// Streams as a page meets them: sessions, runs, what ends them, and what happens to a page that does not read.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StreamToken, TextSession } from "../src/web-agent/api.js";
import { all, Page, refusal, settle } from "./web-agent-page.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

async function session(page: Page): Promise<TextSession> {
  const made = page.ai.createTextSession({
    systemPrompt: "Be brief.",
    temperature: 0.5,
    provider: "ollama",
    model: "m",
  });
  await settle();
  page.result({ sessionId: "s1" });
  return made;
}

const token = (text: string) => ({ type: "token", token: text });

test("a session is made with its options, prompts, streams and is destroyed", async () => {
  const page = await Page.open();
  const chat = await session(page);
  expect(page.last()).toMatchObject({
    method: "text.create",
    params: {
      systemPrompt: "Be brief.",
      temperature: 0.5,
      provider: "ollama",
      model: "m",
    },
  });
  expect(chat.sessionId).toBe("s1");

  const answer = chat.prompt("Hello");
  expect(page.last()).toMatchObject({
    method: "text.prompt",
    params: { sessionId: "s1", input: "Hello" },
  });
  page.event(token("Hi "));
  page.event(token("you"));
  page.event({ type: "done" });
  page.result(null);
  expect(await answer).toBe("Hi you");

  const events = all(chat.promptStreaming("Go on"));
  page.event(token("a"));
  page.event(token("b"));
  page.result(null);
  expect(await events).toEqual([token("a"), token("b"), { type: "done" }]);

  const gone = chat.destroy();
  expect(page.last()).toMatchObject({
    method: "text.destroy",
    params: { sessionId: "s1" },
  });
  page.result(null);
  expect(await gone).toBeUndefined();
});

test("tokens are there as they come, not at the end", async () => {
  const page = await Page.open();
  const chat = await session(page);
  const events = chat.promptStreaming("Hello");
  const first = events.next();
  page.event(token("a"));
  expect(await first).toEqual({ done: false, value: token("a") });
  const second = events.next();
  page.event({ type: "done" });
  expect(await second).toEqual({ done: false, value: { type: "done" } });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test("a failed prompt rejects; a stream ends with an Error event", async () => {
  const page = await Page.open();
  const chat = await session(page);
  const answer = refusal(chat.prompt("Hello"));
  page.error("ERR_MODEL_FAILED", "no model");
  expect(await answer).toMatchObject({ code: "ERR_MODEL_FAILED" });

  const events = all(chat.promptStreaming("Hello"));
  page.event(token("a"));
  page.error("ERR_SESSION_NOT_FOUND", "gone");
  const [, last] = (await events) as [StreamToken, StreamToken];
  expect(last).toMatchObject({
    type: "error",
    error: { code: "ERR_SESSION_NOT_FOUND", message: "gone" },
  });
  expect(last.error).toBeInstanceOf(page.window.Error);
});

test("a prompt waits 180 seconds in all, a stream 180 seconds for each event", async () => {
  const page = await Page.open();
  const chat = await session(page);
  page.greet();
  const answer = refusal(chat.prompt("Hello"));
  const { id } = page.last();
  const events = all(chat.promptStreaming("Hello"));
  vi.advanceTimersByTime(179_000);
  page.event(token("a"), id);
  page.event(token("a"));
  vi.advanceTimersByTime(1_000);
  expect(await answer).toMatchObject({ code: "ERR_TIMEOUT" });
  expect(page.aborts).toEqual([id]);
  vi.advanceTimersByTime(179_000);
  expect(await events).toMatchObject([
    token("a"),
    { type: "error", error: { code: "ERR_TIMEOUT" } },
  ]);
  expect(page.aborts).toEqual([id, id + 1]);
});

test("a run sends its options and gives every event", async () => {
  const page = await Page.open();
  const options = {
    task: "Find fish",
    tools: ["search/*"],
    useAllTools: false,
    maxToolCalls: 3,
    requireCitations: true,
    provider: "openai",
    model: "m",
    systemPrompt: "p",
  };
  const iterator = page.agent.run(options);
  // Without a reader nothing is started.
  expect(page.window.channels).toEqual([]);
  const events = all(iterator);
  expect(page.last()).toMatchObject({ method: "run", params: options });
  const said = [
    { type: "status", message: "Choosing tools" },
    { type: "tool_call", tool: "search/web", args: { q: "fish" } },
    { type: "tool_result", tool: "search/web", result: [1] },
    token("Fish"),
    {
      type: "final",
      output: "Fish",
      citations: [{ source: "tool", ref: "search/web", excerpt: "f" }],
    },
  ];
  for (const event of said) page.event(event);
  page.result(null);
  expect(await events).toEqual(said);
});

test("aborting a run ends the iterator at once with ERR_ABORTED, and what waited is not given first", async () => {
  const page = await Page.open();
  const stop = new page.window.AbortController();
  const events = page.agent.run({ task: "x", signal: stop.signal });
  const first = events.next();
  page.event({ type: "status", message: "on it" });
  await first;
  for (let at = 0; at < 10; at += 1) page.event(token("x"));
  stop.abort();
  expect(await all(events)).toMatchObject([
    { type: "error", error: { code: "ERR_ABORTED" } },
  ]);
  expect(page.aborts).toEqual([1]);
});

test("aborting while the page waits for the next event does not leave it hanging", async () => {
  const page = await Page.open();
  const stop = new page.window.AbortController();
  const events = all(page.agent.run({ task: "x", signal: stop.signal }));
  stop.abort();
  expect(await events).toMatchObject([
    { type: "error", error: { code: "ERR_ABORTED" } },
  ]);
});

test("a run with an aborted signal makes no call", async () => {
  const page = await Page.open();
  const { signal } = (() => {
    const stop = new page.window.AbortController();
    stop.abort();
    return stop;
  })();
  expect(await all(page.agent.run({ task: "x", signal }))).toHaveLength(1);
  expect(page.window.channels).toEqual([]);
});

test("breaking out of a loop ends the call", async () => {
  const page = await Page.open();
  const events = page.agent.run({ task: "x" });
  const loop = (async () => {
    for await (const event of events) {
      expect(event.type).toBe("token");
      break;
    }
  })();
  page.event(token("a"));
  page.event(token("b"));
  await loop;
  expect(page.aborts).toEqual([1]);
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test("leaving after the last event ends nothing twice", async () => {
  const page = await Page.open();
  const loop = (async () => {
    for await (const { type } of page.agent.run({ task: "x" })) {
      if (type === "final") break;
    }
  })();
  page.event({ type: "final", output: "x" });
  page.result(null);
  await loop;
  expect(page.aborts).toEqual([]);
});

test("tokens that wait are joined from the 65th on, and none is lost", async () => {
  const page = await Page.open();
  const events = page.agent.run({ task: "x" });
  const first = events.next();
  page.event({ type: "status", message: "on it" });
  await first;
  for (let at = 0; at < 5_000; at += 1) page.event(token(`${at},`));
  page.event({ type: "final", output: "x" });
  const got = await all(events);
  expect(got).toHaveLength(66);
  const text = got.map((event) => (event.type === "token" ? event.token : ""));
  const wanted = Array.from({ length: 5_000 }, (_, at) => `${at},`);
  expect(text.join("")).toBe(wanted.join(""));
  expect(page.aborts).toEqual([]);
});

test("a page that does not read 4 MB of text loses the call, not its memory", async () => {
  const page = await Page.open();
  const events = page.agent.run({ task: "x" });
  const first = events.next();
  page.event({ type: "status", message: "on it" });
  await first;
  for (let at = 0; at < 5; at += 1) page.event(token("x".repeat(1 << 20)));
  expect(page.aborts).toEqual([1]);
  expect(await all(events)).toMatchObject([
    { type: "error", error: { code: "ERR_INTERNAL" } },
  ]);
});

test("the browser's built-in model cannot run tools", async () => {
  const page = await Page.open();
  const events = all(page.agent.run({ task: "x", provider: "chrome" }));
  expect(await events).toMatchObject([
    { type: "error", error: { code: "ERR_MODEL_FAILED" } },
  ]);
});
