// The agents this server offers.
import { listAgents, type AgentInfo, type Http } from "@gangway/client";

export class AgentsState {
  readonly #http: Http;
  all: AgentInfo[] = $state.raw([]);
  /** The agent of a session that names none. */
  fallback = $state("");

  constructor(http: Http) {
    this.#http = http;
  }

  async load(): Promise<void> {
    const { agents, default: fallback } = await listAgents(this.#http);
    this.all = agents;
    this.fallback = fallback;
  }

  find(name: string): AgentInfo | undefined {
    return this.all.find((agent) => agent.name === name);
  }
}
