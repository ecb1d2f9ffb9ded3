// How long to wait before the next attempt to connect: exponential, with jitter, so that pages that lost a server together do not return together.

// First and longest wait between attempts; 5 s brings thousands of pages back within ten.
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
// A connection that lasted this long was a good one: start waiting from the beginning.
const STABLE_MS = 5_000;

/** Uses no global but its defaults, so that a hardened script can pass the functions it captured. */
export class Backoff {
  readonly #random: () => number;
  readonly #now: () => number;
  #wait = FIRST_WAIT_MS;
  #openedAt: number | null = null;

  /** `random` gives jitter between 0 and 1. */
  constructor(random?: () => number, now: () => number = Date.now) {
    this.#random = random ?? Math.random;
    this.#now = now;
  }

  /** A connection is there; saying so again changes nothing. */
  opened(): void {
    this.#openedAt ??= this.#now();
  }

  /** The next wait is a first one. */
  reset(): void {
    this.#wait = FIRST_WAIT_MS;
  }

  /** Milliseconds until the next attempt. */
  next(): number {
    const opened = this.#openedAt;
    if (opened !== null && this.#now() - opened >= STABLE_MS) this.reset();
    this.#openedAt = null;
    const longest = this.#wait;
    const doubled = longest * 2;
    this.#wait = doubled < LONGEST_WAIT_MS ? doubled : LONGEST_WAIT_MS;
    return longest * (0.5 + this.#random() / 2);
  }
}
