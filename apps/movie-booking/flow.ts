// Carries out what a person or an agent wants, one thing after the other, together with the cinema.
import { Backend, BackendError, type Setup } from "./backend.ts";
import {
  begin,
  counted,
  entered,
  refreshed,
  selected,
  stageAfter,
  stageBefore,
  summary,
  withoutSeats,
  type Booking,
} from "./booking.ts";
import { describe, type Command } from "./commands.ts";
import { History, type Entry } from "./history.ts";
import { augmented, cleared, filtered, highlighted, sorted } from "./modify.ts";
import { Refused } from "./refused.ts";
import { specOf } from "./shown.ts";
import { LOOKS, type Stage, type UiSpec } from "./spec.ts";
import { seatWords } from "./words.ts";

export type By = "user" | "agent";

/** The state that survives a reload. */
export interface Kept {
  booking: Booking;
  study?: Study | null;
  entries: Entry[];
  total: number;
}

/** A study session, and the cinema that it has for itself. */
interface Study {
  sessionId: string;
  cinemaId: string;
}

export class Flow {
  readonly #backend: Backend;
  readonly #changed: (source: By | "stage") => void;
  #last: Promise<unknown> = Promise.resolve();
  #booking: Booking = begin();
  #ready = false;
  #study: Study | null = null;
  /** The log entry after the one for the command. */
  #news: Omit<Entry, "id" | "timestamp"> | null = null;
  readonly history = new History();

  constructor(backend: Backend, changed: (source: By | "stage") => void) {
    this.#backend = backend;
    this.#changed = changed;
  }

  get booking(): Booking {
    return this.#booking;
  }

  /** What is on the screen; nothing before the first stage is there. */
  get spec(): UiSpec | null {
    return this.#ready ? specOf(this.#booking) : null;
  }

  /** The study session whose cinema this is. */
  get study(): string | null {
    return this.#study?.sessionId ?? null;
  }

  get kept(): Kept {
    const { entries, total } = this.history;
    const [booking, study] = [this.#booking, this.#study];
    return { booking, study, entries: [...entries], total };
  }

  /** Shows the first stage, or the one that was shown before the page was reloaded. */
  start(kept?: Kept | null): Promise<void> {
    this.#in(kept?.study ?? null);
    return this.#line(async () => {
      const before = kept?.booking;
      if (kept && before) {
        try {
          this.history.restore(kept.entries, kept.total);
          await this.#enter(before.stage, before);
          this.#changed("stage");
          return;
        } catch (error) {
          if (isCode(error, "cinema_not_found")) this.#in(null);
          // What was chosen is not there any more.
          this.history.add(
            told(
              "Some of your choices are no longer available, so the booking starts over.",
            ),
          );
        }
      }
      await this.#enter("movie", begin());
      this.#changed("stage");
    });
  }

  /** Does it, or throws a `Refused` that says why not. */
  run(command: Command, by: By, reason?: string): Promise<void> {
    return this.#line(async () => {
      const before = this.#booking;
      try {
        if (!this.#ready) {
          throw new Refused(
            "NO_ACTIVE_SPEC",
            "The page is still loading. Wait a moment.",
          );
        }
        await this.#apply(command);
      } catch (error) {
        const refused = refusal(error);
        if (by === "agent") {
          this.#note(command, refused.message, by, reason, false);
          this.#changed(by);
        } else if (this.#booking !== before) this.#changed(by);
        throw refused;
      }
      this.#note(command, describe(command, before), by, reason, true);
      if (this.#news) this.history.add(this.#news);
      this.#news = null;
      this.#changed(by);
    });
  }

  /** Takes what an agent or the person says into the conversation. */
  say(type: Entry["type"], text: string, reason?: string): void {
    this.history.add({ type, text, ...(reason !== undefined && { reason }) });
    this.#changed(type === "system" ? "stage" : type);
  }

  /** Starts over and lets held seats go. */
  reset({ forget = false } = {}): Promise<void> {
    return this.#line(async () => {
      this.#letGo(this.#booking);
      if (forget) this.history.clear();
      await this.#enter("movie", begin());
      this.#changed("stage");
    });
  }

  /** Starts over in a cinema of the session's own; gives back what it takes to open the same one again. */
  startStudy(sessionId: string, setup?: unknown): Promise<Setup> {
    return this.#line(async () => {
      const opened = await this.#backend.openCinema(setup);
      const { cinemaId, seed, at } = opened;
      await this.#move({ sessionId, cinemaId });
      return { seed, at };
    });
  }

  /** Starts over in the cinema that everybody shares. */
  endStudy(): Promise<void> {
    return this.#line(() => this.#move(null));
  }

  async #move(study: Study | null): Promise<void> {
    this.#letGo(this.#booking);
    const before = this.#study;
    this.#in(study);
    this.history.clear();
    await this.#enter("movie", begin());
    this.#changed("stage");
    // It is closed some day if this does not arrive.
    if (before) {
      this.#backend.closeCinema(before.cinemaId).catch(() => undefined);
    }
  }

  #in(study: Study | null): void {
    this.#study = study;
    this.#backend.cinemaId = study?.cinemaId ?? null;
  }

  /** Looks at the seats again: others book too. */
  lookAgain(): Promise<void> {
    return this.#line(async () => {
      const before = this.#booking;
      if (before.stage !== "seat" || before.booked) return;
      const items = await this.#backend.items("seat", before);
      this.#booking = refreshed(before, items);
      const gone = before.seats.filter((s) => !this.#booking.seats.includes(s));
      if (gone.length > 0) this.history.add(told(takenWords(gone)));
      if (gone.length > 0 || !sameSeats(before, this.#booking)) {
        this.#changed("stage");
      }
    });
  }

  /** Goes back to the seats when their time is over. */
  tick(now: number): Promise<void> {
    const { hold, booked } = this.#booking;
    if (!hold || booked || now < hold.expiresAt) return Promise.resolve();
    return this.#line(async () => {
      if (this.#booking.hold !== hold || this.#booking.booked) return;
      await this.#expired();
      this.#changed("stage");
    });
  }

  async #apply(command: Command): Promise<void> {
    const booking = this.#booking;
    const { items, modification } = booking;
    const modify = (changed: Booking["modification"]) => {
      this.#booking = { ...booking, modification: changed };
    };
    switch (command.tool) {
      case "filter":
        return modify(filtered(items, modification, command.params));
      case "sort":
        return modify(sorted(items, modification, command.params));
      case "highlight": {
        const { itemIds, style } = command.params;
        return modify(highlighted(items, modification, itemIds, style));
      }
      case "augment":
        return modify(augmented(items, modification, command.params.items));
      case "clearModification":
        return modify(cleared(modification, command.params.type));
      case "select":
        this.#booking = selected(booking, command.params.itemId);
        if (booking.hold && !this.#booking.hold) this.#letGo(booking);
        return;
      case "setQuantity": {
        const { typeId, quantity } = command.params;
        this.#booking = counted(booking, typeId, quantity);
        return;
      }
      case "next":
        return this.#next();
      case "prev":
        return this.#enter(stageBefore(booking), booking);
      case "postMessage":
        needText(command.params.text);
        return;
      case "cancelBooking":
        return this.#cancel();
    }
  }

  async #next(): Promise<void> {
    const booking = this.#booking;
    if (booking.stage === "confirm" && !booking.booked) return this.#book();
    const stage = stageAfter(booking);
    if (stage !== "ticket") return this.#enter(stage, booking);
    try {
      const hold = await this.#backend.hold(booking);
      // Held from now on, whether the next stage can be shown or not.
      this.#booking = { ...booking, hold };
    } catch (error) {
      if (isCode(error, "hold_expired", "hold_not_found", "not_found")) {
        // The old hold ran out meanwhile; a new one is as good.
        const hold = await this.#holdAnew(booking);
        this.#booking = { ...booking, hold };
      } else {
        throw isCode(error, "seat_taken") ? await this.#taken() : error;
      }
    }
    await this.#enter("ticket", this.#booking);
  }

  async #holdAnew(booking: Booking) {
    try {
      return await this.#backend.hold({ ...booking, hold: null });
    } catch (error) {
      throw isCode(error, "seat_taken") ? await this.#taken() : error;
    }
  }

  async #book(): Promise<void> {
    const booking = this.#booking;
    try {
      const booked = await this.#backend.book(booking);
      const done = { ...booking, booked, hold: null };
      this.#booking = { ...done, items: summary(done), modification: {} };
      this.#news = told(
        `Your code is ${booked.code}. Show it at the entrance.`,
      );
    } catch (error) {
      if (isCode(error, "hold_expired", "hold_not_found")) {
        await this.#expired();
        throw new Refused("TOOL_EXECUTION_FAILED", EXPIRED);
      }
      throw isCode(error, "seat_taken") ? await this.#taken() : error;
    }
  }

  async #cancel(): Promise<void> {
    const booking = this.#booking;
    const { booked } = booking;
    if (!booked || booked.cancelled) {
      throw new Refused(
        "TOOL_EXECUTION_FAILED",
        "There is no booking to cancel.",
      );
    }
    await this.#backend.cancel(booked);
    const done = { ...booking, booked: { ...booked, cancelled: true } };
    this.#booking = { ...done, items: summary(done), modification: {} };
  }

  /** The seats were taken: back to the seats, without those. */
  async #taken(): Promise<Refused> {
    const before = this.#booking;
    await this.#enter("seat", { ...before, hold: null });
    const gone = before.seats.filter((s) => !this.#booking.seats.includes(s));
    this.#booking = withoutSeats(this.#booking, gone);
    const words = takenWords(gone.length > 0 ? gone : before.seats);
    this.history.add(told(words));
    return new Refused("TOOL_EXECUTION_FAILED", words);
  }

  async #expired(): Promise<void> {
    const { hold } = this.#booking;
    const before = { ...this.#booking, hold: null };
    // The cinema's clock may be behind ours, and would keep the seats from us.
    if (hold) await this.#backend.release(hold).catch(() => undefined);
    if (before.stage === "seat") this.#booking = before;
    else {
      await this.#enter("seat", before);
      this.history.add(told(EXPIRED));
    }
  }

  /** A stage is shown when everything on it is there, or not at all. */
  async #enter(stage: Stage, booking: Booking): Promise<void> {
    const items = await this.#backend.items(stage, booking);
    this.#booking = entered(booking, stage, items);
    this.#ready = true;
  }

  #letGo({ hold, booked }: Booking): void {
    // It expires if this does not arrive.
    if (hold && !booked) this.#backend.release(hold).catch(() => undefined);
  }

  #note(
    { tool }: Command,
    text: string,
    type: By,
    reason: string | undefined,
    ok: boolean,
  ): void {
    const stage = this.#booking.stage;
    this.history.add({
      ...{ type, text, tool, ok, stage },
      ...(reason !== undefined && { reason }),
    });
  }

  #line<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

const EXPIRED =
  "Your seat hold expired. Seats that are still free stay selected; continue to hold them again.";

function told(text: string): Omit<Entry, "id" | "timestamp"> {
  return { type: "system", text };
}

function takenWords(seats: readonly string[]): string {
  const one = seats.length === 1;
  return `Somebody else took ${one ? "seat" : "seats"} ${seats.join(", ")}. Please choose ${one ? "another" : "others"}.`;
}

function sameSeats(a: Booking, b: Booking): boolean {
  const word = ({ items }: Booking) =>
    items.map(({ id, isDisabled }) => `${id}${isDisabled ? "!" : ""}`).join();
  return word(a) === word(b);
}

function needText(text: string): string {
  if (text.trim() === "") throw new Refused("INVALID_PARAMS", "text is empty.");
  return text;
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof BackendError && codes.includes(error.code);
}

function refusal(error: unknown): Refused {
  if (error instanceof Refused) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new Refused("TOOL_EXECUTION_FAILED", words);
}

/** What the stage is called, with what was chosen. */
export function announce({ stage, seats }: Booking): string {
  const { title } = LOOKS[stage];
  return stage === "ticket" ? `${title} ${seatWords(seats.length)}.` : title;
}
