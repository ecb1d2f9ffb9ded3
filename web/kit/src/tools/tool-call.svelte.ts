// One call of one tool, outside of any chat.
import { GangwayError, type JsonValue, type Tools } from "@gangway/client";

export class ToolCallState {
  readonly #tools: Tools;
  #stop: AbortController | null = null;
  running = $state(false);
  result: JsonValue | undefined = $state.raw();
  error: GangwayError | null = $state.raw(null);
  stopped = $state(false);
  tookMs: number | null = $state(null);

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  async run(tool: string, args: JsonValue): Promise<void> {
    if (this.running) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.result = undefined;
    this.error = this.tookMs = null;
    this.stopped = false;
    this.running = true;
    const start = performance.now();
    try {
      this.result = (await this.#tools.call(tool, args, stop.signal)).result;
      this.tookMs = performance.now() - start;
    } catch (error) {
      if (stop.signal.aborted) this.stopped = true;
      else if (error instanceof GangwayError) this.error = error;
      else throw error;
    } finally {
      this.running = false;
    }
  }

  stop(): void {
    this.#stop?.abort();
  }
}
