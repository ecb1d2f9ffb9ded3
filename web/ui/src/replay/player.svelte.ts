// Plays steps: at the speed at which they happened, or faster, with long waits cut short.

/** Steps that one is at. */
export interface Track {
  readonly count: number;
  /** The step that is shown, from 0. */
  readonly position: number;
  goTo(position: number): void;
  /** When a step happened, in milliseconds. */
  timeOf(position: number): number;
}

export const SPEEDS = [0.5, 1, 2, 5, 20, 100] as const;
// Nobody waits longer for the next step, and each can be seen.
const LONGEST_WAIT_MS = 2_000;
const SHORTEST_WAIT_MS = 40;
const TICK_MS = 40;

export class Player {
  readonly #track: Track;
  #passed = 0;
  playing = $state(false);
  speed: number = $state(1);

  constructor(track: Track) {
    this.#track = track;
  }

  get atStart(): boolean {
    return this.#track.position <= 0;
  }

  get atEnd(): boolean {
    return this.#track.position >= this.#track.count - 1;
  }

  toggle(): void {
    if (!this.playing && this.atEnd) this.#track.goTo(0);
    this.#passed = 0;
    this.playing = !this.playing && this.#track.count > 0;
  }

  /** Goes some steps on, or back. */
  by(steps: number): void {
    this.goTo(this.#track.position + steps);
  }

  /** Goes to a step; who chooses one does not want it to run away. */
  goTo(position: number): void {
    this.playing = false;
    this.#track.goTo(Math.max(0, Math.min(this.#track.count - 1, position)));
  }

  /** Ticks until it is stopped. */
  run(): () => void {
    let last = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      this.tick(now - last);
      last = now;
    }, TICK_MS);
    return () => clearInterval(timer);
  }

  /** Lets this much time pass. */
  tick(milliseconds: number): void {
    if (!this.playing) return;
    const track = this.#track;
    // A tab that was hidden does not rush through what was missed.
    this.#passed += Math.min(milliseconds, LONGEST_WAIT_MS);
    let { position } = track;
    while (position < track.count - 1) {
      const wait = this.#waitAfter(position);
      if (this.#passed < wait) break;
      this.#passed -= wait;
      position += 1;
    }
    if (position !== track.position) track.goTo(position);
    if (this.atEnd) this.playing = false;
  }

  #waitAfter(position: number): number {
    const gap = this.#track.timeOf(position + 1) - this.#track.timeOf(position);
    const wait = Math.max(SHORTEST_WAIT_MS, Math.min(LONGEST_WAIT_MS, gap));
    return wait / this.speed;
  }
}
