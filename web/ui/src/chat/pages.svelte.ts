// The open pages of one chat, and the sites that can be connected to it.
import type { GangwayError, PageInfo, Pages } from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";

export class PagesState {
  readonly #pages: Pages;
  readonly sessionId: string;
  #all: PageInfo[] = $state.raw([]);
  /** False until the list was read once. */
  loaded = $state(false);
  problem: GangwayError | null = $state.raw(null);
  busy = $state(false);

  /** The pages whose tools the agents of the chat can use. */
  readonly own = $derived(
    this.#all.filter(({ sessionId }) => sessionId === this.sessionId),
  );
  /** Open sites that belong to no chat, or to another one. */
  readonly sites = $derived(
    this.#all.filter(
      ({ kind, sessionId }) => kind === "site" && sessionId !== this.sessionId,
    ),
  );

  constructor(pages: Pages, sessionId: string) {
    this.#pages = pages;
    this.sessionId = sessionId;
  }

  async load(signal?: AbortSignal): Promise<void> {
    const problem = await failureOf(async () => {
      this.#all = (await this.#pages.list(signal)).pages;
      this.loaded = true;
    });
    if (problem && !signal?.aborted) this.problem = problem;
  }

  /** Connects a site to this chat; true if it is. */
  connect(page: PageInfo): Promise<boolean> {
    return this.#put(page, this.sessionId);
  }

  disconnect(page: PageInfo): Promise<boolean> {
    return this.#put(page, null);
  }

  async #put({ pageId }: PageInfo, session: string | null): Promise<boolean> {
    this.busy = true;
    this.problem = await failureOf(() => this.#pages.connect(pageId, session));
    const done = this.problem === null;
    await this.load();
    this.busy = false;
    return done;
  }
}
