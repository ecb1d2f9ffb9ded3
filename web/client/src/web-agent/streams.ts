// Calls that return events: an iterator that starts the call, and cancels it when the reader stops.
import type { Builtins } from "./builtins.js";
import { AgentApiError } from "./errors.js";
import { LIMITS, type CallOptions, type Handlers } from "./link.js";
import { makePipe, type Pipe } from "./pipe.js";

export interface Streamed {
  type: string;
  token?: string;
}

export interface StreamOptions<T> {
  signal?: AbortSignal | undefined;
  /** Why there will be no call at all. */
  refused?: AgentApiError;
  /** One event of the wire as the page gets it. */
  read(event: unknown): T;
  failed(error: AgentApiError): T;
  /** True for an event after which none comes. */
  isLast(event: T): boolean;
  /** Said at the end, where no last event came. */
  ended(): T | undefined;
}

/** The part of the link that streams need. */
interface Calls {
  begin(
    method: string,
    params: object,
    options: CallOptions,
    handlers: Handlers,
  ): number;
  giveUp(id: number): void;
}

export function makeStream<T extends Streamed>(
  built: Builtins,
  calls: Calls,
  method: string,
  params: object,
  options: StreamOptions<T>,
): AsyncIterableIterator<T> {
  const { signal, refused } = options;
  let id = 0;
  const fail = (error: AgentApiError) => {
    // An aborted stream drops unread events.
    if (error.code === "ERR_ABORTED") pipe.clear();
    pipe.end(options.failed(error));
  };
  const handlers: Handlers = {
    renews: true,
    result: () => pipe.end(options.ended()),
    fail,
    event(event) {
      const read = options.read(event);
      if (options.isLast(read)) pipe.end(read);
      else pipe.push(read);
    },
  };
  const pipe: Pipe<T> = makePipe<T>(built, {
    start() {
      if (refused) {
        fail(refused);
        return;
      }
      try {
        const limits = { ms: LIMITS.prompt, signal };
        id = calls.begin(method, params, limits, handlers);
      } catch (error) {
        fail(error as AgentApiError);
      }
    },
    stop: () => calls.giveUp(id),
    join: joined,
    weigh,
    overflow: () => options.failed(notRead()),
  });
  return pipe.events;
}

/** Two tokens as one. */
export function joined<T extends Streamed>(first: T, second: T): T | null {
  if (first.type !== "token" || second.type !== "token") return null;
  return { ...first, token: (first.token ?? "") + (second.token ?? "") };
}

export function weigh({ token }: Streamed): number {
  return token?.length ?? 0;
}

export function notRead(): AgentApiError {
  const words = "The page is too slow: it did not read these events in time.";
  return new AgentApiError("ERR_INTERNAL", words);
}
