// The applets that can be opened.
import type { AppletInfo, Applets, GangwayError } from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { whileVisible } from "@gangway/kit/parts/poll.js";

// An applet that is being written should appear soon.
const POLL_MS = 3_000;

export class GalleryState {
  readonly #applets: Applets;
  all: AppletInfo[] = $state.raw([]);
  loaded = $state(false);
  error: GangwayError | null = $state.raw(null);

  constructor(applets: Applets) {
    this.#applets = applets;
  }

  /** True when the server was there and no longer answers. */
  get lost(): boolean {
    return this.error?.code === "unreachable";
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      const { applets } = await this.#applets.list(signal);
      this.all = applets;
      this.loaded = true;
    });
  }

  find(slug: string): AppletInfo | undefined {
    return this.all.find((applet) => applet.slug === slug);
  }

  /** What people call it. */
  nameOf(slug: string): string {
    return this.find(slug)?.name.trim() || slug;
  }

  /** Keeps the list true until the returned function is called. */
  follow(): () => void {
    return whileVisible(POLL_MS, (signal) => this.load(signal));
  }
}
