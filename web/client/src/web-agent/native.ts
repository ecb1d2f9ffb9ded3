// The browser's own model, where there is one: Chrome's LanguageModel, offered as the provider `chrome`.
import type { LLMProviderInfo } from "./api.js";
import type { Builtins } from "./builtins.js";
import { aborted, AgentApiError, wordsOf } from "./errors.js";

export const NATIVE = "chrome";

// A browser that does not say by then whether it has a model has none.
const LOOK_MS = 5_000;

type Availability =
  "available" | "downloadable" | "downloading" | "unavailable";

interface NativeSession {
  prompt(input: string, options: { signal: AbortSignal }): Promise<string>;
  promptStreaming(
    input: string,
    options: { signal: AbortSignal },
  ): ReadableStream<string>;
  clone(options: { signal: AbortSignal }): Promise<NativeSession>;
  destroy(): void;
}

interface LanguageModel {
  availability(): Promise<Availability>;
  create(options: object): Promise<NativeSession>;
  /** Not in every version. */
  params?(): Promise<{ defaultTopK: number } | null>;
}

export interface NativeModel {
  availability(): Promise<Availability>;
  info(): Promise<LLMProviderInfo | null>;
  create(options: NativeOptions): Promise<NativeSession>;
}

export interface NativeOptions {
  systemPrompt?: string | undefined;
  temperature?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Null where the browser has no model, nor could get one. */
export function nativeModel(built: Builtins): NativeModel | null {
  const found = (globalThis as { LanguageModel?: LanguageModel }).LanguageModel;
  if (typeof found?.create !== "function") return null;
  const model = found;

  async function availability(): Promise<Availability> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await new built.Later<Availability>((resolve, reject) => {
        timer = built.setTimeout(() => resolve("unavailable"), LOOK_MS);
        model.availability().then(resolve, reject);
      });
    } catch {
      return "unavailable";
    } finally {
      built.clearTimeout(timer);
    }
  }

  return {
    availability,
    async info() {
      const state = await availability();
      if (state === "unavailable") return null;
      return {
        id: NATIVE,
        type: NATIVE,
        name: "Chrome's built-in model",
        available: state === "available",
        isDefault: false,
        isTypeDefault: true,
        supportsTools: false,
        isNative: true,
        runtime: "chrome",
        downloadRequired: state !== "available",
      };
    },
    async create({ systemPrompt, temperature, signal }) {
      if ((await availability()) === "unavailable") {
        const words = "The browser's built-in model is not available here.";
        throw new AgentApiError("ERR_MODEL_FAILED", words);
      }
      const initialPrompts = [{ role: "system", content: systemPrompt }];
      const topK = (await model.params?.())?.defaultTopK;
      return asOurs(
        model.create({
          ...(systemPrompt && { initialPrompts }),
          // A temperature alone is refused; where none can be set, it is left out.
          ...(temperature !== undefined &&
            topK !== undefined && { temperature, topK }),
          ...(signal && { signal }),
        }),
        signal,
      );
    },
  };
}

/** What the browser's model throws, as an error with a code. */
export async function asOurs<T>(
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw ourError(error, signal);
  }
}

export function ourError(error: unknown, signal?: AbortSignal): AgentApiError {
  if (signal?.aborted) return aborted();
  return new AgentApiError(
    "ERR_MODEL_FAILED",
    `The browser's built-in model failed: ${wordsOf(error)}`,
  );
}

export type { NativeSession };
