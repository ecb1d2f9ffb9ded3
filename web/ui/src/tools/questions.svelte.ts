// What MCP servers ask a person in the middle of a call.
import {
  GangwayError,
  type AnswerQuestion,
  type OpenQuestion,
  type Tools,
} from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { whileVisible } from "@gangway/kit/parts/poll.js";

const POLL_MS = 2_000;
// More than can be on their way at once.
const MAX_ANSWERED = 100;

export class QuestionsState {
  readonly #tools: Tools;
  #answered: string[] = [];
  all: OpenQuestion[] = $state.raw([]);
  /** True when the person wants to see it later. */
  aside = $state(false);
  sending = $state(false);
  /** Why the last answer did not arrive. */
  problem: GangwayError | null = $state.raw(null);

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** The one that is shown: the oldest, so that none is lost behind another. */
  get current(): OpenQuestion | null {
    return this.all[0] ?? null;
  }

  async load(signal?: AbortSignal): Promise<void> {
    // A server that cannot be reached asks nothing; the page says elsewhere that it is gone.
    await failureOf(async () => {
      const { questions } = await this.#tools.questions(signal);
      const before = this.all.map(({ id }) => id);
      const open = questions.filter(({ id }) => !this.#answered.includes(id));
      const fresh = open.some(({ id }) => !before.includes(id));
      const same =
        !fresh &&
        open.length === before.length &&
        open.every(({ id }, at) => id === before[at]);
      // What is being filled in stays as it is.
      if (same) return;
      if (fresh) this.aside = false;
      if (open[0]?.id !== before[0]) this.problem = null;
      this.all = open;
    });
  }

  async answer({ id }: OpenQuestion, answer: AnswerQuestion): Promise<boolean> {
    if (this.sending) return false;
    this.sending = true;
    const error = await failureOf(() => this.#tools.answerQuestion(id, answer));
    this.sending = false;
    const gone = error?.code === "question_not_found";
    if (error && !gone) {
      this.problem = error;
      return false;
    }
    // The next list may have been asked for before the answer arrived.
    this.#answered = [id, ...this.#answered].slice(0, MAX_ANSWERED);
    this.problem = null;
    this.all = this.all.filter((other) => other.id !== id);
    return true;
  }

  /** Looks for questions until the returned function is called. */
  follow(): () => void {
    return whileVisible(POLL_MS, (signal) => this.load(signal));
  }
}
