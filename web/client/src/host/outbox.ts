// What could not be sent yet, and what was answered, so that a lost socket neither loses nor repeats anything.
import { KEPT_ANSWERS, WAITING_MESSAGES } from "./wire.js";

export class Outbox {
  #waiting: string[] = [];
  readonly #answers = new Map<string, string>();

  /** Keeps a message until there is a socket again; the oldest go first when there are too many. */
  put(text: string): void {
    this.#waiting.push(text);
    if (this.#waiting.length > WAITING_MESSAGES) this.#waiting.shift();
  }

  take(): string[] {
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  forgetAnswers(): void {
    this.#answers.clear();
  }

  /** Notes that a request is being worked on. */
  begin(id: string): void {
    this.#answers.set(id, "");
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= KEPT_ANSWERS * 2) break;
      this.#answers.delete(oldest);
    }
  }

  answer(id: string, text: string): void {
    if (this.#answers.has(id)) this.#answers.set(id, text);
  }

  /** What was answered to this request: nothing while it is being worked on, null when it is new. */
  answered(id: string): string | null {
    return this.#answers.get(id) ?? null;
  }
}
