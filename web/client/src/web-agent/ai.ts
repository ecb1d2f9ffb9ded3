// window.ai: text sessions with the person's models, or with the browser's own.
import type {
  AI,
  LLMProviderInfo,
  RuntimeCapabilities,
  StreamToken,
  TextSession,
} from "./api.js";
import * as take from "./arguments.js";
import type { Builtins } from "./builtins.js";
import { AgentApiError, errorFrom } from "./errors.js";
import { LIMITS, type Link } from "./link.js";
import { NATIVE, nativeModel } from "./native.js";
import { nativeSession } from "./native-session.js";
import type { StreamOptions } from "./streams.js";

export function makeAi(built: Builtins, link: Link): AI {
  const { freeze } = built;
  const native = nativeModel(built);

  async function createTextSession(given?: unknown): Promise<TextSession> {
    const fields = take.options(given, "createTextSession");
    const params = {
      systemPrompt: take.optionalText(fields["systemPrompt"], "systemPrompt"),
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
      return session((made as { sessionId: string }).sessionId);
    } catch (error) {
      // So says a Gangway without a model to use: the browser's own is better than none.
      const none = (error as AgentApiError).code === "ERR_MODEL_FAILED";
      const named = params.provider ?? params.model;
      if (!none || named !== undefined) throw error;
      if ((await native?.availability()) !== "available") throw error;
      return own();
    }
  }

  function session(sessionId: string): TextSession {
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
        return text;
      }),
      promptStreaming: freeze((input: unknown, given?: unknown) => {
        const fields = take.options(given, "promptStreaming");
        const params = { sessionId, input: take.text(input, "The prompt") };
        const signal = take.signalOf(fields);
        return link.stream("text.prompt", params, { ...TOKENS, signal });
      }),
      destroy: freeze(async () => {
        await link.call("text.destroy", { sessionId });
      }),
    } satisfies TextSession);
  }

  async function list(given?: unknown): Promise<LLMProviderInfo[]> {
    const signal = take.signalOf(take.options(given, "providers.list"));
    const said = await link.call("providers.list", {}, { signal });
    const providers = said as LLMProviderInfo[];
    const own = await native?.info();
    if (!own) return providers;
    // Without any other, it is the one that answers.
    const only = own.available && !providers.some(({ available }) => available);
    return [...providers, { ...own, isDefault: only }];
  }

  async function getCapabilities(
    given?: unknown,
  ): Promise<RuntimeCapabilities> {
    const signal = take.signalOf(take.options(given, "getCapabilities"));
    const said = await link.call("capabilities", {}, { signal });
    const state = await native?.availability();
    return {
      // Firefox gives its models to extensions alone.
      firefox: null,
      chrome:
        state === undefined || state === "unavailable"
          ? null
          : { available: state === "available", supportsTools: false },
      harbor: said as RuntimeCapabilities["harbor"],
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
    providers: freeze({ list: freeze(list) }),
    runtime: freeze({
      getBest: freeze(getBest),
      getCapabilities: freeze(getCapabilities),
    }),
  });
}

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
