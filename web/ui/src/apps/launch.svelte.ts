// The launched app beside the chat: which it is, and the address its frame has now.
import type { Apps, GangwayError } from "@gangway/client";
import { launchedIn, type BesideApp } from "./address.js";
import { failureOf } from "@gangway/kit/parts/failure.js";

export class LaunchState {
  readonly #apps: Apps;
  /** What is to be seen beside the chat, if anything. */
  app: string | null = $state(null);
  /** Its launch, once there is one. */
  id: string | null = $state(null);
  /** Where the frame is; good for one browser. */
  url: string | null = $state(null);
  /** Counts addresses: each needs a fresh frame. */
  loads = $state(0);
  error: GangwayError | null = $state.raw(null);
  /** What the manifest did not expect of the data that was given. */
  warnings: string[] = $state.raw([]);

  constructor(apps: Apps) {
    this.#apps = apps;
    this.point(launchedIn(location.search));
  }

  /** Turns to another app, or to none. */
  point(to: BesideApp | null): void {
    const { app = null, launch = null } = to ?? {};
    if (app === this.app && launch === this.id) return;
    this.app = app;
    this.id = launch;
    this.url = null;
    this.error = null;
    this.warnings = [];
  }

  /** Launches in a session what was not launched yet, and gets an address for the frame. */
  async show(session: string): Promise<void> {
    const { app } = this;
    if (app === null) return;
    let { id } = this;
    let url: string | null = null;
    let warnings = this.warnings;
    this.error = null;
    const error = await failureOf(async () => {
      if (id === null) {
        const launched = await this.#apps.launch(app, { session });
        ({ launchId: id, url, warnings } = launched);
      } else ({ url } = await this.#apps.open(id));
    });
    // The user may have navigated away in the meantime.
    if (app !== this.app || (this.id !== null && this.id !== id)) return;
    this.id = id;
    this.url = url;
    this.error = error;
    this.warnings = warnings;
    this.loads += 1;
  }

  /** A further address of the same launch, for a tab of its own. */
  async another(): Promise<string | null> {
    const { id } = this;
    if (id === null) return null;
    let url: string | null = null;
    const error = await failureOf(async () => {
      ({ url } = await this.#apps.open(id));
    });
    if (error) this.error = error;
    return url;
  }
}
