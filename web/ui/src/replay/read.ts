// Reads a recording: JSON Lines, an event each, in pieces; says what is wrong and in which line.

/** An event of a session as it was exported; what else it has depends on its kind, which may be unknown here. */
export interface Recorded {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What a replay file says about itself in its first line. */
export interface Header {
  gangway: "recording";
  version: number;
  title: string;
  session: string | null;
  /** How many events follow. */
  events: number;
}

export const VERSION = 1;
/** More are not kept in a page; a browser could not scroll through more rows either. */
export const MOST_EVENTS = 400_000;
// Deeper nesting is an attack on readers: the server itself reads at most 128 levels.
const DEEPEST = 200;
// Leaves most of a frame to the page.
const SLICE_MS = 8;

/** Why a recording cannot be shown, or not to its end. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
}

/** Work in slices, between which the page can draw and answer. */
export class Slices {
  #until = performance.now() + SLICE_MS;

  /** Whether this slice took long enough. */
  get over(): boolean {
    return performance.now() >= this.#until;
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#until = performance.now() + SLICE_MS;
  }
}

export class RecordingReader {
  /** From the first line, where there is one. */
  header: Header | null = null;
  #line = 0;
  #last = 0;
  #count = 0;

  /** The events in the pieces of a text, a batch for each slice of work. */
  async *read(pieces: AsyncIterable<string>): AsyncGenerator<Recorded[]> {
    let batch: Recorded[] = [];
    let held = "";
    const slices = new Slices();
    for await (const piece of pieces) {
      let from = 0;
      let end = piece.indexOf("\n");
      for (; end >= 0; end = piece.indexOf("\n", from)) {
        try {
          this.#take(held + piece.slice(from, end), batch);
        } catch (error) {
          // What came before is good.
          yield batch;
          throw error;
        }
        held = "";
        from = end + 1;
        if (!slices.over) continue;
        yield batch;
        batch = [];
        await slices.pause();
      }
      held += piece.slice(from);
    }
    try {
      this.#take(held, batch);
    } catch (error) {
      yield batch;
      throw error;
    }
    yield batch;
    this.#finish();
  }

  #take(text: string, batch: Recorded[]): void {
    this.#line += 1;
    if (text.trim() === "") return;
    const value = this.#parse(text);
    // A level takes two characters, so that most lines need no look.
    if (text.length > 2 * DEEPEST && isDeeper(value, DEEPEST)) {
      throw this.#wrong(`is nested more than ${DEEPEST} levels deep`);
    }
    if (this.#line === 1 && isHeader(value)) {
      this.#begin(value);
      return;
    }
    const event = this.#check(value);
    if (this.#count >= MOST_EVENTS) {
      throw new RecordingError(
        `The recording has more than ${MOST_EVENTS} events, which is the limit of a replay.`,
      );
    }
    this.#count += 1;
    batch.push(event);
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // The words of browsers repeat the text, however long it is.
      throw this.#wrong(`is not JSON: ${why.slice(0, 200)}`);
    }
  }

  #begin(header: Header): void {
    if (header.version !== VERSION) {
      throw new RecordingError(
        `The file has version ${String(header.version).slice(0, 20)} of the format; this Gangway reads version ${VERSION}.`,
      );
    }
    const { title, session, events } = header as Partial<
      Record<keyof Header, unknown>
    >;
    if (typeof title !== "string" || !Number.isSafeInteger(events)) {
      throw this.#wrong(
        "does not say its `title` and how many `events` follow",
      );
    }
    this.header = {
      ...{ gangway: "recording", version: VERSION, title },
      session: typeof session === "string" ? session : null,
      events: events as number,
    };
  }

  #check(value: unknown): Recorded {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.#wrong("is not an event: it is no JSON object");
    }
    const { seq, at, type } = value as Partial<Record<string, unknown>>;
    if ("eventIndex" in value) {
      throw this.#wrong(
        "is from the log of a study session, which is stepped through under `/study`",
      );
    }
    if (typeof type !== "string" || type === "") {
      throw this.#wrong("is not an event of a session: `type` is missing");
    }
    if (!Number.isSafeInteger(seq)) {
      throw this.#wrong("is not an event of a session: `seq` is no number");
    }
    if (typeof at !== "string" || Number.isNaN(Date.parse(at))) {
      throw this.#wrong("is not an event of a session: `at` is no time");
    }
    const event = value as Recorded;
    if (event.seq <= this.#last) {
      throw this.#wrong(
        `is out of order: its \`seq\` is ${event.seq}, after ${this.#last}`,
      );
    }
    this.#last = event.seq;
    return event;
  }

  #finish(): void {
    const told = this.header?.events;
    if (told === undefined || told === this.#count) return;
    throw new RecordingError(
      `The file says that it holds ${told} events, and has ${this.#count}. It was cut off or changed.`,
    );
  }

  #wrong(what: string): RecordingError {
    return new RecordingError(`Line ${this.#line} of the recording ${what}.`);
  }
}

function isHeader(value: unknown): value is Header {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as Partial<Header>).gangway === "recording"
  );
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    levels === 0 ||
    Object.values(value).some((inner) => isDeeper(inner, levels - 1))
  );
}
