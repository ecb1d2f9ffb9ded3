// Text in pieces becomes records, records become fields. Quoted fields may hold separators and line breaks.

// A record this long is a quote that never ends: from there on its lines count again.
const LONGEST = 1024 * 1024;
const SEPARATORS = [",", ";", "\t", "|"];

export class Records {
  #rest = "";
  #at = 0;
  #quoted = false;
  #ignoreQuotes = false;

  /** The records that are complete with this piece. */
  push(piece) {
    const text = this.#rest + piece;
    const found = [];
    let start = 0;
    let at = this.#at;
    let quote = text.indexOf('"', at);
    for (;;) {
      if (this.#quoted) {
        if (quote < 0) {
          at = text.length;
          if (at - start <= LONGEST) break;
          this.#quoted = false;
          this.#ignoreQuotes = true;
          at = start;
          continue;
        }
        this.#quoted = false;
        at = quote + 1;
        quote = text.indexOf('"', at);
        continue;
      }
      const line = text.indexOf("\n", at);
      if (!this.#ignoreQuotes && quote >= 0 && (line < 0 || quote < line)) {
        this.#quoted = true;
        at = quote + 1;
        quote = text.indexOf('"', at);
        continue;
      }
      if (line < 0) {
        at = text.length;
        break;
      }
      if (this.#ignoreQuotes) {
        this.#ignoreQuotes = false;
        quote = text.indexOf('"', line + 1);
      }
      const end =
        text.charCodeAt(line - 1) === 13 && line > start ? line - 1 : line;
      if (end > start) found.push(text.slice(start, end));
      start = at = line + 1;
    }
    this.#rest = text.slice(start);
    this.#at = at - start;
    return found;
  }

  /** What is left when the text is over. */
  end() {
    const rest = this.#rest.replace(/\r$/, "");
    this.#rest = "";
    this.#at = 0;
    this.#quoted = false;
    return rest === "" ? [] : [rest];
  }
}

/** The separator that a first line uses most. */
export function separatorOf(line) {
  const bare = line.replace(/"[^"]*"/g, "");
  const count = (sign) => bare.split(sign).length;
  return SEPARATORS.reduce((best, sign) =>
    count(sign) > count(best) ? sign : best,
  );
}

export function fields(record, separator) {
  if (!record.includes('"')) return record.split(separator);
  const found = [];
  let at = 0;
  for (;;) {
    let value = "";
    if (record[at] === '"') {
      at += 1;
      for (;;) {
        const quote = record.indexOf('"', at);
        if (quote < 0) {
          value += record.slice(at);
          at = record.length;
          break;
        }
        value += record.slice(at, quote);
        at = quote + 1;
        if (record[at] !== '"') break;
        value += '"';
        at += 1;
      }
    }
    const next = record.indexOf(separator, at);
    value += record.slice(at, next < 0 ? record.length : next);
    found.push(value);
    if (next < 0) return found;
    at = next + separator.length;
  }
}

/** Names of columns: none empty, none twice. */
export function namesOf(record, separator) {
  const seen = new Map();
  return fields(record.replace(/^\uFEFF/, ""), separator).map((field, at) => {
    const name = field.trim() || `Column ${at + 1}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/** The number a field stands for, or NaN. */
export function numberOf(field) {
  const text = field.trim();
  const first = text.charCodeAt(0);
  // Most fields that are no numbers show it at once.
  if (!(
    (first >= 48 && first <= 57) ||
    first === 45 ||
    first === 43 ||
    first === 46
  ))
    return NaN;
  const number = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(number) ? number : NaN;
}
