// Weights on this machine, those that can be fetched, and those on their way.
import {
  GangwayError,
  type Models,
  type PullInfo,
  type WeightsList,
} from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";

const NOTHING: WeightsList = { weights: [], catalog: [], pulls: [] };

export class WeightsState {
  readonly #models: Models;
  /** Called when other weights are here than before. */
  readonly #changed: () => void;
  list: WeightsList = $state.raw(NOTHING);
  loaded = $state(false);
  /** A message about the last download. */
  arrived = $state("");
  error: GangwayError | null = $state.raw(null);
  /** Why fetching could not start or stop. */
  problem: GangwayError | null = $state.raw(null);

  constructor(models: Models, changed: () => void) {
    this.#models = models;
    this.#changed = changed;
  }

  /** What is on its way, and what did not arrive. */
  get pulls(): PullInfo[] {
    return this.list.pulls.filter(({ step }) => step !== "done");
  }

  get busy(): boolean {
    return this.pulls.some(({ step }) => step !== "failed");
  }

  /** What can be fetched and is neither here nor on its way. */
  get offered() {
    const known = this.pulls.map(({ name }) => name);
    return this.list.catalog.filter(
      ({ name, installed }) => !installed && !known.includes(name),
    );
  }

  titleOf(name: string): string {
    return this.list.catalog.find((each) => each.name === name)?.title ?? name;
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      const here = this.list.weights.map(({ name }) => name);
      const list = await this.#models.weights(signal);
      const fresh = list.weights.find(({ name }) => !here.includes(name));
      const first = !this.loaded;
      this.list = list;
      this.loaded = true;
      if (!fresh || first) return;
      this.arrived = `${this.titleOf(fresh.name)} is downloaded.`;
      this.#changed();
    });
  }

  async pull(name: string): Promise<void> {
    this.problem = await failureOf(async () => {
      const started = await this.#models.pull(name);
      const others = this.list.pulls.filter((pull) => pull.name !== name);
      this.list = { ...this.list, pulls: [...others, started] };
    });
  }

  async cancel(name: string): Promise<void> {
    this.problem = await failureOf(() => this.#models.removeWeights(name));
    await this.load();
  }

  /** Throws on failure, for the confirmation dialog. */
  async remove(name: string): Promise<void> {
    await this.#models.removeWeights(name);
    await this.load();
    this.#changed();
  }
}
