// What other implementations of window.ai offer beyond the specification.
import { expect, test } from "vitest";
import { Page, refusal, settle } from "./web-agent-page.js";

async function textSession(page: Page, options?: object) {
  const making = page.ai.createTextSession(options);
  page.result({ sessionId: "text-1" });
  return making;
}

async function says(page: Page, answer: Promise<string>, text: string) {
  await settle();
  page.event({ type: "token", token: text });
  page.event({ type: "done" });
  page.result(null);
  expect(await answer).toBe(text);
}

test("a clone knows what was said in the session it is of, and goes its own way", async () => {
  const page = await Page.open();
  const session = await textSession(page, { systemPrompt: "Be brief." });
  await says(page, session.prompt("Hello"), "Ahoy");
  const cloning = session.clone();
  await settle();
  expect(page.last().method).toBe("text.create");
  const { systemPrompt } = page.last().params as { systemPrompt: string };
  expect(systemPrompt).toMatch(/^Be brief\./);
  expect(systemPrompt).toContain("User: Hello\n\nAssistant: Ahoy");
  page.result({ sessionId: "text-2" });
  expect((await cloning).sessionId).toBe("text-2");
  expect(session.sessionId).toBe("text-1");
});

test("ai.languageModel is Chrome's Prompt API over the person's models", async () => {
  const page = await Page.open();
  const making = page.ai.languageModel.create({
    initialPrompts: [
      { role: "system", content: "You are a sailor." },
      { role: "user", content: "Who are you?" },
      { role: "assistant", content: "A sailor." },
    ],
    temperature: 1,
  });
  await settle();
  expect(page.last().params).toMatchObject({ temperature: 1 });
  const { systemPrompt } = page.last().params as { systemPrompt: string };
  expect(systemPrompt).toContain("You are a sailor.");
  expect(systemPrompt).toContain("Assistant: A sailor.");
  page.result({ sessionId: "text-1" });
  const session = await making;
  const answer = session.prompt([{ role: "user", content: "Hello" }]);
  await says(page, answer, "Ahoy");
  const reader = session.promptStreaming("Again").getReader();
  const first = reader.read();
  await settle();
  page.event({ type: "token", token: "Oh" });
  expect(await first).toEqual({ done: false, value: "Oh" });
  page.event({ type: "done" });
  page.result(null);
  expect((await reader.read()).done).toBe(true);
  const wrong = { initialPrompts: [{ role: "captain", content: "x" }] };
  const refused = await refusal(page.ai.languageModel.create(wrong as never));
  expect(refused.code).toBe("ERR_INVALID_ARGUMENT");
});

test("canCreateTextSession says no more than the page may know", async () => {
  const page = await Page.open();
  const can = async (scopes: object, capabilities?: object) => {
    const answer = page.ai.canCreateTextSession();
    await settle();
    page.result({ origin: "o", scopes });
    await settle();
    if (capabilities) page.result(capabilities);
    return answer;
  };
  const none = { "model:prompt": "not-granted", "model:list": "not-granted" };
  expect(await can(none)).toBe("readily");
  expect(await can({ ...none, "model:prompt": "denied" })).toBe("no");
  const list = { ...none, "model:list": "granted-always" };
  expect(await can(list, { available: true })).toBe("readily");
  expect(await can(list, { available: false })).toBe("no");
});

test("providers.getActive names the provider and the model that answer by default", async () => {
  const page = await Page.open();
  const active = async (providers: object[]) => {
    const answer = page.ai.providers.getActive();
    await settle();
    page.result(providers);
    return answer;
  };
  const one = { id: "ollama", isDefault: true, defaultModel: "qwen" };
  expect(await active([one])).toEqual({ provider: "ollama", model: "qwen" });
  expect(await active([])).toEqual({ provider: null, model: null });
});

test("each provider comes with the models that a session takes by name", async () => {
  const page = await Page.open();
  const listed = page.ai.providers.list();
  await settle();
  const provider = { id: "ollama", type: "ollama", models: ["qwen", "llama"] };
  page.result([provider]);
  const [own] = await listed;
  expect(own?.models).toEqual(["qwen", "llama"]);
  const making = page.ai.createTextSession({
    provider: own?.id ?? "",
    model: own?.models?.[1] ?? "",
  });
  await settle();
  expect(page.last()).toMatchObject({
    method: "text.create",
    params: { provider: "ollama", model: "llama" },
  });
  page.result({ sessionId: "text-1" });
  await making;
});
