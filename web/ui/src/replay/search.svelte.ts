// Finds a word in the events of a recording, in slices, also while events still come.
import { Slices } from "./read.js";
import type { Recording } from "./recording.js";
import { contains } from "./words.js";

export class SearchState {
  readonly #recording: Recording;
  #needle = "";
  #run = 0;
  /** How many steps were looked at. */
  #looked = 0;
  /** The steps with the word in them; null without a word. */
  hits: number[] | null = $state.raw(null);
  searching = $state(false);

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  /** Looks for a word from the first step on. */
  async find(query: string): Promise<void> {
    this.#needle = query.trim().toLowerCase();
    this.#run += 1;
    this.hits = this.#needle === "" ? null : [];
    if (this.#needle !== "") await this.#look(0);
    else this.searching = false;
  }

  /** Looks once more, as events have come. */
  async again(): Promise<void> {
    if (this.#needle !== "") await this.find(this.#needle);
  }

  /** Looks at the steps that came since. */
  async more(): Promise<void> {
    if (this.#needle === "" || this.searching) return;
    // The last step may have grown since.
    const from = Math.max(0, this.#looked - 1);
    const first = this.#recording.steps[from - 1] ?? -1;
    this.hits = (this.hits ?? []).filter((hit) => hit <= first);
    await this.#look(from);
  }

  async #look(from: number): Promise<void> {
    const run = this.#run;
    const { events, steps } = this.#recording;
    this.searching = true;
    let found: number[] = [];
    const slices = new Slices();
    for (let at = from; at < steps.length; at += 1) {
      const step = steps[at] ?? 0;
      if (contains(events[step], this.#needle)) found.push(step);
      if (!slices.over) continue;
      this.hits = [...(this.hits ?? []), ...found];
      found = [];
      await slices.pause();
      if (run !== this.#run) return;
    }
    this.hits = [...(this.hits ?? []), ...found];
    this.#looked = steps.length;
    this.searching = false;
  }
}
