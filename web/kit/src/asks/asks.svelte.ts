// The requests that wait for the person, from anyone who may ask.
import type { AnswerAsk, AskInfo, Asks, GangwayError } from "@gangway/client";
import { failureOf } from "../parts/failure.js";
import { opensItself, sessionOf } from "./words.js";

// More than can be on their way at once.
const MAX_ANSWERED = 100;

export interface AsksOptions {
  /** The chat that is open and shows the requests of its session itself. */
  chat?: () => string | null;
  /** The only request of this window. */
  only?: string;
}

export class AsksState {
  readonly #asks: Asks;
  readonly #options: AsksOptions;
  #answered: string[] = [];
  /** Those of the last list; null before the first. */
  #known: string[] | null = null;
  #sending: AskInfo | null = $state.raw(null);
  #problem: { id: string; error: GangwayError } | null = $state.raw(null);
  #reviewing: string | null = $state(null);
  /** What the person has closed, and looks at later. */
  #aside: string[] = $state.raw([]);
  all: AskInfo[] = $state.raw([]);
  /** True once it is known what is open. */
  loaded = $state(false);
  /** The request that was answered here last. */
  answered: string | null = $state(null);
  /** Counts the changes of what pages may do. */
  changes = $state(0);

  constructor(asks: Asks, options: AsksOptions = {}) {
    this.#asks = asks;
    this.#options = options;
  }

  /** What the open chat does not show, oldest first. */
  readonly elsewhere: AskInfo[] = $derived.by(() => {
    const chat = this.#options.chat?.() ?? null;
    return this.all.filter((ask) => {
      const session = sessionOf(ask);
      return session === null || session !== chat;
    });
  });

  /** The one in the dialog; another one in its place could get the answer that was meant for it. */
  readonly shown: AskInfo | null = $derived(
    this.elsewhere.find(({ id }) => id === this.#reviewing) ??
      this.elsewhere.find(
        (ask) => opensItself(ask) && !this.#aside.includes(ask.id),
      ) ??
      null,
  );

  get sending(): boolean {
    return this.#sending !== null;
  }

  /** Those that a chat shows itself, oldest first. */
  inChat(session: string | null): AskInfo[] {
    if (session === null) return [];
    return this.all.filter((ask) => sessionOf(ask) === session);
  }

  /** Why the last answer to a request was not taken. */
  problemOf({ id }: AskInfo): string | null {
    return this.#problem?.id === id ? this.#problem.error.message : null;
  }

  review({ id }: AskInfo): void {
    this.#reviewing = id;
  }

  /** Closes the dialog, and leaves the requests open. */
  close(): void {
    this.#reviewing = null;
    this.#aside = this.elsewhere.map(({ id }) => id);
  }

  /** Listens until the returned function is called; `onask` gets each new request. */
  follow(onask?: (ask: AskInfo) => void): () => void {
    return this.#asks.watch({
      ask: this.#options.only,
      onFrame: (frame) => {
        if (frame.type === "changed") this.changes += 1;
        else this.#put(frame.asks, onask);
      },
      onState: (state, error) => {
        // There is nothing to see, or not for this person.
        if (state === "closed" && error) this.#put([]);
      },
    });
  }

  /** Sends an answer, or dismisses the request with null; false where it was not taken and can be given again. */
  async answer(ask: AskInfo, answer: AnswerAsk | null): Promise<boolean> {
    if (this.sending) return false;
    const { id } = ask;
    this.#sending = ask;
    this.#problem = null;
    const error = await failureOf(() =>
      answer ? this.#asks.answer(id, answer) : this.#asks.dismiss(id),
    );
    this.#sending = null;
    // It was answered elsewhere.
    const gone = error?.code === "ask_not_found";
    if (error && !gone) {
      this.#problem = { id, error };
      return false;
    }
    if (!gone) this.answered = id;
    // The next list may have been sent before the answer arrived.
    this.#answered = [id, ...this.#answered].slice(0, MAX_ANSWERED);
    this.#put(this.all);
    return true;
  }

  #put(asks: AskInfo[], onask?: (ask: AskInfo) => void): void {
    const { only } = this.#options;
    const open = asks.filter(
      ({ id }) => !this.#answered.includes(id) && (!only || id === only),
    );
    const sending = this.#sending;
    // A request is not listed while its answer is checked; what was filled in must not be lost.
    if (sending && !open.some(({ id }) => id === sending.id)) {
      open.unshift(sending);
    }
    const known = this.#known;
    this.#known = open.map(({ id }) => id);
    this.all = open;
    this.loaded = true;
    if (known) {
      for (const ask of open) if (!known.includes(ask.id)) onask?.(ask);
    }
  }
}
