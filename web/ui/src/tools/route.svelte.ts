// Which servers a sentence would be for.
import { GangwayError, type RouteAnswer, type Tools } from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";

export class RouteState {
  readonly #tools: Tools;
  /** What was asked last, and what came of it. */
  asked = $state("");
  answer: RouteAnswer | null = $state.raw(null);
  error: GangwayError | null = $state.raw(null);

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  async ask(sentence: string): Promise<void> {
    this.asked = sentence;
    this.answer = null;
    this.error = await failureOf(async () => {
      const answer = await this.#tools.route(sentence);
      // Only the last question counts.
      if (this.asked === sentence) this.answer = answer;
    });
  }
}
