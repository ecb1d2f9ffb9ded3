// What the models do now, and what memory they took in the last minute.
import { GangwayError, type ModelActivity, type Models } from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";

/** A value and how many seconds ago it was so. */
export interface Sample {
  age: number;
  value: number;
}

interface Memory {
  at: number;
  process: number | undefined;
  embedded: number;
}

// As long as the server remembers tokens.
export const SPAN_SECONDS = 60;

export class ActivityState {
  readonly #models: Models;
  now: ModelActivity | null = $state.raw(null);
  #memory: Memory[] = $state.raw([]);
  error: GangwayError | null = $state.raw(null);

  constructor(models: Models) {
    this.#models = models;
  }

  get tokens(): Sample[] {
    const tokens = this.now?.tokens ?? [];
    return tokens.map((value, index) => ({
      age: tokens.length - 1 - index,
      value,
    }));
  }

  get process(): Sample[] {
    return this.#samples(({ process }) => process);
  }

  get embedded(): Sample[] {
    return this.#samples(({ embedded }) => embedded);
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      const now = await this.#models.activity(signal);
      this.now = now;
      const at = performance.now();
      const oldest = at - SPAN_SECONDS * 1000;
      this.#memory = [
        ...this.#memory.filter((memory) => memory.at >= oldest),
        {
          at,
          process: now.memoryBytes,
          embedded: now.embedded.memoryBytes,
        },
      ];
    });
  }

  #samples(pick: (memory: Memory) => number | undefined): Sample[] {
    const newest = this.#memory.at(-1)?.at ?? 0;
    return this.#memory.flatMap((memory) => {
      const value = pick(memory);
      const age = (newest - memory.at) / 1000;
      return value === undefined ? [] : [{ age, value }];
    });
  }
}
