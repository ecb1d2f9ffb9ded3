// window.ai: text sessions with the person's models, or with the browser's own.
import type {
  ActiveProvider,
  AI,
  LLMProviderInfo,
  PermissionStatus,
  PromptMessage,
  RuntimeCapabilities,
  StreamToken,
  TextAvailability,
  TextSession,
} from "./api.js";
import * as take from "./arguments.js";
import type { Builtins } from "./builtins.js";
import { AgentApiError, errorFrom } from "./errors.js";
import { makeLanguageModel, transcript, type Begin } from "./language-model.js";
import { LIMITS, type Link } from "./link.js";
import { NATIVE, nativeModel } from "./native.js";
import { nativeSession } from "./native-session.js";
import type { StreamOptions } from "./streams.js";

export function makeAi(built: Builtins, link: Link): AI {
  const { freeze } = built;
  const native = nativeModel(built);

  async function createTextSession(given?: unknown): Promise<TextSession> {
    const fields = take.options(given, "createTextSession");
    const { systemPrompt } = fields;
    return begin({
      fields,
      systemPrompt: take.optionalText(systemPrompt, "systemPrompt"),
      history: [],
    });
  }

  /** Begins a session that continues a history. */
  async function begin(request: Begin): Promise<TextSession> {
    const { fields, history } = request;
    const before = history.length > 0 ? `${BEFORE}\n\n` : "";
    const prompts = [request.systemPrompt, before + transcript(history)];
    const params = {
      systemPrompt: prompts.filter(Boolean).join("\n\n") || undefined,
      temperature: take.optionalNumber(
        ...[fields["temperature"], "temperature", 0, 2],
      ),
      provider: take.optionalText(fields["provider"], "provider"),
      model: take.optionalText(fields["model"], "model"),
    };
    const signal = take.signalOf(fields);
    const own = () => nativeSession(built, link, native, { ...params, signal });
    if (params.provider === NATIVE) return own();
    try {
      const made = await link.call("text.create", params, { signal });
      return session((made as { sessionId: string }).sessionId, request);
    } catch (error) {
      // So says a Gangway without a model to use: the browser's own is better than none.
      const none = (error as AgentApiError).code === "ERR_MODEL_FAILED";
      const named = params.provider ?? params.model;
      if (!none || named !== undefined) throw error;
      if ((await native?.availability()) !== "available") throw error;
      return own();
    }
  }

  function session(sessionId: string, request: Begin): TextSession {
    const history = [...request.history];
    const note = (input: string, answer: string) => {
      const exchange: PromptMessage[] = [
        { role: "user", content: input },
        { role: "assistant", content: answer },
      ];
      history.push(...exchange);
    };
    return freeze({
      sessionId,
      prompt: freeze(async (input: unknown, given?: unknown) => {
        const fields = take.options(given, "prompt");
        const params = { sessionId, input: take.text(input, "The prompt") };
        const signal = take.signalOf(fields);
        let text = "";
        await link.call("text.prompt", params, {
          ms: LIMITS.prompt,
          signal,
          event: (event) => (text += (event as StreamToken).token ?? ""),
        });
        note(params.input, text);
        return text;
      }),
      promptStreaming: freeze((input: unknown, given?: unknown) => {
        const fields = take.options(given, "promptStreaming");
        const params = { sessionId, input: take.text(input, "The prompt") };
        const signal = take.signalOf(fields);
        let text = "";
        const read = (event: unknown) => {
          const token = TOKENS.read(event);
          text += token.token ?? "";
          if (token.type === "done") note(params.input, text);
          return token;
        };
        return link.stream("text.prompt", params, { ...TOKENS, read, signal });
      }),
      clone: freeze(async (given?: unknown) => {
        const { signal } = take.options(given, "clone");
        return begin({
          ...request,
          fields: { ...request.fields, signal },
          history,
        });
      }),
      destroy: freeze(async () => {
        await link.call("text.destroy", { sessionId });
      }),
    } satisfies TextSession);
  }

  async function list(given?: unknown): Promise<LLMProviderInfo[]> {
    const signal = take.signalOf(take.options(given, "providers.list"));
    const result = await link.call("providers.list", {}, { signal });
    const providers = result as LLMProviderInfo[];
    const own = await native?.info();
    if (!own) return providers;
    // Without any other, it is the one that answers.
    const only = own.available && !providers.some(({ available }) => available);
    return [...providers, { ...own, isDefault: only }];
  }

  async function getActive(given?: unknown): Promise<ActiveProvider> {
    const active = (await list(given)).find(({ isDefault }) => isDefault);
    const { id = null, defaultModel = null } = (active ??
      {}) as Partial<LLMProviderInfo> & { defaultModel?: string };
    return { provider: id, model: defaultModel };
  }

  async function canCreateTextSession(
    given?: unknown,
  ): Promise<TextAvailability> {
    const signal = take.signalOf(take.options(given, "canCreateTextSession"));
    const options = { signal };
    try {
      const result = await link.call("permissions.list", {}, options);
      const { scopes } = result as PermissionStatus;
      if (scopes["model:prompt"] === "denied") return "no";
      // Which models there are is nothing for a page that may not list them.
      if (!scopes["model:list"].startsWith("granted")) return "readily";
      const { harbor, chrome } = await getCapabilities(options);
      if (harbor.available || chrome?.available) return "readily";
      return chrome ? "after-download" : "no";
    } catch (error) {
      if ((error as AgentApiError).code === "ERR_NOT_INSTALLED") return "no";
      throw error;
    }
  }

  async function getCapabilities(
    given?: unknown,
  ): Promise<RuntimeCapabilities> {
    const signal = take.signalOf(take.options(given, "getCapabilities"));
    const result = await link.call("capabilities", {}, { signal });
    const state = await native?.availability();
    return {
      // Firefox gives its models to extensions alone.
      firefox: null,
      chrome:
        state === undefined || state === "unavailable"
          ? null
          : { available: state === "available", supportsTools: false },
      harbor: result as RuntimeCapabilities["harbor"],
    };
  }

  async function getBest(given?: unknown) {
    const { harbor, chrome, firefox } = await getCapabilities(given);
    if (harbor.available) return "harbor";
    if (chrome?.available) return "chrome";
    return firefox?.available ? "firefox" : null;
  }

  return freeze({
    createTextSession: freeze(createTextSession),
    canCreateTextSession: freeze(canCreateTextSession),
    languageModel: makeLanguageModel(built, begin, canCreateTextSession),
    providers: freeze({ list: freeze(list), getActive: freeze(getActive) }),
    runtime: freeze({
      getBest: freeze(getBest),
      getCapabilities: freeze(getCapabilities),
    }),
  });
}

/** Stands before a conversation that is gone on with. */
const BEFORE = "The conversation so far:";

/** How a stream of tokens reads on the page. */
export const TOKENS: StreamOptions<StreamToken> = {
  read(event) {
    const token = event as StreamToken;
    if (token.type !== "error") return token;
    return { type: "error", error: errorFrom(token.error) };
  },
  failed: (error) => ({ type: "error", error }),
  isLast: ({ type }) => type !== "token",
  ended: () => ({ type: "done" }),
};
