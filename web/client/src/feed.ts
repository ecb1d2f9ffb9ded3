// Follows one session over a WebSocket, reconnects by itself and resumes where it was.
import { GangwayError } from "./errors.js";
import type { FeedFrame } from "./generated/wire.js";
import { Sessions } from "./sessions.js";

/** `closed` is final: the session is gone, access was refused, or the feed was disposed. */
export type FeedState = "connecting" | "live" | "reconnecting" | "closed";

export interface SessionFeedOptions {
  /** Gets every frame once, in order. */
  onFrame: (frame: FeedFrame) => void;
  /** Gets every change of state; `error` says why a feed closed for good. */
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

// First and longest wait between attempts; 5 s brings thousands of pages back within ten.
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 5_000;
// A handshake that takes longer than this is taken for lost.
const CONNECT_MS = 10_000;
// Pages cannot see the server's pings, so a socket this quiet is replaced by a fresh one.
const QUIET_MS = 120_000;
// After a tab comes back, a socket quieter than this may be dead.
const STALE_MS = 20_000;
// A connection that lasted this long was a good one: start waiting from the beginning.
const STABLE_MS = 5_000;
// The server's close code for a session that was deleted.
const DELETED = 4004;
// Answers to a refused handshake that no later attempt will change.
const FINAL_STATUSES = [401, 403, 404, 410];

type Timer = ReturnType<typeof setTimeout>;

export class SessionFeed {
  readonly sessionId: string;
  readonly #options: SessionFeedOptions;
  readonly #sessions: Sessions;
  readonly #stop = new AbortController();
  #state: FeedState = "connecting";
  #error: GangwayError | undefined;
  #last: number | undefined;
  #socket: WebSocket | null = null;
  #next: WebSocket | null = null;
  #attempts = 0;
  #openedAt = 0;
  #heardAt = 0;
  #retryTimer: Timer | undefined;
  #connectTimer: Timer | undefined;
  #quietTimer: Timer | undefined;

  constructor(sessionId: string, options: SessionFeedOptions) {
    this.sessionId = sessionId;
    this.#options = options;
    this.#sessions = options.sessions ?? new Sessions();
    this.#last = options.since;
    const signal = this.#stop.signal;
    if (options.signal?.aborted) {
      this.dispose();
      return;
    }
    options.signal?.addEventListener("abort", () => this.dispose(), { signal });
    if (typeof window !== "undefined") {
      window.addEventListener("online", () => this.#wake(0), { signal });
      document.addEventListener(
        "visibilitychange",
        () => document.visibilityState === "visible" && this.#wake(STALE_MS),
        { signal },
      );
    }
    this.#open();
  }

  get state(): FeedState {
    return this.#state;
  }

  /** Why the feed closed for good, if it did not close by `dispose`. */
  get error(): GangwayError | undefined {
    return this.#error;
  }

  /** The last number seen. */
  get last(): number | undefined {
    return this.#last;
  }

  /** Tries at once instead of waiting for the next attempt. */
  reconnect(): void {
    if (this.#state === "closed" || this.#state === "live") return;
    this.#attempts = 0;
    if (!this.#next) this.#open();
  }

  dispose(): void {
    this.#close();
  }

  #open(): void {
    clearTimeout(this.#retryTimer);
    const Socket = this.#options.WebSocket ?? WebSocket;
    const socket = new Socket(this.#url());
    this.#next = socket;
    this.#connectTimer = setTimeout(() => this.#lost(socket), CONNECT_MS);
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = (event: MessageEvent) => this.#heard(socket, event.data);
    socket.onclose = (event: CloseEvent) => this.#lost(socket, event.code);
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

  #opened(socket: WebSocket): void {
    if (socket !== this.#next) return;
    clearTimeout(this.#connectTimer);
    if (this.#socket) drop(this.#socket);
    this.#socket = socket;
    this.#next = null;
    this.#openedAt = this.#heardAt = Date.now();
    this.#watchSilence(QUIET_MS);
    this.#setState("live");
  }

  #heard(socket: WebSocket, data: unknown): void {
    if (socket !== this.#socket) return;
    this.#heardAt = Date.now();
    let frame: FeedFrame;
    try {
      frame = JSON.parse(String(data)) as FeedFrame;
    } catch {
      // Going on would hide a gap; a new socket resumes before it.
      this.#lost(socket);
      return;
    }
    if (frame.type === "snapshot" || frame.type === "resync") {
      this.#last = frame.snapshot.seq;
    } else if ("seq" in frame) {
      if (this.#last !== undefined && frame.seq <= this.#last) return;
      this.#last = frame.seq;
    }
    this.#options.onFrame(frame);
    if (frame.type === "closing" && socket === this.#socket) {
      this.#lost(socket, frame.reason === "deleted" ? DELETED : undefined);
    }
  }

  #lost(socket: WebSocket, code?: number): void {
    if (socket !== this.#socket && socket !== this.#next) return;
    const refused = socket === this.#next;
    // A replacement that fails means that the quiet socket is dead as well.
    if (refused || !this.#next) this.#dropSockets();
    else this.#socket = drop(socket);
    if (code === DELETED) {
      this.#close(
        new GangwayError("session_deleted", "This session was deleted.", {
          status: 410,
        }),
      );
      return;
    }
    this.#setState("reconnecting");
    if (this.#next) return;
    if (refused) void this.#askWhy();
    else {
      if (Date.now() - this.#openedAt >= STABLE_MS) this.#attempts = 0;
      this.#retryLater();
    }
  }

  /** A page is not told why a handshake failed, but a plain request is. */
  async #askWhy(): Promise<void> {
    try {
      await this.#sessions.get(this.sessionId, this.#stop.signal);
    } catch (error) {
      if (
        error instanceof GangwayError &&
        FINAL_STATUSES.includes(error.status)
      ) {
        this.#close(error);
        return;
      }
    }
    if (this.#state !== "closed" && !this.#next && !this.#socket) {
      this.#retryLater();
    }
  }

  #retryLater(): void {
    const random = this.#options.random ?? Math.random;
    const longest = Math.min(
      LONGEST_WAIT_MS,
      FIRST_WAIT_MS * 2 ** this.#attempts,
    );
    this.#attempts += 1;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(
      () => this.#open(),
      longest * (0.5 + random() / 2),
    );
  }

  #wake(quietFor: number): void {
    if (this.#state === "closed" || this.#next) return;
    if (!this.#socket) this.reconnect();
    else if (Date.now() - this.#heardAt >= quietFor) this.#open();
  }

  #watchSilence(wait: number): void {
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => {
      const left = this.#heardAt + QUIET_MS - Date.now();
      const hidden =
        typeof document !== "undefined" &&
        document.visibilityState === "hidden";
      if (left <= 0 && !hidden && this.#socket && !this.#next) this.#open();
      else this.#watchSilence(left > 0 ? left : QUIET_MS);
    }, wait);
  }

  #dropSockets(): void {
    clearTimeout(this.#connectTimer);
    clearTimeout(this.#quietTimer);
    this.#socket = drop(this.#socket);
    this.#next = drop(this.#next);
  }

  #close(error?: GangwayError): void {
    if (this.#state === "closed") return;
    this.#error = error;
    clearTimeout(this.#retryTimer);
    this.#dropSockets();
    this.#stop.abort();
    this.#setState("closed");
  }

  #setState(state: FeedState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState?.(state, this.#error);
  }
}

function drop(socket: WebSocket | null): null {
  if (socket) {
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }
  return null;
}
