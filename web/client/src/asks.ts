// Requests to the user: the REST calls, and the socket with the list of open ones.
import type { GangwayError } from "./errors.js";
import type {
  AnswerAsk,
  AskInfo,
  AskList,
  AsksFrame,
} from "./generated/wire.js";
import { Http } from "./http.js";
import { LiveSocket, type LiveState } from "./live.js";

export interface WatchOptions {
  /** The request that this window is for: it is dismissed when the window is closed. */
  ask?: string | undefined;
  onFrame: (frame: AsksFrame) => void;
  /** Gets every change of state; `error` is the reason if it is closed. */
  onState?: (state: LiveState, error?: GangwayError) => void;
}

export class Asks {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  /** Oldest first. */
  list(signal?: AbortSignal): Promise<AskList> {
    return this.#http.get("/api/asks", { signal });
  }

  get(id: string, signal?: AbortSignal): Promise<AskInfo> {
    return this.#http.get(askPath(id), { signal });
  }

  answer(id: string, answer: AnswerAsk): Promise<void> {
    return this.#http.post(askPath(id), { body: answer });
  }

  /** Closes a request without an answer. */
  dismiss(id: string): Promise<void> {
    return this.#http.delete(askPath(id));
  }

  /** Subscribes to the open requests and to changes of permissions; returns a function that unsubscribes. */
  watch({ ask, onFrame, onState }: WatchOptions): () => void {
    const live = new LiveSocket({
      url: () => {
        const url = new URL("/ws/asks", this.#http.baseUrl || location.origin);
        url.protocol = url.protocol.replace("http", "ws");
        if (ask !== undefined) url.searchParams.set("ask", ask);
        return url.href;
      },
      onMessage: (data) => {
        try {
          onFrame(JSON.parse(String(data)) as AsksFrame);
        } catch {
          // A new socket begins with all that is open.
          live.renew();
        }
      },
      onState: (state, error) => onState?.(state, error),
      askWhy: (signal) =>
        ask === undefined ? this.list(signal) : this.get(ask, signal),
      key: () => this.#http.apiKey,
    });
    return () => live.dispose();
  }
}

function askPath(id: string): string {
  return `/api/asks/${encodeURIComponent(id)}`;
}
