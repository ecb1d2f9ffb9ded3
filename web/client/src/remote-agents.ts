// The REST calls for operators of remote agents, their projects and their personas.
import type {
  CreateAgent,
  CreatedAgent,
  PersonaList,
  ProjectList,
  PersonaConfig,
  PersonaText,
  ProjectConfig,
  PutPersonaText,
  RemoteAgentList,
  WrittenPersonaText,
} from "./generated/wire.js";
import { Http } from "./http.js";

export class RemoteAgents {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  list(signal?: AbortSignal): Promise<RemoteAgentList> {
    return this.#http.get("/api/remote_agents", { signal });
  }

  /** Answers once the agent is ready; the same key makes the same agent. */
  create(agent: CreateAgent, key: string): Promise<CreatedAgent> {
    return this.#http.post("/api/remote_agents/create", {
      body: agent,
      headers: { "idempotency-key": key },
    });
  }

  /** Ends an agent. */
  stop(agentId: string): Promise<unknown> {
    return this.#http.delete(named("/api/remote_agents", agentId));
  }

  /** Lets an agent continue in a fresh context, with a summary, from its next message on. */
  handOver(agentId: string): Promise<unknown> {
    return this.#http.post(named("/api/remote_agents/hand_over", agentId));
  }

  projects(signal?: AbortSignal): Promise<ProjectList> {
    return this.#http.get("/api/projects", { signal });
  }

  putProject(name: string, project: ProjectConfig): Promise<unknown> {
    return this.#http.put(named("/api/projects", name), { body: project });
  }

  removeProject(name: string): Promise<unknown> {
    return this.#http.delete(named("/api/projects", name));
  }

  personas(signal?: AbortSignal): Promise<PersonaList> {
    return this.#http.get("/api/personas", { signal });
  }

  putPersona(slug: string, persona: PersonaConfig): Promise<unknown> {
    return this.#http.put(named("/api/personas", slug), { body: persona });
  }

  personaText(slug: string): Promise<PersonaText> {
    return this.#http.get(`${named("/api/personas", slug)}/text`);
  }

  /** Writes the texts of the persona whose version is named, or of a new one. */
  putPersonaText(
    slug: string,
    text: PutPersonaText,
  ): Promise<WrittenPersonaText> {
    const path = `${named("/api/personas", slug)}/text`;
    return this.#http.put(path, { body: text });
  }

  removePersona(slug: string): Promise<unknown> {
    return this.#http.delete(named("/api/personas", slug));
  }
}

function named(path: string, name: string): string {
  return `${path}/${encodeURIComponent(name)}`;
}
