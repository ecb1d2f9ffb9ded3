// The window of one question.
import type {
  AnswerAsk,
  GangwayError,
  PermissionAsk,
  Permissions,
} from "@gangway/client";
import { failureOf } from "../parts/failure.js";

export type PermitView = "loading" | "asking" | "done" | "gone";

export class PermitState {
  readonly #id: string;
  readonly #permissions: Permissions;
  #unwatch: (() => void) | null = null;
  view: PermitView = $state("loading");
  ask: PermissionAsk | null = $state.raw(null);
  sending = $state(false);
  problem: GangwayError | null = $state.raw(null);

  constructor(id: string, permissions: Permissions) {
    this.#id = id;
    this.#permissions = permissions;
  }

  /** Shows the question until the returned function is called. */
  follow(): () => void {
    void this.load();
    return () => this.#unwatch?.();
  }

  async load(): Promise<void> {
    if (this.view === "done") return;
    const error = await failureOf(async () => {
      this.ask = await this.#permissions.ask(this.#id);
    });
    // It may have been answered here in the meantime.
    if (this.#isDone()) return;
    this.problem = null;
    if (!error) {
      this.view = "asking";
      this.#watch();
    } else if (error.status === 404 || error.status === 400) this.#end();
    else this.problem = error;
  }

  /** A question that no longer exists takes its window along. */
  #end(): void {
    this.view = "gone";
    this.#unwatch?.();
    window.close();
  }

  async decide(answer: AnswerAsk): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    const error = await failureOf(() =>
      this.#permissions.answer(this.#id, answer),
    );
    this.sending = false;
    if (error?.code === "ask_not_found") this.#end();
    else if (error) this.problem = error;
    else {
      this.view = "done";
      this.#unwatch?.();
      window.close();
    }
  }

  #isDone(): boolean {
    return this.view === "done";
  }

  /** While this window listens, the question stays open; it may be answered elsewhere. */
  #watch(): void {
    this.#unwatch ??= this.#permissions.watch({
      ask: this.#id,
      onFrame: ({ type }) => {
        if (type === "asks") void this.load();
      },
    });
  }
}
