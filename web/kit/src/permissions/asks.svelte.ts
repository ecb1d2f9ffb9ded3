// What pages of other origins ask the person.
import {
  GangwayError,
  type AnswerAsk,
  type PermissionAsk,
  type Permissions,
} from "@gangway/client";
import { failureOf } from "../parts/failure.js";

// More than can be on their way at once.
const MAX_ANSWERED = 100;

export class AsksState {
  readonly #permissions: Permissions;
  #answered: string[] = [];
  all: PermissionAsk[] = $state.raw([]);
  /** True while the person looks at a question. */
  open = $state(false);
  sending = $state(false);
  /** Why the last answer did not arrive. */
  problem: GangwayError | null = $state.raw(null);
  /** Counts the changes of what pages may do. */
  changes = $state(0);

  constructor(permissions: Permissions) {
    this.#permissions = permissions;
  }

  /** The one that is shown: the oldest, so that none is lost behind another. */
  get current(): PermissionAsk | null {
    return this.all[0] ?? null;
  }

  /** Listens until the returned function is called. */
  follow(): () => void {
    return this.#permissions.watch({
      onFrame: (frame) => {
        if (frame.type === "changed") this.changes += 1;
        else this.#put(frame.asks);
      },
    });
  }

  async answer({ id }: PermissionAsk, answer: AnswerAsk): Promise<boolean> {
    if (this.sending) return false;
    this.sending = true;
    const error = await failureOf(() => this.#permissions.answer(id, answer));
    this.sending = false;
    // Somebody else was faster.
    const gone = error?.code === "ask_not_found";
    if (error && !gone) {
      this.problem = error;
      return false;
    }
    // The next list may have been sent before the answer arrived.
    this.#answered = [id, ...this.#answered].slice(0, MAX_ANSWERED);
    this.#put(this.all);
    return true;
  }

  #put(asks: PermissionAsk[]): void {
    const before = this.current?.id;
    this.all = asks.filter(({ id }) => !this.#answered.includes(id));
    if (this.current?.id === before) return;
    this.problem = null;
    // Another question in the place of this one could get the answer that was meant for it.
    this.open = false;
  }
}
