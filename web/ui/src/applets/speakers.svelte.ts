// Which applets may send messages in a session.
import type {
  Applets,
  ConsentDecision,
  FeedFrame,
  GangwayError,
  AppletConsent,
} from "@gangway/client";
import { SvelteSet } from "svelte/reactivity";
import { failureOf } from "@gangway/kit/parts/failure.js";

export class SpeakersState {
  readonly #applets: Applets;
  #sessionId: string | null = null;
  /** Counts requests: the result of an older one is outdated. */
  #asked = 0;
  #reading = false;
  #stale = false;
  all: AppletConsent[] = $state.raw([]);
  /** True once the list was read. */
  loaded = $state(false);
  /** Applets that a decision is on its way for, so that none is sent twice. */
  readonly deciding = new SvelteSet<string>();
  /** Why the last decision did not arrive. */
  problem: GangwayError | null = $state.raw(null);

  constructor(applets: Applets) {
    this.#applets = applets;
  }

  of(sessionId: string): void {
    this.#sessionId = sessionId;
  }

  /** Reads the list again when a frame says that it changed. */
  received(frame: FeedFrame): void {
    if (this.#concerns(frame)) void this.load();
  }

  /** Frames come in bursts: one request runs, and at most one more follows it. */
  async load(): Promise<void> {
    const id = this.#sessionId;
    if (!id) return;
    this.#stale = true;
    if (this.#reading) return;
    this.#reading = true;
    while (this.#stale) {
      this.#stale = false;
      // One that cannot be read stays as it was; the feed says that the server is gone.
      await this.#take(() => this.#applets.speakers(id));
    }
    this.#reading = false;
  }

  dispose(): void {
    this.#sessionId = null;
  }

  async decide(applet: string, decision: ConsentDecision): Promise<boolean> {
    const id = this.#sessionId;
    if (!id || this.deciding.has(applet)) return false;
    this.deciding.add(applet);
    this.problem = await this.#take(() =>
      this.#applets.decide(id, applet, decision),
    );
    this.deciding.delete(applet);
    return this.problem === null;
  }

  async #take(
    ask: () => Promise<{ applets: AppletConsent[] }>,
  ): Promise<GangwayError | null> {
    this.#asked += 1;
    const asked = this.#asked;
    return failureOf(async () => {
      const { applets } = await ask();
      this.loaded = true;
      if (asked === this.#asked) this.all = applets;
    });
  }

  #concerns(frame: FeedFrame): boolean {
    switch (frame.type) {
      case "snapshot":
      case "resync":
      case "applet.asks":
      case "applet.leave":
        return true;
      case "applet.state":
        return !this.#knows(frame.applet);
      case "user.message":
        return (
          frame.source.kind === "applet" && !this.#knows(frame.source.slug)
        );
      default:
        return false;
    }
  }

  #knows(slug: string): boolean {
    return this.all.some((speaker) => speaker.slug === slug);
  }
}
