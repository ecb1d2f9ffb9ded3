// What the replay of a recording knows: its events as they come, what is shown of them, and where one is.
import { GangwayError, type LiveState } from "@gangway/client";
import type { Actor, Kind } from "./actors.js";
import { ConversationFold } from "./conversation.js";
import { Player, type Track } from "./player.svelte.js";
import { RecordingError, RecordingReader, type Recorded } from "./read.js";
import { Recording } from "./recording.js";
import { SearchState } from "./search.svelte.js";
import { above, type State } from "./state.js";

/** Where a recording comes from. */
export interface Source {
  title: string;
  /** The session, where it is one. */
  session: string | null;
  pieces: AsyncIterable<string>;
}

export interface Failure {
  title: string;
  message: string;
}

/** What is shown of the steps; without a choice, all of them. */
export interface Choice {
  actors: readonly Actor[];
  kinds: readonly Kind[];
  onlyBad: boolean;
}

export const EVERYTHING: Choice = { actors: [], kinds: [], onlyBad: false };

export class ReplayState implements Track {
  readonly recording = new Recording();
  readonly player = new Player(this);
  readonly search = new SearchState(this.recording);
  readonly #conversation = new ConversationFold(this.recording);
  /** The number of the event to go to once it is there. */
  #wanted: number | null;
  title = $state("");
  session: string | null = $state(null);
  loading = $state(true);
  failure: Failure | null = $state.raw(null);
  /** How many events have come: whatever is read from the recording depends on it. */
  loaded = $state(0);
  /** The index of the event that is shown. */
  at = $state(0);
  /** The connection over which later events come, where there is one. */
  live: LiveState | null = $state(null);
  /** The last event that was there when the person was at the end. */
  #seen: number | null = $state(null);
  choice: Choice = $state.raw(EVERYTHING);

  /** The indexes of the steps that are shown. */
  readonly visible: readonly number[] = $derived.by(() => {
    // Grows in place; a copy is what tells that it did.
    if (this.loaded === 0) return [];
    const { kinds, actors, bad, steps } = this.recording;
    const { choice } = this;
    const from = this.search.hits ?? steps;
    return from.filter((index) => {
      const [kind, actor] = [kinds[index], actors[index]];
      return (
        (!choice.onlyBad || bad[index] === true) &&
        (choice.kinds.length === 0 || (kind && choice.kinds.includes(kind))) &&
        (choice.actors.length === 0 || (actor && choice.actors.includes(actor)))
      );
    });
  });

  readonly position = $derived(Math.max(0, above(this.visible, this.at) - 1));

  /** Those who acted, and the kinds of events there are. */
  readonly present = $derived(
    this.loaded > 0 ? this.recording.present() : { actors: [], kinds: [] },
  );

  /** Steps that came since the person was at the end. */
  readonly fresh = $derived(
    this.#seen === null
      ? 0
      : this.visible.length - above(this.visible, this.#seen),
  );

  constructor(wanted: number | null = null) {
    this.#wanted = wanted;
  }

  get count(): number {
    return this.visible.length;
  }

  goTo(position: number): void {
    this.#wanted = null;
    this.at = this.visible[position] ?? this.at;
    if (this.player.atEnd) this.#seen = null;
  }

  timeOf(position: number): number {
    return this.recording.times[this.visible[position] ?? 0] ?? 0;
  }

  /** Goes to the step of an event; what hid it is shown. */
  show(index: number): void {
    const step = this.recording.steps[above(this.recording.steps, index - 1)];
    if (step === undefined) return;
    if (this.visible[above(this.visible, step) - 1] !== step) {
      this.choice = EVERYTHING;
      void this.search.find("");
    }
    this.#wanted = null;
    this.player.playing = false;
    this.at = step;
    if (this.player.atEnd) this.#seen = null;
  }

  /** Goes to the event with this number, now or when it has come. */
  showNumber(seq: number): void {
    if (this.loading) this.#wanted = seq;
    if (this.loaded > 0) this.at = this.recording.stepOf(seq);
  }

  /** The state of applets and apps after the step, and before it. */
  stateNow(): { now: State; before: State } {
    const { state } = this.recording;
    const [now, before] = [state.after(this.at), state.after(this.at - 1)];
    return { now, before };
  }

  conversation(earlier: number) {
    return this.#conversation.after(this.loaded > 0 ? this.at : -1, earlier);
  }

  /** Reads a recording; what came before an error stays. */
  async load(open: () => Promise<Source>, signal: AbortSignal): Promise<void> {
    const reader = new RecordingReader();
    try {
      const source = await open();
      this.title = source.title;
      this.session = source.session;
      for await (const batch of reader.read(source.pieces)) {
        if (signal.aborted) return;
        if (reader.header) {
          this.title = reader.header.title.slice(0, 300);
          this.session = reader.header.session;
        }
        for (const event of batch) this.recording.add(event);
        this.loaded = this.recording.events.length;
        this.#arrive();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.failure = failureOf(error, this.loaded > 0);
    }
    this.loading = false;
    this.#wanted = null;
    void this.search.again();
  }

  /** Takes events that came after the recording was read. At the end, it stays at the end. */
  append(events: readonly Recorded[]): void {
    const { recording } = this;
    const last = recording.events.at(-1)?.seq ?? 0;
    const added = events.filter(({ seq }) => seq > last);
    if (added.length === 0) return;
    const { atEnd } = this.player;
    this.#seen = atEnd ? null : (this.#seen ?? recording.events.length - 1);
    for (const event of added) {
      recording.add(event);
      const { type, title } = event;
      if (type === "session.changed" && typeof title === "string") {
        this.title = title;
      }
    }
    this.loaded = recording.events.length;
    void this.#toEnd(atEnd);
  }

  async #toEnd(goes: boolean): Promise<void> {
    const { at } = this;
    const found = this.search.more();
    if (goes) this.at = this.visible.at(-1) ?? at;
    const now = this.at;
    await found;
    if (goes && this.at === now) this.at = this.visible.at(-1) ?? now;
  }

  #arrive(): void {
    if (this.#wanted === null || this.loaded === 0) return;
    this.at = this.recording.stepOf(this.#wanted);
    const last = this.recording.events.at(-1);
    if (last && last.seq >= this.#wanted) this.#wanted = null;
  }
}

function failureOf(error: unknown, partly: boolean): Failure {
  if (!(error instanceof RecordingError || error instanceof GangwayError)) {
    throw error;
  }
  return {
    title: partly
      ? "Only the first part could be read"
      : "Could not open this recording",
    message: error.message,
  };
}
