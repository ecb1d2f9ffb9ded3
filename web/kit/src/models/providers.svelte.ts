// Who can answer: the providers, their models, and which of them is the default.
import {
  GangwayError,
  type DefaultModel,
  type ModelInfo,
  type Models,
  type ProviderInfo,
  type ProviderList,
} from "@gangway/client";
import { failureOf } from "../parts/failure.js";

export class ProvidersState {
  readonly #models: Models;
  all: ProviderInfo[] = $state.raw([]);
  models: ModelInfo[] = $state.raw([]);
  /** The default model. */
  default: DefaultModel | null = $state.raw(null);
  /** What the person chose; null is the nearest that runs. */
  choice: string | null = $state(null);
  loaded = $state(false);
  /** True while the machine is being searched. */
  looking = $state(false);
  /** A choice on its way to the server. */
  wanted: { model: string | null } | null = $state.raw(null);
  /** Why the list could not be read. */
  error: GangwayError | null = $state.raw(null);
  /** Why the last search or choice did not work. */
  problem: GangwayError | null = $state.raw(null);

  constructor(models: Models) {
    this.#models = models;
  }

  get available(): ProviderInfo[] {
    return this.all.filter(({ available }) => available);
  }

  find(id: string): ProviderInfo | undefined {
    return this.all.find((provider) => provider.id === id);
  }

  async load(): Promise<void> {
    this.error = await failureOf(async () => {
      const [list, { models }] = await Promise.all([
        this.#models.providers(),
        this.#models.list(),
      ]);
      this.#take(list);
      this.models = models;
      this.loaded = true;
    });
  }

  /** Reads who answers, for pages that show no more than that; a failure is nothing to them. */
  async loadDefault(): Promise<void> {
    await failureOf(async () => this.#take(await this.#models.providers()));
  }

  /** Looks for what was started since. */
  async detect(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    this.problem = await failureOf(async () => {
      this.#take(await this.#models.detect());
      this.models = (await this.#models.list()).models;
    });
    this.looking = false;
  }

  /** Arrow keys run through a list faster than the server answers; only the last choice counts. */
  async choose(model: string | null): Promise<void> {
    const underway = this.wanted !== null;
    this.wanted = { model };
    if (underway) return;
    this.problem = await failureOf(async () => {
      let sent: { model: string | null } | null = null;
      while (this.wanted && sent !== this.wanted) {
        sent = this.wanted;
        this.#take(await this.#models.setDefault(sent.model));
      }
    });
    this.wanted = null;
  }

  /** Throws what went wrong; nothing of the key is kept here. */
  async setKey(provider: string, key: string): Promise<void> {
    await this.#models.setKey(provider, key);
    await this.load();
  }

  async removeKey(provider: string): Promise<void> {
    await this.#models.removeKey(provider);
    await this.load();
  }

  #take(list: ProviderList): void {
    this.all = list.providers;
    this.default = list.default ?? null;
    this.choice = list.choice ?? null;
  }
}
