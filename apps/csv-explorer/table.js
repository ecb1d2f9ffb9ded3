// The rows of a file, and a view of those that match, worked out a little at a time.
import { fields, namesOf, numberOf, Records, separatorOf } from "./csv.js";

const BINS = 48;
const VALUES = 1000;
const SAMPLE = 3000;
const CLOCK_EVERY = 256;

export class Table {
  names = [];
  /** Unparsed records: they are parsed when shown. */
  rows = [];
  #records = new Records();
  #separator = null;

  push(text) {
    this.#add(this.#records.push(text));
  }

  end() {
    this.#add(this.#records.end());
  }

  row(index) {
    return fields(this.rows[index], this.#separator);
  }

  #add(records) {
    let from = 0;
    if (this.#separator === null && records.length > 0) {
      this.#separator = separatorOf(records[0]);
      this.names = namesOf(records[0], this.#separator);
      from = 1;
    }
    for (let at = from; at < records.length; at += 1)
      this.rows.push(records[at]);
  }
}

/** Counts in ranges that widen as values come, so that no second look is needed. */
export class Histogram {
  #width = 0;
  #bins = new Map();

  add(value) {
    if (this.#width === 0)
      this.#width = 2 ** (Math.floor(Math.log2(Math.abs(value) || 1)) - 30);
    // Numbers of bins stay whole numbers, however far apart the values are.
    while (Math.abs(value / this.#width) > 2 ** 50) this.#widen();
    const bin = Math.floor(value / this.#width);
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + 1);
    if (this.#bins.size <= BINS) return;
    while (this.#bins.size > BINS / 2 || this.#span() > BINS) this.#widen();
  }

  #span() {
    const keys = [...this.#bins.keys()];
    return Math.max(...keys) - Math.min(...keys) + 1;
  }

  #widen() {
    this.#width *= 2;
    const wider = new Map();
    for (const [bin, count] of this.#bins) {
      const at = Math.floor(bin / 2);
      wider.set(at, (wider.get(at) ?? 0) + count);
    }
    this.#bins = wider;
  }

  /** Ranges from left to right, empty ones too: {from, to, count}. */
  ranges() {
    if (this.#bins.size === 0) return [];
    while (this.#span() > BINS) this.#widen();
    const keys = [...this.#bins.keys()];
    const [first, last] = [Math.min(...keys), Math.max(...keys)];
    return Array.from({ length: last - first + 1 }, (_, at) => ({
      from: (first + at) * this.#width,
      to: (first + at + 1) * this.#width,
      count: this.#bins.get(first + at) ?? 0,
    }));
  }
}

class Column {
  empty = 0;
  filled = 0;
  numbers = 0;
  min = Infinity;
  max = -Infinity;
  sum = 0;
  histogram = new Histogram();
  values = new Map();

  constructor(name) {
    this.name = name;
  }

  add(field) {
    if (field === "") {
      this.empty += 1;
      return;
    }
    this.filled += 1;
    const number = numberOf(field);
    if (!Number.isNaN(number)) {
      this.numbers += 1;
      this.sum += number;
      if (number < this.min) this.min = number;
      if (number > this.max) this.max = number;
      this.histogram.add(number);
    }
    const seen = this.values.get(field);
    if (seen !== undefined) this.values.set(field, seen + 1);
    else if (this.values.size < VALUES) this.values.set(field, 1);
  }

  get type() {
    return this.numbers > 0 && this.numbers >= this.filled * 0.9
      ? "number"
      : "text";
  }

  top(most) {
    return [...this.values].sort((a, b) => b[1] - a[1]).slice(0, most);
  }

  summary() {
    const { name, type, empty } = this;
    if (type === "text")
      return {
        name,
        type,
        empty,
        top: this.top(5).map(([value, count]) => ({
          value: value.slice(0, 100),
          count,
        })),
      };
    return {
      name,
      type,
      empty,
      min: this.min,
      max: this.max,
      mean: this.sum / this.numbers,
    };
  }
}

export const OPERATORS = ["=", "!=", ">", ">=", "<", "<=", "contains", "empty"];

/** Filters that make sense for these columns; the others are left out. */
export function goodFilters(filters, names) {
  if (!Array.isArray(filters)) return [];
  return filters
    .filter(
      (each) => names.includes(each?.column) && OPERATORS.includes(each.op),
    )
    .slice(0, 20)
    .map(({ column, op, value }) => ({
      column,
      op,
      value: String(value ?? ""),
    }));
}

function test({ column, op, value }, names) {
  const at = names.indexOf(column);
  const wanted = numberOf(value);
  const words = value.toLowerCase();
  const compare = (field) => {
    const number = numberOf(field);
    if (!Number.isNaN(number) && !Number.isNaN(wanted)) return number - wanted;
    return field < value ? -1 : field > value ? 1 : 0;
  };
  const tests = {
    "=": (field) => compare(field) === 0,
    "!=": (field) => compare(field) !== 0,
    ">": (field) => field !== "" && compare(field) > 0,
    ">=": (field) => field !== "" && compare(field) >= 0,
    "<": (field) => field !== "" && compare(field) < 0,
    "<=": (field) => field !== "" && compare(field) <= 0,
    contains: (field) => field.toLowerCase().includes(words),
    empty: (field) => field === "",
  };
  return (row) => tests[op](row[at] ?? "");
}

export class View {
  /** Indexes of rows that match; null means all of them. */
  matches;
  columns;
  /** Rows for dots and lines, spread evenly over all that match. */
  sample = [];
  #table;
  #tests;
  #next = 0;
  #counted = 0;
  #stride = 1;

  constructor(table, filters) {
    this.#table = table;
    this.#tests = filters.map((filter) => test(filter, table.names));
    this.matches = filters.length > 0 ? [] : null;
    this.columns = table.names.map((name) => new Column(name));
  }

  get length() {
    return this.matches === null ? this.#next : this.matches.length;
  }

  row(index) {
    return this.#table.row(this.matches === null ? index : this.matches[index]);
  }

  /** Works for about `ms` milliseconds; says whether it has caught up with the table. */
  step(ms, now = () => performance.now()) {
    const until = now() + ms;
    const { rows } = this.#table;
    while (this.#next < rows.length) {
      const index = this.#next++;
      this.#take(index);
      if (index % CLOCK_EVERY === 0 && now() >= until) break;
    }
    return this.#next >= rows.length;
  }

  #take(index) {
    const row = this.#table.row(index);
    for (const passes of this.#tests) if (!passes(row)) return;
    this.matches?.push(index);
    for (let at = 0; at < this.columns.length; at += 1)
      this.columns[at].add(row[at] ?? "");
    if (this.#counted++ % this.#stride !== 0) return;
    this.sample.push(row);
    if (this.sample.length < SAMPLE * 2) return;
    this.sample = this.sample.filter((_, at) => at % 2 === 0);
    this.#stride *= 2;
  }
}
