// The list of sessions, newest first, loaded page by page.
import { GangwayError, type Session, type Sessions } from "@gangway/client";
import { writeDraft } from "../chat/drafts.js";

const PAGE = 50;

export class SessionListState {
  readonly #sessions: Sessions;
  all: Session[] = $state.raw([]);
  next: string | null = $state(null);
  loading = $state(false);
  error: GangwayError | null = $state.raw(null);

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Loads the newest page again; pages below it stay. */
  async refresh(): Promise<void> {
    const first = this.all.length === 0;
    await this.#load(undefined, (page, next) => {
      // A single complete page also shows what was deleted.
      if (next === null) this.all = [];
      this.#merge(page);
      if (first || next === null) this.next = next;
    });
  }

  async older(): Promise<void> {
    if (!this.next || this.loading) return;
    await this.#load(this.next, (page, next) => {
      this.#merge(page);
      this.next = next;
    });
  }

  /** Shows a session as it is now. */
  put(session: Session): void {
    this.#merge([session]);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    this.put(await this.#sessions.update(sessionId, { title }));
  }

  async delete(sessionId: string): Promise<void> {
    await this.#sessions.delete(sessionId);
    this.forget(sessionId);
  }

  /** Takes a session that is gone off the list. */
  forget(sessionId: string): void {
    writeDraft(sessionId, "");
    this.all = this.all.filter((other) => other.sessionId !== sessionId);
  }

  async #load(
    before: string | undefined,
    done: (page: Session[], next: string | null) => void,
  ): Promise<void> {
    this.loading = true;
    try {
      const page = await this.#sessions.list({ limit: PAGE, before });
      this.error = null;
      done(page.sessions, page.next);
    } catch (error) {
      if (!(error instanceof GangwayError)) throw error;
      this.error = error;
    } finally {
      this.loading = false;
    }
  }

  #merge(page: Session[]): void {
    const rest = this.all.filter((old) =>
      page.every((fresh) => fresh.sessionId !== old.sessionId),
    );
    this.all = [...page, ...rest].sort((a, b) =>
      a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0,
    );
  }
}
