// A page of the extension asks its background, which may die and come back at any time.
import { Backoff } from "@gangway/client/extension";
import type { BridgeState } from "../bridge.js";
import { isUnreached, lost } from "../failures.js";
import type { OwnHears, OwnPageMessage } from "../own-pages.js";
import type { Port } from "../pages.js";
import { BridgeError, bridgeError, type Status } from "../wire.js";

export interface Hears {
  state: (state: BridgeState) => void;
  status: (status: Status) => void;
}

interface Waiting {
  result: (value: unknown) => void;
  fail: (error: BridgeError) => void;
  event?: (event: unknown) => void;
}

/** A stream that resumes after the background or the bridge has died. */
export interface Followed {
  stop: () => void;
}

export interface FollowOptions {
  type: string;
  /** Called for each attempt, so that it resumes. */
  fields: () => Record<string, unknown>;
  event: (event: unknown) => void;
  /** The stream is there, or is being looked for. */
  live?: (live: boolean) => void;
  /** It will not come back; without an error it simply ended. */
  ended?: (error: BridgeError | null) => void;
}

export class BackgroundPort {
  readonly #connect: () => Port;
  readonly #hears: Hears;
  readonly #waiting = new Map<number, Waiting>();
  readonly #backoff = new Backoff();
  #port: Port | null = null;
  #id = 0;

  constructor(connect: () => Port, hears: Hears) {
    this.#connect = connect;
    this.#hears = hears;
    this.#open();
  }

  async request(
    type: string,
    fields: Record<string, unknown> = {},
    signal?: AbortSignal | null,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const { id, done } = this.#ask(type, fields);
    const stop = () => this.#say({ id, cancel: true });
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await done;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Follows a stream until it is stopped or ends. */
  follow(options: FollowOptions): Followed {
    const { type, fields, event, live, ended } = options;
    let stopped = false;
    const backoff = new Backoff();
    let current = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      const { id, done } = this.#ask(type, fields(), (said) => {
        if (stopped) return;
        backoff.opened();
        live?.(true);
        // The first event says no more than that the stream is there.
        if (said !== null) event(said);
      });
      current = id;
      done.then(
        () => again(),
        (error: unknown) => {
          if (stopped) return;
          const known = error instanceof BridgeError ? error : bridgeError(0);
          if (isUnreached(known)) again();
          else ended?.(known);
        },
      );
    };
    const again = () => {
      if (stopped) return;
      live?.(false);
      timer = setTimeout(begin, backoff.next());
    };
    begin();
    return {
      stop: () => {
        stopped = true;
        clearTimeout(timer);
        this.#say({ id: current, cancel: true });
      },
    };
  }

  /** Has the background look for the bridge at once. */
  retry(): void {
    this.#say({ retry: true });
  }

  #ask(
    type: string,
    fields: Record<string, unknown>,
    event?: (event: unknown) => void,
  ): { id: number; done: Promise<unknown> } {
    const id = (this.#id += 1);
    const done = new Promise<unknown>((result, fail) => {
      this.#waiting.set(id, { result, fail, ...(event && { event }) });
      this.#say({ id, type, fields });
    });
    return { id, done };
  }

  #say(message: OwnPageMessage): void {
    (this.#port ?? this.#open()).postMessage(message);
  }

  #open(): Port {
    const port = this.#connect();
    this.#port = port;
    port.onMessage.addListener((message) => {
      this.#backoff.opened();
      this.#receive(message as OwnHears);
    });
    port.onDisconnect.addListener(() => {
      if (this.#port !== port) return;
      this.#port = null;
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { fail } of waiting) fail(lost());
      // The background that went away is woken again.
      setTimeout(() => this.#port ?? this.#open(), this.#backoff.next());
    });
    return port;
  }

  #receive(message: OwnHears): void {
    if ("state" in message) this.#hears.state(message.state);
    else if ("status" in message) this.#hears.status(message.status);
    else {
      const waiting = this.#waiting.get(message.id);
      if (!waiting) return;
      if ("event" in message) {
        waiting.event?.(message.event);
        return;
      }
      this.#waiting.delete(message.id);
      if ("error" in message) waiting.fail(bridgeError(message.error));
      else waiting.result(message.result);
    }
  }
}
