// Follows one remote agent with server-sent events; reconnects and resumes automatically.
import { Backoff } from "../backoff.js";
import { isFinal, type GangwayError } from "../errors.js";
import type { AgentFrame, AgentState, FeedFrame } from "../generated/wire.js";
import type { LiveState } from "../live.js";
import { readEvents } from "../sse.js";

export interface AgentFeedOptions {
  /** Asks for the stream, after a number if there is one. */
  open: (
    since: number | undefined,
    signal: AbortSignal,
  ) => Promise<ReadableStream<Uint8Array>>;
  /** Gets every frame of the conversation once, in order. */
  onFrame: (frame: FeedFrame) => void;
  /** Gets what the agent is doing, at the beginning and at each change. */
  onAgentState?: (state: AgentState) => void;
  /** The agent has ended; the feed closes. */
  onEnded?: (reason: string) => void;
  /** Gets every change of the connection; `error` is the reason if it is closed. */
  onState?: (state: LiveState, error?: GangwayError) => void;
  /** The last number already seen; without it the first frame is a snapshot. */
  since?: number;
  /** A source of jitter between 0 and 1. */
  random?: () => number;
}

// The server says something at least every 15 s; a stream this quiet is dead.
const QUIET_MS = 45_000;
// After a tab comes back, a stream quieter than this may be dead.
const STALE_MS = 20_000;

type Timer = ReturnType<typeof setTimeout>;
type Frame = FeedFrame | AgentFrame;

export class AgentFeed {
  readonly #options: AgentFeedOptions;
  readonly #backoff: Backoff;
  readonly #listening = new AbortController();
  #request: AbortController | null = null;
  #state: LiveState = "connecting";
  #last: number | undefined;
  #heardAt = 0;
  #retryTimer: Timer | undefined;
  #quietTimer: Timer | undefined;

  constructor(options: AgentFeedOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
    this.#last = options.since;
    const { signal } = this.#listening;
    if (typeof window !== "undefined") {
      window.addEventListener("online", () => this.#wake(0), { signal });
      document.addEventListener(
        "visibilitychange",
        () => document.visibilityState === "visible" && this.#wake(STALE_MS),
        { signal },
      );
    }
    void this.#open();
  }

  get state(): LiveState {
    return this.#state;
  }

  /** The last number seen. */
  get last(): number | undefined {
    return this.#last;
  }

  /** Tries at once instead of waiting for the next attempt. */
  reconnect(): void {
    if (this.#state === "closed" || this.#state === "live") return;
    this.#backoff.reset();
    void this.#open();
  }

  dispose(): void {
    this.#close();
  }

  /** One connection, from its beginning to its end; another one takes over by aborting it. */
  async #open(): Promise<void> {
    clearTimeout(this.#retryTimer);
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    const { signal } = request;
    const over = () => signal.aborted;
    this.#receive();
    try {
      const bytes = await this.#options.open(this.#last, signal);
      if (over()) return;
      this.#receive();
      this.#backoff.opened();
      this.#setState("live");
      const watched = bytes.pipeThrough(this.#watch(), { signal });
      for await (const data of readEvents(watched)) {
        if (over()) return;
        this.#take(JSON.parse(data) as Frame);
      }
    } catch (error) {
      if (over()) return;
      if (isFinal(error)) {
        this.#close(error);
        return;
      }
      // Anything else, a frame that cannot be read too, is resumed before it.
    }
    if (!over()) this.#retryLater();
  }

  #take(frame: Frame): void {
    const { onFrame, onAgentState, onEnded } = this.#options;
    if (frame.type === "agent.state") {
      onAgentState?.(frame.state);
    } else if (frame.type === "agent.ended") {
      onEnded?.(frame.reason);
      this.#close();
    } else {
      if (frame.type === "snapshot" || frame.type === "resync") {
        this.#last = frame.snapshot.seq;
      } else if ("seq" in frame) {
        if (this.#last !== undefined && frame.seq <= this.#last) return;
        this.#last = frame.seq;
      }
      onFrame(frame);
    }
  }

  /** Records activity of the stream, including comments. */
  #watch(): TransformStream<Uint8Array, Uint8Array> {
    return new TransformStream({
      transform: (chunk, to) => {
        this.#receive();
        to.enqueue(chunk);
      },
    });
  }

  #receive(): void {
    this.#heardAt = Date.now();
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#lose(), QUIET_MS);
  }

  #wake(quietFor: number): void {
    if (this.#state === "closed") return;
    if (this.#state !== "live") this.reconnect();
    else if (Date.now() - this.#heardAt >= quietFor) void this.#open();
  }

  #lose(): void {
    this.#request?.abort();
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#state === "closed") return;
    clearTimeout(this.#quietTimer);
    clearTimeout(this.#retryTimer);
    this.#setState("reconnecting");
    this.#retryTimer = setTimeout(
      () => void this.#open(),
      this.#backoff.next(),
    );
  }

  #close(error?: GangwayError): void {
    if (this.#state === "closed") return;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#quietTimer);
    this.#request?.abort();
    this.#listening.abort();
    this.#setState("closed", error);
  }

  #setState(state: LiveState, error?: GangwayError): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState?.(state, error);
  }
}
