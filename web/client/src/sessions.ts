// The REST calls about sessions, one method each.
import type {
  CreatedInvitation,
  CreateInvitation,
  CreateSession,
  History,
  InvitationList,
  MessageAccepted,
  PostMessage,
  Session,
  SessionList,
  StopResult,
  UpdateSession,
} from "./generated/wire.js";
import { Http } from "./http.js";

export interface PageOptions {
  limit?: number;
  /** Where the previous page ended. */
  before?: string | undefined;
  signal?: AbortSignal;
}

export class Sessions {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  /** Where the server is; empty means the page's own origin. */
  get baseUrl(): string {
    return this.#http.baseUrl;
  }

  get apiKey(): string | undefined {
    return this.#http.apiKey;
  }

  create(session: CreateSession = {}): Promise<Session> {
    return this.#http.post("/api/sessions", { body: session });
  }

  /** One page, the newest first. */
  list({ limit, before, signal }: PageOptions = {}): Promise<SessionList> {
    return this.#http.get("/api/sessions", {
      query: { limit, before },
      signal,
    });
  }

  get(sessionId: string, signal?: AbortSignal): Promise<Session> {
    return this.#http.get(path(sessionId), { signal });
  }

  update(sessionId: string, change: UpdateSession): Promise<Session> {
    return this.#http.patch(path(sessionId), { body: change });
  }

  delete(sessionId: string): Promise<void> {
    return this.#http.delete(path(sessionId));
  }

  /** Sends a prompt; it waits its turn when another one is running. */
  send(sessionId: string, message: PostMessage): Promise<MessageAccepted> {
    return this.#http.post(`${path(sessionId)}/messages`, { body: message });
  }

  /** Ends the running turn and drops the prompts that wait. */
  stop(sessionId: string): Promise<StopResult> {
    return this.#http.post(`${path(sessionId)}/stop`);
  }

  answer(sessionId: string, questionId: string, answer: string): Promise<void> {
    return this.#http.post(`${path(sessionId)}/answers`, {
      body: { questionId, answer },
    });
  }

  /** The external agents that are invited, and those that are connected. */
  invitations(
    sessionId: string,
    signal?: AbortSignal,
  ): Promise<InvitationList> {
    return this.#http.get(`${path(sessionId)}/invitations`, { signal });
  }

  /** Invites an external agent; the token is only in this answer. */
  invite(
    sessionId: string,
    invitation: CreateInvitation = {},
  ): Promise<CreatedInvitation> {
    return this.#http.post(`${path(sessionId)}/invitations`, {
      body: invitation,
    });
  }

  revokeInvitation(sessionId: string, invitationId: string): Promise<void> {
    const id = encodeURIComponent(invitationId);
    return this.#http.delete(`${path(sessionId)}/invitations/${id}`);
  }

  /** Every event as JSON Lines, as they are read. */
  export(
    sessionId: string,
    signal?: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#http.stream(`${path(sessionId)}/export`, { signal }, "GET");
  }

  /** Entries before a number, for pages older than a snapshot. */
  history(
    sessionId: string,
    { before, limit }: { before?: number; limit?: number } = {},
  ): Promise<History> {
    return this.#http.get("/api/history", {
      query: { session: sessionId, before, limit },
    });
  }
}

function path(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}`;
}
