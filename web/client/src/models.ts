// The REST calls about models, their providers and weights, one method each.
import type {
  ModelActivity,
  ModelList,
  ProviderInfo,
  ProviderList,
  PullInfo,
  PullWeights,
  SetDefault,
  SetKey,
  WeightsList,
} from "./generated/wire.js";
import { Http } from "./http.js";

export class Models {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  providers(signal?: AbortSignal): Promise<ProviderList> {
    return this.#http.get("/api/providers", { signal });
  }

  /** Detects providers on this machine again; it takes up to two seconds. */
  detect(): Promise<ProviderList> {
    return this.#http.post("/api/providers/detect");
  }

  /** Keeps a provider's key. No call ever answers with it. */
  setKey(provider: string, key: string): Promise<ProviderInfo> {
    const body: SetKey = { key };
    return this.#http.put(keyPath(provider), { body });
  }

  removeKey(provider: string): Promise<void> {
    return this.#http.delete(keyPath(provider));
  }

  list(signal?: AbortSignal): Promise<ModelList> {
    return this.#http.get("/api/models", { signal });
  }

  /** Chooses `provider` or `provider/model`; null means the nearest that runs. */
  setDefault(model: string | null): Promise<ProviderList> {
    const body: SetDefault = { model };
    return this.#http.put("/api/models/default", { body });
  }

  /** What the models were doing in the last minute. */
  activity(signal?: AbortSignal): Promise<ModelActivity> {
    return this.#http.get("/api/models/activity", { signal });
  }

  weights(signal?: AbortSignal): Promise<WeightsList> {
    return this.#http.get("/api/weights", { signal });
  }

  /** Starts or resumes a download of weights; `weights` returns its progress. */
  pull(name: string): Promise<PullInfo> {
    const body: PullWeights = { name };
    return this.#http.post("/api/weights", { body });
  }

  /** Removes weights; those that are still on their way are no longer fetched. */
  removeWeights(name: string): Promise<void> {
    return this.#http.delete(`/api/weights/${encodeURIComponent(name)}`);
  }
}

function keyPath(provider: string): string {
  return `/api/providers/${encodeURIComponent(provider)}/key`;
}
