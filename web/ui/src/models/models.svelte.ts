// Everything the Models page knows.
import { Models, type Http } from "@gangway/client";
import { ActivityState } from "./activity.svelte.js";
import { whileVisible } from "@gangway/kit/parts/poll.js";
import { ProvidersState } from "@gangway/kit/models/providers.svelte.js";
import { TrialState } from "./trial.svelte.js";
import { WeightsState } from "./weights.svelte.js";

const POLL_MS = 1_000;

export class ModelsState {
  readonly providers: ProvidersState;
  readonly weights: WeightsState;
  readonly activity: ActivityState;
  readonly trial: TrialState;

  constructor(http: Http) {
    const models = new Models(http);
    this.providers = new ProvidersState(models);
    this.weights = new WeightsState(models, () => void this.providers.load());
    this.activity = new ActivityState(models);
    this.trial = new TrialState(http);
  }

  /** True when the server was there and no longer answers. */
  get lost(): boolean {
    return this.activity.error?.code === "unreachable";
  }

  async load(): Promise<void> {
    await Promise.all([this.providers.load(), this.weights.load()]);
  }

  /** Keeps what is shown true until the returned function is called. */
  follow(): () => void {
    void this.load();
    const unfollow = whileVisible(POLL_MS, async (signal) => {
      const before = this.activity.error;
      await this.activity.load(signal);
      // Downloads may be started elsewhere, on the command line for one.
      if (!this.activity.error) await this.weights.load(signal);
      // What a server says after it was gone may be something else.
      if (before && !this.activity.error) await this.load();
    });
    return () => {
      unfollow();
      this.trial.stop();
    };
  }
}
