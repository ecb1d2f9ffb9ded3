// Joins messages that came in parts, since a browser takes no more than 1 MiB in one.
import type { Part } from "./wire.js";

const MAX_OPEN = 8;
const MAX_COUNT = 128;
/** Characters that may wait for the rest of their message. */
const MAX_TEXT = 64 << 20;

interface Opened {
  parts: (string | undefined)[];
  missing: number;
  length: number;
}

/** Called for an invalid part: the connection it came on cannot be trusted. */
export class BadPart extends Error {}

export class Parts {
  readonly #open = new Map<string, Opened>();
  #text = 0;

  /** The message that this part completes, or undefined while others are missing. */
  take({ part, index, count, data }: Part): unknown {
    if (typeof part !== "string" || typeof data !== "string") throw bad();
    if (!isWhole(count, 2, MAX_COUNT)) throw bad();
    if (!isWhole(index, 0, count - 1)) throw bad();
    const opened = this.#open.get(part) ?? this.#begin(part, count);
    if (opened.parts.length !== count) throw bad();
    if (opened.parts[index] !== undefined) throw bad();
    this.#text += data.length;
    if (this.#text > MAX_TEXT) throw bad();
    opened.parts[index] = data;
    opened.length += data.length;
    opened.missing -= 1;
    if (opened.missing > 0) return undefined;
    this.#open.delete(part);
    this.#text -= opened.length;
    try {
      return JSON.parse(opened.parts.join(""));
    } catch {
      throw bad();
    }
  }

  #begin(part: string, count: number): Opened {
    if (this.#open.size >= MAX_OPEN) throw bad();
    const parts = new Array<string | undefined>(count).fill(undefined);
    const opened = { parts, missing: count, length: 0 };
    this.#open.set(part, opened);
    return opened;
  }
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return (
    Number.isInteger(value) &&
    (value as number) >= least &&
    (value as number) <= most
  );
}

function bad(): BadPart {
  return new BadPart(
    "The native messaging host sent message parts that do not match.",
  );
}
