// The MCP servers, what they offer, and what a person does with them.
import {
  GangwayError,
  type ServerEntry,
  type ToolInfo,
  type Tools,
  type ToolServerInfo,
} from "@gangway/client";
import { SvelteSet } from "svelte/reactivity";
import { failureOf } from "../parts/failure.js";
import { ServerLogState } from "./server-log.svelte.js";
import { ToolCallState } from "./tool-call.svelte.js";

/** Servers to add, and those of their values that are kept with the secrets. */
export interface Additions {
  servers: Record<string, ServerEntry>;
  secrets: Record<string, Record<string, string>>;
}

export class ServersState {
  readonly #tools: Tools;
  all: ToolServerInfo[] = $state.raw([]);
  tools: ToolInfo[] = $state.raw([]);
  loaded = $state(false);
  /** Why they could not be read. */
  error: GangwayError | null = $state.raw(null);
  /** Why the last action did not work, and on which server. */
  problem: { id: string; error: GangwayError } | null = $state.raw(null);
  /** An external login page, and the server it is for. */
  login: { id: string; url: string } | null = $state.raw(null);
  /** Servers that something is being done with. */
  readonly busy = new SvelteSet<string>();
  #seen = "";

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  logOf(id: string): ServerLogState {
    return new ServerLogState(this.#tools, id);
  }

  newCall(): ToolCallState {
    return new ToolCallState(this.#tools);
  }

  /** True while some server is on its way. */
  get moving(): boolean {
    return this.all.some(({ state }) => state === "starting");
  }

  /** Reads the servers, and their tools where those may be others. */
  async load(signal?: AbortSignal, withTools = false): Promise<void> {
    this.error = await failureOf(async () => {
      const { servers } = await this.#tools.servers(signal);
      const seen = servers
        .map(({ id, state, tools, version }) => [id, state, tools, version])
        .join("\n");
      if (withTools || !this.loaded || seen !== this.#seen) {
        this.tools = (await this.#tools.list(signal)).tools;
      }
      this.#seen = seen;
      this.all = servers;
      this.loaded = true;
      const waits = servers.find(({ id }) => id === this.login?.id);
      if (waits?.state === "ready") this.login = null;
    });
  }

  start(id: string): Promise<void> {
    return this.#act(id, () => this.#tools.start(id));
  }

  stop(id: string): Promise<void> {
    return this.#act(id, () => this.#tools.stop(id));
  }

  logOut(id: string): Promise<void> {
    return this.#act(id, () => this.#tools.logOut(id));
  }

  /** Asks where to log in; null when that did not work. */
  async logIn(id: string): Promise<string | null> {
    await this.#act(id, async () => {
      this.login = { id, url: (await this.#tools.logIn(id)).url };
    });
    return this.problem ? null : (this.login?.url ?? null);
  }

  /** Throws on failure, for the confirmation dialog. */
  async remove(id: string): Promise<void> {
    await this.#tools.remove(id);
    await this.load();
  }

  /** Throws what went wrong, for the form that it is about. */
  async add({ servers, secrets }: Additions): Promise<void> {
    const { servers: all } = await this.#tools.add(servers);
    this.all = all;
    for (const [id, values] of Object.entries(secrets)) {
      if (Object.keys(values).length > 0) await this.#keep(id, values);
    }
    await this.load();
  }

  async #keep(id: string, values: Record<string, string>): Promise<void> {
    try {
      await this.#tools.setSecrets(id, values);
    } catch (error) {
      // Without them it does not work, and its name is wanted for the next try.
      await failureOf(() => this.remove(id));
      throw error;
    }
  }

  async #act(id: string, work: () => Promise<void>): Promise<void> {
    if (this.busy.has(id)) return;
    this.busy.add(id);
    const error = await failureOf(work);
    this.problem = error && { id, error };
    this.busy.delete(id);
    await this.load();
  }
}
