// The REST calls about applets: the list, and consent to their messages in a session.
import type {
  AppletList,
  ConsentDecision,
  AppletConsentList,
} from "./generated/wire.js";
import { Http } from "./http.js";

export class Applets {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  /** Those that can be opened, and those that have a problem. */
  list(signal?: AbortSignal): Promise<AppletList> {
    return this.#http.get("/api/applets", { signal });
  }

  /** Who can speak in a session. */
  speakers(
    sessionId: string,
    signal?: AbortSignal,
  ): Promise<AppletConsentList> {
    return this.#http.get(path(sessionId), { signal });
  }

  /** Decides, and says who can speak then. */
  decide(
    sessionId: string,
    applet: string,
    speak: ConsentDecision,
  ): Promise<AppletConsentList> {
    const slug = encodeURIComponent(applet);
    return this.#http.put(`${path(sessionId)}/${slug}`, { body: { speak } });
  }
}

function path(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}/applets`;
}
