// The rate limit for messages of a frame: a rate per second, and a burst.

export class Rate {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #refilledAt = Date.now();

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Whether one more may pass now. */
  take(): boolean {
    const now = Date.now();
    const earned = ((now - this.#refilledAt) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + earned);
    this.#refilledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
