// The agents this server offers.
import { listAgents, type AgentInfo, type Http } from "@gangway/client";
import { read, write } from "../storage.js";

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

  /** Remembers what the person chose, for the chats after this one. */
  remember(name: string): void {
    write("agent", name === this.fallback ? "" : name);
  }

  /** The agent of a new chat: what was chosen before, while that makes sense. */
  preferred(): string | null {
    const agent = this.find(read("agent") ?? "");
    // The demo was for want of a model; once there is one, it steps back.
    const stale = agent?.name === "demo" && this.find(this.fallback)?.ready;
    return agent?.ready && !stale ? agent.name : null;
  }

  find(name: string): AgentInfo | undefined {
    return this.all.find((agent) => agent.name === name);
  }
}
