// Servers that are being installed, and those that could not be.
import {
  GangwayError,
  type Install,
  type InstallServer,
  type Tools,
} from "@gangway/client";
import { SvelteMap } from "svelte/reactivity";
import { failureOf } from "@gangway/kit/parts/failure.js";

export class InstallsState {
  readonly #tools: Tools;
  /** Called when a server came or changed by this. */
  readonly #changed: () => void;
  /** What was wanted, to want it again; it may hold secrets and is shown nowhere. */
  readonly #servers = new SvelteMap<string, InstallServer>();
  all: Install[] = $state.raw([]);
  /** A message about the last completed install. */
  arrived = $state("");
  /** Why the last cancelling or retry did not work. */
  problem: GangwayError | null = $state.raw(null);

  constructor(tools: Tools, changed: () => void) {
    this.#tools = tools;
    this.#changed = changed;
  }

  /** What is on its way, and what did not arrive. */
  get shown(): Install[] {
    return this.all.filter(({ state }) => state !== "done");
  }

  get busy(): boolean {
    return this.all.some(underway);
  }

  /** Whether this page knows how to try it again. */
  canRetry({ install }: Install): boolean {
    return this.#servers.has(install);
  }

  async load(signal?: AbortSignal): Promise<void> {
    await failureOf(async () => {
      const before = this.all.filter(underway);
      this.all = (await this.#tools.installs(signal)).installs;
      const done = this.all.filter(
        ({ install, state }) =>
          state === "done" && before.some((old) => old.install === install),
      );
      for (const { install, id } of done) {
        this.#servers.delete(install);
        this.arrived = `${id} is installed.`;
      }
      if (done.length > 0) this.#changed();
    });
  }

  /** Throws what went wrong, for the form that it is about. */
  async start(server: InstallServer): Promise<void> {
    const started = await this.#tools.install(server);
    this.#servers.set(started.install, server);
    this.all = [
      started,
      ...this.all.filter(({ install }) => install !== started.install),
    ];
  }

  async retry({ install }: Install): Promise<void> {
    const server = this.#servers.get(install);
    if (!server) return;
    this.problem = await failureOf(async () => {
      await this.start(server);
      await this.#forget(install);
    });
  }

  /** Cancels what is on its way, which can be tried again, and forgets what is over. */
  async end(ended: Install): Promise<void> {
    this.problem = await failureOf(() =>
      underway(ended)
        ? this.#tools.endInstall(ended.install)
        : this.#forget(ended.install),
    );
    await this.load();
    this.#changed();
  }

  async #forget(install: string): Promise<void> {
    await this.#tools.endInstall(install);
    this.#servers.delete(install);
    this.all = this.all.filter((other) => other.install !== install);
  }
}

export function underway({ state }: Install): boolean {
  return state === "fetching" || state === "starting";
}
