// The browser's own model as a provider, and how calls are split between it and Gangway.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { all, Page, refusal, settle, type Win } from "./web-agent-page.js";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => undefined);

class FakeModel {
  state = "available";
  created: Record<string, unknown>[] = [];
  prompts: string[] = [];
  destroyed = 0;
  parts = ["Hi ", "you"];
  hangs = false;
  /** What never answers, whatever its signal says. */
  deaf: "" | "availability" | "create" | "prompt" = "";
  /** Makes a session after all. */
  late: () => void = () => undefined;
  stopped = 0;

  put = (window: Win): void => {
    Object.assign(window, {
      LanguageModel: {
        availability: () =>
          this.deaf === "availability" ? never() : Promise.resolve(this.state),
        params: () => Promise.resolve({ defaultTopK: 3 }),
        create: (options: Record<string, unknown>) => {
          this.created.push(options);
          const session = {
            prompt: (input: string) => {
              this.prompts.push(input);
              if (this.deaf === "prompt") return never();
              return this.hangs
                ? Promise.reject(new Error("out of memory"))
                : Promise.resolve(this.parts.join(""));
            },
            promptStreaming: (
              input: string,
              given: { signal: AbortSignal },
            ) => {
              this.prompts.push(input);
              given.signal.addEventListener("abort", () => (this.stopped += 1));
              return this.#stream();
            },
            destroy: () => (this.destroyed += 1),
          };
          if (this.deaf !== "create") return Promise.resolve(session);
          return new Promise((resolve) => {
            this.late = () => resolve(session);
          });
        },
      },
    });
  };

  #stream(): ReadableStream<string> {
    return new ReadableStream<string>({
      start: (controller) => {
        for (const part of this.parts) controller.enqueue(part);
        if (!this.hangs) controller.close();
      },
    });
  }
}

async function open(model: FakeModel): Promise<Page> {
  return Page.open({ before: model.put });
}

async function allow(page: Page): Promise<void> {
  await settle();
  expect(page.last()).toMatchObject({
    method: "native.begin",
    params: { provider: "chrome" },
  });
  page.result(null);
  await settle();
}

const GANGWAYS = {
  id: "ollama",
  type: "ollama",
  name: "Ollama",
  available: true,
  isDefault: true,
  isTypeDefault: true,
};

test("it is listed behind Gangway's providers, and is the default only where it is alone", async () => {
  const page = await open(new FakeModel());
  const list = page.ai.providers.list();
  await settle();
  page.result([GANGWAYS]);
  expect(await list).toMatchObject([
    GANGWAYS,
    { id: "chrome", isNative: true, runtime: "chrome", isDefault: false },
  ]);
  const alone = page.ai.providers.list();
  await settle();
  page.result([{ ...GANGWAYS, available: false }]);
  expect((await alone).at(-1)).toMatchObject({
    id: "chrome",
    available: true,
    isDefault: true,
    supportsTools: false,
  });
});

test("a model that is not downloaded yet is downloadable, one that cannot be is unavailable", async () => {
  const model = new FakeModel();
  const page = await open(model);
  model.state = "downloadable";
  const list = page.ai.providers.list();
  await settle();
  page.result([]);
  expect(await list).toMatchObject([
    { available: false, downloadRequired: true },
  ]);
  model.state = "unavailable";
  const none = page.ai.providers.list();
  await settle();
  page.result([]);
  expect(await none).toEqual([]);
});

test.each([
  ["harbor", "available", true],
  ["chrome", "available", false],
  [null, "downloadable", false],
  ["harbor", "unavailable", true],
] as const)(
  "the best runtime is %s where the browser's is %s and Gangway's model to use is there: %s",
  async (best, state, available) => {
    const model = new FakeModel();
    model.state = state;
    const page = await open(model);
    const answer = page.ai.runtime.getBest();
    await settle();
    expect(page.last().method).toBe("capabilities");
    // A provider that there is need not be one that can be used.
    const harbor = { available, bridgeConnected: true, providers: ["ollama"] };
    page.result(harbor);
    expect(await answer).toBe(best);
  },
);

test("capabilities name all three runtimes", async () => {
  const page = await open(new FakeModel());
  const answer = page.ai.runtime.getCapabilities();
  await settle();
  const harbor = { available: true, bridgeConnected: true, providers: ["x"] };
  page.result(harbor);
  expect(await answer).toEqual({
    firefox: null,
    chrome: { available: true, supportsTools: false },
    harbor,
  });
});

test("a session with it asks Gangway first, and again before each prompt", async () => {
  const model = new FakeModel();
  const page = await open(model);
  const made = page.ai.createTextSession({
    provider: "chrome",
    systemPrompt: "Be brief.",
    temperature: 1,
  });
  await allow(page);
  const chat = await made;
  expect(model.created).toMatchObject([
    {
      initialPrompts: [{ role: "system", content: "Be brief." }],
      temperature: 1,
      topK: 3,
    },
  ]);
  const answer = chat.prompt("Hello");
  expect(model.prompts).toEqual([]);
  await allow(page);
  expect(await answer).toBe("Hi you");
  const events = all(chat.promptStreaming("More"));
  await allow(page);
  expect(await events).toEqual([
    { type: "token", token: "Hi " },
    { type: "token", token: "you" },
    { type: "done" },
  ]);
  expect(model.prompts).toEqual(["Hello", "More"]);
  await chat.destroy();
  await chat.destroy();
  expect(model.destroyed).toBe(1);
  const gone = await refusal(chat.prompt("Hello"));
  expect(gone).toMatchObject({ code: "ERR_SESSION_NOT_FOUND" });
  expect(await all(chat.promptStreaming("Hello"))).toMatchObject([
    { type: "error", error: { code: "ERR_SESSION_NOT_FOUND" } },
  ]);
});

test("without the scope it is not touched, and a revoke holds for the next prompt", async () => {
  const model = new FakeModel();
  const page = await open(model);
  const made = refusal(page.ai.createTextSession({ provider: "chrome" }));
  await settle();
  page.error("ERR_SCOPE_REQUIRED");
  expect(await made).toMatchObject({ code: "ERR_SCOPE_REQUIRED" });
  expect(model.created).toEqual([]);

  const again = page.ai.createTextSession({ provider: "chrome" });
  await allow(page);
  const events = all((await again).promptStreaming("Hello"));
  await settle();
  page.error("ERR_PERMISSION_DENIED");
  expect(await events).toMatchObject([
    { type: "error", error: { code: "ERR_PERMISSION_DENIED" } },
  ]);
  expect(model.prompts).toEqual([]);
});

test("it answers where Gangway has no model to use, and only where neither provider nor model was named", async () => {
  const model = new FakeModel();
  const page = await open(model);
  const made = page.ai.createTextSession();
  await settle();
  page.error("ERR_MODEL_FAILED");
  await settle();
  await allow(page);
  expect((await made).sessionId).toMatch(/^chrome-/);

  for (const options of [{ provider: "ollama" }, { model: "llama" }]) {
    const named = refusal(page.ai.createTextSession(options));
    await settle();
    page.error("ERR_MODEL_FAILED");
    expect(await named).toMatchObject({ code: "ERR_MODEL_FAILED" });
  }
});

test("where the browser has none, asking for it is ERR_MODEL_FAILED", async () => {
  const page = await Page.open();
  const made = refusal(page.ai.createTextSession({ provider: "chrome" }));
  await allow(page);
  expect(await made).toMatchObject({
    code: "ERR_MODEL_FAILED",
    message: "This browser has no built-in model.",
  });
});

test("what it throws has a code", async () => {
  const model = new FakeModel();
  model.hangs = true;
  const page = await open(model);
  const made = page.ai.createTextSession({ provider: "chrome" });
  await allow(page);
  const answer = refusal((await made).prompt("Hello"));
  await allow(page);
  expect(await answer).toMatchObject({
    code: "ERR_MODEL_FAILED",
    message: "The browser's built-in model failed: out of memory",
  });
});

test("abort, silence and leaving end its streams too", async () => {
  const model = new FakeModel();
  model.hangs = true;
  model.parts = ["a"];
  const page = await open(model);
  const made = page.ai.createTextSession({ provider: "chrome" });
  await allow(page);
  const chat = await made;

  const stop = new page.window.AbortController();
  const aborted = all(chat.promptStreaming("1", { signal: stop.signal }));
  await allow(page);
  stop.abort();
  expect((await aborted).at(-1)).toMatchObject({
    error: { code: "ERR_ABORTED" },
  });

  const silent = all(chat.promptStreaming("2"));
  await allow(page);
  vi.advanceTimersByTime(180_000);
  expect((await silent).at(-1)).toMatchObject({
    error: { code: "ERR_TIMEOUT" },
  });

  const left = chat.promptStreaming("3");
  const first = left.next();
  await allow(page);
  expect(await first).toMatchObject({ value: { token: "a" } });
  await left.return?.();
  expect(model.stopped).toBe(3);
});

test.each(["create", "prompt"] as const)(
  "a browser that does not answer %s keeps no page waiting",
  async (deaf) => {
    const model = new FakeModel();
    model.deaf = deaf;
    const page = await open(model);
    const stop = new page.window.AbortController();
    const begin = async (signal?: AbortSignal) => {
      const options = { ...(signal && { signal }) };
      const made = page.ai.createTextSession({
        ...{ provider: "chrome" },
        ...(deaf === "create" ? options : {}),
      });
      await allow(page);
      if (deaf === "create") return refusal(made);
      const answer = refusal((await made).prompt("Hello", options));
      await allow(page);
      return answer;
    };
    const ended = begin(stop.signal);
    await settle();
    await settle();
    await settle();
    stop.abort();
    expect(await ended).toMatchObject({ code: "ERR_ABORTED" });
    const late = begin();
    for (let turn = 0; turn < 4; turn += 1) await settle();
    vi.advanceTimersByTime(180_000);
    expect(await late).toMatchObject({ code: "ERR_TIMEOUT" });
    model.late();
    await settle();
    expect(model.destroyed).toBe(deaf === "create" ? 1 : 0);
  },
);

test("a browser that does not say whether it has a model has none", async () => {
  const model = new FakeModel();
  model.deaf = "availability";
  const page = await open(model);
  const list = page.ai.providers.list();
  await settle();
  page.result([GANGWAYS]);
  await settle();
  vi.advanceTimersByTime(5_000);
  expect(await list).toEqual([GANGWAYS]);
});
