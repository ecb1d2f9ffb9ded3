// What the pages about studies know.
import type {
  GangwayError,
  Study,
  StudyEntry,
  StudyEvent,
  StudySummary,
} from "@gangway/client";
import { Player, type Track } from "../replay/player.svelte.js";
import { save } from "./save.js";
import { stepsOf, type Step } from "./steps.js";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { whileVisible } from "@gangway/kit/parts/poll.js";

const POLL_MS = 3_000;
const PAGE = 500;
// Enough for hours; the CSV has all of it.
const MOST_EVENTS = 20_000;

export class StudyState implements Track {
  readonly #study: Study;
  readonly player = new Player(this);
  readonly id: string | null;
  sessions: StudyEntry[] = $state.raw([]);
  #events: StudyEvent[] = $state.raw([]);
  readonly steps: Step[] = $derived(stepsOf(this.#events));
  summary: StudySummary | null = $state.raw(null);
  loaded = $state(false);
  /** True when there are more events than are shown. */
  cut = $state(false);
  error: GangwayError | null = $state.raw(null);
  /** The step that is shown. */
  at = $state(0);

  constructor(id: string | null, study: Study) {
    this.id = id;
    this.#study = study;
  }

  get entry(): StudyEntry | undefined {
    return this.sessions.find(({ sessionId }) => sessionId === this.id);
  }

  get step(): Step | undefined {
    return this.steps[this.at];
  }

  get count(): number {
    return this.steps.length;
  }

  get position(): number {
    return this.at;
  }

  timeOf(position: number): number {
    return this.steps[position]?.at ?? 0;
  }

  follow(): () => void {
    return whileVisible(POLL_MS, (signal) => this.load(signal));
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      const ended = this.entry?.endedAt;
      // What has ended does not change any more.
      if (this.loaded && this.id !== null && ended) return;
      const { sessions } = await this.#study.list(signal);
      this.sessions = sessions;
      if (this.id !== null) await this.#loadEvents(this.id, signal);
      this.loaded = true;
    });
  }

  /** Saves the session as a table for a statistics program. */
  async download(): Promise<void> {
    const { id } = this;
    if (id === null) return;
    this.error = await failureOf(async () =>
      save(await this.#study.csv(id), `${id}.csv`),
    );
  }

  goTo(at: number): void {
    this.at = Math.max(0, Math.min(this.steps.length - 1, at));
  }

  async #loadEvents(id: string, signal?: AbortSignal): Promise<void> {
    for (;;) {
      const after = this.#events.at(-1)?.eventIndex;
      const got = await this.#study.events(id, after, PAGE, signal);
      if (got.events.length > 0) {
        this.#events = [...this.#events, ...got.events];
      }
      this.cut = got.more && this.#events.length >= MOST_EVENTS;
      if (!got.more || got.events.length === 0 || this.cut) break;
    }
    this.summary = await this.#study.summary(id, signal);
  }
}
