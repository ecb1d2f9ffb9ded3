// A text session with the browser's built-in model, which Gangway is asked about before every prompt.
import type { StreamToken, TextSession } from "./api.js";
import * as take from "./arguments.js";
import type { Builtins } from "./builtins.js";
import { aborted, AgentApiError, timedOut } from "./errors.js";
import { LIMITS, type Link } from "./link.js";
import {
  asOurs,
  NATIVE,
  ourError,
  type NativeModel,
  type NativeOptions,
  type NativeSession,
} from "./native.js";
import { makePipe } from "./pipe.js";
import { joined, notRead, weigh } from "./streams.js";

/** Gangway is asked at each call, so a revoke ends no answer that the browser's model is at, but holds for the next. */
export async function nativeSession(
  built: Builtins,
  link: Link,
  native: NativeModel | null,
  options: NativeOptions,
  from?: NativeSession,
): Promise<TextSession> {
  const { freeze } = built;
  const { signal } = options;
  /** Whether the page may, and a line in the person's log. */
  const allowed = (until?: AbortSignal) =>
    link.call("native.begin", { provider: NATIVE }, { signal: until });

  const ended = new AbortController();
  const sessionId = `${NATIVE}-${built.id()}`;
  const model = await create();

  async function create(): Promise<NativeSession> {
    await allowed(signal);
    if (!native) {
      const words = "This browser has no built-in model.";
      throw new AgentApiError("ERR_MODEL_FAILED", words);
    }
    const until = bounded(signal, "the browser's built-in model");
    try {
      const made = { ...options, signal: until.signal };
      const making = from
        ? asOurs(from.clone({ signal: until.signal }), until.signal)
        : native.create(made);
      // A late one is ignored.
      const late = (made: NativeSession) => {
        if (until.signal.aborted) made.destroy();
      };
      making.then(late, () => undefined);
      return await until.race(making);
    } finally {
      until.done();
    }
  }

  function check(): void {
    if (!ended.signal.aborted) return;
    const words = "This session was destroyed.";
    throw new AgentApiError("ERR_SESSION_NOT_FOUND", words);
  }

  /** A signal that aborts for any reason, and says afterwards which it was. */
  function bounded(given: AbortSignal | undefined, what = "the prompt") {
    const stop = new AbortController();
    let why: AgentApiError | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (error: AgentApiError) => {
      why ??= error;
      stop.abort();
    };
    const onAbort = () => end(aborted());
    const renew = () => {
      built.clearTimeout(timer);
      const late = () => end(timedOut(what, LIMITS.prompt));
      timer = built.setTimeout(late, LIMITS.prompt);
    };
    renew();
    if (given?.aborted) onAbort();
    if (given) built.listen(given, "abort", onAbort);
    built.listen(ended.signal, "abort", onAbort);
    return {
      ...{ signal: stop.signal, renew, end },
      why: (error: unknown) => why ?? ourError(error),
      /** A model that does not heed its signal must not keep the page waiting. */
      race: <T>(work: Promise<T>) =>
        new built.Later<T>((resolve, reject) => {
          const stopped = () => reject(why ?? aborted());
          if (stop.signal.aborted) stopped();
          built.listen(stop.signal, "abort", stopped);
          work.then(resolve, reject);
        }),
      done() {
        built.clearTimeout(timer);
        if (given) built.unlisten(given, "abort", onAbort);
        built.unlisten(ended.signal, "abort", onAbort);
      },
    };
  }

  async function prompt(input: unknown, given?: unknown): Promise<string> {
    const words = take.text(input, "The prompt");
    const until = bounded(take.signalOf(take.options(given, "prompt")));
    try {
      check();
      await allowed(until.signal);
      const answer = model.prompt(words, { signal: until.signal });
      return await until.race(asOurs(answer));
    } catch (error) {
      if (until.signal.aborted) throw until.why(error);
      throw error;
    } finally {
      until.done();
    }
  }

  function promptStreaming(
    input: unknown,
    given?: unknown,
  ): AsyncIterableIterator<StreamToken> {
    const words = take.text(input, "The prompt");
    const signal = take.signalOf(take.options(given, "promptStreaming"));
    let until: ReturnType<typeof bounded> | null = null;

    async function read(): Promise<void> {
      const bound = (until = bounded(signal));
      // A model that does not heed its signal must not keep the page waiting.
      built.listen(bound.signal, "abort", () => {
        pipe.clear();
        pipe.end({ type: "error", error: bound.why(null) });
      });
      try {
        check();
        bound.signal.throwIfAborted();
        await allowed(bound.signal);
        const options = { signal: bound.signal };
        const reader = model.promptStreaming(words, options).getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          bound.renew();
          pipe.push({ type: "token", token: value });
        }
        pipe.end({ type: "done" });
      } catch (error) {
        const ours = error instanceof AgentApiError ? error : bound.why(error);
        pipe.end({ type: "error", error: ours });
      } finally {
        bound.done();
      }
    }

    const pipe = makePipe<StreamToken>(built, {
      start: () => void read(),
      stop: () => until?.end(aborted()),
      ...{ join: joined, weigh },
      overflow: () => ({ type: "error", error: notRead() }),
    });
    return pipe.events;
  }

  return freeze({
    sessionId,
    prompt: freeze(prompt),
    promptStreaming: freeze(promptStreaming),
    clone: freeze(async (given?: unknown) => {
      check();
      const signal = take.signalOf(take.options(given, "clone"));
      return nativeSession(built, link, native, { ...options, signal }, model);
    }),
    destroy: freeze(() => {
      if (!ended.signal.aborted) {
        ended.abort();
        model.destroy();
      }
      return built.Later.resolve();
    }),
  });
}
