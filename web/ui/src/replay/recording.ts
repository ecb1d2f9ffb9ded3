// A recording in memory: its events in order, who acted when, and which of them belong together.
import {
  ACTORS,
  classOf,
  KINDS,
  isBad,
  pairOf,
  words,
  type Actor,
  type Kind,
} from "./actors.js";
import { AppLogs } from "./app-logs.js";
import type { Recorded } from "./read.js";
import { above, StateFold } from "./state.js";

const PIECE: string = "assistant.message_delta";
const WHOLE: string = "assistant.message";

export class Recording {
  readonly events: Recorded[] = [];
  readonly actors: Actor[] = [];
  readonly kinds: Kind[] = [];
  readonly bad: boolean[] = [];
  /** Milliseconds since the first event; a clock that was set back stands still. */
  readonly times: number[] = [];
  /** The indexes of events that one can step to: a message and its pieces are one step. */
  readonly steps: number[] = [];
  /** The indexes of the messages that began turns. */
  readonly turns: number[] = [];
  /** Turns that the chat does not show. */
  readonly hidden = new Set<string>();
  readonly state = new StateFold(this.events);
  readonly apps = new AppLogs();
  readonly #partners = new Map<number, number>();
  readonly #open = new Map<string, number>();
  readonly #messages = new Map<string, number>();
  #start = 0;

  add(event: Recorded): void {
    const index = this.events.push(event) - 1;
    const [actor, kind] = classOf(event);
    this.actors.push(actor);
    this.kinds.push(kind);
    this.bad.push(isBad(event));
    const at = Date.parse(event.at);
    if (index === 0) this.#start = at;
    this.times.push(Math.max(this.times.at(-1) ?? 0, at - this.#start));
    if (event.type === "user.message") {
      this.turns.push(index);
      if (event["showInChat"] === false)
        this.hidden.add(words(event["streamId"]));
    }
    if (event.type === WHOLE) {
      this.#messages.set(words(event["messageId"]), index);
    }
    this.#step(index);
    this.#pair(index);
    this.state.add(index);
    this.apps.add(event, index);
  }

  /** Those who acted, and the kinds of events there are. */
  present(): { actors: Actor[]; kinds: Kind[] } {
    const [actors, kinds] = [new Set(this.actors), new Set(this.kinds)];
    return {
      actors: (Object.keys(ACTORS) as Actor[]).filter((one) => actors.has(one)),
      kinds: (Object.keys(KINDS) as Kind[]).filter((one) => kinds.has(one)),
    };
  }

  /** The step that shows the event with this number, or the next one after it. */
  stepOf(seq: number): number {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.events[middle]?.seq ?? Infinity) < seq) low = middle + 1;
      else high = middle;
    }
    const event = this.events[low];
    // Pieces of a message are told by the message.
    const whole =
      event?.type === PIECE
        ? this.#messages.get(words(event["messageId"]))
        : undefined;
    const step = above(this.steps, (whole ?? low) - 1);
    return this.steps[Math.min(step, this.steps.length - 1)] ?? 0;
  }

  /** The event that this one answers, or that answers it. */
  partner(index: number): number | null {
    return this.#partners.get(index) ?? null;
  }

  /** How long it took from the event that this one answers; null for any other. */
  duration(index: number): number | null {
    const begun = this.#partners.get(index);
    if (begun === undefined || begun > index) return null;
    return (this.times[index] ?? 0) - (this.times[begun] ?? 0);
  }

  #step(index: number): void {
    const [event, before] = [this.events[index], this.events[index - 1]];
    const grows =
      before?.type === PIECE &&
      (event?.type === PIECE || event?.type === WHOLE) &&
      event["messageId"] === before["messageId"];
    if (grows) this.steps[this.steps.length - 1] = index;
    else this.steps.push(index);
  }

  #pair(index: number): void {
    const event = this.events[index];
    const pair = event && pairOf(event);
    if (!pair) return;
    const begun = this.#open.get(pair.key);
    if (begun === undefined || pair.begins === true) {
      if (pair.begins !== false) this.#open.set(pair.key, index);
    } else {
      this.#open.delete(pair.key);
      this.#partners.set(begun, index);
      this.#partners.set(index, begun);
    }
  }
}
