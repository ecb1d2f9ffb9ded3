// Which applets may speak in a session, and which of them wait for leave to.
import type {
  Applets,
  Decision,
  FeedFrame,
  GangwayError,
  Speaker,
} from "@gangway/client";
import { SvelteSet } from "svelte/reactivity";
import { failureOf } from "@gangway/kit/parts/failure.js";

// An applet that was closed waits no longer, and nobody says so.
const WAITING_MS = 3_000;
// An applet asks a moment before it is listed as one that waits; on a busy machine the moment is longer.
const LISTED_MS = 300;
const LOOKS = 20;

export type Asking = Speaker & Required<Pick<Speaker, "asking">>;

export class SpeakersState {
  readonly #applets: Applets;
  #sessionId: string | null = null;
  /** Counts requests: what an older one found is not news any more. */
  #asked = 0;
  #reading = false;
  #stale = false;
  /** How often to look yet for who asked and is not listed. */
  #expecting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  all: Speaker[] = $state.raw([]);
  /** True once the list was read. */
  loaded = $state(false);
  /** Applets that a decision is on its way for, so that none is sent twice. */
  readonly deciding = new SvelteSet<string>();
  /** Why the last decision did not arrive. */
  problem: GangwayError | null = $state.raw(null);

  constructor(applets: Applets) {
    this.#applets = applets;
  }

  /** Those that wait, the one that asked first in front. */
  get asking(): Asking[] {
    return this.all
      .filter((speaker): speaker is Asking => speaker.asking !== undefined)
      .sort((a, b) => a.asking.askedAt.localeCompare(b.asking.askedAt));
  }

  of(sessionId: string): void {
    this.#sessionId = sessionId;
  }

  /** Reads the list again when a frame says that it changed. */
  heard(frame: FeedFrame): void {
    if (!this.#concerns(frame)) return;
    if (frame.type === "applet.asks") this.#expecting = LOOKS;
    if (frame.type === "applet.leave") this.#expecting = 0;
    void this.load();
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
    this.#look();
  }

  dispose(): void {
    this.#sessionId = null;
    clearTimeout(this.#timer);
  }

  async decide(applet: string, decision: Decision): Promise<boolean> {
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
    ask: () => Promise<{ applets: Speaker[] }>,
  ): Promise<GangwayError | null> {
    this.#asked += 1;
    const asked = this.#asked;
    return failureOf(async () => {
      const { applets } = await ask();
      this.loaded = true;
      if (asked === this.#asked) this.all = applets;
    });
  }

  /** Looks again while somebody waits, or is about to. */
  #look(): void {
    clearTimeout(this.#timer);
    if (this.asking.length > 0) this.#expecting = 0;
    else if (this.#expecting === 0) return;
    const wait = this.#expecting > 0 ? LISTED_MS : WAITING_MS;
    this.#expecting = Math.max(0, this.#expecting - 1);
    this.#timer = setTimeout(() => void this.load(), wait);
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
