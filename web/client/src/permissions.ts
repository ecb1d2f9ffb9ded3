// What pages of other origins may do: the REST calls, and the socket that tells what they ask.
import type {
  AnswerAsk,
  AuditPage,
  OriginPermissions,
  PermissionAsk,
  PermissionAsks,
  PermissionList,
  PermissionsFrame,
  SetPermissions,
} from "./generated/wire.js";
import { Http } from "./http.js";
import { LiveSocket, type LiveState } from "./live.js";

/** Which part of the log is wanted. */
export interface AuditOptions {
  origin?: string | undefined;
  /** Where the page before this one ended. */
  before?: string | undefined;
  limit?: number;
}

export interface WatchOptions {
  /** The question that this window is for: closing it leaves the question unanswered. */
  ask?: string;
  onFrame: (frame: PermissionsFrame) => void;
  onState?: (state: LiveState) => void;
}

export class Permissions {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  list(signal?: AbortSignal): Promise<PermissionList> {
    return this.#http.get("/api/permissions", { signal });
  }

  /** Changes what is named; the rest stays as it is. */
  set(settings: SetPermissions): Promise<OriginPermissions> {
    return this.#http.patch("/api/permissions", { body: settings });
  }

  forget(origin: string): Promise<void> {
    return this.#http.delete("/api/permissions", { query: { origin } });
  }

  forgetAll(): Promise<void> {
    return this.#http.delete("/api/permissions");
  }

  /** The oldest question of each origin. */
  asks(signal?: AbortSignal): Promise<PermissionAsks> {
    return this.#http.get("/api/permissions/asks", { signal });
  }

  ask(id: string, signal?: AbortSignal): Promise<PermissionAsk> {
    return this.#http.get(askPath(id), { signal });
  }

  answer(id: string, answer: AnswerAsk): Promise<void> {
    return this.#http.post(askPath(id), { body: answer });
  }

  /** Newest first. */
  audit(options: AuditOptions = {}): Promise<AuditPage> {
    return this.#http.get("/api/permissions/audit", { query: { ...options } });
  }

  /** Hears what is asked and what changed until the returned function is called. */
  watch({ ask, onFrame, onState }: WatchOptions): () => void {
    const live = new LiveSocket({
      url: () => {
        const base = this.#http.baseUrl || location.origin;
        const url = new URL("/ws/permissions", base);
        url.protocol = url.protocol.replace("http", "ws");
        if (ask !== undefined) url.searchParams.set("ask", ask);
        return url.href;
      },
      onMessage: (data) => {
        try {
          onFrame(JSON.parse(String(data)) as PermissionsFrame);
        } catch {
          // A new socket begins with all that is open.
          live.renew();
        }
      },
      onState: (state) => onState?.(state),
      askWhy: (signal) => this.asks(signal),
      key: () => this.#http.apiKey,
    });
    return () => live.dispose();
  }
}

function askPath(id: string): string {
  return `/api/permissions/asks/${encodeURIComponent(id)}`;
}
