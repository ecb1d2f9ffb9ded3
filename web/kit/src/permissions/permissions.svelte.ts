// Everything the Permissions page knows.
import {
  GangwayError,
  type AuditEntry,
  type OriginPermissions,
  type Permissions,
  type SetPermissions,
} from "@gangway/client";
import { failureOf } from "../parts/failure.js";
import { whileVisible } from "../parts/poll.js";

// Changes are reported by the server; this finds changes due to time, such as expired grants.
const POLL_MS = 5_000;
const PAGE = 50;

export class PermissionsState {
  readonly #permissions: Permissions;
  origins: OriginPermissions[] = $state.raw([]);
  loaded = $state(false);
  error: GangwayError | null = $state.raw(null);
  /** Why the last change was not made. */
  problem: GangwayError | null = $state.raw(null);
  busy = $state(false);

  entries: AuditEntry[] = $state.raw([]);
  /** The position of the next page of the log, if any. */
  before: string | null = $state(null);
  /** How many uses were too many to write down. */
  lost = $state(0);
  /** The only origin of the log. */
  about: string | null = $state(null);
  logError: GangwayError | null = $state.raw(null);
  #older = 0;

  constructor(permissions: Permissions) {
    this.#permissions = permissions;
  }

  /** Keeps what is shown true until the returned function is called. */
  follow(): () => void {
    return whileVisible(POLL_MS, (signal) => this.load(signal));
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      const { origins } = await this.#permissions.list(signal);
      this.origins = origins;
      this.loaded = true;
    });
    // A reader of older pages is not sent back to the newest.
    if (this.#older === 0) await this.#loadLog();
  }

  /** Says whether it was done. */
  async set(settings: SetPermissions): Promise<boolean> {
    return this.#change(async () => {
      await this.#permissions.set(settings);
    });
  }

  /** Throws what went wrong. */
  async forget(origin: string): Promise<void> {
    await this.#permissions.forget(origin);
    await this.load();
  }

  /** Throws what went wrong. */
  async forgetAll(): Promise<void> {
    await this.#permissions.forgetAll();
    await this.load();
  }

  async showLogOf(origin: string | null): Promise<void> {
    this.about = origin;
    this.#older = 0;
    this.entries = [];
    await this.#loadLog();
  }

  async older(): Promise<void> {
    const { before, about } = this;
    if (before === null) return;
    this.#older += 1;
    this.logError = await failureOf(async () => {
      const page = await this.#permissions.audit(this.#wanted(before));
      if (this.about !== about) return;
      this.entries = [...this.entries, ...page.entries];
      this.before = page.before ?? null;
    });
  }

  async newest(): Promise<void> {
    this.#older = 0;
    await this.#loadLog();
  }

  get readsOlder(): boolean {
    return this.entries.length > PAGE;
  }

  #wanted(before?: string) {
    return { origin: this.about ?? undefined, before, limit: PAGE };
  }

  async #loadLog(): Promise<void> {
    const { about } = this;
    this.logError = await failureOf(async () => {
      const page = await this.#permissions.audit(this.#wanted());
      // Only what was asked for last counts.
      if (this.about !== about || this.#older > 0) return;
      this.entries = page.entries;
      this.before = page.before ?? null;
      this.lost = page.lost;
    });
  }

  async #change(work: () => Promise<void>): Promise<boolean> {
    this.busy = true;
    this.problem = await failureOf(work);
    this.busy = false;
    await this.load();
    return this.problem === null;
  }
}
