// One question to one model, outside of any chat.
import {
  GangwayError,
  streamChat,
  type ChatUsage,
  type Http,
} from "@gangway/client";

/** How an answer came, for people who compare models. */
export interface Pace {
  /** From sending to the first word. */
  firstMs: number | null;
  /** From the first word to the last. */
  writingMs: number;
}

// Anything shorter is one burst from a buffer, which has no meaningful speed.
const MEASURABLE_MS = 50;

export class TrialState {
  readonly #http: Http;
  #stop: AbortController | null = null;
  running = $state(false);
  text = $state("");
  notices: string[] = $state.raw([]);
  usage: ChatUsage | null = $state.raw(null);
  pace: Pace | null = $state.raw(null);
  /** How it ended: `stop`, `length`, … or `stopped` by the person. */
  ended: string | null = $state(null);
  error: GangwayError | null = $state.raw(null);

  constructor(http: Http) {
    this.#http = http;
  }

  /** Tokens per second, if known. */
  get speed(): number | null {
    const { usage, pace } = this;
    if (!usage || !pace || pace.writingMs < MEASURABLE_MS) return null;
    // The first token came before the clock of writing began.
    const rest = usage.output - 1;
    return rest > 0 ? (rest * 1000) / pace.writingMs : null;
  }

  async ask(prompt: string, model: string | undefined): Promise<void> {
    if (this.running) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#clear();
    this.running = true;
    const start = performance.now();
    let first: number | null = null;
    try {
      const parts = streamChat(this.#http, {
        model,
        messages: [{ role: "user", content: prompt }],
        signal: stop.signal,
      });
      for await (const part of parts) {
        if (part.type === "text") {
          first ??= performance.now();
          this.text += part.text;
        } else if (part.type === "notice") {
          this.notices = [...this.notices, part.text];
        } else if (part.type === "usage") this.usage = part.usage;
        else this.ended = part.reason;
      }
    } catch (error) {
      if (stop.signal.aborted) this.ended = "stopped";
      else if (error instanceof GangwayError) this.error = error;
      else throw error;
    } finally {
      this.pace = {
        firstMs: first === null ? null : first - start,
        writingMs: first === null ? 0 : performance.now() - first,
      };
      this.running = false;
    }
  }

  stop(): void {
    this.#stop?.abort();
  }

  #clear(): void {
    this.text = "";
    this.notices = [];
    this.usage = this.pace = this.ended = this.error = null;
  }
}
