// One open note: what is on disk, what is on the screen, and what to do when both changed.

export class Note {
  /** `files` has `read(path)` and `write(path, text)`; reading what is not there gives null. */
  constructor(path, files) {
    this.path = path;
    this.files = files;
    /** What was on disk when it was last read or written here. */
    this.base = "";
    this.text = "";
    /** A concurrent change while there were unsaved changes. */
    this.theirs = null;
  }

  get dirty() {
    return this.text !== this.base;
  }

  async open() {
    this.base = this.text = (await this.files.read(this.path)) ?? "";
    this.theirs = null;
  }

  /** The file may have changed; says what that means: nothing, "updated" or "conflict". */
  async look() {
    const now = (await this.files.read(this.path)) ?? "";
    if (now === this.base) {
      this.theirs = null;
      return "same";
    }
    if (!this.dirty || now === this.text) {
      this.base = this.text = now;
      this.theirs = null;
      return "updated";
    }
    this.theirs = now;
    return "conflict";
  }

  /** Saves the changes, unless the file was changed meanwhile. */
  async save() {
    if (!this.dirty) return "same";
    if ((await this.look()) === "conflict") return "conflict";
    if (!this.dirty) return "updated";
    return this.#write();
  }

  /** Overwrites a concurrent change. */
  keepMine() {
    return this.#write();
  }

  takeTheirs() {
    if (this.theirs === null) return;
    this.base = this.text = this.theirs;
    this.theirs = null;
  }

  /** Both, one below the other where they differ, for the person to sort out. */
  keepBoth() {
    if (this.theirs === null) return;
    const merged = both(this.text, this.theirs);
    this.base = this.theirs;
    this.text = merged;
    this.theirs = null;
  }

  async #write() {
    const text = this.text;
    await this.files.write(this.path, text);
    this.base = text;
    this.theirs = null;
    return "saved";
  }
}

export function both(mine, theirs) {
  const [a, b] = [mine.split("\n"), theirs.split("\n")];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  const room = Math.min(a.length, b.length) - head;
  while (tail < room && a[a.length - 1 - tail] === b[b.length - 1 - tail])
    tail += 1;
  return [...a.slice(0, a.length - tail), ...b.slice(head)].join("\n");
}
