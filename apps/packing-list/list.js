// The list without its page: items, what is packed, and the file that it is saved as.

export const FILE = "packing-list.md";
const MOST = 100;
const LONGEST = 80;

export class PackingList {
  /** Each has a `name` and `packed`. */
  items = [];

  constructor(title, names = []) {
    this.title = title;
    for (const name of names) this.add(name);
  }

  add(name) {
    const wanted = String(name).trim().slice(0, LONGEST);
    if (wanted === "") throw new Error("An item needs a name.");
    if (this.#find(wanted))
      throw new Error(`${wanted} is on the list already.`);
    if (this.items.length >= MOST)
      throw new Error(`The list has at most ${MOST} items.`);
    this.items.push({ name: wanted, packed: false });
  }

  pack(name, packed = true) {
    const item = this.#find(String(name).trim());
    if (!item) {
      const known = this.items.map((one) => one.name).join(", ");
      throw new Error(
        `There is no such item on the list: ${name}. It has: ${known}.`,
      );
    }
    item.packed = packed;
  }

  get packed() {
    return this.items.filter((item) => item.packed).length;
  }

  /** What agents and sites read. */
  get state() {
    const items = this.items.map(({ name, packed }) => ({ name, packed }));
    return { title: this.title, items };
  }

  /** Takes over a state that was read. */
  restore({ title, items }) {
    this.title = title;
    this.items = items.map(({ name, packed }) => ({ name, packed }));
  }

  /** A Markdown list with checkboxes. */
  get markdown() {
    const line = ({ name, packed }) => `- [${packed ? "x" : " "}] ${name}`;
    return `# ${this.title}\n\n${this.items.map(line).join("\n")}\n`;
  }

  #find(name) {
    const same = name.toLowerCase();
    return this.items.find((item) => item.name.toLowerCase() === same);
  }
}
