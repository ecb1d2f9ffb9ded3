// How long to wait before the next attempt to connect.

// First and longest wait between attempts; 5 s brings thousands of pages back within ten.
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 5_000;
// A connection that lasted this long was a good one: start waiting from the beginning.
const STABLE_MS = 5_000;

export class Backoff {
  readonly #random: () => number;
  #attempts = 0;
  #openedAt: number | null = null;

  /** `random` gives jitter between 0 and 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** A connection is there. */
  opened(): void {
    this.#openedAt = Date.now();
  }

  /** The next wait is a first one. */
  reset(): void {
    this.#attempts = 0;
  }

  /** Milliseconds until the next attempt. */
  next(): number {
    const opened = this.#openedAt;
    if (opened !== null && Date.now() - opened >= STABLE_MS) this.reset();
    this.#openedAt = null;
    const longest = Math.min(
      LONGEST_WAIT_MS,
      FIRST_WAIT_MS * 2 ** this.#attempts,
    );
    this.#attempts += 1;
    return longest * (0.5 + this.#random() / 2);
  }
}
