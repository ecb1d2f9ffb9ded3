// The server of an application that embeds remote agents, written from their specification alone.

export interface Agent {
  agent_id: string;
  embed_url: string;
  session_token: string;
  project_name: string;
  persona_slug: string;
  tmux_session_name: string;
  status: string;
}

export interface Answer {
  status: number;
  origin: string | null;
  body: Record<string, unknown>;
}

export class Backend {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async create(
    body: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.#call("POST", "create", this.#key, { headers, body });
  }

  alive(id: string, token?: string): Promise<Answer> {
    return this.#call("GET", `${id}/alive`, token);
  }

  shutdown(id: string, token?: string): Promise<Answer> {
    return this.#call("POST", `${id}/shutdown`, token);
  }

  async #call(
    method: string,
    path: string,
    token?: string,
    more: { headers?: Record<string, string>; body?: unknown } = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.#url}/api/remote_agents/${path}`, {
      method,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(more.body !== undefined && { "Content-Type": "application/json" }),
        ...more.headers,
      },
      ...(more.body !== undefined && { body: JSON.stringify(more.body) }),
    });
    return {
      status: response.status,
      origin: response.headers.get("Access-Control-Allow-Origin"),
      body: (await response.json()) as Record<string, unknown>,
    };
  }
}
