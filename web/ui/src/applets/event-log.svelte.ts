// Every event of a session as it was written, the newest last; read page by page from the feed.
import {
  SessionFeed,
  type EventFrame,
  type FeedFrame,
  type Sessions,
} from "@gangway/client";

// Numbers looked at for a page; deltas of answers have numbers too.
const PAGE = 1_000;
// What a page that stays open keeps; whatever is older can be read again.
const KEPT = 3_000;

export class EventLogState {
  readonly #sessions: Sessions;
  readonly #sessionId: string;
  readonly #stop = new AbortController();
  #waiting: EventFrame[] = [];
  #scheduled = false;
  /** The number of the first event that was looked at. */
  #from: number;
  events: EventFrame[] = $state.raw([]);
  /** Whether there are events before the first one here. */
  older = $state(false);
  loadingOlder = $state(false);

  /** Starts with the page before `head`, the last known number, and continues live. */
  constructor(sessions: Sessions, sessionId: string, head: number) {
    this.#sessions = sessions;
    this.#sessionId = sessionId;
    this.#from = Math.max(0, head - PAGE);
    this.older = this.#from > 0;
    new SessionFeed(sessionId, {
      sessions,
      since: this.#from,
      signal: this.#stop.signal,
      onFrame: (frame) => {
        if (isShown(frame)) this.#add(frame);
      },
    });
  }

  /** Reads earlier pages until there is something to show. */
  async earlier(): Promise<void> {
    if (!this.older || this.loadingOlder) return;
    this.loadingOlder = true;
    let found: EventFrame[] = [];
    while (found.length === 0 && this.#from > 0 && !this.#stop.signal.aborted) {
      const until = this.#from;
      this.#from = Math.max(0, until - PAGE);
      found = await this.#between(this.#from, until);
    }
    this.events = [...found, ...this.events];
    this.older = this.#from > 0;
    this.loadingOlder = false;
  }

  dispose(): void {
    this.#stop.abort();
  }

  /** Events after one number up to and with another. */
  #between(after: number, until: number): Promise<EventFrame[]> {
    return new Promise((resolve) => {
      const found: EventFrame[] = [];
      const feed = new SessionFeed(this.#sessionId, {
        sessions: this.#sessions,
        since: after,
        signal: this.#stop.signal,
        onFrame: (frame) => {
          if (!("seq" in frame) || frame.seq > until) feed.dispose();
          else {
            if (isShown(frame)) found.push(frame);
            if (frame.seq === until) feed.dispose();
          }
        },
        onState: (state) => state === "closed" && resolve(found),
      });
    });
  }

  /** Drawn together once per painted frame, however many arrive. */
  #add(event: EventFrame): void {
    this.#waiting.push(event);
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      const all = [...this.events, ...this.#waiting];
      this.#waiting = [];
      const dropped = all.splice(0, Math.max(0, all.length - KEPT)).at(-1);
      if (dropped) {
        this.#from = dropped.seq;
        this.older = true;
      }
      this.events = all;
    });
  }
}

/** Deltas of an answer are left out: the complete message follows them. */
function isShown(frame: FeedFrame): frame is EventFrame {
  return "seq" in frame && frame.type !== "assistant.message_delta";
}
