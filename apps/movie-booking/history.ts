// What was said and done, by whom and why; the newest of it.

export interface Entry {
  id: string;
  type: "system" | "user" | "agent";
  timestamp: string;
  text: string;
  /** What was used, where something was done. */
  tool?: string;
  /** Why, in the agent's words. */
  reason?: string;
  ok?: boolean;
  [more: string]: unknown;
}

// More than a person reads; an agent asks for 50.
const KEPT = 200;
const LONGEST = 4_000;

export class History {
  #entries: Entry[] = [];
  #total = 0;

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The total number of entries, including dropped ones. */
  get total(): number {
    return this.#total;
  }

  add(entry: Omit<Entry, "id" | "timestamp">): Entry {
    this.#total += 1;
    const added = {
      ...entry,
      id: `m${this.#total}`,
      timestamp: new Date().toISOString(),
      text: String(entry.text).slice(0, LONGEST),
    } as Entry;
    this.#entries = [...this.#entries, added].slice(-KEPT);
    return added;
  }

  clear(): void {
    this.#entries = [];
    this.#total = 0;
  }

  /** Restores the entries of the page before a reload. */
  restore(entries: Entry[], total: number): void {
    this.#entries = entries.slice(-KEPT);
    this.#total = Math.max(total, entries.length);
  }
}
