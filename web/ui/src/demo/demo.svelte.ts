// The demo that the server runs: what happened, and what the person is to do.
import { GangwayError, type Demo, type DemoInfo } from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";

const RETRY_MS = 2_000;

export class DemoState {
  readonly #demo: Demo;
  readonly #stop = new AbortController();
  #following = false;
  info: DemoInfo | null = $state.raw(null);
  starting = $state(false);
  error: GangwayError | null = $state.raw(null);
  /** The session whose demo the person has put away. */
  dismissed: string | null = $state(null);

  constructor(demo: Demo) {
    this.#demo = demo;
  }

  dispose(): void {
    this.#stop.abort();
  }

  /** The demo of a chat, unless it was put away. */
  in(session: string | null): DemoInfo | null {
    const { info } = this;
    if (session === null || session === this.dismissed) return null;
    return info?.sessionId === session ? info : null;
  }

  /** Looks whether one runs. */
  async look(): Promise<void> {
    const { signal } = this.#stop;
    try {
      this.info = await this.#demo.get(undefined, signal);
    } catch (error) {
      // Not everyone who may chat may start a demo.
      if (signal.aborted || error instanceof GangwayError) return;
      throw error;
    }
    void this.#follow();
  }

  async start(): Promise<DemoInfo | null> {
    this.starting = true;
    this.error = await failureOf(async () => {
      this.info = await this.#demo.start();
    });
    this.starting = false;
    void this.#follow();
    return this.error ? null : this.info;
  }

  async end(): Promise<void> {
    this.error = await failureOf(() => this.#demo.stop());
  }

  async #follow(): Promise<void> {
    if (this.#following) return;
    this.#following = true;
    const { signal } = this.#stop;
    while (this.info?.state === "running") {
      try {
        this.info = await this.#demo.get(this.info.version, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof GangwayError)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    this.#following = false;
  }
}
