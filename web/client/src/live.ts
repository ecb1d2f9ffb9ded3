// A WebSocket that reconnects automatically; its owner provides the URL and handles the messages.
import { Backoff } from "./backoff.js";
import { GangwayError, isFinal } from "./errors.js";
import { protocolsFor, type ApiKey } from "./key.js";

/** `closed` is final: access was denied, the other end no longer exists, or it was disposed. */
export type LiveState = "connecting" | "live" | "reconnecting" | "closed";

export interface LiveSocketOptions {
  /** The address of the next attempt. */
  url: () => string;
  /** Gets the messages of the current socket. */
  onMessage: (data: unknown) => void;
  /** Gets every change of state; `error` is the reason if it is closed. */
  onState?: (state: LiveState, error?: GangwayError) => void;
  /** A new socket is connected: messages sent on the last one may be lost. */
  onOpen?: () => void;
  /** Asks why a handshake was refused, by a plain request; throws the answer. */
  askWhy?: (signal: AbortSignal) => Promise<unknown>;
  signal?: AbortSignal | undefined;
  /** The WebSocket to use instead of the global one. */
  WebSocket?: typeof WebSocket | undefined;
  /** Read at each attempt. */
  key?: ApiKey | undefined;
  /** A source of jitter between 0 and 1. */
  random?: (() => number) | undefined;
}

// A handshake that takes longer than this is taken for lost.
const CONNECT_MS = 10_000;
// Pages cannot see the server's pings, so a socket this quiet is replaced by a fresh one.
const QUIET_MS = 120_000;
// After a tab comes back, a socket quieter than this may be dead.
const STALE_MS = 20_000;
// The server's close code for a socket whose login or key was taken back.
const REFUSED = 4001;
/** The server's close code for a session that was deleted. */
export const DELETED = 4004;
/** The server's close code for a session whose stored data is damaged. */
export const CORRUPTED = 4500;
/** The server's close codes for a launch that is not there any more, and for one whose time is up. */
export const LAUNCH_GONE = 4404;
export const LAUNCH_ENDED = 4410;
// Close codes after which there is nothing to come back to.
const FINAL_CLOSES = new Map([
  [DELETED, ["session_deleted", "This session was deleted.", 410]],
  [
    CORRUPTED,
    [
      "data_corrupted",
      "Part of this session is damaged on the server's disk. Run `gangway doctor` there.",
      500,
    ],
  ],
  [
    LAUNCH_GONE,
    ["launch_gone", "This launch no longer exists. Launch the app again.", 404],
  ],
  [
    LAUNCH_ENDED,
    ["launch_ended", "This launch has ended. Launch the app again.", 410],
  ],
] as const);

type Timer = ReturnType<typeof setTimeout>;

export class LiveSocket {
  readonly #options: LiveSocketOptions;
  readonly #stop = new AbortController();
  #state: LiveState = "connecting";
  #error: GangwayError | undefined;
  #socket: WebSocket | null = null;
  #next: WebSocket | null = null;
  readonly #backoff: Backoff;
  #heardAt = 0;
  #retryTimer: Timer | undefined;
  #connectTimer: Timer | undefined;
  #quietTimer: Timer | undefined;

  constructor(options: LiveSocketOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
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

  get state(): LiveState {
    return this.#state;
  }

  /** Why it is closed, unless by `dispose`. */
  get error(): GangwayError | undefined {
    return this.#error;
  }

  /** Says whether there was a socket to send through. */
  send(data: string): boolean {
    if (!this.#socket) return false;
    this.#socket.send(data);
    return true;
  }

  /** How many bytes wait in the socket for the network. */
  get buffered(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** Tries at once instead of waiting for the next attempt. */
  reconnect(): void {
    if (this.#state === "closed" || this.#state === "live") return;
    this.#backoff.reset();
    if (!this.#next) this.#open();
  }

  /** Closes the current socket and reconnects, unless the code is final. */
  renew(code?: number): void {
    if (this.#socket) this.#lost(this.#socket, code);
  }

  dispose(): void {
    this.#close();
  }

  #open(): void {
    clearTimeout(this.#retryTimer);
    const Socket = this.#options.WebSocket ?? WebSocket;
    const { url, key } = this.#options;
    const socket = new Socket(url(), protocolsFor(key));
    socket.binaryType = "arraybuffer";
    this.#next = socket;
    this.#connectTimer = setTimeout(() => this.#lost(socket), CONNECT_MS);
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = (event: MessageEvent) =>
      this.#receive(socket, event.data);
    socket.onclose = (event: CloseEvent) => this.#lost(socket, event.code);
  }

  #opened(socket: WebSocket): void {
    if (socket !== this.#next) return;
    clearTimeout(this.#connectTimer);
    if (this.#socket) drop(this.#socket);
    this.#socket = socket;
    this.#next = null;
    this.#heardAt = Date.now();
    this.#backoff.opened();
    this.#watchSilence(QUIET_MS);
    this.#options.onOpen?.();
    this.#setState("live");
  }

  #receive(socket: WebSocket, data: unknown): void {
    if (socket !== this.#socket) return;
    this.#heardAt = Date.now();
    this.#options.onMessage(data);
  }

  #lost(socket: WebSocket, code?: number): void {
    if (socket !== this.#socket && socket !== this.#next) return;
    const refused = socket === this.#next || code === REFUSED;
    // A replacement that fails means that the quiet socket is dead as well.
    if (refused || !this.#next) this.#dropSockets();
    else this.#socket = drop(socket);
    const final = FINAL_CLOSES.get(code as typeof DELETED);
    if (final) {
      const [word, message, status] = final;
      this.#close(new GangwayError(word, message, { status }));
      return;
    }
    this.#setState("reconnecting");
    if (this.#next) return;
    if (refused) void this.#askWhy();
    else this.#retryLater();
  }

  /** Browsers hide why a handshake failed, but not the response to a plain request. */
  async #askWhy(): Promise<void> {
    try {
      await this.#options.askWhy?.(this.#stop.signal);
    } catch (error) {
      if (isFinal(error)) {
        this.#close(error);
        return;
      }
    }
    if (this.#state !== "closed" && !this.#next && !this.#socket) {
      this.#retryLater();
    }
  }

  #retryLater(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#open(), this.#backoff.next());
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

  #setState(state: LiveState): void {
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
