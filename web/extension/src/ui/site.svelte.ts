// What the site in the current tab may do.
import type { OriginPermissions } from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { PermissionsState } from "@gangway/kit/permissions/permissions.svelte.js";
import type { Gangway } from "./gangway.svelte.js";

export class SiteState extends PermissionsState {
  readonly #gangway: Gangway;

  constructor(gangway: Gangway) {
    super(gangway.permissions);
    this.#gangway = gangway;
  }

  /** What stands about an origin, if anything does. */
  of(origin: string | null): OriginPermissions | null {
    return this.origins.find((site) => site.origin === origin) ?? null;
  }

  /** The log is for Gangway's own page. */
  override async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      const { origins } = await this.#gangway.permissions.list(signal);
      this.origins = origins;
      this.loaded = true;
    });
  }

  /** Reads it now, and again after each change, until the returned function is called. */
  watch(): () => void {
    void this.load();
    return this.#gangway.asks.watch({
      onFrame: ({ type }) => {
        if (type === "changed") void this.load();
      },
    });
  }
}
