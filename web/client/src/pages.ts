// The REST calls about open pages: which there are, and the session of a site.
import type { ConnectPage, PageList } from "./generated/wire.js";
import { Http } from "./http.js";

export class Pages {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  /** The open pages, in the order of opening; sites without a session only with the scope `admin`. */
  list(signal?: AbortSignal): Promise<PageList> {
    return this.#http.get("/api/pages", { signal });
  }

  /** Connects a site to a session, whose agents may use its tools then; null disconnects it. */
  connect(pageId: string, sessionId: string | null): Promise<void> {
    const body: ConnectPage = { sessionId };
    const path = `/api/pages/${encodeURIComponent(pageId)}/session`;
    return this.#http.put(path, { body });
  }
}
