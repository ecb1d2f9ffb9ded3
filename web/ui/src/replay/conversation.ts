// The conversation as it was after an event: folded from a turn's beginning not far before it, not from the first event.
import { fold, type Conversation, type FeedFrame } from "@gangway/client";
import { words } from "./actors.js";
import type { Recorded } from "./read.js";
import type { Recording } from "./recording.js";
import { above } from "./state.js";

// Steps within such a window go on from one another; the window before it is always there too.
const WINDOW = 300;
// A turn that began this much earlier is shown from the middle.
const LONGEST_TURN = 1_500;
export const MOST_EARLIER = 8;

const NOTHING: Conversation = {
  session: {
    ...{ sessionId: "", title: null, cwd: "", model: null, agent: "" },
    ...{ state: "idle", createdAt: "", updatedAt: "" },
  },
  ...{ seq: 0, entries: [], older: false },
  ...{ running: null, queued: [], context: null },
};

export class ConversationFold {
  readonly #recording: Recording;
  #start = -1;
  #at = -1;
  #conversation = NOTHING;

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  /** The conversation after the event with this index, and so many windows more of what came before. */
  after(index: number, earlier = 0): Conversation {
    const start = this.#startOf(index, earlier);
    if (start !== this.#start || index < this.#at) {
      this.#start = start;
      this.#at = start - 1;
      this.#conversation = { ...NOTHING, older: start > 0 };
    }
    const { events } = this.#recording;
    for (; this.#at < index; this.#at += 1) {
      const event = events[this.#at + 1];
      if (event) this.#conversation = this.#fold(event);
    }
    return this.#conversation;
  }

  #startOf(index: number, earlier: number): number {
    const { turns } = this.#recording;
    const wanted = (Math.floor(index / WINDOW) - 1 - earlier) * WINDOW;
    if (wanted <= 0) return 0;
    const turn = turns[above(turns, wanted) - 1] ?? 0;
    return wanted - turn > LONGEST_TURN ? wanted : turn;
  }

  #fold(event: Recorded): Conversation {
    if (this.#recording.hidden.has(words(event["streamId"]))) {
      return this.#conversation;
    }
    try {
      const folded = fold(this.#conversation, event as unknown as FeedFrame);
      return folded ?? this.#conversation;
    } catch {
      // An event that is not as its kind has it says nothing here; the timeline shows it.
      return this.#conversation;
    }
  }
}
