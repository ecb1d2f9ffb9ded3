// A bounded queue of events for an async iterator.
import type { Builtins } from "./builtins.js";

export interface PipeOptions<T> {
  /** Starts the work when the first event is requested. */
  start(): void;
  /** Cancels the work; not called once the pipe has ended. */
  stop(): void;
  /** Two events as one, where that loses nothing. */
  join(first: T, second: T): T | null;
  /** How many characters an event holds back. */
  weigh(event: T): number;
  /** The final error for a page that does not read. */
  overflow(): T;
}

export interface Pipe<T> {
  readonly events: AsyncIterableIterator<T>;
  push(event: T): void;
  /** Forgets what was not read yet. */
  clear(): void;
  /** Nothing comes after `last`. */
  end(last?: T): void;
}

type Result<T> = IteratorResult<T, undefined>;

// From here on neighbours are joined, so that a page that reads now and then catches up in large steps.
const JOIN_FROM = 64;
// What may wait: more events than a run has, and more text than a model writes.
const MAX_WAITING = 1_000;
const MAX_WEIGHT = 4 << 20;

export function makePipe<T>(built: Builtins, options: PipeOptions<T>): Pipe<T> {
  const { Later } = built;
  let waiting: T[] = [];
  let weight = 0;
  let readers: ((result: Result<T>) => void)[] = [];
  let started = false;
  let over = false;

  function push(event: T): void {
    if (over) return;
    const [reader] = readers;
    if (reader) {
      readers = rest(readers);
      reader({ done: false, value: event });
      return;
    }
    weight += options.weigh(event);
    const last = waiting.length - 1;
    const joined =
      last >= JOIN_FROM ? options.join(waiting[last] as T, event) : null;
    if (joined === null) waiting[waiting.length] = event;
    else waiting[last] = joined;
    if (waiting.length <= MAX_WAITING && weight <= MAX_WEIGHT) return;
    // What was missed is missed: a gap in the middle would be worse than an end.
    clear();
    options.stop();
    end(options.overflow());
  }

  function clear(): void {
    waiting = [];
    weight = 0;
  }

  function end(last?: T): void {
    if (over) return;
    if (last !== undefined) push(last);
    over = true;
    for (let at = 0; at < readers.length; at += 1) {
      readers[at]?.({ done: true, value: undefined });
    }
    readers = [];
  }

  function next(): Promise<Result<T>> {
    if (!started) {
      started = true;
      if (!over) options.start();
    }
    return new Later((resolve) => {
      if (waiting.length > 0) {
        const value = waiting[0] as T;
        waiting = rest(waiting);
        weight -= options.weigh(value);
        resolve({ done: false, value });
      } else if (over) resolve({ done: true, value: undefined });
      else readers[readers.length] = resolve;
    });
  }

  /** Breaking out of the loop ends the stream. */
  function leave(): Promise<Result<T>> {
    waiting = [];
    if (!over && started) options.stop();
    started = true;
    end();
    return Later.resolve({ done: true, value: undefined });
  }

  const events: AsyncIterableIterator<T> = {
    next,
    return: leave,
    throw: (error: unknown) =>
      new Later<Result<T>>((_, reject) => {
        void leave();
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- it is whatever the page throws
        reject(error);
      }),
    [Symbol.asyncIterator]: () => events,
  };
  return { events: built.freeze(events), push, clear, end };
}

/** The list without its first; `shift` is the page's to change. */
function rest<T>(list: T[]): T[] {
  const kept: T[] = [];
  for (let at = 1; at < list.length; at += 1) kept[at - 1] = list[at] as T;
  return kept;
}
