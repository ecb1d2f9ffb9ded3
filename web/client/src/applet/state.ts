// What an applet knows of its state: patches are merged in the order of their versions, and a gap is noticed.
import type { State, StateUpdate } from "./wire.js";

// More patches than this in the time of one answer: asking again is cheaper than keeping them.
const KEPT_EARLY = 200;

export interface StateOptions {
  /** Also after changes that this page made itself. */
  own?: boolean;
}

interface Listener {
  call: (state: State) => void;
  own: boolean;
}

interface Early {
  update: StateUpdate;
  own: boolean;
}

export class StateCache {
  readonly #listeners = new Set<Listener>();
  readonly #load: () => Promise<void>;
  #state: State | undefined;
  #version = 0;
  #loading = false;
  #early: Early[] = [];

  /** `load` asks for the whole state and hands it to `set`. */
  constructor(load: () => Promise<void>) {
    this.#load = load;
  }

  listen(
    callback: (state: State) => void,
    { own = false }: StateOptions = {},
  ): () => void {
    const listener = { call: callback, own };
    this.#listeners.add(listener);
    if (this.#state) callback(this.#state);
    else this.refresh();
    return () => void this.#listeners.delete(listener);
  }

  /** Takes a whole state, unless a newer one is known. */
  set(data: Record<string, unknown>, version: number): void {
    this.#loading = false;
    if (!this.#state || version >= this.#version) {
      const news = !this.#state || version > this.#version;
      this.#state = freeze({ ...data });
      this.#version = version;
      if (news) this.#tell();
    }
    const early = this.#early;
    this.#early = [];
    for (const { update, own } of early) this.merge(update, own);
  }

  /** Merges a patch; `own` is one that this page sent itself. */
  merge(update: StateUpdate, own: boolean): void {
    if (this.#loading) {
      this.#early.push({ update, own });
      if (this.#early.length > KEPT_EARLY) this.#early = [];
      return;
    }
    if (!this.#state || update.version <= this.#version) return;
    if (update.version > this.#version + 1) {
      this.refresh();
      return;
    }
    const merged = Object.entries({ ...this.#state, ...update.data });
    this.#state = freeze(
      Object.fromEntries(merged.filter(([, value]) => value !== null)),
    );
    this.#version = update.version;
    this.#tell(own);
  }

  /** Asks again if the server is ahead. */
  expect(version: number | undefined): void {
    if (this.#state && version !== undefined && version > this.#version) {
      this.refresh();
    }
  }

  /** Forgets what was known, and with it the order of versions. */
  reset(): void {
    this.#state = undefined;
    this.#version = 0;
    this.#loading = false;
    this.#early = [];
  }

  refresh(): void {
    if (this.#loading) return;
    this.#loading = true;
    this.#load().catch(() => {
      // A later patch or reconnect asks again.
      this.#loading = false;
    });
  }

  #tell(own = false): void {
    const state = this.#state;
    if (!state) return;
    for (const listener of [...this.#listeners]) {
      if (own && !listener.own) continue;
      try {
        listener.call(state);
      } catch (error) {
        // One listener's mistake is not the others'.
        reportError(error);
      }
    }
  }
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
