// Everything the Agents page knows.
import {
  GangwayError,
  type CreateAgent,
  type CreatedAgent,
  type Features,
  type PersonaInfo,
  type ProjectInfo,
  type PersonaConfig,
  type PersonaText,
  type ProjectConfig,
  type PutPersonaText,
  type RemoteAgentInfo,
  type RemoteAgentList,
  type RemoteAgents,
} from "@gangway/client";
import { freshId } from "@gangway/kit/parts/ids.js";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { whileVisible } from "@gangway/kit/parts/poll.js";

const POLL_MS = 3_000;
// How often it is looked whether an agent waits, on every page and in the background too.
const WATCH_MS = 10_000;

export class RemoteAgentsState {
  readonly #calls: RemoteAgents;
  /** A request with an unknown outcome keeps its idempotency key. */
  #unsure: { request: string; key: string } | null = null;
  /** Those that waited the last time; null before the first look. */
  #waited: string[] | null = null;
  #onwait: (agent: RemoteAgentInfo) => void = () => undefined;
  agents: RemoteAgentInfo[] = $state.raw([]);
  /** How many there may be at once. */
  limit = $state(0);
  /** The default features of chats. */
  defaults: Partial<Features> = $state.raw({});
  projects: ProjectInfo[] = $state.raw([]);
  personas: PersonaInfo[] = $state.raw([]);
  loaded = $state(false);
  error: GangwayError | null = $state.raw(null);
  /** What was created last; its token is shown here and never again. */
  created: CreatedAgent | null = $state.raw(null);

  constructor(calls: RemoteAgents) {
    this.#calls = calls;
  }

  readonly running = $derived(this.agents.filter(({ alive }) => alive));
  /** Those that wait for an answer. */
  readonly waiting = $derived(
    this.running.filter(({ state }) => state === "awaiting_input"),
  );
  readonly ended = $derived(this.agents.filter(({ alive }) => !alive));

  /** Keeps what is shown true until the returned function is called. */
  follow(): () => void {
    const stop = whileVisible(POLL_MS, (signal) => this.load(signal));
    return () => {
      stop();
      this.created = null;
    };
  }

  /** Polls for agents that begin to wait until the returned function is called; calls `onwait` for each. */
  watch(onwait: (agent: RemoteAgentInfo) => void): () => void {
    this.#onwait = onwait;
    this.#waited = null;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      let failure: GangwayError | null;
      try {
        failure = await failureOf(async () => {
          this.#put(await this.#calls.list(stop.signal));
        });
      } catch (error) {
        // A request that was cut off by the end of this is no failure.
        if (stop.signal.aborted) return;
        throw error;
      }
      // Users without permission to list agents are not notified.
      const refused = failure && !failure.retryable && failure.status !== 0;
      if (refused || stop.signal.aborted) return;
      timer = setTimeout(() => void look(), WATCH_MS);
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      const [list, { projects }, { personas }] = await Promise.all([
        this.#calls.list(signal),
        this.#calls.projects(signal),
        this.#calls.personas(signal),
      ]);
      this.#put(list);
      this.projects = projects;
      this.personas = personas;
      this.loaded = true;
    });
  }

  /** Answers once the agent is ready; throws what went wrong. */
  async create(agent: CreateAgent): Promise<void> {
    const request = JSON.stringify(agent);
    const key =
      this.#unsure?.request === request ? this.#unsure.key : freshId();
    this.#unsure = { request, key };
    this.created = await this.#calls.create(agent, key);
    this.#unsure = null;
    await this.load();
  }

  /** Throws what went wrong, as all below do. */
  async stop(agentId: string): Promise<void> {
    await this.#calls.stop(agentId);
    await this.load();
  }

  async handOver(agentId: string): Promise<void> {
    await this.#calls.handOver(agentId);
  }

  async putProject(name: string, project: ProjectConfig): Promise<void> {
    await this.#calls.putProject(name, project);
    await this.load();
  }

  async removeProject(name: string): Promise<void> {
    await this.#calls.removeProject(name);
    await this.load();
  }

  async putPersona(slug: string, persona: PersonaConfig): Promise<void> {
    await this.#calls.putPersona(slug, persona);
    await this.load();
  }

  personaText(slug: string): Promise<PersonaText> {
    return this.#calls.personaText(slug);
  }

  /** Gives back the new version. */
  async putPersonaText(slug: string, text: PutPersonaText): Promise<string> {
    const { version } = await this.#calls.putPersonaText(slug, text);
    await this.load();
    return version;
  }

  async removePersona(slug: string): Promise<void> {
    await this.#calls.removePersona(slug);
    await this.load();
  }

  #put({ agents, limit, embed_defaults }: RemoteAgentList): void {
    this.agents = agents;
    this.limit = limit;
    this.defaults = embed_defaults;
    const before = this.#waited;
    this.#waited = this.waiting.map(({ agent_id }) => agent_id);
    if (!before) return;
    for (const agent of this.waiting) {
      if (!before.includes(agent.agent_id)) this.#onwait(agent);
    }
  }
}
