// The catalog of servers that can be installed, as far as it was loaded.
import {
  GangwayError,
  type CatalogRefresh,
  type CatalogServer,
  type RuntimeInfo,
  type Tools,
} from "@gangway/client";
import { SvelteSet } from "svelte/reactivity";
import { failureOf } from "@gangway/kit/parts/failure.js";

const PAGE = 20;
// Debounces typing.
const PAUSE_MS = 250;

export class CatalogState {
  readonly #tools: Tools;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | null = null;
  /** Names of servers whose install form is open: a refresh may take a card away for a moment. */
  readonly opened = new SvelteSet<string>();
  /** What is looked for, as it was typed. */
  words = $state("");
  found: CatalogServer[] = $state.raw([]);
  total = $state(0);
  source = $state("");
  refresh: CatalogRefresh | null = $state.raw(null);
  runtimes: RuntimeInfo[] = $state.raw([]);
  #next: string | undefined = $state();
  loaded = $state(false);
  searching = $state(false);
  error: GangwayError | null = $state.raw(null);
  /** Why it could not be brought up to date. */
  problem: GangwayError | null = $state.raw(null);

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  get more(): boolean {
    return this.#next !== undefined;
  }

  get refreshing(): boolean {
    return this.refresh?.state === "running";
  }

  /** Looks once nothing was typed for a moment; what was asked before no longer counts. */
  search(words: string): void {
    this.words = words;
    this.searching = true;
    this.#asking?.abort();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), PAUSE_MS);
  }

  async load(): Promise<void> {
    await this.#ask(undefined);
  }

  async loadMore(): Promise<void> {
    if (this.#next !== undefined && !this.searching)
      await this.#ask(this.#next);
  }

  async loadRuntimes(): Promise<void> {
    await failureOf(async () => {
      this.runtimes = (await this.#tools.runtimes()).runtimes;
    });
  }

  async bringUpToDate(): Promise<void> {
    if (this.refreshing) return;
    this.problem = await failureOf(async () => {
      this.refresh = (await this.#tools.refreshCatalog()).refresh;
    });
  }

  /** Nothing more is asked. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.searching = false;
  }

  async #ask(cursor: string | undefined): Promise<void> {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    const asking = new AbortController();
    const { signal } = asking;
    this.#asking = asking;
    this.searching = true;
    try {
      const words = this.words.trim();
      const options = { words, cursor, limit: PAGE, signal };
      const page = await this.#tools.catalog(options);
      if (signal.aborted) return;
      this.found = cursor ? [...this.found, ...page.servers] : page.servers;
      this.total = page.total;
      this.#next = page.nextCursor;
      this.refresh = page.refresh;
      this.source = page.source;
      this.error = null;
      this.loaded = true;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof GangwayError)) throw error;
      this.error = error;
    } finally {
      if (this.#asking === asking) this.searching = false;
    }
  }
}
