// The apps that can be opened, with an agent or without one.
import type {
  AppInfo,
  Apps,
  GangwayError,
  UntrustedFolder,
} from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { whileVisible } from "@gangway/kit/parts/poll.js";

// An app that is being written should appear soon.
const POLL_MS = 3_000;

export class AppsState {
  readonly #apps: Apps;
  all: AppInfo[] = $state.raw([]);
  /** Folders whose apps are not loaded. */
  untrusted: UntrustedFolder[] = $state.raw([]);
  loaded = $state(false);
  error: GangwayError | null = $state.raw(null);

  constructor(apps: Apps) {
    this.#apps = apps;
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      const { apps, untrusted } = await this.#apps.list(undefined, signal);
      this.all = apps;
      this.untrusted = untrusted;
      this.loaded = true;
    });
  }

  /** Loads the apps of a folder from now on. */
  async trust(folder: string): Promise<GangwayError | null> {
    const failure = await failureOf(() => this.#apps.trust(folder, true));
    await this.load();
    return failure;
  }

  find(name: string): AppInfo | undefined {
    return this.all.find((app) => app.name === name);
  }

  /** What people call it. */
  titleOf(name: string): string {
    return this.find(name)?.title.trim() || name;
  }

  /** Keeps the list true until the returned function is called. */
  follow(): () => void {
    return whileVisible(POLL_MS, (signal) => this.load(signal));
  }
}
