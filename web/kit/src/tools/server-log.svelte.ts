// The log of one server as it grows.
import { GangwayError, type LogLine, type Tools } from "@gangway/client";
import { failureOf } from "../parts/failure.js";
import { whileVisible } from "../parts/poll.js";

const POLL_MS = 1_000;
// As many as anyone reads in a page; the server keeps no more either.
export const MAX_LINES = 1_000;

export class ServerLogState {
  readonly #tools: Tools;
  readonly #id: string;
  lines: LogLine[] = $state.raw([]);
  loaded = $state(false);
  error: GangwayError | null = $state.raw(null);

  constructor(tools: Tools, id: string) {
    this.#tools = tools;
    this.#id = id;
  }

  get text(): string {
    return this.lines
      .map(({ at, source, text }) => `${at} ${source} ${text}`)
      .join("\n");
  }

  async load(signal?: AbortSignal): Promise<void> {
    // What was gone for a while may count from 1 again.
    if (this.error) this.lines = [];
    this.error = await failureOf(async () => {
      const after = this.lines.at(-1)?.number ?? 0;
      const { lines } = await this.#tools.logs(this.#id, after, signal);
      if (lines.length > 0) {
        this.lines = [...this.lines, ...lines].slice(-MAX_LINES);
      }
      this.loaded = true;
    });
  }

  /** Reads on until the returned function is called. */
  follow(): () => void {
    return whileVisible(POLL_MS, (signal) => this.load(signal));
  }
}
