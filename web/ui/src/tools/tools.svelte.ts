// Everything the Tools page knows.
import type { Tools } from "@gangway/client";
import { ApprovalsState } from "./approvals.svelte.js";
import { CatalogState } from "./catalog.svelte.js";
import { InstallsState } from "./installs.svelte.js";
import { whileVisible } from "@gangway/kit/parts/poll.js";
import { RouteState } from "./route.svelte.js";
import { ServersState } from "@gangway/kit/tools/servers.svelte.js";

const POLL_MS = 1_000;
// A server may change its tools without changing their number.
const TOOLS_EVERY = 10;
// They change by answers in chats.
const APPROVALS_EVERY = 3;

export class ToolsState {
  readonly servers: ServersState;
  readonly catalog: CatalogState;
  readonly installs: InstallsState;
  readonly route: RouteState;
  readonly approvals: ApprovalsState;

  constructor(tools: Tools) {
    this.servers = new ServersState(tools);
    this.catalog = new CatalogState(tools);
    this.installs = new InstallsState(tools, () => this.#changed());
    this.route = new RouteState(tools);
    this.approvals = new ApprovalsState(tools);
  }

  /** True when the server was there and no longer answers. */
  get lost(): boolean {
    return this.servers.error?.code === "unreachable";
  }

  async load(): Promise<void> {
    await Promise.all([
      this.servers.load(),
      this.approvals.load(),
      this.catalog.load(),
      this.catalog.loadRuntimes(),
      this.installs.load(),
    ]);
  }

  /** Keeps what is shown true until the returned function is called. */
  follow(): () => void {
    void this.load();
    let round = 0;
    const unfollow = whileVisible(POLL_MS, async (signal) => {
      const before = this.servers.error;
      round += 1;
      await this.servers.load(signal, round % TOOLS_EVERY === 0);
      if (round % APPROVALS_EVERY === 0) await this.approvals.load(signal);
      if (this.installs.busy) await this.installs.load(signal);
      if (this.catalog.refreshing && !this.catalog.searching) {
        await this.catalog.load();
      }
      // What a server says after it was gone may be something else.
      if (before && !this.servers.error) await this.load();
    });
    return () => {
      unfollow();
      this.catalog.stop();
    };
  }

  #changed(): void {
    void this.servers.load();
    void this.approvals.load();
    // It says which of its servers are here.
    void this.catalog.load();
  }
}
