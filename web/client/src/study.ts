// Study sessions of the relay: which there are, and what happened in them.
import type { StudyEvents, StudyList, StudySummary } from "./generated/wire.js";
import { Http } from "./http.js";

export class Study {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  list(signal?: AbortSignal): Promise<StudyList> {
    return this.#http.get("/api/study", { signal });
  }

  /** The events after a number, oldest first. */
  events(
    sessionId: string,
    after: number | undefined,
    limit: number,
    signal?: AbortSignal,
  ): Promise<StudyEvents> {
    const query = { after, limit };
    return this.#http.get(`${pathOf(sessionId)}/events`, { query, signal });
  }

  summary(sessionId: string, signal?: AbortSignal): Promise<StudySummary> {
    return this.#http.get(`${pathOf(sessionId)}/summary`, { signal });
  }

  /** The session as a table for a statistics program. */
  async csv(sessionId: string): Promise<Blob> {
    const bytes = await this.#http.stream(
      `${pathOf(sessionId)}/csv`,
      {},
      "GET",
    );
    return new Response(bytes, {
      headers: { "content-type": "text/csv" },
    }).blob();
  }
}

function pathOf(sessionId: string): string {
  return `/api/study/${encodeURIComponent(sessionId)}`;
}
