// Follows one session over a WebSocket; reconnects and resumes automatically.
import type { GangwayError } from "./errors.js";
import type { FeedFrame } from "./generated/wire.js";
import { CORRUPTED, DELETED, LiveSocket, type LiveState } from "./live.js";
import { Sessions } from "./sessions.js";

/** `closed` is final: the session is gone, access was refused, or the feed was disposed. */
export type FeedState = LiveState;

export interface SessionFeedOptions {
  /** Gets every frame once, in order. */
  onFrame: (frame: FeedFrame) => void;
  /** Gets every change of state; `error` is the reason if the feed is closed. */
  onState?: (state: FeedState, error?: GangwayError) => void;
  /** The calls used to find the server and to ask why a socket was refused. */
  sessions?: Sessions;
  /** The last number already seen; without it the first frame is a snapshot. */
  since?: number;
  signal?: AbortSignal;
  /** The WebSocket to use instead of the global one. */
  WebSocket?: typeof WebSocket;
  /** A source of jitter between 0 and 1. */
  random?: () => number;
}

/** Reasons to close after which there is nothing to come back to. */
const FINAL_REASONS: Partial<Record<string, number>> = {
  deleted: DELETED,
  corrupted: CORRUPTED,
};

export class SessionFeed {
  readonly sessionId: string;
  readonly #options: SessionFeedOptions;
  readonly #sessions: Sessions;
  readonly #live: LiveSocket;
  #last: number | undefined;

  constructor(sessionId: string, options: SessionFeedOptions) {
    this.sessionId = sessionId;
    this.#options = options;
    this.#sessions = options.sessions ?? new Sessions();
    this.#last = options.since;
    this.#live = new LiveSocket({
      url: () => this.#url(),
      onMessage: (data) => this.#receive(data),
      onState: (state, error) => options.onState?.(state, error),
      askWhy: (signal) => this.#askWhy(signal),
      key: () => this.#sessions.apiKey,
      signal: options.signal,
      WebSocket: options.WebSocket,
      random: options.random,
    });
  }

  get state(): FeedState {
    return this.#live.state;
  }

  /** Why the feed is closed, unless by `dispose`. */
  get error(): GangwayError | undefined {
    return this.#live.error;
  }

  /** The last number seen. */
  get last(): number | undefined {
    return this.#last;
  }

  /** Tries at once instead of waiting for the next attempt. */
  reconnect(): void {
    this.#live.reconnect();
  }

  dispose(): void {
    this.#live.dispose();
  }

  #url(): string {
    const base = this.#sessions.baseUrl || location.origin;
    const id = encodeURIComponent(this.sessionId);
    const url = new URL(`${base}/api/sessions/${id}/events`);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    if (this.#last !== undefined) {
      url.searchParams.set("since", String(this.#last));
    }
    return url.href;
  }

  async #askWhy(signal: AbortSignal): Promise<void> {
    await this.#sessions.get(this.sessionId, signal);
    // What a snapshot is made of; it may be damaged where the session itself is not.
    await this.#sessions.history(this.sessionId);
  }

  #receive(data: unknown): void {
    let frame: FeedFrame;
    try {
      frame = JSON.parse(String(data)) as FeedFrame;
    } catch {
      // Going on would hide a gap; a new socket resumes before it.
      this.#live.renew();
      return;
    }
    if (frame.type === "snapshot" || frame.type === "resync") {
      this.#last = frame.snapshot.seq;
    } else if ("seq" in frame) {
      if (this.#last !== undefined && frame.seq <= this.#last) return;
      this.#last = frame.seq;
    }
    this.#options.onFrame(frame);
    if (frame.type === "closing") {
      this.#live.renew(FINAL_REASONS[frame.reason]);
    }
  }
}
